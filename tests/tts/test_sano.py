"""The engine of the sano voices, and what it does with files that are none."""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from edgevox.core.errors import ModelError, ModelMissing
from edgevox.core.turn import CancelFlag
from edgevox.core.types import Audio, SynthesisRequest
from edgevox.models import ModelStore
from edgevox.tts.sano import DECODER_FILE, SanoEngine


@pytest.fixture(scope="module")
def voice_path(store: ModelStore) -> Path:
    return store.pull("sano-de_DE")


@pytest.fixture(scope="module")
def engine(voice_path: Path) -> SanoEngine:
    engine: SanoEngine = pickle.loads(pickle.dumps(SanoEngine(voice_path, "de")))  # as it is sent to its process
    engine.load()
    return engine


def speak(engine: SanoEngine, text: str, speed: float = 1.0) -> list[Audio]:
    return list(engine.run(SynthesisRequest(text, speed, "de"), CancelFlag()))


@pytest.mark.engine
def test_a_sentence_becomes_sound_of_the_common_level(engine: SanoEngine) -> None:
    for text in ("Das Licht in der Küche ist an.", "Soll ich die Haustür öffnen?"):
        (audio,) = speak(engine, text)
        assert (audio.rate_hz, audio.samples.ndim) == (22_050, 1)
        assert 0.05 < np.sqrt(np.mean(audio.samples**2)) < 0.2
        assert 1.0 < audio.duration_s < 4.0


@pytest.mark.engine
def test_speed_changes_the_duration(engine: SanoEngine) -> None:
    text = "Eins, zwei, drei, vier, fünf, sechs."
    normal, fast, slow = (speak(engine, text, speed)[0].duration_s for speed in (1.0, 2.0, 0.7))
    assert fast < 0.75 * normal < 1.25 * normal < slow


@pytest.mark.engine
def test_what_has_no_word_is_silent_and_foreign_letters_are_read(engine: SanoEngine) -> None:
    assert [speak(engine, text) for text in ("", "...", "🎉", "\0")] == [[]] * 4
    assert all(speak(engine, text) for text in ("Łukasz Nguyễn", "日本", "9" * 40, "a" * 3000))


@pytest.mark.engine
def test_a_cancelled_sentence_is_not_spoken(engine: SanoEngine) -> None:
    cancel = CancelFlag()
    cancel.set()
    assert list(engine.run(SynthesisRequest("Guten Morgen.", language="de"), cancel)) == []


@pytest.mark.engine
@pytest.mark.parametrize("name", ["front_q8.bin", DECODER_FILE])
def test_a_damaged_file_is_reported_with_a_hint(voice_path: Path, tmp_path: Path, name: str) -> None:
    for file in (voice_path, voice_path.with_name(DECODER_FILE)):
        whole = file.read_bytes()
        (tmp_path / file.name).write_bytes(whole[: len(whole) // 2] if file.name == name else whole)
    with pytest.raises(ModelError, match="cannot be used") as caught:
        SanoEngine(tmp_path / voice_path.name, "de").load()
    assert "edgevox models verify" in caught.value.hint


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "front_q8.bin").write_bytes(b"")
    with pytest.raises(ModelMissing, match=DECODER_FILE):
        SanoEngine(tmp_path / "front_q8.bin", "de").load()


def test_no_gpl_code_is_imported_before_load() -> None:
    code = (
        "import sys; from pathlib import Path; import edgevox.tts.espeak; from edgevox.tts.sano import SanoEngine; "
        "SanoEngine(Path('x'), 'de'); print(sorted({'piper', 'onnxruntime'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == "[]"
