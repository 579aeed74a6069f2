"""Power cuts that lose writes which were not synced: `python -m benchmarks.unsynced_writes --cuts 300`.

Two programs run once each under strace: that of benchmarks/power_cut.py, which uses the stores, and `edgevox run
--text` with its model. strace records every change of a file and every fsync, in their order, with what was
acknowledged between them. From that record the folder is built again as a file system may leave it when the power
fails at some moment. POSIX promises nothing about what was not synced, so such writes are there, or not, or torn, or
zeros; new names and renames are there or not, and synced files may have lost their names. Each such folder is opened
by the program's own stores: everything acknowledged before the cut must be in it.

It needs strace. At the end, the record without losses must be equal to the folder that is really there, which shows
that no change was missed. The one exception are SQLite's `-shm` files, which are written through memory and built anew.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import TypeAlias

from benchmarks.hardware import describe
from benchmarks.power_cut import check_state, read_acknowledged
from edgevox.agents.memory_file import MemoryFile
from edgevox.core.types import JsonObject
from edgevox.home.alarms.alarms import ALARMS_FILE, Alarms
from edgevox.home.alarms.timers import TIMERS_FILE, Timers
from edgevox.home.backends.demo import HOME_FILE, DemoHome

_CALLS = (
    "open,openat,creat,write,pwrite64,writev,pwritev,lseek,ftruncate,truncate,fallocate,copy_file_range,sendfile,"
    "rename,renameat,renameat2,unlink,unlinkat,mkdir,mkdirat,rmdir,link,linkat,fsync,fdatasync,syncfs,sync"
)
_SECTOR_BYTES = 512
_NOT_MODELLED = ("-shm",)
_RUNS_WITHIN_S = 900.0
_ROUND = "traced"

Pick: TypeAlias = Callable[[int], list[int]]
"""Which of so many changes that were not synced have reached the disk: their numbers, in order."""


@dataclass
class Node:
    """A file or folder: its changes in order, each with its number in the record, and when it was synced."""

    is_folder: bool
    changes: list[tuple[int, Change]] = field(default_factory=list)
    synced: list[int] = field(default_factory=list)

    def durable(self, cut: int) -> tuple[list[Change], list[Change]]:
        """The changes up to the cut: those that were synced, and those that were not."""
        synced = max((at for at in self.synced if at <= cut), default=-1)
        done = [(at, change) for at, change in self.changes if at <= cut]
        return [change for at, change in done if at < synced], [change for at, change in done if at >= synced]


@dataclass(frozen=True, slots=True)
class Write:
    offset: int
    content: bytes


@dataclass(frozen=True, slots=True)
class Truncate:
    size: int


@dataclass(frozen=True, slots=True)
class Names:
    """Names of a folder that appear, or disappear, together."""

    entries: tuple[tuple[str, Node | None], ...]


Change: TypeAlias = Write | Truncate | Names


class Record:
    """The changes below one folder, as strace tells them, and what was acknowledged between them."""

    def __init__(self, root: Path) -> None:
        self.root_node = Node(is_folder=True)
        self.acknowledged: list[tuple[int, str]] = []
        self.length = 0
        self._root = PurePosixPath(root)
        self._positions: dict[str, int] = {}
        """By descriptor and path, as strace writes them."""
        self._appending: set[str] = set()
        self._begun_line = ""

    def acknowledge(self, arguments: str) -> None:
        """What the program printed."""
        self.length += 1
        printed = b"".join(_strings(arguments)).decode(errors="replace")
        *lines, self._begun_line = (self._begun_line + printed).split("\n")
        self.acknowledged += [(self.length, line) for line in lines]

    def take(self, call: str, arguments: str, result: str) -> None:
        """One call that succeeded."""
        self.length += 1
        strings = _strings(arguments)
        paths = [_decoded(text).decode() for text in re.findall(r"<((?:\\x[0-9a-f]{2})+)>", arguments)]
        names = [text.decode(errors="replace") for text in strings]
        descriptor = arguments.partition(">")[0]
        match call:
            case "open" | "openat" | "creat":
                self._open(names[0], arguments, result)
            case "write" | "writev":
                content = b"".join(strings)[: int(result)]
                offset = self._size(paths[0]) if descriptor in self._appending else self._positions.get(descriptor, 0)
                self._change(paths[0], Write(offset, content))
                self._positions[descriptor] = offset + len(content)
            case "pwrite64":
                self._change(paths[0], Write(int(arguments.rsplit(", ", 1)[1]), strings[0][: int(result)]))
            case "lseek":
                self._positions[descriptor] = int(result)
            case "ftruncate":
                self._change(paths[0], Truncate(int(arguments.rsplit(", ", 1)[1])))
            case "fsync" | "fdatasync":
                if node := self._node(paths[0]):
                    node.synced.append(self.length)
            case "rename" | "renameat" | "renameat2":
                self._rename(names[0], names[1])
            case "unlink" | "unlinkat" | "rmdir":
                self._name(names[0], None)
            case "mkdir" | "mkdirat":
                self._name(names[0], Node(is_folder=True))
            case _:
                touched = [path for path in (*paths, *names) if self._parts(path)]
                assert not touched, f"{call} of {touched} is not modelled"

    def _open(self, path: str, arguments: str, result: str) -> None:
        if not self._parts(path):
            return
        written = "".join(f"\\x{letter:02x}" for letter in path.encode())
        descriptor = f"{result}<{written}"
        self._positions[descriptor] = 0
        (self._appending.add if "O_APPEND" in arguments else self._appending.discard)(descriptor)
        node = self._node(path)
        if node is None and "O_CREAT" in arguments:
            self._name(path, Node(is_folder=False))
        elif node is not None and "O_TRUNC" in arguments:
            self._change(path, Truncate(0))

    def _size(self, path: str) -> int:
        node = self._node(path)
        return len(file_content([change for _at, change in node.changes])) if node else 0

    def _change(self, path: str, change: Change) -> None:
        if node := self._node(path):
            node.changes.append((self.length, change))

    def _name(self, path: str, node: Node | None) -> None:
        if parts := self._parts(path):
            parent = self._node(str(self._root.joinpath(*parts[:-1])))
            assert parent is not None, path
            parent.changes.append((self.length, Names(((parts[-1], node),))))

    def _rename(self, old: str, new: str) -> None:
        if not (parts := self._parts(old)):
            return
        node, to = self._node(old), self._parts(new)
        parent = self._node(str(self._root.joinpath(*parts[:-1])))
        assert parent is not None
        assert to[:-1] == parts[:-1], f"{old} changes its folder, which is not modelled"
        parent.changes.append((self.length, Names(((parts[-1], None), (to[-1], node)))))

    def _node(self, path: str) -> Node | None:
        """The node that the running program sees under this path."""
        if path == str(self._root):
            return self.root_node
        node: Node | None = self.root_node
        for part in self._parts(path) or ("",):
            node = folder_content([change for _at, change in node.changes]).get(part) if node else None
        return node

    def _parts(self, path: str) -> tuple[str, ...]:
        """The path below the folder; empty for all else."""
        place = PurePosixPath(path)
        return place.relative_to(self._root).parts if place.is_relative_to(self._root) else ()


def _strings(arguments: str) -> list[bytes]:
    return [_decoded(text) for text in re.findall(r'"((?:\\x[0-9a-f]{2})*)"', arguments)]


def _decoded(text: str) -> bytes:
    return bytes.fromhex(text.replace("\\x", ""))


def file_content(changes: list[Change]) -> bytes:
    content = bytearray()
    for change in changes:
        match change:
            case Write(offset=offset, content=written):
                content.extend(bytes(max(0, offset - len(content))))
                content[offset : offset + len(written)] = written
            case Truncate(size=size):
                content.extend(bytes(max(0, size - len(content))))
                del content[size:]
            case Names():
                raise AssertionError("a file has no names")
    return bytes(content)


def folder_content(changes: list[Change]) -> dict[str, Node]:
    entries: dict[str, Node] = {}
    for change in changes:
        assert isinstance(change, Names)
        for name, node in change.entries:
            if node is None:
                entries.pop(name, None)
            else:
                entries[name] = node
    return entries


# --- the record


def read_trace(lines: Iterator[str], root: Path) -> Record:
    """The calls that succeeded, in the order in which they returned."""
    record = Record(root)
    begun: dict[str, str] = {}
    program = ""
    for line in lines:
        pid, _, text = line.rstrip("\n").partition(" ")
        program = program or pid
        text = text.strip()
        if text.endswith("<unfinished ...>"):
            begun[pid] = text.removesuffix("<unfinished ...>").rstrip()
            continue
        if text.startswith("<... "):
            text = begun.pop(pid) + text.partition(" resumed>")[2]
        if found := re.fullmatch(r"(\w+)\((.*)\)\s+= (\d+).*", text):
            call, arguments, result = found.groups()
            if call == "write" and arguments.startswith("1<"):
                if pid == program:  # its children print, too
                    record.acknowledge(arguments)
            else:
                record.take(call, arguments, result)
    return record


@dataclass(frozen=True, slots=True)
class Workload:
    """A program that writes below a folder, and prints a line for each finished write."""

    words: tuple[str, ...]
    stdin: str
    check: Callable[[Path, list[str]], None]
    """Raises AssertionError where a folder misses something that these lines acknowledged."""

    def run(self, folder: Path, *before: str) -> None:
        own = {f"EDGEVOX_{name}_DIR": str(folder / name.lower()) for name in ("STATE", "CONFIG", "RUNTIME")}
        words = [word.format(folder=folder) for word in self.words]
        command = [*before, sys.executable, "-m", *words]
        subprocess.run(
            command,
            input=self.stdin,
            text=True,
            check=True,
            stdout=subprocess.DEVNULL,
            env=dict(os.environ) | own,
            timeout=_RUNS_WITHIN_S,
        )


def record_work(workload: Workload, folder: Path) -> Record:
    """Run it under strace to its end."""
    strace = shutil.which("strace")
    if strace is None:
        raise SystemExit("strace is not installed: sudo apt-get install strace")
    with tempfile.NamedTemporaryFile(mode="r", suffix=".strace", encoding="ascii") as trace:
        options = ("-f", "--seccomp-bpf", "-y", "-xx", "-s", "134217728", "-e", f"trace={_CALLS}", "-o", trace.name)
        workload.run(folder, strace, *options)
        record = read_trace(iter(trace), folder)
    assert_complete(record, folder)
    workload.check(folder, [line for _at, line in record.acknowledged])
    return record


def assert_complete(record: Record, folder: Path) -> None:
    """Without losses, the record is what is really there."""
    with tempfile.TemporaryDirectory() as place:
        build(record.root_node, Path(place), record.length, keep_all)
        recorded, real = (_files(Path(path)) for path in (place, folder))
    wrong = {name for name in recorded.keys() | real.keys() if recorded.get(name) != real.get(name)}
    assert not wrong, f"the record misses changes of {sorted(wrong)}"


def _files(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file() and not path.name.endswith(_NOT_MODELLED))
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


# --- what is left after a cut


@dataclass(frozen=True, slots=True)
class Loss:
    """How a cut treats changes of names and of contents that were not synced."""

    names: Pick
    contents: Pick
    tear: Callable[[Write], list[Write]] = lambda write: [write]


def keep_all_numbers(count: int) -> list[int]:
    return list(range(count))


def keep_none(_count: int) -> list[int]:
    return []


keep_all = Loss(keep_all_numbers, keep_all_numbers)


def losses(rng: random.Random) -> dict[str, Loss]:
    def prefix(count: int) -> list[int]:
        return list(range(rng.randint(0, count)))

    def some(count: int) -> list[int]:
        return [number for number in range(count) if rng.random() < 0.5]

    def tear(write: Write) -> list[Write]:
        """Sectors that arrived, were lost, or are zeros where the file had already grown."""
        parts = []
        for start in range(0, len(write.content), _SECTOR_BYTES):
            sector = write.content[start : start + _SECTOR_BYTES]
            if (luck := rng.random()) < 0.8:
                parts.append(Write(write.offset + start, sector if luck < 0.6 else bytes(len(sector))))
        return parts

    return {
        "all that was not synced is lost": Loss(keep_none, keep_none),
        "names are there, contents are lost": Loss(keep_all_numbers, keep_none),
        "contents are there, names are lost": Loss(keep_none, keep_all_numbers),
        "written in order up to some moment": Loss(prefix, prefix),
        "written in any order": Loss(some, some),
        "written in any order, torn": Loss(some, some, tear),
        "nothing is lost": keep_all,
    }


def build(node: Node, place: Path, cut: int, loss: Loss) -> None:
    """Make the file or folder as it is found after the cut."""
    durable, pending = node.durable(cut)
    kept = [pending[number] for number in (loss.names if node.is_folder else loss.contents)(len(pending))]
    if not node.is_folder:
        torn = [part for change in kept for part in (loss.tear(change) if isinstance(change, Write) else [change])]
        place.write_bytes(file_content([*durable, *torn]))
        place.chmod(0o600)
        return
    place.mkdir(mode=0o700, exist_ok=True)
    for name, entry in folder_content([*durable, *kept]).items():
        build(entry, place / name, cut, loss)


def check_cut(workload: Workload, record: Record, cut: int, loss: Loss) -> None:
    """Open what a cut leaves. Raises AssertionError where something acknowledged is not in it."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "root"
        build(record.root_node, folder, cut, loss)
        workload.check(folder, [line for at, line in record.acknowledged if at <= cut])


