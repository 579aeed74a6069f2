"""Silence that is encoded once."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from edgevox.stt.whisper_decoder import encoded_silence

POSITIONS, WIDTH = 1500, 4


@dataclass
class Encoder:
    """Counts how often it is asked."""

    value: float = 0.5
    n_mels: int = 80
    times: int = 0

    def encode(self, frames: Any) -> np.ndarray:
        assert tuple(frames.shape) == (1, self.n_mels, 2 * POSITIONS)
        self.times += 1
        return np.full((1, POSITIONS, WIDTH), self.value, np.float32)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "model.bin").write_bytes(b"weights")
    return tmp_path


def kept(folder: Path) -> list[Path]:
    return [path for path in folder.iterdir() if path.name != "model.bin"]


def test_it_is_computed_once_for_a_model(folder: Path) -> None:
    encoder = Encoder()
    first, second = (encoded_silence(encoder, folder) for _ in range(2))
    np.testing.assert_array_equal(first, second)
    assert encoder.times == len(kept(folder)) == 1


def test_a_model_that_was_fetched_again_has_a_new_one(folder: Path) -> None:
    encoded_silence(Encoder(), folder)
    (folder / "model.bin").write_bytes(b"other weights")
    assert encoded_silence(Encoder(0.25), folder).max() == 0.25
    assert len(kept(folder)) == 1


@pytest.mark.parametrize("length", [0, 40, 4000])
def test_one_that_is_cut_off_is_computed_anew(folder: Path, length: int) -> None:
    encoded_silence(Encoder(), folder)
    (path,) = kept(folder)
    path.write_bytes(path.read_bytes()[:length])
    assert encoded_silence(encoder := Encoder(), folder).shape == (1, POSITIONS, WIDTH)
    assert encoder.times == 1


@pytest.mark.parametrize(
    "wrong", [np.zeros((1, 10, WIDTH), np.float32), np.full((1, POSITIONS, WIDTH), np.nan, np.float32), np.zeros(3)]
)
def test_one_that_is_something_else_is_computed_anew(folder: Path, wrong: np.ndarray) -> None:
    encoded_silence(Encoder(), folder)
    (path,) = kept(folder)
    np.save(path, wrong)
    assert encoded_silence(Encoder(), folder).max() == 0.5


def test_a_folder_that_cannot_be_written_does_no_harm(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_args: object, **_kwargs: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "save", full)
    assert encoded_silence(Encoder(), folder).shape == (1, POSITIONS, WIDTH)
    assert not kept(folder)
