"""A word and a command in one breath, by Piper, and what the real recogniser hears of them."""

from __future__ import annotations

import asyncio
from difflib import SequenceMatcher
from pathlib import Path

import numpy as np
import pytest

from edgevox.agents import LLMAgent
from edgevox.audio.endpointing import Endpointer
from edgevox.audio.files import WavMicrophone, read_audio, write_wav
from edgevox.audio.wake_word import WakeWordDetector
from edgevox.config import AudioSettings
from edgevox.core.events import Event, TranscriptReady
from edgevox.core.turn import CancelFlag
from edgevox.core.types import SAMPLE_RATE_HZ, Audio, SynthesisRequest, TranscribeRequest, Transcript
from edgevox.dialogue import Pipeline, Transcriber, VoiceLoop, WakePhrase, WakePhraseFilter, WakeState
from edgevox.engines import SupervisedEngine
from edgevox.testing import ScriptedModel
from edgevox.tts.piper import PiperEngine
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
    samples: Samples = said + noise(len(said) / SAMPLE_RATE_HZ, 0.0005)
    return samples


@pytest.mark.parametrize("mode", ["word", "phrase"])
async def test_the_command_is_heard_without_the_word(
    mode: str, whisper: SupervisedEngine[TranscribeRequest, Transcript], piper: PiperEngine, tmp_path: Path
) -> None:
    if mode == "word":
        wake_state = WakeState("word", WakeWordDetector("okay_nabu"))
        called = "okay nabu"
    else:
        wake_state = WakeState("phrase")
        called = "computer"
    talk = in_room(piper, "She told me that it was too late for the train.", tmp_path)
    spoken = in_room(piper, f"{called} {COMMAND}", tmp_path)
    events: list[Event] = []
    pipeline = Pipeline(
        LLMAgent("test", model=ScriptedModel(["On."]), publish=events.append),
        preset="p",
        publish=events.append,
        transcriber=WakePhraseFilter(Transcriber(whisper, language="en"), WakePhrase(called), wake_state),
    )
    audio_source = WavMicrophone(Audio(np.concatenate([talk, spoken]), SAMPLE_RATE_HZ))
    loop = VoiceLoop(audio_source, Endpointer(AudioSettings()), pipeline, events.append, wake_state=wake_state)
    async with asyncio.timeout(BOUND_S):
        await loop.run()
    (heard,) = [event.text for event in events if isinstance(event, TranscriptReady)]
    assert SequenceMatcher(None, heard.casefold(), COMMAND).ratio() > 0.6
    assert called not in heard.casefold()
