"""An echo whose delay changes is found again, and a speaker is not taken for an echo."""

from __future__ import annotations

import numpy as np
import pytest

from edgevox.audio.aec.delay_tracker import EchoDelayTracker
from edgevox.core.types import SAMPLE_RATE_HZ
from tests.audio.echo_room import BLOCK, echo_of, talking
from tests.audio.sounds import Samples

MOVED_AT = round(1.6 * SAMPLE_RATE_HZ)
ASKED_AT = round(2.1 * SAMPLE_RATE_HZ)


def moved_by(heard: Samples, played: Samples) -> int:
    echo = EchoDelayTracker()
    for first in range(0, ASKED_AT, BLOCK):
        echo.add(played[first : first + BLOCK], heard[first : first + BLOCK])
    return echo.delay_change_samples()


def moved(heard: Samples, samples: int) -> Samples:
    """The same sound, from a moment on so many samples later."""
    late = np.zeros(max(0, samples))
    tail = np.concatenate((late, heard[MOVED_AT + max(0, -samples) :]))
    return np.concatenate((heard[:MOVED_AT], tail)).astype(np.float32)


@pytest.mark.parametrize("moved_ms", [-150, -60, -10, 10, 90, 130])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_an_echo_that_moved_is_found_where_it_is_now(moved_ms: int, seed: int) -> None:
    reply = talking(3.0, seed)
    samples = moved_ms * SAMPLE_RATE_HZ // 1000
    assert moved_by(moved(echo_of(reply, 0.08), samples), reply) == pytest.approx(samples, abs=16)


@pytest.mark.parametrize("seed", range(6))
def test_an_echo_that_stays_did_not_move_even_when_somebody_speaks(seed: int) -> None:
    reply = talking(3.0, seed)
    heard = echo_of(reply, 0.08)
    assert moved_by(heard, reply) == 0
    person = talking(1.0, seed + 50, pitch_hz=210.0)
    heard[MOVED_AT : MOVED_AT + len(person)] += person
    assert moved_by(heard, reply) == 0


@pytest.mark.parametrize("seed", range(6))
def test_a_person_who_is_far_louder_than_the_echo_is_none(seed: int) -> None:
    reply = talking(3.0, seed)
    heard = echo_of(reply, 0.08, gain=0.05)
    person = talking(1.0, seed + 50)
    heard[MOVED_AT : MOVED_AT + len(person)] += person
    assert moved_by(heard, reply) == 0


def test_without_sound_nothing_moves() -> None:
    silence = np.zeros(3 * SAMPLE_RATE_HZ, dtype=np.float32)
    assert moved_by(silence, silence) == 0
    assert moved_by(talking(3.0, 1), silence) == 0
    assert EchoDelayTracker().delay_change_samples() == 0
