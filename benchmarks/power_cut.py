"""Kills a program that writes state at random moments: `python -m benchmarks.power_cut --rounds 200`.

A process starts timers, sets reminders, watches a door, adds to a list, enrols people, mutes satellites, changes a
setting and stores turns, and says after each which one is done: that is the moment at which a user hears "done". It is
killed with SIGKILL, with its process group, at a random moment. Then everything that it said must be there, every file
must be readable, and nothing may have been set aside as damaged. The next round starts with the files of this one.
With `--writer serve` it is `edgevox serve` with its language model, which gets the writes over HTTP.

SIGKILL loses nothing that the kernel has; a real power cut also loses what was not synced:
benchmarks/unsynced_writes.py does that.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import select
import signal
import sys
import tempfile
import time
import urllib.request
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, TypeAlias

import numpy as np

from benchmarks.hardware import describe
from edgevox.agents.conversation import TurnRecord
from edgevox.agents.memory_file import MemoryFile
from edgevox.config import load_settings
from edgevox.config.toml_file import update_config_file
from edgevox.core.files import Folders
from edgevox.core.state_file import StateFile
from edgevox.core.types import JsonObject, Message
from edgevox.home.alarms.alarms import ALARMS_FILE, Alarms
from edgevox.home.alarms.timers import TIMERS_FILE, Timers
from edgevox.home.alarms.watches import WATCHES_FILE, Condition, Watches
from edgevox.home.backends.demo import HOME_FILE, DemoHome
from edgevox.home.backends.local_lists import LISTS_FILE, ItemLists, Line
from edgevox.satellites.hub import MUTED_FILE, SatelliteHub
from edgevox.server.http.tokens import page_token, token_file
from edgevox.speakers.people import PEOPLE_FILE, People
from edgevox.testing.serve import edgevox_serve
from tests.soak.processes import family

LIST = "todo.shopping_list"
_DEADLINE_S = 60.0
_KEPT = 40  # of each kind, so that the files do not grow from round to round


class Problem(AssertionError):
    """What a kill has broken, as counted in the result."""

    counted_as: ClassVar[str]


class NotStarted(Problem):
    counted_as = "failed_starts"


class WritesLost(Problem):
    counted_as = "lost_writes"


class FileDamaged(Problem):
    counted_as = "damaged_files"


_PROBLEMS = (WritesLost, NotStarted, FileDamaged)


class State:
    """The files of an assistant."""

    def __init__(self, folder: Path, round_name: str) -> None:
        self._round = round_name
        self.folders = Folders(folder / "config", folder / "state", folder / "models", folder / "run")
        self.timers = Timers(time.time, self.folders.state / TIMERS_FILE)
        self.alarms = Alarms(time.time, self.folders.state / ALARMS_FILE)
        self.lists = StateFile(self.folders.state / LISTS_FILE, ItemLists)
        self.watches = Watches(time.time, self.folders.state / WATCHES_FILE)
        self.people = People(self.folders.state / PEOPLE_FILE)
        self.satellites = SatelliteHub(self.folders.state / MUTED_FILE)
        self.memory = MemoryFile.open(self.folders.state)

    def clear(self) -> None:
        """Delete what earlier rounds wrote, by the usual ways."""
        self.timers.cancel(*self.timers.all())
        self.alarms.cancel(*self.alarms.all())
        with self.lists.changing() as content:
            content.lists[LIST] = []
        self.watches.cancel(*self.watches.all())
        for number in range(_KEPT):
            if self.satellites.is_muted(str(number)):
                self.satellites.mute(str(number), is_muted=False)

    def write(self, kind: str, number: int) -> None:
        match kind:
            case "timer":
                self.timers.start(3600, name=str(number))
            case "reminder":
                self.alarms.set_in("reminder", 3600.0, label=str(number))
            case "item":
                with self.lists.changing() as content:
                    content.lists[LIST].append(Line(text=str(number)))
            case "watch":
                condition = Condition(entity_ids=("lock.door",), state="open", phrase=str(number), fact=str(number))
                self.watches.add("tell", condition, "", is_repeating=False, is_met=False)
            case "person":
                self.people.add("Ada", [np.array([number], np.float32)])
            case "satellite":
                self.satellites.mute(str(number), is_muted=True)
            case "setting":
                update_config_file(self.folders.config_file, "audio", {"hangover_ms": 400 + number})
            case "turn":
                words = (Message("user", "hello"), Message("assistant", "hi"))
                self.memory.add(TurnRecord(f"{self._round} {number}", "default", time.time(), "text", "stop", words))

    def found(self, kind: str) -> set[str]:
        match kind:
            case "timer":
                return {_number(timer.name) for timer in self.timers.all()}
            case "reminder":
                return {_number(alarm.label) for alarm in self.alarms.all()}
            case "item":
                of_home = asyncio.run(DemoHome(self.folders.state / HOME_FILE).items(LIST))
                own = self.lists.read().lists.get(LIST, [])
                return {_number(text) for text in (*(line.text for line in own), *(item.text for item in of_home))}
            case "watch":
                return {watch.condition.phrase for watch in self.watches.all()}
            case "person":
                ada = self.people.find("Ada")
                return {str(int(ada.embeddings[0][0]))} if ada else set()
            case "satellite":
                return {str(number) for number in range(_KEPT) if self.satellites.is_muted(str(number))}
            case "setting":
                return {str(load_settings(self.folders, environ={}).audio.hangover_ms - 400)}
            case _:
                kept = self.memory.surviving([f"{self._round} {number}" for number in range(_KEPT)])
                return {turn_id.removeprefix(f"{self._round} ") for turn_id in kept}


def _number(name: str) -> str:
    """Of "pasta 3"."""
    return name.rpartition(" ")[2]


KINDS = ("timer", "reminder", "item", "watch", "person", "satellite", "setting", "turn")
# Each replaces the one before.
_REPLACED = ("person", "setting")
Acknowledged: TypeAlias = dict[str, set[str]]
"""The numbers that were acknowledged, by kind."""


def work(folder: Path, round_name: str, said: int) -> None:
    """Write all numbers of all kinds; each finished write is one line."""
    state = State(folder, round_name)
    state.clear()
    os.write(said, b"begun 0\n")
    for number in range(1, _KEPT):
        for kind in KINDS:
            state.write(kind, number)
            os.write(said, f"{kind} {number}\n".encode())


def serve_work(folder: Path, round_name: str, said: int) -> None:
    """The same with `edgevox serve`: each write is a call of a tool over HTTP, done when it is answered."""
    state = State(folder, round_name)
    state.clear()
    DemoHome(state.folders.state / HOME_FILE).set_facts(LIST, {"items": ()})
    state.memory.close()
    places = {"STATE": state.folders.state, "CONFIG": state.folders.config, "RUNTIME": state.folders.runtime}
    env = dict(os.environ) | {f"EDGEVOX_{name}_DIR": str(path) for name, path in places.items()}
    with edgevox_serve(env, "--no-audio") as server:
        headers = {
            "Authorization": f"Bearer {page_token(token_file(state.folders))}",
            "Content-Type": "application/json",
        }
        os.write(said, b"begun 0\n")
        for number in range(1, _KEPT):
            calls: dict[str, JsonObject] = {
                "timer": {"name": "start_timer", "arguments": {"seconds": 3600, "name": f"pasta {number}"}},
                "reminder": {"name": "set_reminder", "arguments": {"task": f"cat {number}", "time": "in two hours"}},
                "item": {"name": "shopping_list_add_item", "arguments": {"item": f"soap {number}"}},
            }
            for kind, call in calls.items():
                body = json.dumps(call).encode()
                request = urllib.request.Request(f"{server.address}/v1/tools/call", data=body, headers=headers)
                with urllib.request.urlopen(request, timeout=_DEADLINE_S) as answer:
                    assert not json.load(answer)["is_error"], call
                os.write(said, f"{kind} {number}\n".encode())


@dataclass(frozen=True, slots=True)
class Writer:
    """A program that says which kinds of writes are done; it is killed within `longest_s` after its first line."""

    work: Callable[[Path, str, int], None]
    kinds: tuple[str, ...]
    longest_s: float


WRITERS = {"stores": Writer(work, KINDS, 0.4), "serve": Writer(serve_work, ("timer", "reminder", "item"), 1.5)}


def one_round(writer: Writer, folder: Path, round_name: str, rng: random.Random) -> Counter[str]:
    """Start, kill and check; return the number of acknowledged writes by kind. Raises Problem."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.setsid()
        try:
            writer.work(folder, round_name, writing)
            signal.pause()
        finally:
            os._exit(1)
    os.close(writing)
    with os.fdopen(reading, "rb", buffering=0) as pipe:
        is_silent = not select.select([pipe], [], [], _DEADLINE_S)[0]
        if not is_silent:
            time.sleep(rng.uniform(0.0, writer.longest_s))
        # Engines have sessions of their own.
        for pid in family(child):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        _pid, status = os.waitpid(child, 0)
        if is_silent or os.WTERMSIG(status) != signal.SIGKILL:
            raise NotStarted("it does not start" if is_silent else "it ended by itself")
        lines = pipe.readall().decode().splitlines()
    acknowledged = read_acknowledged(lines)
    check_state(folder, round_name, acknowledged)
    return Counter({kind: len(numbers) for kind, numbers in acknowledged.items()})


