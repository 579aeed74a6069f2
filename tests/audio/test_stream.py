"""Devices that insist on their channels, refuse to start, or lose sound: made up, for few have them all."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from edgevox.audio.microphone import Microphone
from edgevox.audio.speaker import Speaker
from edgevox.errors import DeviceUnavailable
from edgevox.turn import CancelFlag
from tests.audio.fake_portaudio import RATE_HZ, FakePortAudio
from tests.audio.sounds import Samples, find, sweep
from tests.audio.test_microphone import listen
from tests.audio.test_playback import chunks


def plug_in(monkeypatch: pytest.MonkeyPatch, channels: tuple[int, ...]) -> FakePortAudio:
    fake = FakePortAudio(channels)
    monkeypatch.setitem(sys.modules, "sounddevice", fake)
    return fake


def voice_among(channels: int, where: int) -> Samples:
    """A sweep in one channel, something else in the others."""
    frames = np.full((RATE_HZ, channels), 0.5, dtype=np.float32)
    frames[:, where] = sweep(1.0, RATE_HZ)
    return frames


@pytest.mark.parametrize(("channels", "tried"), [((1, 2, 6), [1]), ((2,), [1, 2]), ((6,), [1, 2, 6])])
async def test_one_channel_is_asked_for_and_then_what_the_device_insists_on(
    monkeypatch: pytest.MonkeyPatch, channels: tuple[int, ...], tried: list[int]
) -> None:
    fake = plug_in(monkeypatch, channels)
    async with Microphone():
        assert fake.tried == tried


async def test_an_array_of_microphones_is_heard_through_its_first(monkeypatch: pytest.MonkeyPatch) -> None:
    fake = plug_in(monkeypatch, (6,))
    async with Microphone() as microphone:
        fake.streams[0].hear(voice_among(6, where=0))
        heard = await listen(microphone, 0.9)
    assert find(sweep(0.8), heard).likeness > 0.999


async def test_both_sides_of_a_stereo_microphone_are_heard(monkeypatch: pytest.MonkeyPatch) -> None:
    fake = plug_in(monkeypatch, (2,))
    async with Microphone() as microphone:
        left, right = sweep(1.0, RATE_HZ, level=0.4), sweep(1.0, RATE_HZ, level=0.2)
        fake.streams[0].hear(np.stack((left, right), axis=1))
        heard = await listen(microphone, 0.9)
    assert np.abs(heard).max() == pytest.approx(0.3, abs=0.01)


async def test_sound_that_the_device_lost_counts_as_a_block(monkeypatch: pytest.MonkeyPatch) -> None:
    fake = plug_in(monkeypatch, (1,))
    async with Microphone() as microphone:
        fake.streams[0].hear(np.zeros((960, 1), dtype=np.float32), overflow=True)
        assert microphone.dropped_samples == 960


async def test_the_delay_is_what_waits_in_the_device_and_here(monkeypatch: pytest.MonkeyPatch) -> None:
    fake = plug_in(monkeypatch, (1,))
    async with Microphone() as microphone:
        fake.streams[0].hear(np.zeros((RATE_HZ // 2, 1), dtype=np.float32))
        assert microphone.delay_s == pytest.approx(0.51)
        await listen(microphone, 0.02)
        assert microphone.delay_s == pytest.approx(0.49, abs=0.001)


async def test_a_device_that_takes_no_number_of_channels_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    plug_in(monkeypatch, ())
    with pytest.raises(DeviceUnavailable, match="'array' cannot be used: Invalid number of channels"):
        async with Microphone():
            pass


async def test_a_device_that_another_program_holds_is_an_error_and_is_left(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    fake = plug_in(monkeypatch, (1,))
    fake.refuses_to_start = True
    for use in (Microphone().__aenter__(), Speaker().play(chunks(sweep(0.1, RATE_HZ)), CancelFlag())):
        with pytest.raises(DeviceUnavailable, match="Device unavailable") as caught:
            await use
        assert "another program" in caught.value.hint
        assert fake.streams[-1].is_closed
