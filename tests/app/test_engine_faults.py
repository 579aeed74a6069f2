"""The real engines, each killed and hung in the middle of a conversation."""

from __future__ import annotations

import asyncio
import signal

import numpy as np
import pytest

from edgevox.app.runtime import AssistantRuntime
from edgevox.audio.dsp import Resampler
from edgevox.config import Settings, load_settings
from edgevox.core.events import EngineChanged, EngineName, Event, TurnEnded
from edgevox.core.files import Folders
from edgevox.core.types import SAMPLE_RATE_HZ
from edgevox.models import ModelStore
from tests.app.conversation import ProcessSessionFactory, happenings
from tests.app.harness import running_service
from tests.app.test_faults import WITHIN_S, struck
from tests.cli.command import TALKING_PRESET
from tests.dialogue.sounds import silent

pytestmark = [pytest.mark.engine, pytest.mark.usefixtures("_models")]

BOUND_S = 280.0
QUESTION = "Tell me a little story about a fox, please."


@pytest.fixture
def _models(smollm2_path: object, piper_voice_path: object, whisper_base_dir: object) -> None:
    """The models are there."""


class RealSessionFactory(ProcessSessionFactory):
    """The same room with the real engines."""

    def __init__(self, folders: Folders, store: ModelStore) -> None:
        super().__init__(folders, speed=1.0)
        self._store = store

    def settings(self) -> Settings:
        flags = {"preset": TALKING_PRESET, "tools.enabled": False, "llm.max_tokens": 80}
        return load_settings(self.folders, flags=flags, environ={})

    def runtime(self, settings: Settings) -> AssistantRuntime:
        return AssistantRuntime(settings, self.folders, self._store, ("llm", "stt", "tts"))


@pytest.mark.long
async def test_each_engine_is_back_in_time_and_the_talk_goes_on(folders: Folders, store: ModelStore) -> None:
    factory = RealSessionFactory(folders, store)
    took: dict[str, float] = {}
    async with running_service(factory, within_s=BOUND_S) as service:
        assert service.session is not None
        spoken = await service.session.runtime.voice().sound_of(QUESTION)
        resampler = Resampler(spoken.rate_hz, SAMPLE_RATE_HZ)
        question = np.concatenate([resampler.feed(spoken.samples), resampler.finish(), silent(2.5)])

        def let_go(event: Event) -> None:
            if isinstance(event, TurnEnded):
                factory.room.played.clear()  # what is played after it is no part of the turn

        with happenings(service) as seen, service.session.runtime.bus.listening(let_go):
            for how in (signal.SIGKILL, signal.SIGSTOP):
                names: tuple[EngineName, ...] = ("llm", "stt", "tts")
                for name in names:
                    striking = asyncio.create_task(struck(service, seen, name, how))
                    await asyncio.sleep(0)
                    factory.room.say(question)
                    ended = await seen.next(TurnEnded)
                    took[f"{name} {how.name}"] = round(await striking, 1)
                    detail = next(e.detail for e in reversed(seen.of(EngineChanged)) if e.state == "restarting")
                    # Between two sentences an engine has nothing to lose; test_faults strikes where it is at work.
                    assert ended.outcome == "failed" or name == "stt" or "idle" in detail, (ended, detail)
                    if ended.outcome == "failed":
                        async with asyncio.timeout(WITHIN_S):
                            while not factory.room.played:  # noqa: ASYNC110  (no event reports an apology)
                                await asyncio.sleep(0.05)
            factory.room.say(question)
            assert (await seen.next(TurnEnded)).outcome == "answered"
    print(f"seconds until the engine was back and the turn over: {took}")
    assert max(took.values()) < WITHIN_S, took
