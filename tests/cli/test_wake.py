"""`edgevox wake test`, on what espeak-ng says, and `edgevox wake train`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from edgevox.audio.files import read_audio, write_wav
from edgevox.audio.wake_word import WakeWordDetector, score_wake_word, trace_wake_word
from edgevox.core.types import SAMPLE_RATE_HZ, Audio
from edgevox.models import ModelStore
from tests.audio.sounds import espeak, noise
from tests.cli.command import edgevox, environment


@pytest.fixture
def recordings(tmp_path: Path) -> Path:
    """A folder `talk` without the wake word, and `words` with it in one of two."""
    for folder, name, samples in (
        ("talk", "noise", noise(5, 0.1)),
        ("talk", "weather", espeak("will it rain in the afternoon, or can I go out?", tmp_path)),
        ("words", "said", espeak("okay nabu", tmp_path)),
        ("words", "unsaid", espeak("good morning", tmp_path)),
    ):
        (tmp_path / folder).mkdir(exist_ok=True)
        write_wav(tmp_path / folder / f"{name}.wav", [Audio(samples, SAMPLE_RATE_HZ)])
    return tmp_path


def test_false_accepts_and_misses_are_counted(recordings: Path, tmp_path: Path) -> None:
    result = edgevox(
        *("wake", "test", recordings / "talk", "--wake-files", recordings / "words", "--json"),
        env=environment(tmp_path),
    )
    facts = json.loads(result.stdout)
    assert (facts["false_accepts"], facts["false_per_hour"]) == (0, 0)
    assert (facts["missed"], facts["words"]) == (1, 2)
    assert [Path(name).name for name in facts["missed_files"]] == ["unsaid.wav"]


def test_a_word_among_the_others_is_a_false_accept(recordings: Path, tmp_path: Path) -> None:
    result = edgevox("wake", "test", recordings / "words", "--threshold", "0.8", env=environment(tmp_path))
    assert result.returncode == 0
    assert "false accepts:" in result.stdout
    assert "said.wav at " in result.stdout
    (row,) = [line for line in result.stdout.splitlines() if line.startswith("0.8 *")]
    assert row.split()[2:4] == ["0.800", "1"]


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        ((), "no recordings given"),
        (("no-such-file.wav",), "there is no file no-such-file.wav"),
        (("x.wav", "--threshold", "loud"), "wake.threshold must be"),
        (("x.wav", "--model", "none.json"), "none.json cannot be used as a wake word"),
    ],
)
def test_a_mistake_is_told(words: tuple[str, ...], complaint: str, tmp_path: Path) -> None:
    result = edgevox("wake", "test", *words, env=environment(tmp_path))
    assert result.returncode != 0
    assert complaint in result.stderr


@pytest.mark.long
@pytest.mark.engine
@pytest.mark.timeout(900)
def test_a_trained_word_is_heard_in_a_voice_that_it_was_not_trained_with(
    store: ModelStore, write_speech: Callable[[str, Path], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.ensure(["speech-embedding", "kokoro-speakers", "hibari-en_US-heart"])
    env = environment(tmp_path)
    result = edgevox("wake", "train", "hey house", "--quick", "--use", "--json", env=env, bound_s=800)
    facts = json.loads(result.stdout)
    assert facts["measured"]["phrases"] > 0
    monkeypatch.setenv("EDGEVOX_STATE_DIR", env["EDGEVOX_STATE_DIR"])
    detector = WakeWordDetector("hey_house")
    assert detector.word.phrase == "hey house"
    assert "hey_house" in edgevox("config", "get", "wake.word", env=env).stdout
    said, talk = tmp_path / "said.wav", tmp_path / "talk.wav"
    write_speech("Hey house.", said)
    write_speech("The goalkeeper ran all the way to the other side of the field, and nobody knew why.", talk)
    heard, other = (trace_wake_word("hey_house", path.name, read_audio(path)) for path in (said, talk))
    score = score_wake_word([heard], [other], detector.word.cutoff("normal"))
    assert (score.missed, score.false_accepts) == (0, 0)
