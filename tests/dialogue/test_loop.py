from __future__ import annotations

from collections.abc import AsyncGenerator
from dataclasses import dataclass, field

import numpy as np

from edgevox.agents import LLMAgent
from edgevox.audio.endpointing import Endpointer
from edgevox.audio.files import WavMicrophone
from edgevox.config import AudioSettings
from edgevox.core.errors import EngineFailed
from edgevox.core.events import Event, SpeechStarted, TranscriptionStarted, TurnEnded
from edgevox.core.turn import CancelFlag
from edgevox.core.types import Audio, TranscribeRequest, Transcript
from edgevox.dialogue import Pipeline, Synthesizer, Transcriber, VoiceLoop
from edgevox.testing import MemorySpeaker, ScriptedModel, ToneSynthesizer
from tests.dialogue.sounds import silent, voiced


@dataclass
class ScriptedTranscriber:
    """Returns the given transcripts, and keeps the requests."""

    lines: list[str]
    heard: list[Audio] = field(default_factory=list)

    async def stream(self, request: TranscribeRequest, cancel: CancelFlag) -> AsyncGenerator[Transcript, None]:
        self.heard.append(request.audio)
        text = self.lines[len(self.heard) - 1]
        yield Transcript(text, "en", request.audio.duration_s, dropped=None if text else "no speech")


def loop(
    sound: np.ndarray, stt: ScriptedTranscriber, model: ScriptedModel, events: list[Event]
) -> tuple[VoiceLoop, MemorySpeaker]:
    speaker = MemorySpeaker()
    pipeline = Pipeline(
        LLMAgent("test", model=model, publish=events.append),
        preset="p",
        publish=events.append,
        transcriber=Transcriber(stt),
        voice=Synthesizer(ToneSynthesizer()),
        loudspeaker=speaker,
    )
    audio_source = WavMicrophone(Audio(sound, 16_000))
    return VoiceLoop(audio_source, Endpointer(AudioSettings()), pipeline, events.append), speaker


async def test_every_utterance_gets_its_answer() -> None:
    sound = np.concatenate([silent(0.5), voiced(1.2), silent(1.5), voiced(1.5), silent(1.0)])
    stt = ScriptedTranscriber(["first question", "second question"])
    events: list[Event] = []
    talk, speaker = loop(sound, stt, ScriptedModel(["One.", "Two."]), events)
    await talk.run()
    assert [event.reply for event in events if isinstance(event, TurnEnded)] == ["One.", "Two."]
    assert len(speaker.played) == 2
    assert sum(isinstance(event, SpeechStarted) for event in events) == 2
    assert [1.0 < audio.duration_s < 3.0 for audio in stt.heard] == [True, True]


async def test_in_a_file_everything_is_transcribed_once_and_whole() -> None:
    sound = np.concatenate([silent(0.5), voiced(0.8), silent(0.34), voiced(0.8), silent(1.0)])
    stt = ScriptedTranscriber(["the question"])
    events: list[Event] = []
    talk, _ = loop(sound, stt, ScriptedModel(["One."]), events)
    await talk.run()
    (audio,) = stt.heard
    assert audio.duration_s > 0.8 + 0.34 + 0.8 + 0.45
    assert [event.early for event in events if isinstance(event, TranscriptionStarted)] == [False]


async def test_what_is_not_speech_is_dropped_with_a_reason() -> None:
    events: list[Event] = []
    talk, speaker = loop(
        np.concatenate([voiced(1.0), silent(1.0)]), ScriptedTranscriber([""]), ScriptedModel([]), events
    )
    await talk.run()
    assert [(e.outcome, e.error) for e in events if isinstance(e, TurnEnded)] == [("dropped", "no speech")]
    assert speaker.played == []


async def test_a_turn_that_fails_does_not_end_the_loop() -> None:
    sound = np.concatenate([voiced(1.0), silent(1.5), voiced(1.0), silent(1.0)])
    events: list[Event] = []
    talk, _ = loop(
        sound, ScriptedTranscriber(["one", "two"]), ScriptedModel([EngineFailed("gone", hint="wait"), "Back."]), events
    )
    await talk.run()
    assert [event.outcome for event in events if isinstance(event, TurnEnded)] == ["failed", "answered"]


async def test_silence_starts_nothing() -> None:
    events: list[Event] = []
    talk, _ = loop(silent(20), ScriptedTranscriber([]), ScriptedModel([]), events)
    await talk.run()
    assert events == []
