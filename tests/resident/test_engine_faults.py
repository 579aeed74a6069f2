"""The real engines, each killed and hung in the middle of a conversation."""

from __future__ import annotations

import asyncio
import signal

import numpy as np
import pytest

from edgevox.audio.resample import Resampler
from edgevox.daemon import Daemon
from edgevox.events import EngineName, Event, TurnEnded
from edgevox.folders import Folders
from edgevox.modelstore import ModelStore
from edgevox.settings import Settings, load_settings
from edgevox.types import WHISPER_RATE_HZ
from tests.cli.command import TALKING_PRESET
from tests.resident.scripted import living
from tests.resident.talking import ProcessTrade, happenings
from tests.resident.test_faults import WITHIN_S, struck
from tests.voice.sounds import silent

pytestmark = [pytest.mark.engine, pytest.mark.usefixtures("_models")]

BOUND_S = 280.0
QUESTION = "Tell me a little story about a fox, please."


@pytest.fixture
def _models(smollm2_path: object, piper_voice_path: object, whisper_base_dir: object) -> None:
    """The models are there."""


class RealTrade(ProcessTrade):
    """The same room with the real engines."""

    def __init__(self, folders: Folders, store: ModelStore) -> None:
        super().__init__(folders, speed=1.0)
        self._store = store

    def settings(self) -> Settings:
        flags = {"preset": TALKING_PRESET, "tools.enabled": False, "llm.max_tokens": 80}
        return load_settings(self.folders, flags=flags, environ={})

    def daemon(self, settings: Settings) -> Daemon:
        return Daemon(settings, self.folders, self._store, ("llama", "whisper", "piper"))


@pytest.mark.long
async def test_each_engine_is_back_in_time_and_the_talk_goes_on(folders: Folders, store: ModelStore) -> None:
    trade = RealTrade(folders, store)
    took: dict[str, float] = {}
    async with living(trade, within_s=BOUND_S) as resident:
        assert resident.session is not None
        spoken = await resident.session.daemon.voice().sound_of(QUESTION)
        resampler = Resampler(spoken.rate_hz, WHISPER_RATE_HZ)
        question = np.concatenate([resampler.feed(spoken.samples), resampler.finish(), silent(2.5)])

        def let_go(event: Event) -> None:
            if isinstance(event, TurnEnded):
                trade.room.played.clear()  # what is played after it is no part of the turn

        with happenings(resident) as seen, resident.session.daemon.bus.listening(let_go):
            for how in (signal.SIGKILL, signal.SIGSTOP):
                names: tuple[EngineName, ...] = ("llama", "whisper", "piper")
                for name in names:
                    striking = asyncio.create_task(struck(resident, seen, name, how))
                    await asyncio.sleep(0)
                    trade.room.say(question)
                    ended = await seen.next(TurnEnded)
                    took[f"{name} {how.name}"] = round(await striking, 1)
                    assert ended.outcome == "failed" or name == "whisper", ended
                    if ended.outcome == "failed":
                        async with asyncio.timeout(WITHIN_S):
                            while not trade.room.played:  # noqa: ASYNC110  (nobody tells of an apology)
                                await asyncio.sleep(0.05)
            trade.room.say(question)
            assert (await seen.next(TurnEnded)).outcome == "answered"
    print(f"seconds until the engine was back and the turn over: {took}")
    assert max(took.values()) < WITHIN_S, took
