"""Counting samples by devices whose times cannot be trusted."""

from __future__ import annotations

import numpy as np
import pytest

from edgevox.audio.sample_clock import SampleClock

BLOCK = 320
BLOCK_S = 0.02


def test_times_that_jump_about_do_not_move_what_is_counted() -> None:
    rng = np.random.default_rng(1)
    clock = SampleClock()
    placed = [
        clock.place(BLOCK, 50 + number * BLOCK_S + rng.uniform(-0.02, 0.02), may_jump=False)
        for number in range(500)
    ]
    assert set(np.diff(placed)) == {BLOCK}
    assert placed[0] == pytest.approx(50 * 16_000, abs=0.02 * 16_000)


def test_a_device_that_lost_sound_is_believed_after_a_moment() -> None:
    clock = SampleClock()
    placed = [
        clock.place(BLOCK, number * BLOCK_S + (0.1 if number >= 50 else 0.0), may_jump=False)
        for number in range(100)
    ]
    assert placed[50] == 50 * BLOCK
    assert placed[-1] == pytest.approx(99 * BLOCK + 1600, abs=1)


def test_in_silence_it_follows_the_device() -> None:
    clock = SampleClock()
    clock.place(BLOCK, 1.0, may_jump=True)
    for number in range(1, 30):
        last = clock.place(BLOCK, 1.01 + number * BLOCK_S, may_jump=True)
    assert last == pytest.approx(1.01 * 16_000 + 29 * BLOCK, abs=1)


def test_a_device_that_was_closed_begins_anew_at_once() -> None:
    clock = SampleClock()
    clock.place(BLOCK, 1.0, may_jump=False)
    assert clock.place(BLOCK, 9.0, may_jump=False) == 9 * 16_000


def test_after_a_hole_it_moves_once_more_at_most() -> None:
    clock = SampleClock()
    clock.place(BLOCK, 1.0, may_jump=False)
    clock.forget()
    said_s = [1.18, 1.12, 1.20, *(1.1 + number * BLOCK_S for number in range(3, 60))]
    placed = [clock.place(BLOCK, moment_s, may_jump=False) for moment_s in said_s]
    assert clock.jumps <= 2
    assert placed[-1] == pytest.approx(said_s[-1] * 16_000, abs=0.03 * 16_000)