# --- the programs


def _check_stores(folder: Path, lines: list[str]) -> None:
    check_state(folder, _ROUND, read_acknowledged(lines))


# What is said, and what is then to be found. Each is answered with one line.
_SAID = (
    ("Add apples to the shopping list.", "apples"),
    ("Set a pasta timer for ten minutes.", "pasta"),
    ("Remind me in two hours to call mum.", "call mum"),
    ("Turn on the kitchen light.", None),
    ("Add butter to the shopping list.", "butter"),
    ("Set a pizza timer for twenty minutes.", "pizza"),
    ("Remind me in three hours to feed the cat.", "feed the cat"),
    ("Add rice to the shopping list.", "rice"),
    ("Turn off the kitchen light.", None),
    ("Set a tea timer for thirty minutes.", "tea"),
    ("Add cheese to the shopping list.", "cheese"),
    ("Remind me in five hours to water the plants.", "water the plants"),
)


def _check_program(folder: Path, lines: list[str]) -> None:
    state = folder / "state"
    found = {item.text for item in asyncio.run(DemoHome(path=state / HOME_FILE).items("todo.shopping_list"))}
    found |= {timer.name for timer in Timers(time.time, state / TIMERS_FILE).all()}
    found |= {alarm.label for alarm in Alarms(time.time, state / ALARMS_FILE).all()}
    lost = [wanted for _text, wanted in _SAID[: len(lines)] if wanted and wanted not in found]
    assert not lost, f"lost: {lost}"
    memory = MemoryFile.open(state)
    try:
        # A turn is stored just after its answer.
        assert memory.count() >= len(lines) - 1, f"{memory.count()} stored turns after {len(lines)} answers"
        assert memory.set_aside is None
    finally:
        memory.close()
    damaged = [path.name for path in folder.rglob("*.damaged-*")]
    assert not damaged, f"set aside: {damaged}"


