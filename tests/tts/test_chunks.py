"""How a sentence is divided, and whether its chunks come in time."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from edgevox.tts.vits import FIRST_CHUNK_S, MOST_CHUNKS, RealTimeFactor, chunk_ends

FRAMES_PER_S = 86.0
frames = st.integers(1, 3000)
growths = st.floats(0.05, 4.0)


def sizes(count: int, growth: float) -> list[int]:
    return [end - start for start, end in pairwise([0, *chunk_ends(count, FRAMES_PER_S, growth)])]


@given(frames, growths)
def test_the_chunks_are_the_sentence(count: int, growth: float) -> None:
    found = sizes(count, growth)
    assert sum(found) == count
    assert min(found) > 0
    assert len(found) <= MOST_CHUNKS + 1


@given(frames, growths)
def test_a_chunk_grows_by_no_more_than_it_may(count: int, growth: float) -> None:
    shortest = FIRST_CHUNK_S * FRAMES_PER_S
    for before, after in pairwise(sizes(count, growth)):
        assert after <= max(shortest, before * growth) + shortest / 2 + 2


@pytest.mark.parametrize(("sentence_s", "first_s"), [(0.5, 0.5), (1.2, 0.35), (3.0, 0.35), (6.0, 0.4)])
def test_on_a_quick_machine_the_first_chunk_is_short(sentence_s: float, first_s: float) -> None:
    first = sizes(round(sentence_s * FRAMES_PER_S), RealTimeFactor().growth)[0]
    assert first / FRAMES_PER_S == pytest.approx(first_s, abs=0.01)


@given(st.integers(200, 3000), st.floats(0.05, 1.5))
def test_playing_does_not_run_dry_at_the_pace_that_was_seen(count: int, real_time_factor: float) -> None:
    pace = RealTimeFactor()
    pace.note(work_s=real_time_factor, sound_s=1.0)
    found = sizes(count, pace.growth)
    made_at = real_time_factor * found[0]
    played_by = made_at + found[0]
    for size in found[1:]:
        made_at += real_time_factor * size
        assert made_at <= played_by
        played_by += size


def test_a_slower_machine_starts_with_more_and_goes_on_with_less() -> None:
    quick, slow = RealTimeFactor(), RealTimeFactor()
    quick.note(work_s=0.1, sound_s=1.0)
    slow.note(work_s=0.9, sound_s=1.0)
    assert sizes(500, slow.growth)[0] > 4 * sizes(500, quick.growth)[0]
    assert len(sizes(500, quick.growth)) < len(sizes(500, slow.growth))


def test_no_frames_are_no_chunks() -> None:
    assert sizes(0, 2.0) == []
