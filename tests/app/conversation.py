"""A room with an `AssistantService` whose engines are real processes."""

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

from edgevox.app.runtime import AssistantRuntime
from edgevox.app.service import AssistantService
from edgevox.audio.vad import BLOCK_SAMPLES
from edgevox.config import Settings, load_settings
from edgevox.core.events import EngineName, Event
from edgevox.core.files import Folders
from edgevox.core.languages import all_phrases
from edgevox.core.types import SAMPLE_RATE_HZ, Audio, Engine
from edgevox.engines import EngineLimits, SupervisedEngine
from edgevox.models import ModelStore, load_manifest
from tests.app.child_engines import RuleModel, RuleRecogniser, RuleVoice, seconds_of
from tests.app.harness import QuietRoom, ScriptedSessionFactory

E = TypeVar("E", bound=Event)

APOLOGY = all_phrases()["en"].error
_BLOCK_S = BLOCK_SAMPLES / SAMPLE_RATE_HZ
_LIMITS = EngineLimits(start_s=60, first_reply_s=60, next_reply_s=60)


class TalkingRoom(QuietRoom):
    """A microphone that hears the sentences that a test gives it; `speed` times as fast as life."""

    def __init__(self, *, speed: float = 4.0) -> None:
        super().__init__()
        self.speed = speed
        self.heard_blocks = 0
        self._due: deque[NDArray[np.float32]] = deque()

    def say(self, sound: NDArray[np.float32]) -> None:
        """Plays this sentence now, or behind the one that plays."""
        self._due.extend(
            sound[start : start + BLOCK_SAMPLES] for start in range(0, len(sound) - BLOCK_SAMPLES + 1, BLOCK_SAMPLES)
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
                yield Audio(samples, SAMPLE_RATE_HZ)
            else:
                yield Audio(np.zeros(BLOCK_SAMPLES, dtype=np.float32), SAMPLE_RATE_HZ)


class ProcessSessionFactory(ScriptedSessionFactory):
    """Makes sessions whose engines follow rules, each in a supervised process of its own."""

    def __init__(self, folders: Folders, *, work_s: float = 0.02, speed: float = 4.0) -> None:
        super().__init__(folders)
        self.room: TalkingRoom = TalkingRoom(speed=speed)
        self.work_s = work_s

    def settings(self) -> Settings:
        return load_settings(self.folders, flags={"tools.enabled": False}, environ={})

    def runtime(self, settings: Settings) -> AssistantRuntime:
        store = ModelStore(self.folders.models, load_manifest())
        runtime = AssistantRuntime(settings, self.folders, store, ("llm", "stt", "tts"))
        engines: dict[str, Engine[Any, Any]] = {
            "llm": RuleModel(self.work_s),
            "stt": RuleRecogniser(self.work_s),
            "tts": RuleVoice(2 * self.work_s),  # slower than the model: at work while the reply is played
        }
        for name, engine in engines.items():
            vars(runtime.engines)[name] = SupervisedEngine(name, engine, limits=_LIMITS, publish=runtime.bus.publish)
        return runtime


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
def happenings(service: AssistantService) -> Iterator[Happenings]:
    assert service.session is not None
    seen = Happenings()
    with service.session.runtime.bus.listening(seen.note):
        yield seen


def strike(service: AssistantService, engine: EngineName, how: signal.Signals) -> float:
    """Kill an engine's process, or stop it; when that was, on the monotonic clock."""
    assert service.session is not None
    pid = service.session.runtime.engines.pid(engine)
    assert pid is not None
    os.kill(pid, how)
    return time.monotonic()
