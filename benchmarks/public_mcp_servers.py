"""Published MCP servers, and what people ask of them: `python -m benchmarks.public_mcp_servers FOLDER`.

FOLDER has the servers, each in an environment of its own; `--install` installs those that are missing there from the
package indexes. They are added with `edgevox mcp add`, started by `edgevox serve`, and each sentence is said over the
chat API. The tool is right if one that serves the sentence was called, or if the assistant's own answer is right. An
answer is useful if it has what was asked for, or if what was asked for has happened.
"""

from __future__ import annotations

import argparse
import http.server
import json
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
import tomllib
import urllib.error
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from benchmarks.hardware import describe
from benchmarks.served_program import Program

_SENTENCES = Path(__file__).with_name("mcp_sentences.toml")
TOOL_BAR, ANSWER_BAR = 0.9, 0.75
SPLITS = ("development", "held_out", "fresh", "blind")
_NPM = {
    "files": "server-filesystem",
    "memory": "server-memory",
    "everything": "server-everything",
    "thinking": "server-sequential-thinking",
}
# The package, and what it needs beside itself.
_PYPI = {
    "time": ("mcp-server-time",),
    "fetch": ("mcp-server-fetch",),
    "git": ("mcp-server-git",),
    "sqlite": ("mcp-server-sqlite", "mcp<2"),
    "calculator": ("mcp-server-calculator",),
    "random": ("random-number-mcp",),
}
_OBSIDIAN = "obsidian-mcp"  # an npm package of another publisher
_PAGES = {
    "/news": "The old lighthouse reopens on Sunday after two years of repairs.",
    "/menu": "Today: lentil soup, then pancakes with plums.",
    "/hours": "The library is open from nine to six, on Saturdays until noon.",
    "/robots.txt": "User-agent: *\nAllow: /",
}


# --- the servers


def install(folder: Path) -> None:
    """Install what is missing: npm packages and Python environments."""
    for package in (*_NPM.values(), _OBSIDIAN):
        if not _npm_program(folder, package).exists():
            there = folder / "npm" / package
            there.mkdir(parents=True, exist_ok=True)
            name = package if package == _OBSIDIAN else f"@modelcontextprotocol/{package}"
            subprocess.run(["npm", "install", "--no-audit", "--no-fund", "--prefix", there, name], check=True)
    for package, *needed in _PYPI.values():
        if not _python_program(folder, package).exists():
            there = folder / "py" / package
            subprocess.run([sys.executable, "-m", "venv", there], check=True)
            subprocess.run([there / "bin" / "python", "-m", "pip", "install", "-q", package, *needed], check=True)


def _npm_program(folder: Path, package: str) -> Path:
    program = package if package == _OBSIDIAN else f"mcp-{package}"
    return folder / "npm" / package / "node_modules" / ".bin" / program


def _python_program(folder: Path, package: str) -> Path:
    return folder / "py" / package / "bin" / package


def commands(folder: Path, world: World) -> dict[str, list[str]]:
    """The command of each server that is installed."""
    more = {
        "files": [str(world.notes)],
        "sqlite": ["--db-path", str(world.database)],
        "git": ["--repository", str(world.repository)],
        "fetch": ["--ignore-robots-txt", "--allow-private-ips"],
        "obsidian": [str(world.vault)],
    }
    programs = {name: _npm_program(folder, package) for name, package in {**_NPM, "obsidian": _OBSIDIAN}.items()}
    programs |= {name: _python_program(folder, package) for name, (package, *_) in _PYPI.items()}
    return {name: [str(path), *more.get(name, ())] for name, path in programs.items() if path.exists()}


# --- what they serve

_MEMORY = "memory.jsonl"
_KNOWN = (
    {"type": "entity", "name": "Tom", "entityType": "person", "observations": ["drinks coffee"]},
    {"type": "entity", "name": "Rex", "entityType": "dog", "observations": ["barks"]},
)


