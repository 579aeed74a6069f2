"""Simulated use for hours, faster than life, with things going wrong at random: what is left of it all?

The microphone, the loudspeaker and what the engines say are made up; their processes, the supervision, the
voice loop, the socket, the records, the memory and the settings are the real ones.
"""

from __future__ import annotations

import asyncio
import gc
import random
import threading
import time
from collections import Counter
from dataclasses import asdict, dataclass, field
from pathlib import Path

import numpy as np

from edgevox.app.service import AssistantService
from edgevox.core.files import Folders
from tests.app.harness import running_service
from tests.dialogue.sounds import silent, voiced
from tests.soak.faults import Faults
from tests.soak.ledger import Ledger
from tests.soak.room import BLOCK_S, SoakSessionFactory

SPEED = 25.0
WORK_S = 0.005
# A turn that takes longer than this hangs: an engine that does is replaced in 2 s and loaded in a few more.
TURN_WITHIN_S = 60.0
_FAULTS_PER_TURN = 0.4
_SILENCE_S = (2.0, 20.0)
_SAMPLE_EVERY_TURNS = 25
# Python and its libraries load things late; what is there by then is the measure.
WARM_AFTER_TURNS = 50


@dataclass
class Sample:
    """What the assistant's own process holds at one moment."""

    turns: int
    hours: float
    rss_mb: float
    descriptors: int
    threads: int
    tasks: int


@dataclass
class Result:
    turns: int = 0
    outcomes: dict[str, int] = field(default_factory=dict)
    faults: dict[str, int] = field(default_factory=dict)
    unheard: int = 0
    """What was said without a microphone, or lost in a fault before it was a turn."""
    simulated_hours: float = 0.0
    wall_s: float = 0.0
    longest_turn_s: float = 0.0
    """From the first word to the end of the turn, the faults in it included, on the wall clock."""
    complaints: list[str] = field(default_factory=list)
    samples: list[Sample] = field(default_factory=list)

    def as_json(self) -> dict[str, object]:
        return asdict(self)


async def soak(folder: Path, *, turns: int, within_s: float, seed: int = 1) -> Result:
    """Have so many turns, or as many as there is time for."""
    folders = Folders(folder / "config", folder / "state", folder / "models", folder / "run")
    ledger = Ledger(folders.state)
    factory = SoakSessionFactory(folders, ledger, work_s=WORK_S, speed=SPEED)
    result = Result()
    faults: Counter[str] = Counter()
    started_s = time.monotonic()
    async with running_service(factory, within_s=within_s + 2 * TURN_WITHIN_S) as service:
        chance = random.Random(seed)
        soaking = _Soak(factory, service, ledger, chance, result, faults)
        while ledger.turns < turns and time.monotonic() - started_s < within_s:
            await soaking.one_turn()
            if ledger.turns >= len(result.samples) * _SAMPLE_EVERY_TURNS:
                result.samples.append(_sample(factory, ledger))
        await soaking.settle()
        gc.collect()  # the last sample is what is really held
        result.samples.append(_sample(factory, ledger))
    ledger.collect()
    result.turns, result.outcomes, result.faults = ledger.turns, dict(ledger.outcomes), dict(faults)
    result.complaints = ledger.complaints()
    result.simulated_hours = round(factory.soak_room.blocks * BLOCK_S / 3600, 2)
    result.wall_s = round(time.monotonic() - started_s, 1)
    return result


class _Soak:
    def __init__(
        self,
        factory: SoakSessionFactory,
        service: AssistantService,
        ledger: Ledger,
        chance: random.Random,
        result: Result,
        counted: Counter[str],
    ) -> None:
        self._room = factory.soak_room
        self._ledger = ledger
        self._chance = chance
        self._result = result
        self._counted = counted
        self._faults = Faults(factory, service, ledger, chance)

    async def one_turn(self) -> None:
        """Injects a fault, maybe; says a sentence; waits for its answer or its failure."""
        undo = None
        if self._chance.random() < _FAULTS_PER_TURN:
            kind = self._chance.choice(tuple(self._faults.kinds))
            self._counted[kind] += 1
            async with asyncio.timeout(TURN_WITHIN_S):
                undo = await self._faults.kinds[kind]()
        before = self._ledger.turns + self._ledger.dropped
        speech_s = self._chance.uniform(0.5, 1.5)
        self._room.say(np.concatenate([voiced(speech_s), silent(self._chance.uniform(*_SILENCE_S))]))
        begun_s = time.monotonic()
        async with asyncio.timeout(TURN_WITHIN_S):
            if self._room.is_plugged_in:
                await self._until_answered(before)
                self._result.longest_turn_s = max(self._result.longest_turn_s, round(time.monotonic() - begun_s, 2))
            else:
                self._result.unheard += 1
                self._room.hush()
                await asyncio.sleep(self._chance.random())
            if undo is not None:
                await undo()
            self._ledger.on_event = lambda _event: None

    async def settle(self) -> None:
        """Wait until nothing is under way any more."""
        async with asyncio.timeout(TURN_WITHIN_S):
            while not self._ledger.is_quiet:
                await self._ledger.changed()

    async def _until_answered(self, before: int) -> None:
        while True:
            is_more = self._ledger.turns + self._ledger.dropped > before
            if self._room.is_silent and self._ledger.is_quiet:
                # The pause behind it was long: what is no turn by now is none.
                self._result.unheard += not is_more
                return
            try:
                async with asyncio.timeout(0.1):
                    await self._ledger.changed()
            except TimeoutError:
                continue


def _sample(factory: SoakSessionFactory, ledger: Ledger) -> Sample:
    status = Path("/proc/self/status").read_text(encoding="ascii")
    (rss,) = (line.split()[1] for line in status.splitlines() if line.startswith("VmRSS:"))
    return Sample(
        turns=ledger.turns,
        hours=round(factory.soak_room.blocks * BLOCK_S / 3600, 3),
        rss_mb=round(int(rss) / 1024, 1),
        descriptors=len(tuple(Path("/proc/self/fd").iterdir())),
        threads=threading.active_count(),
        tasks=len(asyncio.all_tasks()),
    )