def read_acknowledged(lines: Iterable[str]) -> Acknowledged:
    acknowledged: Acknowledged = {kind: set() for kind in KINDS}
    for line in lines:
        kind, number = line.split()
        if kind in acknowledged:
            acknowledged[kind].add(number)
    return acknowledged


def check_state(folder: Path, round_name: str, acknowledged: Acknowledged) -> None:
    """Raises WritesLost where something acknowledged is lost, and FileDamaged."""
    state = State(folder, round_name)
    try:
        for kind, numbers in acknowledged.items():
            if kind in _REPLACED:  # the next may have been under way
                last = max(map(int, numbers), default=0)
                lost = {str(last)} if last and not state.found(kind) & {str(last), str(last + 1)} else set()
            else:
                lost = numbers - state.found(kind)
            if lost:
                raise WritesLost(f"lost: {kind} {sorted(lost)}")
        damaged = [path.name for path in folder.rglob("*.damaged-*")]
        if damaged or state.memory.set_aside is not None:
            raise FileDamaged(f"set aside: {damaged}")
    finally:
        state.memory.close()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--json", type=Path, default=None)
    parser.add_argument("--writer", choices=tuple(WRITERS), default="stores", help="the stores, or `edgevox serve`")
    parser.add_argument("--work", nargs=2, metavar=("FOLDER", "ROUND"), help="only write, for unsynced_writes")
    args = parser.parse_args()
    if args.work:
        WRITERS[args.writer].work(Path(args.work[0]), args.work[1], sys.stdout.fileno())
        return 0
    seed = args.seed if args.seed is not None else random.SystemRandom().getrandbits(32)
    print(f"{describe()}\nseed {seed}")
    rng = random.Random(seed)
    writer = WRITERS[args.writer]
    total: Counter[str] = Counter()
    problems: Counter[str] = Counter()
    starts = 0
    folder = ""
    with ExitStack() as places:
        for number in range(args.rounds):
            # After a problem, what it has broken would be found again in each round.
            folder = folder or places.enter_context(tempfile.TemporaryDirectory())
            try:
                total += one_round(writer, Path(folder), f"round {number}", rng)
                starts += 1
            except Problem as problem:
                starts += not isinstance(problem, NotStarted)
                print(f"round {number}: {problem}")
                problems[problem.counted_as] += 1
                folder = ""
    counted = ", ".join(f"{total[kind]} of kind {kind}" for kind in writer.kinds)
    outcome = ", ".join(f"{problems[kind.counted_as]} {kind.counted_as}" for kind in _PROBLEMS).replace("_", " ")
    print(f"{args.rounds} kills, {starts} starts, {total.total()} acknowledged writes ({counted}): {outcome}")
    if args.json:
        facts = {
            "hardware": describe(),
            "seed": seed,
            "writer": args.writer,
            "kills": args.rounds,
            "starts": starts,
            "acknowledged_writes": dict(total),
            **{kind.counted_as: problems[kind.counted_as] for kind in _PROBLEMS},
        }
        args.json.write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
