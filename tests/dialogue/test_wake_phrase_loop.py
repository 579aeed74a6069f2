"""The voice loop when it has to be called: by a word, by a phrase, by a key."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from edgevox.agents import LLMAgent
from edgevox.audio.endpointing import Endpointer
from edgevox.audio.files import WavMicrophone
from edgevox.audio.wake_word import WakeWordDetector
from edgevox.config import AudioSettings
from edgevox.core.events import Event, SpeechDropped, SpeechStarted, TranscriptReady, TurnEnded, TurnStarted
from edgevox.core.types import Audio
from edgevox.dialogue import Pipeline, Synthesizer, Transcriber, VoiceLoop, WakePhrase, WakePhraseFilter, WakeState
from edgevox.dialogue.turn_queue import TurnQueue, Utterance
from edgevox.testing import MemorySpeaker, ScriptedModel, ToneSynthesizer
from tests.audio.sounds import espeak, noise
from tests.audio.test_wake_state import FakeSpotter
from tests.dialogue.fake_stt import FakeStt
from tests.dialogue.sounds import silent, voiced

BOUND_S = 20


class Room:
    """A voice loop that hears a sound and understands the lines of a script."""

    def __init__(
        self,
        sound: np.ndarray,
        wake_state: WakeState,
        lines: list[str],
        replies: list[str],
        phrase: str = "computer",
        *,
        realtime: bool = False,
    ) -> None:
        self.events: list[Event] = []
        self.recogniser = FakeStt(list(lines))
        pipeline = Pipeline(
            LLMAgent("test", model=ScriptedModel(replies), publish=self.events.append),
            preset="p",
            publish=self.events.append,
            transcriber=WakePhraseFilter(Transcriber(self.recogniser), WakePhrase(phrase), wake_state),
            voice=Synthesizer(ToneSynthesizer()),
            loudspeaker=MemorySpeaker(),
        )
        audio_source = WavMicrophone(Audio(sound, 16_000), realtime=realtime)
        endpointer = Endpointer(AudioSettings())
        self.loop = VoiceLoop(audio_source, endpointer, pipeline, self.events.append, wake_state=wake_state)

    async def listen(self) -> None:
        async with asyncio.timeout(BOUND_S):
            await self.loop.run()

    @property
    def heard(self) -> list[str]:
        return [event.text for event in self.events if isinstance(event, TranscriptReady)]

    @property
    def replies(self) -> list[str]:
        return [event.reply for event in self.events if isinstance(event, TurnEnded)]

    def count(self, kind: type[Event]) -> int:
        return sum(isinstance(event, kind) for event in self.events)


def sound(*seconds: float) -> np.ndarray:
    """Silence and voice in turns, beginning with silence."""
    return np.concatenate([(voiced if n % 2 else silent)(s) for n, s in enumerate(seconds)])


def at(*seconds: float) -> FakeSpotter:
    return FakeSpotter(at=tuple(round(s * 50) for s in seconds), noticed_after_s=0.1)


async def test_nothing_is_heard_before_the_word() -> None:
    room = Room(sound(0.5, 1.0, 1.0, 1.0, 1.0), WakeState("word", at()), [], [])
    await room.listen()
    assert room.recogniser.requests == []
    assert room.count(SpeechStarted) == room.count(TurnStarted) == 0


async def test_what_is_said_after_the_word_is_answered() -> None:
    room = Room(sound(0.5, 1.0, 1.0, 1.0, 1.0), WakeState("word", at(1.5)), ["stop the clock"], ["Done."])
    await room.listen()
    assert (room.heard, room.replies) == (["stop the clock"], ["Done."])


async def test_in_one_breath_the_command_is_kept_and_the_word_is_not() -> None:
    room = Room(sound(1.0, 3.0, 1.0), WakeState("word", at(2.0)), ["turn on the light"], ["On."])
    await room.listen()
    assert room.replies == ["On."]
    (request,) = room.recogniser.requests
    # From 0.1 s before the detection at 2.0 s to the pause behind the end at 4.0 s.
    assert request.audio.duration_s == pytest.approx(2.1 + 0.5, abs=0.15)


async def test_after_a_reply_nobody_has_to_call() -> None:
    spoken = sound(0.5, 1.0, 1.0, 1.0, 1.5, 1.0, 1.0)
    room = Room(spoken, WakeState("word", at(1.5), follow_up_s=5), ["one", "two"], ["First.", "Second."])
    await room.listen()
    assert room.replies == ["First.", "Second."]


@pytest.mark.parametrize("later_s", [0.0, 3.0])
async def test_after_the_follow_up_it_has_to_be_called_again(later_s: float) -> None:
    spoken = sound(0.5, 1.0, 1.0, 1.0, 1.5 + later_s, 1.0, 1.0)
    room = Room(spoken, WakeState("word", at(1.5), follow_up_s=later_s * 0.6), ["one"], ["First."])
    await room.listen()
    assert room.replies == ["First."]


async def test_talk_is_as_good_as_the_word() -> None:
    room = Room(sound(0.5, 1.0, 1.0), WakeState("word", at()), ["hello"], ["Yes?"])
    assert room.loop.wake_state.talk()
    await room.listen()
    assert room.replies == ["Yes?"]


@pytest.mark.parametrize("mode", ["off", "word", "phrase"])
async def test_muted_nothing_is_written_down(mode: str) -> None:
    wake_state = WakeState(mode, at(0.5))  # type: ignore[arg-type]
    room = Room(sound(0.5, 1.0, 1.0, 1.0, 1.0), wake_state, [], [])
    wake_state.mute()
    await room.listen()
    assert room.recogniser.requests == []
    assert room.count(TurnStarted) == 0


async def test_only_what_begins_with_the_phrase_is_a_turn() -> None:
    lines = ["I told you so.", "Computer, what time is it?", "It was the butler."]
    room = Room(sound(0.5, 1.0, 1.5, 1.0, 1.5, 1.0, 1.0), WakeState("phrase"), lines, ["Noon."])
    await room.listen()
    assert room.replies == ["Noon."]
    # What others say is in no event.
    assert room.heard == ["what time is it?"]
    assert (room.count(TurnStarted), room.count(SpeechDropped)) == (1, 2)


async def test_what_is_still_transcribed_when_the_loop_ends_becomes_no_turn() -> None:
    stuck, events = asyncio.Event(), list[Event]()
    pipeline = Pipeline(
        LLMAgent("test", model=ScriptedModel(["Yes."])),
        preset="p",
        publish=events.append,
        transcriber=Transcriber(FakeStt([stuck, "computer, good night"])),
    )
    queue = TurnQueue(pipeline, events.append, lambda: False, WakeState("phrase"))
    for _ in range(2):
        queue.take(Utterance(Audio(voiced(0.5), 16_000), 0.0, True, 0, None), interrupts=False)
        await asyncio.sleep(0)
    await queue.close()
    stuck.set()
    for _ in range(20):
        await asyncio.sleep(0)
    assert events == []
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_after_the_phrase_alone_the_command_may_follow() -> None:
    lines = ["Computer.", "What time is it?"]
    room = Room(sound(0.5, 1.0, 1.5, 1.0, 1.0), WakeState("phrase"), lines, ["Noon."])
    await room.listen()
    assert room.replies == ["Noon."]


async def test_the_phrase_is_found_while_the_pause_lasts() -> None:
    room = Room(sound(0.3, 1.0, 1.0), WakeState("phrase"), ["Computer, what time is it?"], ["Noon."], realtime=True)
    await room.listen()
    assert (room.heard, room.replies) == (["what time is it?"], ["Noon."])
    assert len(room.recogniser.requests) == 1


async def test_a_real_word_is_cut_out_of_one_breath(tmp_path: Path) -> None:
    word, command, both = (
        espeak(text, tmp_path)
        for text in ("okay nabu", "turn on the kitchen lights", "okay nabu turn on the kitchen lights")
    )
    spoken = np.concatenate([silent(3), 0.5 * both, silent(1)])
    spoken += noise(len(spoken) / 16_000, 0.001)
    wake_state = WakeState("word", WakeWordDetector("okay_nabu"))
    room = Room(spoken, wake_state, ["turn on the kitchen lights"], ["On."], "okay nabu")
    await room.listen()
    assert room.replies == ["On."]
    (request,) = room.recogniser.requests
    assert request.audio.duration_s < (len(both) - len(word) / 2) / 16_000 + 0.5
    assert request.audio.duration_s > 0.75 * len(command) / 16_000


def sleepers() -> list[Callable[[], WakeState]]:
    return [lambda: WakeState("word", at()), lambda: WakeState("phrase")]


@pytest.mark.parametrize("wake_state", sleepers())
async def test_what_others_say_leaves_no_trace(wake_state: Callable[[], WakeState]) -> None:
    room = Room(sound(0.5, 1.0, 1.0), wake_state(), ["my pin is one two three four"], [])
    await room.listen()
    assert not [event for event in room.events if "pin" in repr(event)]
    assert room.count(TurnEnded) == 0
