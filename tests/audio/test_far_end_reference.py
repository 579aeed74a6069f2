"""What was played is found at its moment, however it was given."""

from __future__ import annotations

import numpy as np
import pytest

from edgevox.audio.aec.reference import FarEndReference
from tests.audio.sounds import Samples, likeness, silence, sweep

RATE_HZ = 48_000


def give(played: FarEndReference, samples: Samples, at_s: float, step: int = 500) -> None:
    for first in range(0, len(samples), step):
        played.note(samples[first : first + step], at_s + first / RATE_HZ)


def taken(played: FarEndReference, first: int, count: int) -> Samples:
    """Block after block, as a listener does it."""
    blocks = [played.take(first + at, 320) for at in range(0, count, 320)]
    return np.concatenate([silence(0.02) if block is None else block for block in blocks])


def test_a_moment_of_the_sound_is_at_that_moment() -> None:
    played = FarEndReference(RATE_HZ)
    give(played, np.concatenate((sweep(1.0, RATE_HZ), silence(0.1, RATE_HZ))), at_s=100.0)
    heard = taken(played, 100 * 16_000 - 3200, 16_000)
    assert not heard[:3000].any()
    assert likeness(sweep(1.0)[: 16_000 - 3200], heard[3200:]) > 0.999


def test_two_replies_are_each_at_their_own_moment() -> None:
    played = FarEndReference(RATE_HZ)
    for at_s in (10.0, 13.5):
        give(played, np.concatenate((sweep(0.5, RATE_HZ), silence(0.1, RATE_HZ))), at_s)
    heard = taken(played, 10 * 16_000, 4 * 16_000 + 320)
    for at in (0, 56_000):
        assert likeness(sweep(0.5), heard[at : at + 8000]) > 0.999
    assert not heard[11_000:54_000].any()


def test_a_pause_between_two_words_moves_nothing() -> None:
    played = FarEndReference(16_000)
    words = np.concatenate((sweep(0.2), silence(0.2), sweep(0.2)))
    for first in range(0, len(words), 160):
        played.note(words[first : first + 160], 7.0 + first / 16_000 + (0.002 if first > 1600 else 0.0))
    heard = taken(played, 7 * 16_000, 9600)
    assert np.array_equal(heard, words)


def test_after_a_hole_it_goes_by_the_device() -> None:
    played = FarEndReference(16_000)
    sound = sweep(0.2)
    played.note(sound[:1600], 7.0)
    played.note(sound[1600:], 7.11, hole="lost")
    heard = taken(played, 7 * 16_000, 3520)
    assert np.array_equal(heard[:3360], np.concatenate((sound[:1600], silence(0.01), sound[1600:])))
    assert played.clock.jumps == 1


def test_sound_that_nobody_took_does_not_pile_up() -> None:
    played = FarEndReference(RATE_HZ)
    give(played, sweep(60.0, RATE_HZ, 0.1), at_s=0.0)
    assert played.take(59 * 16_000, 320) is not None
    assert len(played._given) < 200


def test_the_device_may_write_over_what_it_gave() -> None:
    played = FarEndReference(16_000)
    buffer = np.ones(320, dtype=np.float32)
    played.note(buffer, 5.0)
    buffer[:] = 0
    assert taken(played, 5 * 16_000, 320).all()


@pytest.mark.parametrize("after_s", [0.5, 1.5])
def test_it_is_silent_when_the_room_has_stopped_ringing(after_s: float) -> None:
    played = FarEndReference(RATE_HZ)
    give(played, sweep(0.5, RATE_HZ), at_s=1.0)
    taken(played, 16_000, 8000)
    assert (played.take(24_000 + round(after_s * 16_000), 320) is None) == (after_s > 1.0)