@dataclass(frozen=True, slots=True)
class World:
    """Notes, a repository, a database, a vault and web pages that the sentences are about."""

    folder: Path
    port: int

    @property
    def notes(self) -> Path:
        return self.folder / "notes"

    @property
    def repository(self) -> Path:
        return self.folder / "story"

    @property
    def database(self) -> Path:
        return self.folder / "library.db"

    @property
    def vault(self) -> Path:
        return self.folder / "garden"

    def make(self) -> None:
        """As it is before each sentence; the folders themselves stay, since servers hold them open."""
        for folder in (self.vault, self.notes, self.repository):
            folder.mkdir(exist_ok=True)
            for path in folder.iterdir():
                shutil.rmtree(path) if path.is_dir() else path.unlink()
        (self.folder / _MEMORY).write_text("\n".join(map(json.dumps, _KNOWN)) + "\n", encoding="utf-8")
        (self.vault / ".obsidian").mkdir(parents=True)
        (self.vault / ".obsidian" / "app.json").write_text("{}", encoding="utf-8")
        (self.vault / "plants.md").write_text("basil and tomatoes\n", encoding="utf-8")
        (self.notes / "recipes").mkdir(parents=True)
        files = {
            "groceries.txt": "oat milk\nrye bread\n",
            "todo.md": "- call the plumber\n- water the basil\n",
            "old.txt": "nothing of interest\n",
            "recipes/pancakes.txt": "three eggs, flour, milk\n",
        }
        for name, text in files.items():
            (self.notes / name).write_text(text, encoding="utf-8")
        self.git("init", "-q", "-b", "main")
        for name, message in (("readme.txt", "Add the readme"), ("notes.txt", "Add the first notes")):
            (self.repository / name).write_text("first line\n", encoding="utf-8")
            self.git("add", name)
            self.git("commit", "-q", "-m", message)
        self.git("branch", "draft")
        (self.repository / "notes.txt").write_text("first line\nsecond line\n", encoding="utf-8")
        (self.repository / "plan.txt").write_text("a plan\n", encoding="utf-8")
        self.git("add", "plan.txt")
        with sqlite3.connect(self.database) as database:
            for (name,) in database.execute("select name from sqlite_master where type = 'table'").fetchall():
                database.execute(f"drop table {name}")
            database.execute("create table books (title text, author text, pages integer)")
            database.execute("create table loans (title text, reader text)")
            rows = [("Emma", "Jane Austen", 474), ("Dracula", "Bram Stoker", 418), ("Persuasion", "Jane Austen", 249)]
            database.executemany("insert into books values (?, ?, ?)", rows)
        database.close()

    def git(self, *words: str) -> str:
        who = ("-c", "user.name=Anna", "-c", "user.email=anna@example.org")
        done = subprocess.run(["git", "-C", self.repository, *who, *words], capture_output=True, text=True, check=True)
        return done.stdout

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        database = sqlite3.connect(self.database)
        try:
            return database.execute(query).fetchall()
        finally:
            database.close()


