"""MCP servers that others have published, and what people ask of them: `python -m benchmarks.public_mcp_servers FOLDER`.

FOLDER has the servers, each in an environment of its own; `--install` installs those that are missing there from the
package indexes. They are added with `edgevox mcp add`, started by `edgevox serve`, and each sentence is said over the
chat API. The tool is right if one that serves the sentence was called, or if the assistant's own answer is right. An
answer is useful if it has what was asked for, or if what was asked for has happened.
"""

from __future__ import annotations

import argparse
import http.server
import json
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

from benchmarks.hardware import describe
from benchmarks.served_program import Program

TOOL_BAR, ANSWER_BAR = 0.9, 0.75
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
}
_PAGES = {
    "/news": "The old lighthouse reopens on Sunday after two years of repairs.",
    "/menu": "Today: lentil soup, then pancakes with plums.",
    "/hours": "The library is open from nine to six, on Saturdays until noon.",
    "/robots.txt": "User-agent: *\nAllow: /",
}


# --- the servers


def install(folder: Path) -> None:
    """Install what is missing: npm packages and Python environments."""
    for package in _NPM.values():
        if not _npm_program(folder, package).exists():
            there = folder / "npm" / package
            there.mkdir(parents=True, exist_ok=True)
            name = f"@modelcontextprotocol/{package}"
            subprocess.run(["npm", "install", "--no-audit", "--no-fund", "--prefix", there, name], check=True)
    for package, *needed in _PYPI.values():
        if not _python_program(folder, package).exists():
            there = folder / "py" / package
            subprocess.run([sys.executable, "-m", "venv", there], check=True)
            subprocess.run([there / "bin" / "python", "-m", "pip", "install", "-q", package, *needed], check=True)


def _npm_program(folder: Path, package: str) -> Path:
    return folder / "npm" / package / "node_modules" / ".bin" / f"mcp-{package}"


def _python_program(folder: Path, package: str) -> Path:
    return folder / "py" / package / "bin" / package


def commands(folder: Path, world: World) -> dict[str, list[str]]:
    """The command of each server that is installed."""
    more = {
        "files": [str(world.notes)],
        "sqlite": ["--db-path", str(world.database)],
        "git": ["--repository", str(world.repository)],
        "fetch": ["--ignore-robots-txt"],
    }
    programs = {name: _npm_program(folder, package) for name, package in _NPM.items()}
    programs |= {name: _python_program(folder, package) for name, (package, *_) in _PYPI.items()}
    return {name: [str(path), *more.get(name, ())] for name, path in programs.items() if path.exists()}


# --- what they serve


@dataclass(frozen=True, slots=True)
class World:
    """Notes, a repository, a database and web pages that the sentences are about."""

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

    def make(self) -> None:
        (self.notes / "recipes").mkdir(parents=True)
        files = {
            "groceries.txt": "oat milk\nrye bread\n",
            "todo.md": "- call the plumber\n- water the basil\n",
            "old.txt": "nothing of interest\n",
            "recipes/pancakes.txt": "three eggs, flour, milk\n",
        }
        for name, text in files.items():
            (self.notes / name).write_text(text, encoding="utf-8")
        self.repository.mkdir()
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
            database.execute("create table books (title text, author text, pages integer)")
            database.execute("create table loans (title text, reader text)")
            rows = [("Emma", "Jane Austen", 474), ("Dracula", "Bram Stoker", 418), ("Persuasion", "Jane Austen", 249)]
            database.executemany("insert into books values (?, ?, ?)", rows)
        database.close()

    def git(self, *words: str) -> str:
        who = ("-c", "user.name=Anna", "-c", "user.email=anna@example.org")
        done = subprocess.run(["git", "-C", self.repository, *who, *words], capture_output=True, text=True, check=True)
        return done.stdout


class _Pages(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        text = _PAGES.get(self.path)
        self.send_response(200 if text else 404)
        self.send_header("Content-Type", "text/plain; charset=utf-8")
        self.end_headers()
        self.wfile.write((text or "there is no such page").encode())

    def log_message(self, format: str, *args: object) -> None:
        """Not on the terminal."""


@contextmanager
def made_world() -> Iterator[World]:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Pages)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    folder = Path(tempfile.mkdtemp(prefix="mcp-"))
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


def happened(test: Callable[[World], bool]) -> Check:
    return lambda _reply, world: test(world)


@dataclass(frozen=True, slots=True)
class Asked:
    said: str
    tools: tuple[str, ...]
    """Those that serve it; with "own" also the assistant's own"""
    is_useful: Check