WORKLOADS = {
    "stores": Workload(("benchmarks.power_cut", "--work", "{folder}", _ROUND), "", _check_stores),
    "program": Workload(
        ("edgevox", "run", "--text", "--no-speech"), "".join(f"{text}\n" for text, _wanted in _SAID), _check_program
    ),
}


def cut_often(workload: Workload, cuts: int, rng: random.Random) -> JsonObject:
    """Record the program, and check what is left of it after so many cuts at random moments."""
    kinds = losses(rng)
    problems: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        record = record_work(workload, Path(folder))
    # The first acknowledged write is late in the calls of a program that starts.
    first = record.acknowledged[0][0]
    for number in range(cuts):
        name = tuple(kinds)[number % len(kinds)]
        cut = rng.randint(first if number % 4 else 0, record.length)
        try:
            check_cut(workload, record, cut, kinds[name])
        except AssertionError as problem:
            problems.append(f"cut at {cut} of {record.length}, {name}: {problem}")
    acknowledged = len(record.acknowledged)
    return {"calls": record.length, "acknowledged_writes": acknowledged, "cuts": cuts, "problems": problems}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--cuts", type=int, default=300)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--json", type=Path, default=None)
    args = parser.parse_args()
    seed = args.seed if args.seed is not None else random.SystemRandom().getrandbits(32)
    print(f"{describe()}\nseed {seed}")
    rng = random.Random(seed)
    results = {name: cut_often(workload, args.cuts, rng) for name, workload in WORKLOADS.items()}
    for name, result in results.items():
        print(f"{name}: {json.dumps(result)}")
    if args.json:
        facts = {"hardware": describe(), "seed": seed, **results}
        args.json.write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")
    return 1 if any(result["problems"] for result in results.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
