"""The speculative reply with the default models: the user pauses until it is ready, and then goes on."""

from __future__ import annotations

import asyncio
import difflib
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from pathlib import Path

import numpy as np
import pytest

from edgevox.app.runtime import AssistantRuntime
from edgevox.audio.vad import BLOCK_SAMPLES
from edgevox.config import load_settings
from edgevox.core.events import EndpointReached, Event, ToolStarted, TurnEnded, TurnEvent, TurnStarted
from edgevox.core.files import Folders
from edgevox.core.types import SAMPLE_RATE_HZ, Audio
from edgevox.home.entities import House
from edgevox.models import ModelStore
from edgevox.testing import MemorySpeaker
from tests.audio.sounds import Samples, espeak, silence

pytestmark = pytest.mark.engine

BOUND_S = 180
# Of the letters: a recogniser may write a word of them differently.
ALIKE = 0.6
# Longer than the pause behind half a sentence.
LONG_PAUSE_S = 1.5
_POLL_S = 0.01


@pytest.fixture
async def runtime(
    folders: Folders, store: ModelStore, smollm2_path: Path, piper_voice_path: Path, whisper_base_dir: Path
) -> AsyncIterator[AssistantRuntime]:
    settings = load_settings(folders, flags={"sounds.chimes": False}, environ={})
    runtime = AssistantRuntime(settings, folders, store, ["llm", "tts", "stt"])
    store.ensure(runtime.models.needed())
    async with runtime:
        yield runtime


class Thinker:
    """A user at a live microphone, who speaks, pauses until the reply is ready, and goes on.

    Nothing is real time: a pause is as long in blocks as it has to be, however slow the machine is.
    """

    live = True
    dropped_samples = 0
    delay_s = 0.0

    def __init__(self, runtime: AssistantRuntime, first: Samples, second: Samples) -> None:
        self._runtime = runtime
        self._first = first
        self._second = second
        self.speaker = MemorySpeaker()
        self.loop = runtime.voice_loop(self, self.speaker)
        self.events: list[Event] = []
        self._answered = asyncio.Event()
        self.house_at_first = self.house
        self.dropped_turn = ""

    async def speak(self) -> None:
        with self._runtime.bus.listening(self._note):
            async with asyncio.timeout(BOUND_S):
                await self.loop.run()

    async def frames(self) -> AsyncGenerator[Audio, None]:
        for block in _blocks(silence(0.5), self._first):
            yield block
        for block in _blocks(silence(LONG_PAUSE_S)):
            yield block
            if await self._is_answer_ready():
                break
        assert self.dropped_turn, "no reply was begun in the pause"
        assert not [event for event in self.events if isinstance(event, TurnEvent)]
        assert not self.speaker.played
        assert self.house == self.house_at_first
        for block in _blocks(self._second, silence(LONG_PAUSE_S)):
            yield block
        await self._answered.wait()

    def of(self, kind: type[TurnEvent]) -> list[TurnEvent]:
        return [event for event in self.events if isinstance(event, kind)]

    @property
    def house(self) -> House:
        assert self._runtime.home_context.toolbox is not None
        return self._runtime.home_context.toolbox.home.house()

    async def _is_answer_ready(self) -> bool:
        early = self.loop._speculative
        if early is None:
            return False
        await early.transcript()
        if self.loop.pipeline._speculative_reply is None:
            return False
        while not early.turn.gate.is_waited_at:  # noqa: ASYNC110  (a state without an event)
            await asyncio.sleep(_POLL_S)
        self.dropped_turn = early.turn.id
        return True

    def _note(self, event: Event) -> None:
        self.events.append(event)
        if isinstance(event, TurnEnded):
            self._answered.set()


def _blocks(*sounds: Samples) -> Iterator[Audio]:
    samples = np.concatenate(sounds)
    hiss = np.random.default_rng(7).standard_normal(len(samples)).astype(np.float32) * 1e-4
    for start in range(0, len(samples) - BLOCK_SAMPLES + 1, BLOCK_SAMPLES):
        yield Audio((samples + hiss)[start : start + BLOCK_SAMPLES], SAMPLE_RATE_HZ)


@pytest.mark.long
@pytest.mark.parametrize(
    ("first", "second"),
    [
        pytest.param("Turn on the light in the kitchen.", "And the light in the bedroom.", id="a call waits"),
        pytest.param("Good evening to you.", "What can you do for me?", id="a sound waits"),
    ],
)
async def test_resumed_speech_gets_one_answer_and_no_early_action(
    runtime: AssistantRuntime, tmp_path: Path, first: str, second: str
) -> None:
    person = Thinker(runtime, espeak(first, tmp_path), espeak(second, tmp_path))
    await person.speak()

    assert len(person.of(TurnStarted)) == 1
    (endpoint,) = person.of(EndpointReached)
    assert all(started.at_s >= endpoint.at_s for started in person.of(ToolStarted))
    turns = {event.turn_id for event in person.events if isinstance(event, TurnEvent)}
    assert len(turns) == 1
    assert person.dropped_turn not in turns

    record = runtime.records.last
    assert record is not None
    assert record.outcome == "answered"
    assert record.reply
    likeness = difflib.SequenceMatcher(None, record.heard.lower(), f"{first} {second}".lower()).ratio()
    assert likeness > ALIKE
    messages = runtime.conversation().messages()
    assert [message.content for message in messages if message.role == "user"] == [record.heard]
