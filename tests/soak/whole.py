"""A soak of the whole program: `python -m tests.soak --minutes 120`.

Mixed load (tests/soak/load.py) and faults (tests/soak/program_faults.py) on `edgevox run` with its real engines.
The result is written every minute, so that a run that is cut off leaves what it found. SIGTERM ends the run early, with
all checks.
"""

from __future__ import annotations

import asyncio
import datetime as dt
import json
import os
import random
import re
import signal
import tempfile
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

from benchmarks.hardware import describe
from benchmarks.idle import processor_s_of_each
from edgevox.app.control.client import request
from edgevox.app.control.protocol import Ask
from edgevox.core.errors import EdgevoxError
from edgevox.core.metrics import FILE_NAME
from edgevox.core.state_file import StateFile
from edgevox.core.types import JsonObject
from edgevox.home.backends.local_lists import LISTS_FILE, ItemLists
from tests.soak.journal import ENGINES, STARVED, Journal
from tests.soak.load import Load
from tests.soak.processes import LEAST_MB_PER_H, SHARE_PER_H, ProcessSample, judge_lives, sample_family
from tests.soak.program import Program, running_program
from tests.soak.program_faults import ProgramFaults

_SAMPLE_EVERY_S = 30.0
_SAVE_EVERY_S = 60.0
# The longest timer rings, the last answers come, and what was broken last is whole again.
_SETTLE_S = 90.0
_INTERRUPTED = 130