def sentences() -> list[Asked]:
    """What people ask; {notes}, {repo} and {web} are addresses."""
    rows: list[tuple[str, str, Check]] = [
        ("list the files in {notes}", "files_list_directory files_list_directory_with_sizes files_directory_tree", has("groceries")),
        ("what does {notes}/groceries.txt say", "files_read_text_file files_read_file", has("oat milk")),
        ("read me the file {notes}/todo.md", "files_read_text_file files_read_file", has("plumber")),
        ("show me the first line of the file {notes}/todo.md", "files_read_text_file files_read_file", has("plumber")),
        ("create a folder {notes}/holiday", "files_create_directory", happened(lambda world: (world.notes / "holiday").is_dir())),
        ("write hello world to the file {notes}/hello.txt", "files_write_file",
         happened(lambda world: "hello world" in _text(world.notes / "hello.txt"))),
        ("how big is the file {notes}/todo.md", "files_get_file_info files_list_directory_with_sizes", has("38")),
        ("search {notes} for files called pancakes.txt", "files_search_files", has("pancakes")),
        ("show me the directory tree of {notes}", "files_directory_tree", has("pancakes")),
        ("rename {notes}/old.txt to {notes}/new.txt", "files_move_file", happened(lambda world: (world.notes / "new.txt").exists())),
        ("which directories are you allowed to access", "files_list_allowed_directories", has("notes")),
        ("list {notes} with the sizes of the files", "files_list_directory_with_sizes files_list_directory", has("groceries")),
        ("read the knowledge graph", "memory_read_graph", has("tom")),
        ("what do you have in the knowledge graph", "memory_read_graph memory_search_nodes", has("tom")),
        ("search the knowledge graph for Tom", "memory_search_nodes memory_open_nodes", has("coffee")),
        ("search my knowledge graph nodes for coffee", "memory_search_nodes", has("tom")),
        ("open the node Tom in the knowledge graph", "memory_open_nodes memory_search_nodes", has("coffee")),
        ("create an entity called Bella of type dog in the knowledge graph", "memory_create_entities", _remembers("Bella")),
        ("add the observation plays chess to the entity Tom", "memory_add_observations", _remembers("chess")),
        ("delete the entity Rex from the knowledge graph", "memory_delete_entities", _forgot("Rex")),
        ("echo good morning everybody", "everything_echo", has("good morning everybody")),
        ("use echo to say the door is open", "everything_echo", has("door is open")),
        ("what is the sum of 17 and 25", "everything_get_sum calculator_calculate own", has("42|forty-two")),
        ("get the sum of 3.5 and 4", "everything_get_sum calculator_calculate own", has("7.5|seven and a half|seven point five")),
        ("show me the environment variables of the server", "everything_get_env", has("path")),
        ("give me 5 resource links", "everything_get_resource_links", has("resource")),
        ("get the structured content for Chicago", "everything_get_structured_content", has("chicago|light rain|drizzle|degrees|36")),
        ("show an annotated message of the type success", "everything_get_annotated_message", has("success|completed")),
        ("run a long running operation of 2 seconds in 2 steps", "everything_trigger_long_running_operation", has("complete")),
        ("think about this step: we should compare the prices first", "thinking_sequentialthinking", has("thought|1")),
        ("what time is it in Tokyo", "time_get_current_time own", is_now("Asia/Tokyo")),
        ("current time in New York please", "time_get_current_time own", is_now("America/New_York")),
        ("tell me the time in Sydney right now", "time_get_current_time own", is_now("Australia/Sydney")),
        ("get the current time in the timezone Europe/Lisbon", "time_get_current_time own", is_now("Europe/Lisbon")),
        ("convert 15:00 from London to Tokyo time", "time_convert_time own", has("00:00|0:00|23:00|midnight|11 pm")),
        ("if it's 09:30 in Berlin what time is it in Los Angeles", "time_convert_time own", has("00:30|0:30|12:30")),
        ("convert the time 18:00 from Europe/Paris to Asia/Singapore", "time_convert_time own", has("01:00|00:00|1:00|1 am")),
        ("fetch {web}/news", "fetch_fetch", has("lighthouse")),
        ("what does the page {web}/menu say", "fetch_fetch", has("lentil")),
        ("get me the contents of {web}/hours", "fetch_fetch", has("nine to six")),
        ("read me the website {web}/news", "fetch_fetch", has("lighthouse")),
        ("fetch the url {web}/menu please", "fetch_fetch", has("lentil")),
        ("what's the git status of {repo}", "git_git_status", has("notes.txt|plan.txt|branch")),
        ("show me the last commits in {repo}", "git_git_log", has("first notes")),
        ("show the git log of {repo}", "git_git_log", has("first notes")),
        ("which branches are there in {repo}", "git_git_branch", has("draft")),
        ("what changes in {repo} are not staged yet", "git_git_diff_unstaged git_git_status git_git_diff", has("second line|notes.txt")),
        ("show the changes in {repo} that are staged for commit", "git_git_diff_staged git_git_status", has("plan")),
        ("create a branch called holiday in {repo}", "git_git_create_branch", happened(lambda world: "holiday" in world.git("branch"))),
        ("stage the file notes.txt in {repo}", "git_git_add",
         happened(lambda world: "notes.txt" in world.git("diff", "--cached", "--name-only"))),
        ("commit the staged changes in {repo} with the message Add my plan", "git_git_commit",
         happened(lambda world: "Add my plan" in world.git("log", "--format=%s"))),
        ("show the commit HEAD in {repo}", "git_git_show", has("notes")),
        ("list the tables in the database", "sqlite_list_tables", has("books")),
        ("which tables does the SQLite database have", "sqlite_list_tables", has("books")),
        ("describe the table books", "sqlite_describe_table", has("author")),
        ("run the query SELECT title FROM books", "sqlite_read_query", has("dracula")),
        ("execute this SELECT query: SELECT author FROM books WHERE title = 'Emma'", "sqlite_read_query", has("austen")),
        ("calculate 12 * (3 + 4)", "calculator_calculate own", has("84|eighty-four")),
        ("evaluate the expression 2**10", "calculator_calculate own", has("1024|1,024")),
        ("calculate 3.5 * 18", "calculator_calculate own", has("63|sixty-three")),
        ("what is 144 divided by 12", "calculator_calculate own", has("12|twelve")),
    ]  # fmt: skip
    return [Asked(said, tuple(tools.split()), check) for said, tools, check in rows]


