"""Speech in chunks is the speech that the whole graph makes."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from edgevox.tts.onnx_graph import Graph, cut_voice
from edgevox.tts.vits import ONNX_ERRORS, RealTimeFactor, SinglePassVits, StopSwitch, StreamingVits, open_vits
from tests.tts.small_voice import CHANNELS, FRAMES_PER_PHONEME, SAMPLES_PER_FRAME, small_voice

RATE_HZ = 40 * SAMPLES_PER_FRAME
VOICE_RATE_HZ = 22_050


def small_inputs(phonemes: int, *, speakers: bool = False) -> dict[str, Any]:
    numbers = np.random.default_rng(3)
    inputs = {
        "input": numbers.normal(size=(1, CHANNELS, phonemes)).astype(np.float32),
        "scales": np.zeros(1, dtype=np.float32),
    }
    speaker = numbers.normal(size=(1, CHANNELS, 1)).astype(np.float32)
    return {**inputs, "speaker": speaker} if speakers else inputs


def opened(path: Path, probe: Mapping[str, Any]) -> SinglePassVits | StreamingVits:
    return open_vits(path, rate_hz=RATE_HZ, threads=1, switch=StopSwitch(), probe=probe)[0]


@pytest.mark.parametrize("speakers", [False, True])
@pytest.mark.parametrize("phonemes", [1, 5, 10, 40, 100])
def test_chunks_add_up_to_what_the_whole_graph_makes(tmp_path: Path, phonemes: int, speakers: bool) -> None:
    path = tmp_path / "voice.onnx"
    path.write_bytes(small_voice(speakers=speakers))
    chunked = opened(path, small_inputs(40, speakers=speakers))
    assert isinstance(chunked, StreamingVits)
    inputs = small_inputs(phonemes, speakers=speakers)
    whole = SinglePassVits(path, threads=1, switch=StopSwitch()).whole(inputs)
    chunks = [*chunked.chunks(inputs)]
    assert len(whole) == phonemes * FRAMES_PER_PHONEME * SAMPLES_PER_FRAME
    assert len(chunks) > 1 or phonemes < 10
    np.testing.assert_allclose(np.concatenate(chunks), whole, rtol=0, atol=1e-5)


@pytest.mark.parametrize(
    "voice",
    [small_voice(flow_op="Softmax"), small_voice(turns_time_round=True)],
    ids=["an operation over all frames", "time turned round"],
)
def test_a_voice_that_cannot_be_cut_speaks_as_a_whole(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, voice: bytes
) -> None:
    path = tmp_path / "voice.onnx"
    path.write_bytes(voice)
    with caplog.at_level(logging.INFO):
        speech = opened(path, small_inputs(40))
    assert isinstance(speech, SinglePassVits)
    assert "whole sentences" in caplog.text
    (sound,) = speech.chunks(small_inputs(10))
    assert len(sound) == 10 * FRAMES_PER_PHONEME * SAMPLES_PER_FRAME


def test_a_file_that_is_no_model_is_an_error_of_onnxruntime(tmp_path: Path) -> None:
    path = tmp_path / "voice.onnx"
    path.write_bytes(small_voice()[:500])
    with pytest.raises(ONNX_ERRORS):
        opened(path, small_inputs(40))


def test_the_voice_file_may_go_once_it_is_open(tmp_path: Path) -> None:
    path = tmp_path / "voice.onnx"
    path.write_bytes(small_voice())
    speech = opened(path, small_inputs(40))
    path.unlink()
    assert len([*speech.chunks(small_inputs(40))]) > 1


@pytest.fixture(scope="module")
def whole(piper_voice_path: Path) -> SinglePassVits:
    return SinglePassVits(piper_voice_path, threads=1, switch=StopSwitch())


class Quick(RealTimeFactor):
    """Takes every machine for a quick one."""

    def note(self, work_s: float, sound_s: float) -> None:
        pass


@pytest.fixture(scope="module")
def chunked(piper_voice_path: Path) -> StreamingVits:
    parts = cut_voice(Graph.parse(memoryview(piper_voice_path.read_bytes())))
    return StreamingVits(parts, Quick(), rate_hz=VOICE_RATE_HZ, threads=1, switch=StopSwitch())


def phonemes(count: int, *, noise: float = 0.0) -> dict[str, Any]:
    """Babble: phonemes of the English voices, with the blanks that Piper puts between them."""
    ids = [1]
    for number in range(count):
        ids += [0, 14 + number * 5 % 20 if number % 6 else 3]
    ids.append(2)
    return {
        "input": np.array([ids]),
        "input_lengths": np.array([len(ids)]),
        "scales": np.array([noise, 1.0, noise], dtype=np.float32),
    }


@pytest.mark.engine
@pytest.mark.parametrize("count", [2, 12, 90])
def test_the_real_voice_sounds_the_same_in_chunks(whole: SinglePassVits, chunked: StreamingVits, count: int) -> None:
    sound = whole.whole(phonemes(count))
    chunks = [*chunked.chunks(phonemes(count))]
    assert len(chunks) > 1 or count == 2
    joined = np.concatenate(chunks)
    np.testing.assert_allclose(joined, sound, rtol=0, atol=1e-4)


@pytest.mark.engine
def test_nothing_clicks_where_two_chunks_meet(chunked: StreamingVits) -> None:
    chunks = [*chunked.chunks(phonemes(90, noise=0.7))]
    sound = np.concatenate(chunks)
    seams = np.cumsum([len(chunk) for chunk in chunks])[:-1]
    jumps = np.abs(np.diff(sound))
    assert len(seams) == 3
    for seam in seams:
        around = np.delete(jumps[seam - 500 : seam + 500], slice(498, 501))
        assert jumps[seam - 1] <= 1.5 * around.max()


@pytest.mark.engine
def test_the_first_chunk_of_a_long_sentence_comes_in_half_the_time(chunked: StreamingVits) -> None:
    inputs = phonemes(90)
    ratios: list[float] = []
    for _ in range(3):
        started_s = time.process_time()
        next(chunked.chunks(inputs))
        first_s = time.process_time() - started_s
        started_s = time.process_time()
        chunked.whole(inputs)
        ratios.append(first_s / (time.process_time() - started_s))
    assert min(ratios) < 0.5
