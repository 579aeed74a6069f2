"""The engine of the Kokoro family with hibari's voice, and what it does with files that are no voice."""

from __future__ import annotations

import pickle
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from edgevox.core.errors import ModelError, ModelMissing
from edgevox.core.turn import CancelFlag
from edgevox.core.types import Audio, SynthesisRequest
from edgevox.models import ModelStore
from edgevox.tts.kokoro import KokoroEngine

LONG_SENTENCE = "the weather tomorrow will be cloudy with a high of eighteen degrees and light rain " * 2


@pytest.fixture(scope="module")
def engine(store: ModelStore) -> KokoroEngine:
    engine = KokoroEngine(store.pull("hibari-en_US-heart"))
    engine.load()
    return engine


def speak(engine: KokoroEngine, text: str, speed: float = 1.0) -> list[Audio]:
    return list(engine.run(SynthesisRequest(text, speed), CancelFlag()))


def duration_s(chunks: list[Audio]) -> float:
    return sum(chunk.duration_s for chunk in chunks)


@pytest.mark.engine
def test_a_sentence_becomes_sound_of_the_common_level(engine: KokoroEngine) -> None:
    for text in ("The kitchen light is on.", "Why did the chicken cross the road?", "I have set your alarm for seven."):
        (audio,) = speak(engine, text)
        assert (audio.rate_hz, audio.samples.ndim) == (24_000, 1)
        assert audio.samples.dtype == np.float32
        assert np.max(np.abs(audio.samples)) <= 1.0
        assert 0.05 < np.sqrt(np.mean(audio.samples**2)) < 0.2
        assert 0.8 < audio.duration_s < 4.0
        assert np.max(np.abs(audio.samples[-7200:])) > 0.005, "a long silence at the end delays the turn"


@pytest.mark.engine
def test_speed_changes_the_duration(engine: KokoroEngine) -> None:
    text = "One two three four five six seven."
    normal_s = duration_s(speak(engine, text))
    assert duration_s(speak(engine, text, speed=2.0)) < 0.75 * normal_s
    assert duration_s(speak(engine, text, speed=0.7)) > 1.25 * normal_s


@pytest.mark.engine
def test_pitch_moves_the_fundamental_and_not_the_duration(engine: KokoroEngine) -> None:
    low = KokoroEngine(engine.voice_path, pitch_semitones=-4)
    low.load()
    text = "Oh, no, no, no, oh."
    usual, lower = (speak(one, text)[0] for one in (engine, low))
    # As after "a lower voice".
    (asked,) = engine.run(SynthesisRequest(text, pitch_semitones=-4), CancelFlag())
    for made in (lower, asked):
        assert made.duration_s == pytest.approx(usual.duration_s, abs=0.1)
        assert 0.7 < fundamental_hz(made) / fundamental_hz(usual) < 0.9


def fundamental_hz(audio: Audio) -> float:
    """The median of the strongest periods between 120 and 400 Hz, of the loud tenths of a second."""
    frame, low, high = audio.rate_hz // 10, audio.rate_hz // 400, audio.rate_hz // 120
    frames = audio.samples[: len(audio.samples) // frame * frame].reshape(-1, frame)
    powers = np.mean(frames**2, axis=1)
    spectra = np.abs(np.fft.rfft(frames[powers > np.median(powers)], 2 * frame)) ** 2
    periods = low + np.argmax(np.fft.irfft(spectra)[:, low:high], axis=1)
    return float(audio.rate_hz / np.median(periods))


@pytest.mark.engine
@pytest.mark.parametrize("text", ["", "...", "—", "\0", "🎉🎉", "[[", "\ud800", "日本"])
def test_text_without_an_english_word_gives_no_sound_and_no_error(engine: KokoroEngine, text: str) -> None:
    assert speak(engine, text) == []


@pytest.mark.engine
def test_names_numbers_and_words_of_no_dictionary_are_spoken(engine: KokoroEngine) -> None:
    for text in (
        "Zigbee2MQTT",
        "Schlafzimmer",
        "Déjà vu",
        "192.168.1.4",
        "9" * 40,
        "5²",
        "①",
        "kWh",
        "light \ud800 on",
        "[[lamp]](/x/)",
    ):
        assert duration_s(speak(engine, text)) > 0.3, text


@pytest.mark.engine
def test_words_that_the_rules_misread_have_their_own_pronunciation(engine: KokoroEngine) -> None:
    said = {tuple(ids) for text in ("wifi", "WiFi", "WIFI") for ids in engine._phoneme_ids(text)}
    assert said == {tuple(ids) for ids in engine._phoneme_ids("Wi-Fi")}
    (co2,), (letters,) = (list(engine._phoneme_ids(text)) for text in ("CO2", "C O two"))
    assert abs(len(co2) - len(letters)) <= 3


@pytest.mark.engine
@pytest.mark.parametrize("text", ["word " * 20_000, "a" * 100_000, "9" * 100_000], ids=["words", "letters", "digits"])
def test_a_text_without_end_comes_in_pieces(engine: KokoroEngine, text: str) -> None:
    assert next(engine.run(SynthesisRequest(text, speed=4.0), CancelFlag())).duration_s < 30


@pytest.mark.engine
def test_a_flag_ends_a_run(engine: KokoroEngine) -> None:
    cancel = CancelFlag()
    cancel.set()
    assert list(engine.run(SynthesisRequest(LONG_SENTENCE), cancel)) == []
    cancel = CancelFlag()
    pieces = engine.run(SynthesisRequest(LONG_SENTENCE * 50), cancel)
    next(pieces)
    threading.Timer(0.02, cancel.set).start()
    assert len(list(pieces)) < 25


@pytest.mark.engine
def test_the_engine_can_be_sent_to_a_child_process(engine: KokoroEngine) -> None:
    copy = pickle.loads(pickle.dumps(KokoroEngine(engine.voice_path, threads=2)))
    assert (copy.voice_path, copy.threads) == (engine.voice_path, 2)


def test_nothing_native_is_imported_before_load() -> None:
    code = (
        "import sys; from pathlib import Path; from edgevox.tts.kokoro import KokoroEngine; "
        "KokoroEngine(Path('x')); print(sorted({'hibari', 'onnxruntime', 'pydantic'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == "[]"


def test_a_missing_or_damaged_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "af_heart.onnx"
    with pytest.raises(ModelError, match="not loaded"):
        speak(KokoroEngine(path), "Hello.")
    with pytest.raises(ModelMissing, match=r"af_heart\.onnx"):
        KokoroEngine(path).load()
    path.write_bytes(b"no model")
    with pytest.raises(ModelError, match=r"af_heart\.onnx cannot be used") as caught:
        KokoroEngine(path).load()
    assert "edgevox models verify" in caught.value.hint


@pytest.mark.engine
@pytest.mark.long
def test_kokoro_itself_speaks(store: ModelStore) -> None:
    engine = KokoroEngine(store.pull("kokoro-en_US-heart"), threads=2)
    engine.load()
    (audio,) = speak(engine, "Yes.")
    assert 0.3 < audio.duration_s < 3.0
