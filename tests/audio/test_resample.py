"""Rates into rates: as long and as loud as before, however it is cut up."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from edgevox.audio.dsp import Resampler
from edgevox.audio.io.microphone import Blocks
from tests.audio.sounds import Samples, likeness, sweep

RATES_HZ = (8_000, 11_025, 16_000, 22_050, 32_000, 44_100, 48_000, 96_000)


def resample(samples: Samples, from_hz: int, to_hz: int, cuts: list[int]) -> Samples:
    resampler = Resampler(from_hz, to_hz)
    pieces = [resampler.feed(piece) for piece in np.split(samples, sorted(cuts))]
    return np.concatenate([*pieces, resampler.finish()])


@pytest.mark.parametrize("to_hz", [16_000, 48_000])
@pytest.mark.parametrize("from_hz", RATES_HZ)
def test_every_sample_arrives_in_its_place(from_hz: int, to_hz: int) -> None:
    got = resample(sweep(1.0, from_hz), from_hz, to_hz, cuts=[])
    assert len(got) == to_hz
    assert likeness(got, sweep(1.0, to_hz)) > 0.999


@given(cuts=st.lists(st.integers(0, 4410), max_size=12))
def test_how_it_is_cut_makes_no_difference(cuts: list[int]) -> None:
    whole = resample(sweep(0.1, 44_100), 44_100, 16_000, cuts=[])
    pieces = resample(sweep(0.1, 44_100), 44_100, 16_000, cuts)
    assert np.array_equal(whole, pieces)


def test_the_same_rate_is_left_alone() -> None:
    samples = sweep(0.1)
    assert Resampler(16_000, 16_000).feed(samples) is samples


@given(sizes=st.lists(st.integers(0, 3000), min_size=1, max_size=20), from_hz=st.sampled_from(RATES_HZ))
def test_blocks_are_even_and_in_order(sizes: list[int], from_hz: int) -> None:
    samples = sweep(sum(sizes) / from_hz, from_hz)
    blocks, given_blocks = Blocks(Resampler(from_hz, 16_000), 320), list[Samples]()
    for piece in np.split(samples, np.cumsum(sizes)[:-1]):
        given_blocks += list(blocks.feed(piece))
    assert {len(block) for block in given_blocks} <= {320}
    got = np.concatenate([np.zeros(0, dtype=np.float32), *given_blocks])
    assert np.array_equal(got, resample(samples, from_hz, 16_000, cuts=[])[: len(got)])
    # What is not in a block yet is held, not lost.
    assert len(got) + blocks.held_samples == pytest.approx(len(samples) * 16_000 / from_hz, abs=2)


def test_blocks_that_were_not_fetched_are_held_and_come_with_the_next() -> None:
    samples = sweep(0.2)
    blocks = Blocks(Resampler(16_000, 16_000), 320)
    first = next(blocks.feed(samples))
    assert blocks.held_samples == len(samples) - 320
    rest = list(blocks.feed(np.zeros(0, dtype=np.float32)))
    assert np.array_equal(np.concatenate([first, *rest]), samples)


def test_a_resampler_of_a_thread_that_never_ends_leaves_no_message_at_exit() -> None:
    program = (
        "import threading\n"
        "from edgevox.audio.dsp import Resampler\n"
        "made = threading.Event()\n"
        "def hold():\n"
        "    resampler = Resampler(44100, 16000)\n"
        "    made.set()\n"
        "    threading.Event().wait()\n"
        "threading.Thread(target=hold, daemon=True).start()\n"
        "made.wait()\n"
    )
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    assert ended.stderr == ""
