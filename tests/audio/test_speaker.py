"""The loudspeaker on a real PortAudio device, with a recorder in front of it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from pathlib import Path

import numpy as np
import pytest

from edgevox.audio.files import read_audio
from edgevox.audio.io.speaker import Speaker
from edgevox.core.errors import DeviceUnavailable, EngineFailed
from edgevox.core.turn import CancelFlag
from edgevox.core.types import Audio
from edgevox.testing import NullSinks
from tests.audio.sounds import Samples, find, heard, likeness, sweep

pytestmark = pytest.mark.audio_device

RATE_HZ = 44_100
BOUND_S = 20.0


async def pieces(samples: Samples, rate_hz: int, count: int) -> AsyncIterator[Audio]:
    for piece in np.array_split(samples, count):
        yield Audio(piece, rate_hz)


def tone(seconds: float) -> Samples:
    at_s = np.arange(round(seconds * RATE_HZ)) / RATE_HZ
    return (0.5 * np.sin(2 * np.pi * 220 * at_s)).astype(np.float32)


async def play(speaker: Speaker, sounds: AsyncIterator[Audio], cancel: CancelFlag | None = None) -> None:
    async with asyncio.timeout(BOUND_S):
        await speaker.play(sounds, cancel or CancelFlag())


@pytest.mark.parametrize("rate_hz", [16_000, 22_050, 48_000])
async def test_a_reply_is_heard_from_the_first_to_the_last_sample(
    room: NullSinks, tmp_path: Path, rate_hz: int
) -> None:
    speaker = Speaker(lead_in_ms=100)
    with room.record(tmp_path / "heard.wav"):
        await play(speaker, pieces(sweep(1.0, rate_hz), rate_hz, 7))
    recording = read_audio(tmp_path / "heard.wav", RATE_HZ)
    wanted = sweep(1.0, RATE_HZ)
    match = find(wanted, recording.samples)
    there = recording.samples[match.at : match.at + len(wanted)]
    assert match.likeness > 0.99
    for moment in (slice(0, 1000), slice(-1000, None)):
        assert likeness(wanted[moment], there[moment]) > 0.95
    span = heard(recording)
    assert span.stop - span.start == pytest.approx(len(wanted), abs=400)
    assert speaker.underruns == 0


async def test_one_reply_after_the_other(room: NullSinks, tmp_path: Path) -> None:
    speaker = Speaker()
    sounds = [sweep(0.4, RATE_HZ), sweep(0.4, RATE_HZ)[::-1].copy()]
    with room.record(tmp_path / "heard.wav"):
        for sound in sounds:
            await play(speaker, pieces(sound, RATE_HZ, 1))
    recording = read_audio(tmp_path / "heard.wav", RATE_HZ)
    first, second = (find(sound, recording.samples) for sound in sounds)
    assert min(first.likeness, second.likeness) > 0.98
    assert second.at - first.at >= len(sounds[0])


async def test_it_returns_when_the_last_sample_was_heard_and_not_much_later(room: NullSinks) -> None:
    began_s = time.monotonic()
    await play(Speaker(), pieces(sweep(0.5, RATE_HZ), RATE_HZ, 1))
    assert 0.5 <= time.monotonic() - began_s < 3.0


async def test_a_cancel_is_soon_silent_and_no_click(room: NullSinks, tmp_path: Path) -> None:
    cancel, speaker = CancelFlag(), Speaker()
    times_s: list[float] = []

    def stop() -> None:
        times_s.append(time.monotonic())
        cancel.set()

    def started() -> None:
        times_s.append(time.monotonic())
        asyncio.get_running_loop().call_later(0.4, stop)

    with room.record(tmp_path / "heard.wav"):
        async with asyncio.timeout(BOUND_S):
            await speaker.play(pieces(tone(5.0), RATE_HZ, 5), cancel, started)
        ended_s = time.monotonic()
    started_s, cancelled_s = times_s
    recording = read_audio(tmp_path / "heard.wav", RATE_HZ)
    span = heard(recording)
    heard_s = (span.stop - span.start) / RATE_HZ
    silent_s = started_s + speaker.delay_s + heard_s - cancelled_s
    # A tenth of a second on a quiet machine; a busy one may also report the start late.
    assert silent_s < 1.0
    assert ended_s - cancelled_s < 1.5
    assert speaker.heard_s == pytest.approx(heard_s, abs=0.15)
    end = recording.samples[span.stop - 200 : span.stop + 200]
    assert np.max(np.abs(np.diff(end))) < 0.1


async def test_what_is_ducked_is_quieter_and_what_is_held_goes_on_where_it_was(room: NullSinks, tmp_path: Path) -> None:
    speaker = Speaker()

    def started() -> None:
        loop = asyncio.get_running_loop()
        loop.call_later(0.5, speaker.duck, True)
        loop.call_later(1.1, speaker.hold, True)
        loop.call_later(1.7, speaker.hold, False)
        loop.call_later(1.8, speaker.duck, False)

    with room.record(tmp_path / "heard.wav"):
        async with asyncio.timeout(BOUND_S):
            await speaker.play(pieces(tone(3.2), RATE_HZ, 5), CancelFlag(), started)
            played_s = speaker.heard_s
            speaker.duck(True)  # nothing is played any more
            await play(speaker, pieces(tone(0.2), RATE_HZ, 1))
    recording = read_audio(tmp_path / "heard.wav", RATE_HZ)
    first = heard(recording).start
    loudness = [
        float(np.max(np.abs(recording.samples[first + round(at_s * RATE_HZ) :][:2000])))
        for at_s in (0.2, 0.9, 1.5, 3.3)
    ]
    assert loudness == pytest.approx([0.5, 0.5 * 10 ** (-15 / 20), 0.0, 0.5], abs=0.05)
    assert played_s == pytest.approx(3.2, abs=0.1)
    assert float(np.max(np.abs(recording.samples[-round(0.4 * RATE_HZ) :]))) == pytest.approx(0.5, abs=0.05)


async def test_a_cancel_while_the_next_sentence_is_awaited_ends_the_playing(room: NullSinks) -> None:
    cancel = CancelFlag()

    async def never_ending() -> AsyncIterator[Audio]:
        yield Audio(sweep(0.1, RATE_HZ), RATE_HZ)
        await asyncio.Event().wait()

    playing = asyncio.create_task(play(Speaker(), never_ending(), cancel))
    await asyncio.sleep(0)
    cancel.set()
    await asyncio.wait_for(playing, BOUND_S)


async def test_the_start_is_told_before_the_end_and_after_the_lead_in(room: NullSinks) -> None:
    times_s: list[float] = []
    began_s = time.monotonic()
    async with asyncio.timeout(BOUND_S):
        await Speaker(lead_in_ms=500).play(
            pieces(sweep(0.2, RATE_HZ), RATE_HZ, 1), CancelFlag(), lambda: times_s.append(time.monotonic())
        )
    # The device takes its first buffers at once.
    assert times_s[0] - began_s > 0.3
    assert time.monotonic() - times_s[0] > 0.19


async def test_an_error_of_the_voice_comes_after_what_it_said(room: NullSinks, tmp_path: Path) -> None:
    async def broken() -> AsyncIterator[Audio]:
        yield Audio(sweep(0.3, RATE_HZ), RATE_HZ)
        raise EngineFailed("the voice died")

    with room.record(tmp_path / "heard.wav"), pytest.raises(EngineFailed):
        await play(Speaker(), broken())
    recording = read_audio(tmp_path / "heard.wav", RATE_HZ)
    assert find(sweep(0.3, RATE_HZ), recording.samples).likeness > 0.98


def test_a_device_that_is_not_there_is_named_with_those_that_are(room: NullSinks) -> None:
    with pytest.raises(DeviceUnavailable, match=r"no loudspeaker 'Boombox'; there are: .*'pulse'"):
        Speaker("Boombox")


async def test_a_loudspeaker_that_is_unplugged_says_so(
    fragile_room: NullSinks, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("edgevox.audio.io.speaker._GONE_AFTER_S", 0.5)

    def unplug() -> None:
        fragile_room.control("unload-module", "module-remap-source")
        fragile_room.control("unload-module", "module-null-sink")

    with pytest.raises(DeviceUnavailable, match="does not answer any more"):
        async with asyncio.timeout(BOUND_S):
            await Speaker().play(pieces(sweep(15.0, RATE_HZ), RATE_HZ, 5), CancelFlag(), unplug)
