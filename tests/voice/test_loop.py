from __future__ import annotations

from collections.abc import AsyncGenerator
from dataclasses import dataclass, field

import numpy as np

from edgevox.agents import LLMAgent
from edgevox.audio.segmenter import Segmenter
from edgevox.audio.wav_microphone import WavMicrophone
from edgevox.errors import EngineFailed
from edgevox.events import Event, SpeechStarted, TranscriptionStarted, TurnEnded
from edgevox.settings import AudioSettings
from edgevox.testing import MemorySpeaker, ScriptedModel, ToneSynthesizer
from edgevox.turn import CancelFlag
from edgevox.types import Audio, TranscribeRequest, Transcript
from edgevox.voice import Hearing, Pipeline, Voice, VoiceLoop
from tests.voice.sounds import silent, voiced


@dataclass
class ScriptedTranscriber:
    """Hears what it is told to hear, and keeps what it was given."""

    lines: list[str]
    heard: list[Audio] = field(default_factory=list)

    async def stream(
        self, request: TranscribeRequest, cancel: CancelFlag
    ) -> AsyncGenerator[Transcript, None]:
        self.heard.append(request.audio)
        text = self.lines[len(self.heard) - 1]
        yield Transcript(text, "en", request.audio.duration_s, dropped=None if text else "no speech")


def loop(
    sound: np.ndarray, transcriber: ScriptedTranscriber, model: ScriptedModel, events: list[Event]
) -> tuple[VoiceLoop, MemorySpeaker]:
    speaker = MemorySpeaker()
    pipeline = Pipeline(
        LLMAgent("test", model=model, publish=events.append),
        preset="p",
        publish=events.append,
        hearing=Hearing(transcriber),
        voice=Voice(ToneSynthesizer()),
        loudspeaker=speaker,
    )
    ear = WavMicrophone(Audio(sound, 16_000))
    return VoiceLoop(ear, Segmenter(AudioSettings()), pipeline, events.append), speaker


async def test_every_utterance_gets_its_answer() -> None:
    sound = np.concatenate([silent(0.5), voiced(1.2), silent(1.5), voiced(1.5), silent(1.0)])
    transcriber = ScriptedTranscriber(["first question", "second question"])
    events: list[Event] = []
    talk, speaker = loop(sound, transcriber, ScriptedModel(["One.", "Two."]), events)
    await talk.run()
    assert [event.reply for event in events if isinstance(event, TurnEnded)] == ["One.", "Two."]
    assert len(speaker.played) == 2
    assert sum(isinstance(event, SpeechStarted) for event in events) == 2
    assert [1.0 < audio.duration_s < 3.0 for audio in transcriber.heard] == [True, True]


async def test_in_a_file_everything_is_transcribed_once_and_whole() -> None:
    sound = np.concatenate([silent(0.5), voiced(0.8), silent(0.34), voiced(0.8), silent(1.0)])
    transcriber = ScriptedTranscriber(["the question"])
    events: list[Event] = []
    talk, _ = loop(sound, transcriber, ScriptedModel(["One."]), events)
    await talk.run()
    (audio,) = transcriber.heard
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
        sound,
        ScriptedTranscriber(["one", "two"]),
        ScriptedModel([EngineFailed("gone", hint="wait"), "Back."]),
        events,
    )
    await talk.run()
    assert [event.outcome for event in events if isinstance(event, TurnEnded)] == ["failed", "answered"]


async def test_silence_starts_nothing() -> None:
    events: list[Event] = []
    talk, _ = loop(silent(20), ScriptedTranscriber([]), ScriptedModel([]), events)
    await talk.run()
    assert events == []