_MEMORY = "memory.jsonl"
_KNOWN = (
    {"type": "entity", "name": "Tom", "entityType": "person", "observations": ["drinks coffee"]},
    {"type": "entity", "name": "Rex", "entityType": "dog", "observations": ["barks"]},
)


def _remembers(word: str) -> Check:
    return happened(lambda world: word in _text(world.folder / _MEMORY))


def _forgot(word: str) -> Check:
    return happened(lambda world: word not in _text(world.folder / _MEMORY))


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.exists() else ""


# --- the run


@dataclass
class Result:
    said: str
    wanted: tuple[str, ...]
    called: list[str] = field(default_factory=list)
    reply: str = ""
    right_tool: bool = False
    useful: bool = False
    seconds: float = 0.0


def ask(asked: Asked, program: Program, world: World) -> Result:
    places = {"notes": world.notes, "repo": world.repository, "web": f"http://127.0.0.1:{world.port}"}
    said = asked.said.format_map(places)
    result = Result(asked.said, asked.tools)
    before, began_s = program.chosen(), time.monotonic()
    result.reply = program.say(said)
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
    parser.add_argument("--only", default="", metavar="WORDS", help="sentences with these words alone")
    parser.add_argument("--json", type=Path, metavar="FILE", help="keep the figures there")
    arguments = parser.parse_args()
    if arguments.install:
        install(arguments.folder)
    with made_world() as world, tempfile.TemporaryDirectory() as user:
        servers = commands(arguments.folder.resolve(), world)
        program = Program(Path(user) / "user")
        add_servers(program, servers, world)
        program.start()
        try:
            wanted = [asked for asked in sentences() if asked.tools[0].partition("_")[0] in servers]
            results = []
            for asked in wanted:
                if arguments.only in asked.said:
                    results.append(ask(asked, program, world))
                    _report(results[-1], world)
        finally:
            program.stop()
    figures = {
        "machine": describe(),
        "servers": sorted(servers),
        "sentences": len(results),
        "right_tool": sum(result.right_tool for result in results),
        "useful": sum(result.useful for result in results),
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
    is_kept = figures["right_tool"] >= TOOL_BAR * len(results) and figures["useful"] >= ANSWER_BAR * len(results)
    return 0 if is_kept else 1


def add_servers(program: Program, servers: dict[str, list[str]], world: World) -> None:
    """As a user adds them; the memory server has its file beside the others."""
    (world.folder / _MEMORY).write_text("\n".join(map(json.dumps, _KNOWN)) + "\n", encoding="utf-8")
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
