"""The wake word's detector, on words that synthesisers say."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pymicro_wakeword
import pytest

from edgevox.audio.files import read_audio, write_wav
from edgevox.audio.vad import BLOCK_MS, BLOCK_SAMPLES
from edgevox.audio.wake_word import Trigger, WakeWordDetector
from edgevox.config import sections
from edgevox.core.errors import ConfigError
from edgevox.core.turn import CancelFlag
from edgevox.core.types import SAMPLE_RATE_HZ, Audio, SynthesisRequest
from edgevox.tts.piper import PiperEngine
from tests.audio.sounds import Samples, espeak, knocks, noise

_MODELS = Path(pymicro_wakeword.__file__).parent / "models"
_BEFORE_S = 3.0


def in_room(said: Samples) -> Samples:
    """The detector has to know the room before it can tell what stands out of it."""
    loud = 0.3 * said / np.abs(said).max()
    samples: Samples = np.concatenate([noise(_BEFORE_S, 0.001), loud, noise(1.5, 0.001)])
    return samples


def detections_s(detector: WakeWordDetector, samples: Samples) -> list[float]:
    return [
        (start + BLOCK_SAMPLES) / SAMPLE_RATE_HZ
        for start in range(0, len(samples) - BLOCK_SAMPLES + 1, BLOCK_SAMPLES)
        if detector.feed(Audio(samples[start : start + BLOCK_SAMPLES], SAMPLE_RATE_HZ))
    ]


def piper(voice: Path, text: str, folder: Path) -> Samples:
    engine = PiperEngine(voice)
    engine.load()
    write_wav(folder / "piper.wav", engine.run(SynthesisRequest(text), CancelFlag()))
    return read_audio(folder / "piper.wav").samples


def test_the_word_is_detected_once_and_soon_after_its_end(tmp_path: Path) -> None:
    said = espeak("okay nabu", tmp_path)
    (at_s,) = detections_s(WakeWordDetector("okay_nabu"), in_room(said))
    assert abs(at_s - _BEFORE_S - len(said) / SAMPLE_RATE_HZ) < 0.5


def test_a_command_in_the_same_breath_does_not_hide_it(tmp_path: Path) -> None:
    said = espeak("okay nabu turn on the kitchen lights", tmp_path)
    (at_s,) = detections_s(WakeWordDetector("okay_nabu"), in_room(said))
    assert _BEFORE_S < at_s < _BEFORE_S + 1.3


def test_it_is_detected_again_when_it_is_said_again(tmp_path: Path) -> None:
    twice = np.concatenate([in_room(espeak("okay nabu", tmp_path))] * 2)
    assert len(detections_s(WakeWordDetector("okay_nabu"), twice)) == 2


def test_other_words_and_noises_are_not_it(tmp_path: Path) -> None:
    talk = espeak("okay then, could somebody turn on the lights, maybe? A new boat is on the bay.", tmp_path)
    for sound in (in_room(talk), noise(5, 0.1), noise(5, 0.2, slope=0.5), knocks(5), np.zeros(80_000, "f4")):
        assert detections_s(WakeWordDetector("okay_nabu", "eager"), sound) == []


@pytest.mark.engine
@pytest.mark.parametrize("word", ["okay_nabu", "hey_jarvis", "hey_mycroft", "alexa"])
def test_every_trained_word_is_heard_in_a_natural_voice(word: str, piper_voice_path: Path, tmp_path: Path) -> None:
    said = in_room(piper(piper_voice_path, f"{word.replace('_', ' ')}.", tmp_path))
    for other in ("okay_nabu", "hey_jarvis", "hey_mycroft", "alexa"):
        assert len(detections_s(WakeWordDetector(other, "eager"), said)) == (other == word)


def test_a_number_is_a_threshold(tmp_path: Path) -> None:
    said = in_room(espeak("okay nabu", tmp_path))
    assert len(detections_s(WakeWordDetector("okay_nabu", 0.3), said)) == 1
    assert detections_s(WakeWordDetector("okay_nabu", 0.9999), said) == []


def test_an_entry_of_the_data_file_is_all_that_a_wake_word_needs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    added = f"""
[hey_house]
phrase = "hey house"
model = "{_MODELS / "okay_nabu.json"}"
cutoffs = {{ strict = 0.95, normal = 0.85, eager = 0.69 }}
noticed_after_s = 0.3
"""
    words = tmp_path / "wake_words.toml"
    words.write_text(sections.WAKE_WORDS.read_text(encoding="utf-8") + added, encoding="utf-8")
    monkeypatch.setattr(sections, "WAKE_WORDS", words)
    settings = sections.WakeSettings(word="hey_house")
    detector = WakeWordDetector(settings.word, settings.threshold)
    assert (detector.word.phrase, detector.noticed_after_s) == ("hey house", 0.3)
    assert len(detections_s(detector, in_room(espeak("okay nabu", tmp_path)))) == 1
    with pytest.raises(ValueError, match="use okay_nabu, hey_jarvis, hey_mycroft, alexa or hey_house"):
        sections.WakeSettings(word="hey_nobody")


def test_a_model_of_ones_own_is_a_file(tmp_path: Path) -> None:
    detector = WakeWordDetector(_MODELS / "okay_nabu.json", "normal")
    assert detector.word.phrase == "okay nabu"
    assert detector.word.cutoffs["strict"] > detector.word.cutoffs["normal"] > detector.word.cutoffs["eager"]
    assert len(detections_s(detector, in_room(espeak("okay nabu", tmp_path)))) == 1


@pytest.mark.parametrize(
    ("config", "weights"),
    [
        ("no json", None),
        (json.dumps({"model": "w.tflite"}), None),
        (json.dumps({"model": "w.tflite"}), b"not a model at all"),
        (json.dumps({"model": "w.tflite"}), b"\0\0\0\0TFL3"),
    ],
)
def test_what_is_no_model_is_refused(config: str, weights: bytes | None, tmp_path: Path) -> None:
    (tmp_path / "own.json").write_text(config)
    if weights is not None:
        (tmp_path / "w.tflite").write_bytes(weights)
    with pytest.raises(ConfigError) as error:
        WakeWordDetector(tmp_path / "own.json")
    assert "wake.model" in error.value.hint


def blocks(seconds: float) -> int:
    return round(seconds * 1000 / BLOCK_MS)


def test_a_trigger_waits_until_the_room_is_known() -> None:
    trigger = Trigger(0.5)
    assert [trigger.feed(0.9) for _ in range(blocks(0.9))].count(True) == 0


def test_a_trigger_fires_once_while_the_model_is_sure() -> None:
    trigger = Trigger(0.5)
    sure = [0.1] * blocks(2) + [0.9] * blocks(3) + [0.1] * blocks(1) + [0.9]
    assert [trigger.feed(confidence) for confidence in sure].count(True) == 2


def test_a_trigger_that_wavers_fires_once() -> None:
    trigger = Trigger(0.5)
    wavering = [0.1] * blocks(2) + [0.9, 0.4] * blocks(0.4)
    assert [trigger.feed(confidence) for confidence in wavering].count(True) == 1
