"""Counting samples by devices whose times cannot be trusted."""

from __future__ import annotations

import numpy as np
import pytest

from edgevox.audio.aec.reference import SampleClock

BLOCK = 320
BLOCK_S = 0.02


def test_times_that_jump_about_do_not_move_what_is_counted() -> None:
    rng = np.random.default_rng(1)
    clock = SampleClock()
    placed = [
        clock.place(BLOCK, 50 + number * BLOCK_S + rng.uniform(-0.02, 0.02), may_jump=False) for number in range(500)
    ]
    assert set(np.diff(placed)) == {BLOCK}
    assert placed[0] == pytest.approx(50 * 16_000, abs=0.02 * 16_000)


def test_a_device_that_lost_sound_is_believed_after_a_moment() -> None:
    clock = SampleClock()
    placed = [
        clock.place(BLOCK, number * BLOCK_S + (0.1 if number >= 50 else 0.0), may_jump=False) for number in range(100)
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
    clock.forget("lost")
    said_s = [1.18, 1.12, 1.20, *(1.1 + number * BLOCK_S for number in range(3, 60))]
    placed = [clock.place(BLOCK, moment_s, may_jump=False) for moment_s in said_s]
    assert clock.jumps <= 2
    assert placed[-1] == pytest.approx(said_s[-1] * 16_000, abs=0.03 * 16_000)


def test_a_driver_that_changes_its_mind_a_little_moves_nothing() -> None:
    clock = SampleClock()
    for number in range(100):
        clock.place(BLOCK, number * BLOCK_S + (0.04 if number >= 50 else 0.0), may_jump=False)
    assert clock.jumps == 0


def test_lost_sound_is_told_from_an_opened_device_and_from_its_first_wrong_times() -> None:
    opened, lost, unannounced = SampleClock(), SampleClock(), SampleClock()
    for clock in (opened, lost, unannounced):
        for number in range(50):
            clock.place(BLOCK, number * BLOCK_S, may_jump=False)
    opened.forget("opened")
    lost.forget("lost")
    for number in range(50, 100):
        # The first block after a hole is said to come 0.09 s too late.
        late_s = 0.09 if number == 50 else 0.0
        opened.place(BLOCK, number * BLOCK_S + late_s, may_jump=False)
        lost.place(BLOCK, number * BLOCK_S + late_s, may_jump=False)
        unannounced.place(BLOCK, number * BLOCK_S + 0.1, may_jump=False)
    assert (opened.jumps, opened.losses) == (2, 0)
    assert (lost.jumps, lost.losses) == (2, 1)
    assert (unannounced.jumps, unannounced.losses) == (1, 1)
