"""A room in which somebody talks to a resident whose engines are real processes."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections import deque
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from edgevox.audio.vad import BLOCK_SAMPLES
from edgevox.daemon import Daemon
from edgevox.engine import EngineLimits, SupervisedEngine
from edgevox.events import EngineName, Event
from edgevox.folders import Folders
from edgevox.modelstore import ModelStore, load_manifest
from edgevox.resident.resident import Resident
from edgevox.settings import Settings, load_settings
from edgevox.types import WHISPER_RATE_HZ, Audio, Engine
from edgevox.voice.apology import PHRASES
from tests.resident.scripted import QuietRoom, ScriptedTrade
from tests.resident.spoken_engines import RuleModel, RuleRecogniser, RuleVoice, seconds_of

E = TypeVar("E", bound=Event)

APOLOGY = PHRASES["en"]
_BLOCK_S = BLOCK_SAMPLES / WHISPER_RATE_HZ
_LIMITS = EngineLimits(start_s=60, first_reply_s=60, next_reply_s=60)


class TalkingRoom(QuietRoom):
    """A microphone in front of which somebody says what a test gives them; `speed` times as fast as life."""

    def __init__(self, *, speed: float = 4.0) -> None:
        super().__init__()
        self.speed = speed
        self.heard_blocks = 0
        self._due: deque[NDArray[np.float32]] = deque()

    def say(self, sound: NDArray[np.float32]) -> None:
        """Somebody says this now, or behind what they are saying."""
        self._due.extend(
            sound[start : start + BLOCK_SAMPLES]
            for start in range(0, len(sound) - BLOCK_SAMPLES + 1, BLOCK_SAMPLES)
        )

    def has_apologised(self) -> bool:
        """Whether the apology was heard since this was asked last."""
        played, self.played = self.played, []
        return any(abs(sound.duration_s - seconds_of(APOLOGY)) < 0.001 for sound in played)

    async def frames(self) -> AsyncGenerator[Audio, None]:
        due_s = time.monotonic()
        while True:
            due_s = max(due_s + _BLOCK_S / self.speed, time.monotonic() - 0.1)
            await asyncio.sleep(max(0.0, due_s - time.monotonic()))
            self.heard_blocks += 1
            samples = self._due.popleft() if self._due else np.zeros(BLOCK_SAMPLES, dtype=np.float32)
            if not self.is_muted:
                yield Audio(samples, WHISPER_RATE_HZ)
            else:
                yield Audio(np.zeros(BLOCK_SAMPLES, dtype=np.float32), WHISPER_RATE_HZ)


class ProcessTrade(ScriptedTrade):
    """Makes sessions whose engines follow rules, each in a supervised process of its own."""

    def __init__(self, folders: Folders, *, work_s: float = 0.02, speed: float = 4.0) -> None:
        super().__init__(folders)
        self.room: TalkingRoom = TalkingRoom(speed=speed)
        self.work_s = work_s

    def settings(self) -> Settings:
        return load_settings(self.folders, flags={"tools.enabled": False}, environ={})

    def daemon(self, settings: Settings) -> Daemon:
        store = ModelStore(self.folders.models, load_manifest())
        daemon = Daemon(settings, self.folders, store, ("llama", "whisper", "piper"))
        engines: dict[str, Engine[Any, Any]] = {
            "llama": RuleModel(self.work_s),
            "whisper": RuleRecogniser(self.work_s),
            "piper": RuleVoice(self.work_s),
        }
        for name, engine in engines.items():
            vars(daemon.engines)[name] = SupervisedEngine(
                name, engine, limits=_LIMITS, publish=daemon.bus.publish
            )
        return daemon


class Happenings:
    """The events of a session, to be waited for."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self._changed = asyncio.Event()

    def note(self, event: Event) -> None:
        self.events.append(event)
        self._changed.set()

    def of(self, kind: type[E]) -> list[E]:
        return [event for event in self.events if isinstance(event, kind)]

    async def until(self, is_so: Callable[[], bool]) -> None:
        while not is_so():
            self._changed.clear()
            await self._changed.wait()

    async def next(self, kind: type[E], is_it: Callable[[E], bool] = lambda _event: True) -> E:
        """The next event of a kind, from now on."""
        begun = len(self.events)

        def found() -> E | None:
            return next((e for e in self.events[begun:] if isinstance(e, kind) and is_it(e)), None)

        await self.until(lambda: found() is not None)
        event = found()
        assert event is not None
        return event


@contextmanager
def happenings(resident: Resident) -> Iterator[Happenings]:
    assert resident.session is not None
    seen = Happenings()
    with resident.session.daemon.bus.listening(seen.note):
        yield seen


def strike(resident: Resident, engine: EngineName, how: signal.Signals) -> float:
    """Kill an engine's process, or stop it; when that was, on the monotonic clock."""
    assert resident.session is not None
    pid = resident.session.daemon.engines.pid(engine)
    assert pid is not None
    os.kill(pid, how)
    return time.monotonic()
