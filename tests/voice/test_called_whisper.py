"""A word and a command in one breath, by Piper, and what the real recogniser hears of them."""

from __future__ import annotations

import asyncio
from difflib import SequenceMatcher
from pathlib import Path

import numpy as np
import pytest

from edgevox.agents import LLMAgent
from edgevox.audio.files import read_audio, write_wav
from edgevox.audio.segmenter import Segmenter
from edgevox.audio.wake_word import WakeWordDetector
from edgevox.audio.wav_microphone import WavMicrophone
from edgevox.engine import SupervisedEngine
from edgevox.events import Event, TranscriptReady
from edgevox.settings import AudioSettings
from edgevox.testing import ScriptedModel
from edgevox.tts.piper import PiperEngine
from edgevox.turn import CancelFlag
from edgevox.types import WHISPER_RATE_HZ, Audio, SynthesisRequest, TranscribeRequest, Transcript
from edgevox.voice import CalledHearing, Hearing, Pipeline, VoiceLoop, Wakefulness, WakePhrase
from tests.audio.sounds import Samples, noise, silence

pytestmark = [pytest.mark.engine]

BOUND_S = 120
COMMAND = "turn on the kitchen lights"


@pytest.fixture
def piper(piper_voice_path: Path) -> PiperEngine:
    engine = PiperEngine(piper_voice_path)
    engine.load()
    return engine


def in_room(piper: PiperEngine, text: str, folder: Path) -> Samples:
    write_wav(folder / "said.wav", piper.run(SynthesisRequest(text), CancelFlag()))
    said = np.concatenate([silence(3), read_audio(folder / "said.wav").samples, silence(1)])
    samples: Samples = said + noise(len(said) / WHISPER_RATE_HZ, 0.0005)
    return samples


@pytest.mark.parametrize("mode", ["word", "phrase"])
async def test_the_command_is_heard_without_the_word(
    mode: str,
    whisper: SupervisedEngine[TranscribeRequest, Transcript],
    piper: PiperEngine,
    tmp_path: Path,
) -> None:
    if mode == "word":
        wakefulness = Wakefulness("word", WakeWordDetector("okay_nabu"))
        called = "okay nabu"
    else:
        wakefulness = Wakefulness("phrase")
        called = "computer"
    talk = in_room(piper, "She told me that it was too late for the train.", tmp_path)
    spoken = in_room(piper, f"{called} {COMMAND}", tmp_path)
    events: list[Event] = []
    pipeline = Pipeline(
        LLMAgent("test", model=ScriptedModel(["On."]), publish=events.append),
        preset="p",
        publish=events.append,
        hearing=CalledHearing(Hearing(whisper, language="en"), WakePhrase(called), wakefulness),
    )
    ear = WavMicrophone(Audio(np.concatenate([talk, spoken]), WHISPER_RATE_HZ))
    loop = VoiceLoop(ear, Segmenter(AudioSettings()), pipeline, events.append, wakefulness=wakefulness)
    async with asyncio.timeout(BOUND_S):
        await loop.run()
    (heard,) = [event.text for event in events if isinstance(event, TranscriptReady)]
    assert SequenceMatcher(None, heard.casefold(), COMMAND).ratio() > 0.6
    assert called not in heard.casefold()
