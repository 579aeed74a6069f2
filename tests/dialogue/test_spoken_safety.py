"""On a real audio device: the question is heard on the loudspeaker, the answer is spoken to the microphone.

What the loudspeaker plays is mixed into the microphone, as it is in a room without echo cancellation.
"""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from edgevox.agents import LLMAgent
from edgevox.audio.endpointing import Endpointer
from edgevox.audio.files import read_audio, write_wav
from edgevox.audio.io.devices import rescan_devices
from edgevox.audio.io.microphone import Microphone
from edgevox.audio.io.speaker import Speaker
from edgevox.config import AudioSettings
from edgevox.core.events import (
    AnswerHeard,
    BuiltinCommandRun,
    Bus,
    ConfirmationDecided,
    Event,
    ModelStarted,
    TurnEnded,
    TurnStarted,
)
from edgevox.core.turn import CancelFlag
from edgevox.core.types import Audio, ChatModel, SynthesisRequest, TranscribeRequest, Transcript
from edgevox.dialogue import BuiltinCommands, ConfirmationDialog, Pipeline, Synthesizer, Transcriber, VoiceLoop
from edgevox.engines import SupervisedEngine
from edgevox.home import Alarms, DemoHome, Timers, home_names, home_tools
from edgevox.testing import NullSinks, ScriptedModel
from edgevox.tts.piper import PiperEngine
from tests.dialogue.stage import Ponderer

pytestmark = [pytest.mark.engine, pytest.mark.audio_device]

BOUND_S = 120.0
# From the end of "stop" to the end of the turn: the pause behind it, Whisper on a busy machine, the cancel.
STOPPED_WITHIN_S = 15.0
# One synthetic syllable is now and then written down as another ("star"): a person says it again, and longer.
STOPS = ("Stop.", "Please stop.", "Stop it.", "Stop talking.")
UNLOCK = {"name": "turn_off", "arguments": {"name": "front door"}}


@pytest.fixture
def room() -> Iterator[NullSinks]:
    """A microphone that hears the loudspeaker, both of them what PortAudio finds in this process."""
    with NullSinks() as sinks, pytest.MonkeyPatch.context() as patch:
        sinks.control("load-module", "module-loopback", "source=spk.monitor", "sink=micsink", "latency_msec=20")
        for name, value in sinks.environment.items():
            patch.setenv(name, value)
        rescan_devices()
        yield sinks
    rescan_devices()


@pytest.fixture
async def piper(piper_voice_path: Path) -> AsyncIterator[SupervisedEngine[SynthesisRequest, Audio]]:
    engine = SupervisedEngine("tts", PiperEngine(piper_voice_path))
    await engine.start()
    yield engine
    await engine.close()


class SpokenConversation:
    """The demo home, an assistant that listens in it, and a person who speaks to it."""

    def __init__(
        self,
        room: NullSinks,
        whisper: SupervisedEngine[TranscribeRequest, Transcript],
        piper: SupervisedEngine[SynthesisRequest, Audio],
        folder: Path,
    ) -> None:
        self.home = DemoHome()
        self.bus = Bus()
        self.events: list[Event] = []
        self.confirmation = ConfirmationDialog(self.bus.publish)
        self.transcriber = Transcriber(whisper, language="en", names=lambda: home_names(self.home.house()))
        self._room = room
        self._voice = Synthesizer(piper)
        self._folder = folder

    @asynccontextmanager
    async def listening(self, model: ChatModel) -> AsyncIterator[None]:
        alarms = Alarms(time.time)
        agent = LLMAgent(
            "test",
            tools=home_tools(self.home, Timers(time.time), alarms, now=alarms.now),
            model=model,
            parsers=("hermes",),
            confirm=self.confirmation,
            publish=self.bus.publish,
        )
        pipeline = Pipeline(
            agent,
            preset="p",
            publish=self.bus.publish,
            transcriber=self.transcriber,
            voice=self._voice,
            loudspeaker=Speaker(),
            confirmation=self.confirmation,
            words=BuiltinCommands(),
        )
        async with asyncio.timeout(BOUND_S), Microphone() as microphone:
            with self.bus.listening(self.events.append):
                loop = VoiceLoop(microphone, Endpointer(AudioSettings()), pipeline, self.bus.publish)
                listening = asyncio.create_task(loop.run())
                try:
                    yield
                finally:
                    listening.cancel()
                    await asyncio.gather(listening, return_exceptions=True)

    async def say(self, text: str) -> None:
        """Speak to the microphone; returns when it was said."""
        wav = self._folder / "said.wav"
        write_wav(wav, [await self._voice.sound_of(text)])
        await asyncio.to_thread(self._room.speak, wav)

    async def until(self, kind: type[Event]) -> None:
        with self.bus.subscription() as coming:
            if not any(isinstance(event, kind) for event in self.events):
                async for event in coming:
                    if isinstance(event, kind):
                        return

    def of(self, kind: type[Event]) -> list[Event]:
        return [event for event in self.events if isinstance(event, kind)]

    @property
    def front_door(self) -> str:
        return next(e.state for e in self.home.house().entities if e.id == "lock.front_door")


