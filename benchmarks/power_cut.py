"""Kills a program that writes state at random moments: `python -m benchmarks.power_cut --rounds 200`.

A process starts timers, sets reminders, watches a door, adds to a list, enrols people, mutes satellites, changes a
setting and stores turns, and says after each which one is done: that is the moment at which a user hears "done". It is
killed with SIGKILL, with its process group, at a random moment. Then everything that it said must be there, every file
must be readable, and nothing may have been set aside as damaged. The next round starts with the files of this one.

SIGKILL loses nothing that the kernel has; a real power cut also loses what was not synced:
benchmarks/unsynced_writes.py does that.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import select
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import TypeAlias

import numpy as np

from benchmarks.hardware import describe
from edgevox.agents.conversation import TurnRecord
from edgevox.agents.memory_file import MemoryFile
from edgevox.config import load_settings
from edgevox.config.toml_file import update_config_file
from edgevox.core.files import Folders
from edgevox.core.state_file import StateFile
from edgevox.core.types import Message
from edgevox.home.alarms.alarms import ALARMS_FILE, Alarms
from edgevox.home.alarms.timers import TIMERS_FILE, Timers
from edgevox.home.alarms.watches import WATCHES_FILE, Condition, Watches
from edgevox.home.backends.local_lists import LISTS_FILE, ItemLists, Line
from edgevox.satellites.hub import MUTED_FILE, SatelliteHub
from edgevox.speakers.people import PEOPLE_FILE, People

LIST = "todo.shopping_list"
_LONGEST_S = 0.4
_DEADLINE_S = 30.0
_KEPT = 40  # of each kind, so that the files do not grow from round to round


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
                return {timer.name for timer in self.timers.all()}
            case "reminder":
                return {alarm.label for alarm in self.alarms.all()}
            case "item":
                return {item.text for item in self.lists.read().lists.get(LIST, [])}
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


def one_round(folder: Path, round_name: str, rng: random.Random) -> Counter[str]:
    """Start, kill and check; return the number of acknowledged writes by kind. Raises AssertionError."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.setsid()
        try:
            work(folder, round_name, writing)
            signal.pause()
        finally:
            os._exit(1)
    os.close(writing)
    with os.fdopen(reading, "rb", buffering=0) as pipe:
        assert select.select([pipe], [], [], _DEADLINE_S)[0], "it does not start"
        time.sleep(rng.uniform(0.0, _LONGEST_S))
        os.killpg(child, signal.SIGKILL)
        _pid, status = os.waitpid(child, 0)
        assert os.WTERMSIG(status) == signal.SIGKILL, "it ended by itself"
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
    """Raises AssertionError where something acknowledged is lost, or a file is damaged."""
    state = State(folder, round_name)
    try:
        for kind, numbers in acknowledged.items():
            if kind in _REPLACED:  # the next may have been under way
                last = max(map(int, numbers), default=0)
                lost = {str(last)} if last and not state.found(kind) & {str(last), str(last + 1)} else set()
            else:
                lost = numbers - state.found(kind)
            assert not lost, f"lost: {kind} {sorted(lost)}"
        damaged = [path.name for path in folder.rglob("*.damaged-*")]
        assert not damaged, f"set aside: {damaged}"
        assert state.memory.set_aside is None
    finally:
        state.memory.close()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--json", type=Path, default=None)
    parser.add_argument("--work", nargs=2, metavar=("FOLDER", "ROUND"), help="only write, for unsynced_writes")
    args = parser.parse_args()
    if args.work:
        work(Path(args.work[0]), args.work[1], sys.stdout.fileno())
        return 0
    seed = args.seed if args.seed is not None else random.SystemRandom().getrandbits(32)
    print(f"{describe()}\nseed {seed}")
    rng = random.Random(seed)
    total: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        for number in range(args.rounds):
            try:
                total += one_round(Path(folder), f"round {number}", rng)
            except AssertionError as problem:
                print(f"round {number}: {problem}")
                return 1
    counted = ", ".join(f"{total[kind]} of kind {kind}" for kind in KINDS)
    print(f"{args.rounds} kills, {total.total()} acknowledged writes ({counted}): none lost, all started")
    if args.json:
        facts = {
            "hardware": describe(),
            "kills": args.rounds,
            "acknowledged_writes": dict(total),
            "lost_writes": 0,
            "failed_starts": 0,
            "damaged_files": 0,
        }
        args.json.write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
