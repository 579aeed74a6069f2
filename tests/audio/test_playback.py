"""The way to the loudspeaker without one: the test takes the sound, as PortAudio would."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from types import SimpleNamespace

import numpy as np
import pytest

from edgevox.audio.aec.reference import Hole
from edgevox.audio.io.speaker import Playback
from edgevox.core.errors import EngineFailed
from edgevox.core.types import Audio
from tests.audio.sounds import Samples, sweep

RATE_HZ = 48_000
BLOCK = 480
FINE = SimpleNamespace(output_underflow=False)
BOUND_S = 10.0
DEVICE_DELAY_S = 0.2


async def chunks(*sounds: Samples, rate_hz: int = RATE_HZ) -> AsyncIterator[Audio]:
    for samples in sounds:
        yield Audio(samples, rate_hz)


def take(playback: Playback, *, frames: int = BLOCK, channels: int = 1, status: object = FINE) -> Samples:
    """What the device is given in one callback."""
    out = np.full((frames, channels), np.nan, dtype=np.float32)
    now_s = playback.taken_frames / RATE_HZ
    times = SimpleNamespace(currentTime=now_s, outputBufferDacTime=now_s + DEVICE_DELAY_S)
    playback.fill(out, frames, times, status)
    assert (out == out[:, :1]).all()
    return out[:, 0]


async def take_all(playback: Playback) -> Samples:
    """Everything the device is given until the playback is over."""
    taken = []
    async with asyncio.timeout(BOUND_S):
        while not playback.is_over.is_set():
            taken.append(take(playback))
            await asyncio.sleep(0)  # the loop feeds the ring between two callbacks
    return np.concatenate(taken)


async def test_every_sample_is_played_once_and_without_a_gap() -> None:
    # Longer than the ring, in pieces that fit no block.
    sound = sweep(5.0, RATE_HZ)
    playback = Playback(RATE_HZ, 0, lambda: None)
    feeding = asyncio.create_task(playback.feed(chunks(*np.array_split(sound, 37))))
    await asyncio.sleep(0)
    taken = await take_all(playback)
    await feeding
    first = int(np.flatnonzero(taken)[0]) - 1  # the sweep begins with a zero
    assert np.array_equal(taken[first : first + len(sound)], sound)
    assert not taken[first + len(sound) :].any()
    assert playback.underruns == 0


async def test_it_is_over_only_when_the_last_sample_was_heard() -> None:
    playback = Playback(RATE_HZ, 0, lambda: None)
    await playback.feed(chunks(np.ones(BLOCK, dtype=np.float32)))
    taken = await take_all(playback)
    assert DEVICE_DELAY_S < len(taken) / RATE_HZ - BLOCK / RATE_HZ < DEVICE_DELAY_S + 0.1
    assert playback.device_delay_s == pytest.approx(DEVICE_DELAY_S)


async def test_a_driver_that_knows_no_times_is_given_the_delay_of_its_buffer() -> None:
    playback = Playback(RATE_HZ, 0, lambda: None)
    playback.device_delay_s = 0.5
    await playback.feed(chunks(np.ones(BLOCK, dtype=np.float32)))
    assert len(await take_all(playback)) > 0.5 * RATE_HZ


async def test_a_driver_with_impossible_times_does_not_keep_it_from_ending() -> None:
    playback = Playback(RATE_HZ, 0, lambda: None)
    await playback.feed(chunks(np.ones(BLOCK, dtype=np.float32)))
    out = np.zeros((BLOCK, 1), dtype=np.float32)
    async with asyncio.timeout(BOUND_S):
        while not playback.is_over.is_set():
            playback.fill(out, BLOCK, SimpleNamespace(currentTime=0.0, outputBufferDacTime=1e9), FINE)
            await asyncio.sleep(0)


async def test_the_lead_in_is_silence_before_the_first_sample() -> None:
    playback = Playback(RATE_HZ, 1000, lambda: None)
    await playback.feed(chunks(np.ones(BLOCK, dtype=np.float32)))
    taken = await take_all(playback)
    assert np.flatnonzero(taken)[0] == 1000


async def test_the_lead_in_passes_while_the_first_word_is_being_made() -> None:
    playback = Playback(RATE_HZ, 1000, lambda: None)
    waited = sum(len(take(playback)) for _ in range(10))
    await playback.feed(chunks(np.ones(BLOCK, dtype=np.float32)))
    assert waited > 1000
    assert take(playback).all()


async def test_the_start_is_told_once_and_with_the_first_sample() -> None:
    starts: list[str] = []
    playback = Playback(RATE_HZ, BLOCK, lambda: starts.append("started"))
    take(playback)
    await playback.feed(chunks(*np.split(np.ones(4 * BLOCK, dtype=np.float32), 4)))
    await asyncio.sleep(0)
    assert starts == []
    for _ in range(3):
        take(playback)
        await asyncio.sleep(0)
        assert starts == ["started"]


async def test_after_a_cancel_the_device_gets_silence() -> None:
    starts: list[str] = []
    playback = Playback(RATE_HZ, 0, lambda: starts.append("started"))
    await playback.feed(chunks(np.ones(10 * BLOCK, dtype=np.float32)))
    assert take(playback).all()
    playback.cancel()
    end = take(playback)
    assert np.count_nonzero(end) < 0.006 * RATE_HZ
    assert np.max(np.abs(np.diff(end, prepend=1.0))) < 0.01, "a sound that ends at once is a click"
    assert not take(playback).any()
    await asyncio.wait_for(playback.is_over.wait(), BOUND_S)


async def test_a_device_that_takes_nothing_more_does_not_hold_up_a_cancel() -> None:
    playback = Playback(RATE_HZ, 0, lambda: None)
    await playback.feed(chunks(np.ones(10 * BLOCK, dtype=np.float32)))
    take(playback)
    playback.cancel()
    await asyncio.wait_for(playback.is_over.wait(), BOUND_S)


async def test_a_reply_cancelled_before_its_first_sample_never_starts() -> None:
    starts: list[str] = []
    playback = Playback(RATE_HZ, 0, lambda: starts.append("started"))
    playback.cancel()
    await playback.feed(chunks(np.ones(BLOCK, dtype=np.float32)))
    assert not take(playback).any()
    await asyncio.sleep(0)
    assert starts == []


async def test_what_is_ducked_is_quiet_at_once_and_slowly_loud_again() -> None:
    notes = Notes()
    playback = Playback(RATE_HZ, 0, lambda: None, notes.tap)
    await playback.feed(chunks(np.ones(100 * BLOCK, dtype=np.float32)))
    loud = take(playback)
    playback.duck(True)
    falling = np.concatenate([take(playback) for _ in range(3)])
    playback.duck(False)
    rising = np.concatenate([take(playback) for _ in range(20)])
    quiet = 10 ** (-15 / 20)
    assert (loud == 1.0).all()
    assert falling[round(0.021 * RATE_HZ) :] == pytest.approx(quiet, abs=1e-6)
    assert rising[round(0.1 * RATE_HZ)] < 0.8
    assert (rising[round(0.151 * RATE_HZ) :] == 1.0).all()
    heard = np.concatenate([loud, falling, rising])
    assert np.max(np.abs(np.diff(heard))) < 0.001
    assert np.array_equal(np.concatenate(notes.samples), heard), "the echo is of what really goes out"


async def test_a_ducked_reply_that_is_cancelled_ends_from_where_it_is() -> None:
    playback = Playback(RATE_HZ, 0, lambda: None)
    await playback.feed(chunks(np.ones(100 * BLOCK, dtype=np.float32)))
    playback.duck(True)
    for _ in range(5):
        take(playback)
    playback.cancel()
    assert np.max(take(playback)) < 0.18
    assert not take(playback).any()


async def test_what_the_device_still_holds_has_not_been_heard(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr("edgevox.audio.io.speaker.monotonic", lambda: now[0])
    playback = Playback(RATE_HZ, 2 * BLOCK, lambda: None)
    await playback.feed(chunks(np.ones(100 * BLOCK, dtype=np.float32)))
    for _ in range(52):  # two of them are the lead-in
        take(playback)
        now[0] += BLOCK / RATE_HZ
    assert playback.heard_s == pytest.approx(0.5 - DEVICE_DELAY_S, abs=0.02)
    now[0] += DEVICE_DELAY_S
    assert playback.heard_s == pytest.approx(0.5)


async def test_a_reply_without_sound_is_over_at_once() -> None:
    playback = Playback(RATE_HZ, RATE_HZ, lambda: pytest.fail("nothing was played"))
    await playback.feed(chunks())
    take(playback)
    await asyncio.wait_for(playback.is_over.wait(), BOUND_S)


async def test_a_pause_for_want_of_sound_is_one_underrun_however_long() -> None:
    playback = Playback(RATE_HZ, 0, lambda: None)
    more = asyncio.Event()

    async def slow() -> AsyncIterator[Audio]:
        yield Audio(np.ones(BLOCK, dtype=np.float32), RATE_HZ)
        await more.wait()
        yield Audio(np.ones(BLOCK, dtype=np.float32), RATE_HZ)

    feeding = asyncio.create_task(playback.feed(slow()))
    await asyncio.sleep(0)
    for _ in range(5):
        take(playback)
    more.set()
    await feeding
    assert take(playback).all()
    assert playback.underruns == 1


async def test_what_the_device_itself_missed_is_counted() -> None:
    playback = Playback(RATE_HZ, 0, lambda: None)
    await playback.feed(chunks(np.ones(4 * BLOCK, dtype=np.float32)))
    take(playback)
    take(playback, status=SimpleNamespace(output_underflow=True))
    assert playback.underruns == 1


async def test_all_channels_play_the_same() -> None:
    playback = Playback(RATE_HZ, 100, lambda: None)
    await playback.feed(chunks(sweep(0.1, RATE_HZ)))
    assert take(playback, channels=6).any()


class Notes:
    """Listens at the tap."""

    def __init__(self) -> None:
        self.samples: list[Samples] = []
        self.at_s: list[float] = []
        self.holes: list[Hole | None] = []

    def tap(self, samples: Samples, heard_at_s: float, hole: Hole | None) -> None:
        self.samples.append(samples.copy())
        self.at_s.append(heard_at_s)
        self.holes.append(hole)


async def test_the_tap_is_told_what_the_device_gets_and_when_it_is_heard() -> None:
    notes = Notes()
    playback = Playback(RATE_HZ, 1000, lambda: None, notes.tap)
    await playback.feed(chunks(sweep(0.1, RATE_HZ)))
    before_s = time.monotonic()
    taken = [take(playback, channels=2) for _ in range(3)]
    playback.cancel()
    taken.append(take(playback))
    assert np.array_equal(np.concatenate(notes.samples), np.concatenate(taken))
    for at_s in notes.at_s:
        assert before_s <= at_s - DEVICE_DELAY_S <= time.monotonic()


async def test_the_tap_of_a_driver_that_knows_no_times_is_told_the_delay_of_its_buffer() -> None:
    notes = Notes()
    playback = Playback(RATE_HZ, 0, lambda: None, notes.tap)
    playback.device_delay_s = 0.5
    before_s = time.monotonic()
    out = np.empty((BLOCK, 1), dtype=np.float32)
    playback.fill(out, BLOCK, SimpleNamespace(currentTime=3.0, outputBufferDacTime=3.0), FINE)
    assert before_s <= notes.at_s[0] - 0.5 <= time.monotonic()


async def test_the_tap_is_told_of_a_device_that_was_opened_or_ran_out_of_sound() -> None:
    notes = Notes()
    playback = Playback(RATE_HZ, 0, lambda: None, notes.tap)
    for underflow in (False, False, True, False):
        take(playback, status=SimpleNamespace(output_underflow=underflow))
    assert notes.holes == ["opened", None, "lost", None]


async def test_a_change_of_rate_loses_nothing() -> None:
    playback = Playback(RATE_HZ, 0, lambda: None)

    async def mixed() -> AsyncIterator[Audio]:
        for rate_hz in (16_000, 22_050, 48_000):
            yield Audio(np.ones(rate_hz // 10, dtype=np.float32), rate_hz)

    await playback.feed(mixed())
    taken = await take_all(playback)
    assert np.count_nonzero(taken > 0.4) == pytest.approx(0.3 * RATE_HZ, abs=10)


async def test_an_error_comes_after_what_was_made_before_it() -> None:
    async def broken() -> AsyncIterator[Audio]:
        yield Audio(np.ones(3 * BLOCK, dtype=np.float32), RATE_HZ)
        raise EngineFailed("the voice died")

    playback = Playback(RATE_HZ, 0, lambda: None)
    with pytest.raises(EngineFailed):
        await playback.feed(broken())
    assert np.count_nonzero(await take_all(playback)) == 3 * BLOCK