class _Pages(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        text = _PAGES.get(self.path)
        self.send_response(200 if text else 404)
        self.send_header("Content-Type", "text/plain; charset=utf-8")
        self.end_headers()
        self.wfile.write((text or "there is no such page").encode())

    def log_message(self, *_args: object) -> None:
        """Not on the terminal."""


@contextmanager
def made_world(beside: Path) -> Iterator[World]:
    """In a folder beside the servers: one of them refuses the system's temporary folder."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Pages)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    folder = Path(tempfile.mkdtemp(prefix="world-", dir=beside))
    try:
        world = World(folder, server.server_port)
        world.make()
        yield world
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
        shutil.rmtree(folder)


# --- sentences

Check = Callable[[str, World], bool]


def has(*words: str) -> Check:
    """The reply has one of each "one|other"."""
    return lambda reply, _world: all(
        any(word in reply.casefold() for word in choice.casefold().split("|")) for choice in words
    )


def is_now(zone: str) -> Check:
    """The reply has the hour there, in one of the ways to write it."""

    def check(reply: str, _world: World) -> bool:
        now = datetime.now(ZoneInfo(zone))
        ways = (f"{now:%H}:", f"{now.hour}:", f"{now.hour % 12 or 12}:", f"{now:%I}:")
        return any(way in reply for way in ways)

    return check


@dataclass(frozen=True, slots=True)
class Asked:
    said: str
    tools: tuple[str, ...]
    """Those that serve it; with "own" also the assistant's own"""
    is_useful: Check
    split: str = "seen"
    """Those of SPLITS were written before they were said for the first time"""


def sentences(file: Path = _SENTENCES) -> list[Asked]:
    """What people ask, of mcp_sentences.toml or a file like it."""
    rows = tomllib.loads(file.read_text(encoding="utf-8"))["asked"]
    return [Asked(row["say"], tuple(row["tools"]), _check(row), row.get("split", "seen")) for row in rows]


def _check(row: dict[str, Any]) -> Check:
    match row:
        case {"has": words}:
            return has(*words)
        case {"zone": zone}:
            return is_now(zone)
        case {"pattern": pattern}:
            return lambda reply, _world: re.search(pattern, reply) is not None
        case {"effect": name}:
            return lambda _reply, world: EFFECTS[name](world)
    raise AssertionError(row)


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.exists() else ""


def _graph(world: World) -> list[dict[str, Any]]:
    """The rows of the memory server's file."""
    return [json.loads(line) for line in _text(world.folder / _MEMORY).splitlines() if line.strip()]


def _known(world: World, name: str) -> str:
    """What the memory server knows of an entity; "" if there is none."""
    found = [row for row in _graph(world) if row.get("type") == "entity" and row.get("name") == name]
    return " ".join([*found[0].get("observations", ()), found[0].get("entityType", "")]) if found else ""


def _walks(world: World) -> bool:
    relations = [row for row in _graph(world) if row.get("type") == "relation"]
    return any((row["from"], row["to"]) == ("Tom", "Rex") and "walk" in row["relationType"] for row in relations)


EFFECTS: dict[str, Callable[[World], bool]] = {
    "blind invoices made": lambda world: (world.notes / "invoices").is_dir(),
    "blind errands written": lambda world: "pick up the parcel" in _text(world.notes / "errands.txt").lower(),
    "blind sourdough swapped": lambda world: (
        "sourdough" in _text(world.notes / "groceries.txt") and "rye bread" not in _text(world.notes / "groceries.txt")
    ),
    "blind leftover moved": lambda world: (
        "interest" in _text(world.notes / "recipes" / "leftover.txt") and not (world.notes / "old.txt").exists()
    ),
    "blind peanuts known": lambda world: "peanut" in _known(world, "Tom"),
    "blind Ingrid known": lambda world: "cello" in _known(world, "Ingrid"),
    "blind walk known": _walks,
    "blind coffee forgotten": lambda world: "coffee" not in (_known(world, "Tom") or "coffee"),
    "blind bakery branch": lambda world: "bakery" in world.git("branch").replace("*", " ").split(),
    "blind summer committed": lambda world: (
        world.git("log", "-1", "--format=%s").strip().rstrip(".") == "Sketch the summer trip"
    ),
    "blind Middlemarch added": lambda world: (
        ("Middlemarch", "George Eliot", 880) in world.rows("select title, author, pages from books")
    ),
    "blind recipes table": lambda world: (
        {"title", "time"}
        <= set(
            " ".join(str(row[1]).lower() for row in world.rows("pragma table_info(recipes)")).replace("_", " ").split()
        )
    ),
    "folder made": lambda world: (world.notes / "holiday").is_dir(),
    "file written": lambda world: "hello world" in _text(world.notes / "hello.txt"),
    "file renamed": lambda world: (world.notes / "new.txt").exists(),
    "branch made": lambda world: "holiday" in world.git("branch"),
    "file staged": lambda world: "notes.txt" in world.git("diff", "--cached", "--name-only"),
    "committed": lambda world: "Add my plan" in world.git("log", "--format=%s"),
    "remembers Bella": lambda world: "Bella" in _text(world.folder / _MEMORY),
    "remembers chess": lambda world: "chess" in _text(world.folder / _MEMORY),
    "remembers Luna": lambda world: "Luna" in _text(world.folder / _MEMORY),
    "bills made": lambda world: (world.notes / "bills").is_dir(),
    "stamps written": lambda world: "buy stamps" in _text(world.notes / "stamps.txt"),
    "memo written": lambda world: "remember the milk" in _text(world.notes / "memo.txt"),
    "garden branch": lambda world: "garden" in world.git("branch"),
    "todo moved": lambda world: (world.notes / "recipes" / "todo.md").exists(),
    "bread replaced": lambda world: "white bread" in _text(world.notes / "groceries.txt"),
    "shop written": lambda world: "two lemons" in _text(world.notes / "shop.txt"),
    "remembers hiking": lambda world: "hiking" in _text(world.folder / _MEMORY),
    "loan added": lambda world: ("Ruth",) in world.rows("select reader from loans"),
    "films made": lambda world: ("films",) in world.rows("select name from sqlite_master"),
    "taxes made": lambda world: (world.notes / "taxes").is_dir(),
    "calls written": lambda world: "call the dentist" in _text(world.notes / "calls.txt"),
    "file archived": lambda world: (world.notes / "archive.txt").exists(),
    "remembers Ruth": lambda world: "Ruth" in _text(world.folder / _MEMORY),
    "winter branch": lambda world: "winter" in world.git("branch"),
    "plan finished": lambda world: "Finish the plan" in world.git("log", "--format=%s"),
    "seeds noted": lambda world: "order beans" in _text(world.vault / "seeds.md"),
    "forgot Rex": lambda world: "Rex" not in _text(world.folder / _MEMORY),
    "garden made": lambda world: (world.notes / "garden").is_dir(),
    "cat written": lambda world: "feed the cat" in _text(world.notes / "cat.txt"),
    "shopping renamed": lambda world: (world.notes / "shopping.txt").exists(),
    "milk swapped": lambda world: "soy milk" in _text(world.notes / "groceries.txt"),
    "remembers bones": lambda world: "bones" in _text(world.folder / _MEMORY),
    "remembers Oslo": lambda world: "Oslo" in _text(world.folder / _MEMORY),
    "forgot Tom": lambda world: "Tom" not in _text(world.folder / _MEMORY),
    "remembers owns": lambda world: "owns" in _text(world.folder / _MEMORY),
    "forgot barks": lambda world: "barks" not in _text(world.folder / _MEMORY),
    "plan written": lambda world: "Write the plan" in world.git("log", "--format=%s"),
    "nothing staged": lambda world: not world.git("diff", "--cached", "--name-only"),
    "on draft": lambda world: "draft" in world.git("branch", "--show-current"),
    "spring branch": lambda world: "spring" in world.git("branch"),
    "Emma deleted": lambda world: ("Emma",) not in world.rows("select title from books"),
    "Dracula updated": lambda world: (500,) in world.rows("select pages from books"),
    "herbs noted": lambda world: "plant more thyme" in _text(world.vault / "herbs.md"),
    "plants edited": lambda world: "water daily" in _text(world.vault / "plants.md"),
}


# --- the run


@dataclass
class Result:
    said: str
    wanted: tuple[str, ...]
    called: list[str] = field(default_factory=list)
    reply: str = ""
    right_tool: bool = False
    useful: bool = False
    split: str = "seen"
    seconds: float = 0.0


def ask(asked: Asked, program: Program, world: World) -> Result:
    world.make()
    places = {"notes": world.notes, "repo": world.repository, "web": f"http://127.0.0.1:{world.port}"}
    said = asked.said.format_map(places)
    result = Result(asked.said, asked.tools, split=asked.split)
    before, began_s = program.chosen(), time.monotonic()
    try:
        result.reply = program.say(said)
    except urllib.error.HTTPError as error:
        result.reply = str(error)
    result.seconds = round(time.monotonic() - began_s, 1)
    result.called = [name for name, count in program.chosen().items() if count > before.get(name, 0)]
    result.useful = asked.is_useful(result.reply, world)
    is_called = bool(set(result.called) & set(asked.tools))
    result.right_tool = is_called or ("own" in asked.tools and result.useful)
    return result


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("folder", type=Path, help="where the servers are installed")
    parser.add_argument("--install", action="store_true", help="install those that are missing there")
    parser.add_argument(
        "--only", default="", metavar="WORDS", help="sentences with these words, or of this split, alone"
    )
    parser.add_argument("--sentences", type=Path, default=_SENTENCES, metavar="FILE", help="those of another file")
    parser.add_argument("--json", type=Path, metavar="FILE", help="keep the figures there")
    arguments = parser.parse_args()
    if arguments.install:
        install(arguments.folder)
    with made_world(arguments.folder.resolve()) as world, tempfile.TemporaryDirectory() as user:
        servers = commands(arguments.folder.resolve(), world)
        program = Program(Path(user) / "user")
        add_servers(program, servers, world)
        wanted = [asked for asked in sentences(arguments.sentences) if asked.tools[0].partition("_")[0] in servers]
        results = []
        with program.serving():
            for asked in wanted:
                if arguments.only in f"{asked.said} {asked.split}":
                    results.append(ask(asked, program, world))
                    _report(results[-1], world)
    right, useful = (sum(getattr(result, what) for result in results) for what in ("right_tool", "useful"))
    figures = {
        "machine": describe(),
        "servers": sorted(servers),
        "sentences": len(results),
        "right_tool": right,
        "useful": useful,
        **{split: _counts(results, split) for split in SPLITS},
        "wrong": [
            {key: value for key, value in asdict(result).items() if key != "reply"}
            for result in results
            if not (result.right_tool and result.useful)
        ],
    }
    text = json.dumps(figures, indent=1)
    print(text)
    if arguments.json:
        arguments.json.write_text(text + "\n", encoding="utf-8")
    is_kept = right >= TOOL_BAR * len(results) and useful >= ANSWER_BAR * len(results)
    return 0 if is_kept else 1


def _counts(results: list[Result], split: str) -> dict[str, int]:
    these = [result for result in results if result.split == split]
    right, useful = sum(result.right_tool for result in these), sum(result.useful for result in these)
    return {"sentences": len(these), "right_tool": right, "useful": useful}


def add_servers(program: Program, servers: dict[str, list[str]], world: World) -> None:
    """As a user adds them; the memory server has its file beside the others."""
    for name, command in servers.items():
        if name == "memory":
            command = ["env", f"MEMORY_FILE_PATH={world.folder / _MEMORY}", *command]
        program.run("mcp", "add", "--yes", name, "--", *command)


def _report(result: Result, world: World) -> None:
    marks = f"{'tool' if result.right_tool else '    '} {'useful' if result.useful else '      '}"
    reply = " ".join(result.reply.replace(str(world.folder), "…").split())
    print(f"{marks} {result.seconds:5.1f} s  {result.said} > {result.called} > {reply[:200]}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
