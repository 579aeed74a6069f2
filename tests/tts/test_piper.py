"""The engine with the real voice, and what it does with files that are no voice."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from edgevox.core.errors import ModelError, ModelMissing
from edgevox.core.turn import CancelFlag
from edgevox.core.types import Audio, Engine, SynthesisRequest
from edgevox.tts import pieces, piper
from edgevox.tts.piper import PiperEngine

LONG_SENTENCE = "the weather tomorrow will be cloudy with a high of eighteen degrees and light rain " * 2
CONFIG = {
    "audio": {"sample_rate": 22050},
    "espeak": {"voice": "en-us"},
    "num_symbols": 256,
    "num_speakers": 1,
    "phoneme_id_map": {"_": [0], "^": [1], "$": [2], " ": [3], "h": [20]},
}


@pytest.fixture(scope="module")
def engine(piper_voice_path: Path) -> PiperEngine:
    engine = PiperEngine(piper_voice_path)
    engine.load()
    return engine


def speak(engine: Engine[SynthesisRequest, Audio], text: str, speed: float = 1.0) -> list[Audio]:
    pieces = engine.run(SynthesisRequest(text, speed), CancelFlag())
    return [piece for piece in pieces if isinstance(piece, Audio)]


def duration_s(chunks: list[Audio]) -> float:
    return sum(chunk.duration_s for chunk in chunks)


@pytest.mark.engine
def test_a_sentence_becomes_sound(engine: PiperEngine) -> None:
    chunks = speak(engine, "The kitchen light is on.")
    for audio in chunks:
        assert audio.rate_hz == 22_050
        assert audio.samples.dtype == np.float32
        assert audio.samples.ndim == 1
        assert np.max(np.abs(audio.samples)) <= 1.0
    assert 0.8 < duration_s(chunks) < 3.0


@pytest.mark.engine
def test_sentences_are_about_equally_loud(engine: PiperEngine) -> None:
    for text in ("Bees make honey.", "Why did the chicken cross the road?", "I have set your alarm for seven."):
        sound = np.concatenate([chunk.samples for chunk in speak(engine, text)])
        assert 0.05 < np.sqrt(np.mean(sound**2)) < 0.2


def test_what_would_be_too_loud_is_bent_and_the_rest_left_alone() -> None:
    samples = np.linspace(-2, 2, 401, dtype=np.float32)
    loud = Audio(samples, 16_000).amplified(2.0).samples
    assert np.all(np.diff(loud) >= 0)
    assert np.max(np.abs(loud)) <= 1.0
    quiet = np.abs(samples) <= 0.3
    np.testing.assert_allclose(loud[quiet], 2 * samples[quiet], rtol=1e-6)


@pytest.mark.engine
def test_speed_shortens_the_sound(engine: PiperEngine) -> None:
    text = "One two three four five six seven."
    assert duration_s(speak(engine, text, speed=2.0)) < 0.75 * duration_s(speak(engine, text))


@pytest.mark.engine
@pytest.mark.parametrize("text", ["", "   ", "...", "!?", "—", "\0", "\x01\x02\n\t", "🎉🎉", "[[", "\ud800", "*%$#"])
def test_text_without_a_word_gives_no_sound_and_no_error(engine: PiperEngine, text: str) -> None:
    assert speak(engine, text) == []


@pytest.mark.engine
@pytest.mark.parametrize("text", ["light\0 on", "light \ud800 on", "\x1b[31mlight on\x1b[0m"])
def test_control_characters_between_words_are_no_error(engine: PiperEngine, text: str) -> None:
    assert duration_s(speak(engine, text)) > 0.3


@pytest.mark.engine
def test_brackets_are_not_taken_for_phonemes(engine: PiperEngine) -> None:
    assert duration_s(speak(engine, "[[one two three four five six]]")) > 1.0


@pytest.mark.engine
@pytest.mark.parametrize("text", ["word " * 20_000, "a" * 100_000, "9" * 100_000], ids=["words", "letters", "digits"])
def test_a_text_without_end_comes_in_pieces(engine: PiperEngine, text: str) -> None:
    chunks = engine.run(SynthesisRequest(text, speed=4.0), CancelFlag())
    assert next(chunks).duration_s < 10


@pytest.mark.engine
def test_slow_speech_comes_in_shorter_pieces(engine: PiperEngine) -> None:
    chunks = engine.run(SynthesisRequest("word " * 1000, speed=0.1), CancelFlag())
    assert next(chunks).duration_s < 15


@pytest.mark.engine
def test_nothing_is_lost_between_pieces(engine: PiperEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    whole_s = duration_s(speak(engine, "seven " * 12, speed=2.0))
    monkeypatch.setattr(pieces, "MAX_PIECE_CHARS", 20)
    chunks = speak(engine, "seven " * 12, speed=2.0)
    assert len(chunks) >= 4
    assert duration_s(chunks) > 0.9 * whole_s


@pytest.mark.engine
def test_a_flag_set_before_gives_nothing(engine: PiperEngine) -> None:
    cancel = CancelFlag()
    cancel.set()
    assert list(engine.run(SynthesisRequest(LONG_SENTENCE), cancel)) == []


@pytest.mark.engine
def test_a_flag_ends_a_run_that_has_begun(engine: PiperEngine) -> None:
    started_s = time.monotonic()
    sound_s = duration_s(speak(engine, LONG_SENTENCE))
    whole_s = time.monotonic() - started_s

    cancel = CancelFlag()
    timer = threading.Timer(whole_s / 10, cancel.set)
    timer.start()
    chunks = list(engine.run(SynthesisRequest(LONG_SENTENCE), cancel))
    timer.join(timeout=10)
    assert duration_s(chunks) < 0.7 * sound_s
    assert speak(engine, "Still here.")


@pytest.mark.engine
def test_a_copy_sent_to_another_process_speaks(piper_voice_path: Path) -> None:
    engine = pickle.loads(pickle.dumps(PiperEngine(piper_voice_path, threads=2)))
    engine.load()
    assert speak(engine, "Hello.")


@pytest.mark.engine
def test_a_language_that_espeak_does_not_have_is_refused(tmp_path: Path, piper_voice_path: Path) -> None:
    config = json.loads(Path(f"{piper_voice_path}.json").read_text())
    config["espeak"]["voice"] = "xx-nowhere"
    (tmp_path / "voice.onnx").symlink_to(piper_voice_path)
    (tmp_path / "voice.onnx.json").write_text(json.dumps(config))
    with pytest.raises(ModelError, match="xx-nowhere"):
        PiperEngine(tmp_path / "voice.onnx").load()


# --- more than one voice


@pytest.fixture
def german_path(tmp_path: Path, piper_voice_path: Path) -> Path:
    """A second voice: the same sounds, by the rules of German."""
    config = json.loads(Path(f"{piper_voice_path}.json").read_text())
    config["espeak"]["voice"] = "de"
    (tmp_path / "german.onnx").symlink_to(piper_voice_path)
    (tmp_path / "german.onnx.json").write_text(json.dumps(config))
    return tmp_path / "german.onnx"


def phonemes(engine: PiperEngine, text: str, language: str) -> str:
    voice = engine._voice(engine.others.get(language, engine.voice_path))
    return "".join(phoneme for piece in voice.phonemes(text, 1000) for phoneme in piece)


@pytest.mark.engine
def test_each_language_is_read_by_its_own_rules_in_one_engine(piper_voice_path: Path, german_path: Path) -> None:
    engine = PiperEngine(piper_voice_path, others={"de": german_path})
    engine.load()
    assert list(engine._loaded) == [piper_voice_path]  # the other is read when it is needed

    def seconds(language: str) -> float:
        sounds = engine.run(SynthesisRequest("Um 21 Uhr.", language=language), CancelFlag())
        return duration_s(list(sounds))

    english = phonemes(engine, "21", "en")
    assert english.startswith("tw")  # twenty
    assert seconds("en") > 0.3
    assert list(engine._loaded) == [piper_voice_path]
    assert phonemes(engine, "21", "de").replace("ˈ", "").startswith("aɪn")  # einundzwanzig
    assert seconds("de") > 0.3
    assert seconds("en") > 0.3
    assert phonemes(engine, "21", "en") == english
    assert phonemes(engine, "21", "fr") == english  # no voice speaks French: the first one does it
    assert list(engine._loaded) == [german_path, piper_voice_path]


@pytest.mark.engine
def test_the_voice_that_was_silent_longest_makes_room(
    piper_voice_path: Path, german_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(piper, "MOST_VOICES", 1)
    engine = PiperEngine(piper_voice_path, others={"de": german_path})
    engine.load()
    for language, path in (("de", german_path), ("en", piper_voice_path)):
        assert list(engine.run(SynthesisRequest("Ja.", language=language), CancelFlag()))
        assert list(engine._loaded) == [path]


@pytest.mark.engine
def test_another_voice_that_is_broken_leaves_the_first_one_speaking(piper_voice_path: Path, german_path: Path) -> None:
    Path(f"{german_path}.json").write_text("{}")
    engine = PiperEngine(piper_voice_path, others={"de": german_path})
    engine.load()
    with pytest.raises(ModelError, match=r"german\.onnx\.json cannot be used"):
        list(engine.run(SynthesisRequest("Ja.", language="de"), CancelFlag()))
    assert speak(engine, "Yes.")


def test_another_voice_that_is_not_there_is_named_at_the_start(tmp_path: Path) -> None:
    for name in ("voice.onnx", "voice.onnx.json"):
        (tmp_path / name).write_text("{}")
    with pytest.raises(ModelMissing, match=r"german\.onnx"):
        PiperEngine(tmp_path / "voice.onnx", others={"de": tmp_path / "german.onnx"}).load()


def test_nothing_of_piper_is_imported_before_load() -> None:
    code = (
        "import sys; from pathlib import Path; from edgevox.tts.piper import PiperEngine; "
        "PiperEngine(Path('x')); print(sorted({'piper', 'onnxruntime'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == "[]"


def test_a_voice_that_was_not_loaded_says_so() -> None:
    with pytest.raises(ModelError, match="not loaded"):
        speak(PiperEngine(Path("voice.onnx")), "Hello.")


@pytest.mark.parametrize("there", [(), ("voice.onnx",), ("voice.onnx.json",)])
def test_a_missing_file_is_named(tmp_path: Path, there: tuple[str, ...]) -> None:
    for name in there:
        (tmp_path / name).write_text("{}")
    with pytest.raises(ModelMissing, match=r"voice\.onnx") as caught:
        PiperEngine(tmp_path / "voice.onnx").load()
    assert "edgevox models pull" in caught.value.hint


@pytest.mark.parametrize("config", ["", "[]", "{}", '{"audio": 1}', "\x00", "null", json.dumps(CONFIG)[:-9]])
def test_broken_settings_are_refused(tmp_path: Path, config: str) -> None:
    (tmp_path / "voice.onnx").write_bytes(b"")
    (tmp_path / "voice.onnx.json").write_text(config)
    with pytest.raises(ModelError, match=r"voice\.onnx\.json cannot be used") as caught:
        PiperEngine(tmp_path / "voice.onnx").load()
    assert "edgevox models verify" in caught.value.hint


@pytest.mark.parametrize("voice", [b"", b"\x08\x07", b"not a model" * 100])
def test_a_broken_voice_is_refused(tmp_path: Path, voice: bytes) -> None:
    (tmp_path / "voice.onnx").write_bytes(voice)
    (tmp_path / "voice.onnx.json").write_text(json.dumps(CONFIG))
    with pytest.raises(ModelError, match=r"voice\.onnx cannot be used") as caught:
        PiperEngine(tmp_path / "voice.onnx").load()
    assert caught.value.hint