class WholeSoak:
    def __init__(self, program: Program, minutes: float, seed: int, result_file: Path | None) -> None:
        self.journal = Journal(program.folders.state)
        self._program = program
        self._run_s = 60 * minutes
        self._seed = seed
        self._load = Load(program, self.journal, random.Random(seed))
        self._faults = ProgramFaults(program, self.journal, random.Random(seed + 1), self._run_s)
        self._result_file = result_file
        self._begun_at = dt.datetime.now(dt.UTC).isoformat(timespec="seconds")
        self._program_share = 0.0
        self._others_s = 0.0
        self._sampled_s = 0.0
        self._complaints: list[str] = []

    async def run(self) -> JsonObject:
        background = [
            asyncio.create_task(work)
            for work in (self.journal.watch(self._program.folders.runtime), self._sample(), self._save())
        ]
        use = [asyncio.create_task(work) for work in (self._load.run(), self._faults.run())]
        early_end = asyncio.Event()
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, early_end.set)
        ending = asyncio.create_task(early_end.wait())
        try:
            tasks = (*background, *use, ending)
            ended, _running = await asyncio.wait(tasks, timeout=self._run_s, return_when=asyncio.FIRST_COMPLETED)
            for task in ended:
                task.result()  # of the others none ends by itself: this raises
            ending.cancel()
            await _cancel(use)
            await asyncio.sleep(_SETTLE_S)
            await self._check_answers()
        finally:
            await _cancel([*use, *background])
        exit_code = await asyncio.to_thread(self._program.stop)
        if exit_code not in (0, _INTERRUPTED):
            self._complaints.append(f"the program ended with {exit_code}")
        self._check_records()
        return self._write(is_complete=True)

    async def _check_answers(self) -> None:
        """It is all well again: a last question is answered."""
        try:
            async with (
                asyncio.timeout(120),
                request(self._program.folders.runtime, Ask(text="What time is it?")) as last,
            ):
                reply = (await last.done())["reply"]
        except (EdgevoxError, TimeoutError) as error:
            self._complaints.append(f"the last question: {type(error).__name__}: {error}")
        else:
            if not reply:
                self._complaints.append("the last question got no answer")

    def _check_records(self) -> None:
        """Every turn is recorded once, each timer rang, and each item is on the list."""
        ledger = self.journal.ledger
        ledger.collect()
        lost = ledger.begun - ledger.recorded.keys()
        self._complaints += [f"turn {turn} is not recorded" for turn in sorted(lost)]
        self._complaints += [f"turn {turn} is recorded {n} times" for turn, n in ledger.recorded.items() if n > 1]
        # While the disk is full, a record is written late, without its text, and the view cannot print. Events are
        # missed while the program starts its sessions anew.
        records = (self._program.folders.state / FILE_NAME).read_text(encoding="utf-8")
        view = self._program.log.read_text(encoding="utf-8", errors="replace")
        rung = rung_timers(records, view, *self.journal.ring_texts)
        self._complaints += [f"timer {name} did not ring" for name in sorted(self._load.timers - rung)]
        lists = StateFile(self._program.folders.state / LISTS_FILE, ItemLists).read().lists
        items = {line.text for lines in lists.values() for line in lines}
        self._complaints += [f"{item} is not on the list" for item in self._load.items if item not in items]
        damaged = [path.name for path in self._program.folders.state.rglob("*.damaged-*")]
        self._complaints += [f"set aside: {name}" for name in damaged]

    async def _sample(self) -> None:
        before_s, before_busy_s, at_s = processor_s_of_each(self._program.pid), _busy_s(), self.journal.now_s
        while True:
            if (exit_code := self._program.exit_code) is not None:
                self.journal.program_ended(exit_code)
                self._program.start()
                await self._program.wait_until_ready()
            self.journal.take_samples(sample_family(self._program.pid, self.journal.now_s))
            await asyncio.sleep(_SAMPLE_EVERY_S)
            now_s, busy_s, own_s = self.journal.now_s, _busy_s(), processor_s_of_each(self._program.pid)
            whole_s = (now_s - at_s) * (os.cpu_count() or 1)
            own = added_s(before_s, own_s)
            others_s = max(0.0, busy_s - before_busy_s - own)
            self._others_s += others_s
            self._sampled_s += whole_s
            self.journal.others_share = others_s / whole_s
            self._program_share = own / (now_s - at_s)
            before_s, before_busy_s, at_s = own_s, busy_s, now_s

    async def _save(self) -> None:
        while True:
            await asyncio.sleep(_SAVE_EVERY_S)
            result = self._write(is_complete=False)
            line = {
                "minute": round(self.journal.now_s / 60, 1),
                "program_share_of_a_core": round(self._program_share, 2),
            }
            line |= {name: result[name] for name in ("verdict", "turns", "others_share")}
            print(json.dumps(line), flush=True)

    def _result(self, *, is_complete: bool) -> JsonObject:
        journal = self.journal
        lives = judge_lives(journal.samples, warm_up_s=self._run_s / 8, min_life_s=self._run_s / 2)
        unexplained = journal.unexplained_restarts()
        tracebacks = self._program.log.read_text(encoding="utf-8", errors="replace").count("Traceback")
        is_flat = {"main", *ENGINES} <= {life["role"] for life in lives} and all(life["is_flat"] for life in lives)
        is_passed = is_complete and is_flat and not (unexplained or journal.errors or self._complaints or tracebacks)
        return {
            "hardware": describe(),
            "machine": "shared with other programs; others_share is their part of the processor time",
            "begun_at": self._begun_at,
            "seed": self._seed,
            "wanted_minutes": self._run_s / 60,
            "minutes": round(journal.now_s / 60, 1),
            "is_complete": is_complete,
            "verdict": {
                "is_passed": is_passed,
                "is_memory_flat": is_flat,
                "unexplained_restarts": len(unexplained),
                "restarts_on_a_starved_machine": sum(one.explained_by == STARVED for one in journal.restarts),
                "unexplained_errors": len(journal.errors),
                "complaints": len(self._complaints),
                "tracebacks": tracebacks,
            },
            "memory_bound": f"{SHARE_PER_H:.0%} of the process per hour, at least {LEAST_MB_PER_H} MB, "
            "for the lower 95 % limit of the Theil-Sen slope in the last two thirds of a life",
            "turns": journal.ledger.turns,
            "turn_outcomes": dict(journal.ledger.outcomes),
            "requests": dict(sorted(journal.outcomes.items())),
            "faults": dict(Counter(f"{fault.kind} {fault.target}".strip() for fault in journal.faults)),
            "explained_errors": dict(sorted(journal.explained_errors.items())),
            "slow_answers_on_a_busy_machine": dict(journal.slow_answers),
            "others_share": round(self._others_s / max(1.0, self._sampled_s), 2),
            "processes": lives,
            "unexplained_restarts": unexplained,
            "unexplained_errors": journal.errors,
            "complaints": self._complaints,
            "restarts": [asdict(restart) for restart in journal.restarts],
            "fault_log": [[fault.at_s, fault.until_s, fault.kind, fault.target] for fault in journal.faults],
        }

    def _write(self, *, is_complete: bool) -> JsonObject:
        result = self._result(is_complete=is_complete)
        if self._result_file:
            head = json.dumps(result, indent=1)
            rows = ",\n".join(f"  {json.dumps(sample.row())}" for sample in self.journal.samples)
            names = json.dumps(list(ProcessSample.__dataclass_fields__))
            text = f'{head[:-2]},\n "sample_fields": {names},\n "samples": [\n{rows}\n ]\n}}\n'
            self._result_file.write_text(text, encoding="utf-8")
        return result


async def soak_whole_program(minutes: float, seed: int, result_file: Path | None) -> JsonObject:
    folder = Path(tempfile.mkdtemp(prefix="edgevox-soak-"))
    print(f"files of the program: {folder}", flush=True)
    async with running_program(folder) as program:
        return await WholeSoak(program, minutes, seed, result_file).run()


def _busy_s() -> float:
    """Processor seconds of the whole machine that were not idle."""
    fields = [int(field) for field in Path("/proc/stat").read_text(encoding="ascii").split("\n")[0].split()[1:9]]
    return (sum(fields) - fields[3] - fields[4]) / os.sysconf("SC_CLK_TCK")


def rung_timers(*texts: str) -> set[str]:
    """The names of the timers of which these texts say that they are done."""
    return set(re.findall(r"The (soak \d+) timer is done", "\n".join(texts)))


def added_s(before_s: Mapping[int, float], after_s: Mapping[int, float]) -> float:
    """Processor seconds between two looks at the same family; a process that ended does not take the others' away."""
    return sum(max(0.0, now_s - before_s.get(pid, 0.0)) for pid, now_s in after_s.items())


async def _cancel(tasks: list[asyncio.Task[None]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