@pytest.fixture
def conversation(
    room: NullSinks,
    whisper: SupervisedEngine[TranscribeRequest, Transcript],
    piper: SupervisedEngine[SynthesisRequest, Audio],
    tmp_path: Path,
) -> SpokenConversation:
    return SpokenConversation(room, whisper, piper, tmp_path)


def model_that_unlocks() -> ScriptedModel:
    return ScriptedModel([f"<tool_call>{json.dumps(UNLOCK)}</tool_call>", "All right, it stays locked."])


def words(text: str) -> str:
    return " ".join(re.findall("[a-z]+", text.lower()))


async def test_a_spoken_yes_to_the_question_that_was_heard_unlocks_the_door(
    conversation: SpokenConversation, room: NullSinks, tmp_path: Path
) -> None:
    heard = tmp_path / "heard.wav"
    async with conversation.listening(model_that_unlocks()):
        with room.record(heard):
            await conversation.say("Unlock the front door.")
            await conversation.confirmation.until_listening()
        assert conversation.front_door == "locked"
        await conversation.say("Yes, please.")
        await conversation.until(TurnEnded)
    assert conversation.front_door == "unlocked"
    question = await conversation.transcriber.transcribe(read_audio(heard), CancelFlag())
    # The recogniser often mishears this voice's "unlock".
    assert "the front door" in words(question.text)
    assert len(conversation.of(TurnStarted)) == 1, "it has answered itself"
    assert len(conversation.of(AnswerHeard)) == 1


async def test_a_spoken_no_leaves_the_door_locked(conversation: SpokenConversation) -> None:
    async with conversation.listening(model_that_unlocks()):
        await conversation.say("Unlock the front door.")
        await conversation.confirmation.until_listening()
        await conversation.say("No, don't.")
        await conversation.until(TurnEnded)
    assert conversation.front_door == "locked"
    assert [e.answer for e in conversation.events if isinstance(e, AnswerHeard)] == ["no"]


async def test_silence_leaves_the_door_locked(conversation: SpokenConversation) -> None:
    async with conversation.listening(model_that_unlocks()):
        await conversation.say("Unlock the front door.")
        await conversation.until(TurnEnded)
    assert conversation.front_door == "locked"
    assert [e.why for e in conversation.events if isinstance(e, ConfirmationDecided)] == ["no answer came in time"]
    assert conversation.of(AnswerHeard) == []


async def test_a_spoken_stop_ends_a_turn_whose_model_works(conversation: SpokenConversation) -> None:
    async with conversation.listening(Ponderer()):
        await conversation.say("Tell me a long story.")
        await conversation.until(ModelStarted)
        for stop in STOPS:
            await conversation.say(stop)
            try:
                async with asyncio.timeout(STOPPED_WITHIN_S):
                    await conversation.until(TurnEnded)
                    break
            except TimeoutError:
                continue
    assert [e.word for e in conversation.events if isinstance(e, BuiltinCommandRun)] == ["stop"]
    assert [e.outcome for e in conversation.events if isinstance(e, TurnEnded)] == ["cancelled"]
