"""Devices that insist on their channels, refuse to start, or lose sound: made up, for few have them all."""

from __future__ import annotations

import asyncio
import sys
import time

import numpy as np
import pytest

from edgevox.audio.aec.canceller import EchoCanceller
from edgevox.audio.aec.reference import FarEndReference
from edgevox.audio.aec.webrtc import LATENCY_SAMPLES
from edgevox.audio.io.microphone import Microphone
from edgevox.audio.io.speaker import Speaker
from edgevox.core.errors import DeviceUnavailable, SoundStuck
from edgevox.core.turn import CancelFlag
from tests.audio.echo_room import Late
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


class NotingCanceller(EchoCanceller):
    """Takes nothing away, and notes when each block was in the air."""

    def __init__(self) -> None:
        super().__init__(FarEndReference(RATE_HZ), Late)
        self.ended_s: list[float] = []
        self.times_forgotten = 0

    def forget(self) -> None:
        self.times_forgotten += 1
        super().forget()

    def cancel(self, block: Samples, ended_at_s: float) -> Samples:
        self.ended_s.append(ended_at_s)
        return super().cancel(block, ended_at_s)


async def test_a_canceller_gets_every_block_with_its_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    fake = plug_in(monkeypatch, (1,))
    microphone = Microphone()
    microphone.canceller = canceller = NotingCanceller()
    async with microphone:
        before_s = time.monotonic()
        fake.streams[0].hear(sweep(1.0, RATE_HZ)[:, np.newaxis])
        after_s = time.monotonic()
        heard = await listen(microphone, 0.9)
    # The fake says that the first sample is 10 ms old.
    assert before_s + 0.01 - 0.002 <= canceller.ended_s[0] <= after_s + 0.01 + 0.002
    assert np.diff(canceller.ended_s) == pytest.approx(0.02, abs=1e-6)
    match = find(sweep(0.8), heard)
    assert match.at == LATENCY_SAMPLES
    assert match.likeness > 0.999


async def test_a_canceller_begins_anew_when_the_microphone_lost_sound(monkeypatch: pytest.MonkeyPatch) -> None:
    fake = plug_in(monkeypatch, (1,))
    microphone = Microphone()
    microphone.canceller = canceller = NotingCanceller()
    async with microphone:
        for overflow in (False, True, False):
            fake.streams[0].hear(np.zeros((4800, 1), dtype=np.float32), overflow=overflow)
            await listen(microphone, 0.06)
    assert canceller.times_forgotten == 1


async def test_what_a_canceller_holds_back_counts_as_delay(monkeypatch: pytest.MonkeyPatch) -> None:
    plug_in(monkeypatch, (1,))
    async with Microphone() as microphone:
        without_s = microphone.delay_s
        microphone.canceller = NotingCanceller()
        assert microphone.delay_s - without_s == pytest.approx(0.008)


async def test_a_device_that_takes_no_number_of_channels_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    plug_in(monkeypatch, ())
    with pytest.raises(DeviceUnavailable, match="'array' cannot be used: Invalid number of channels"):
        async with Microphone():
            pass


async def test_a_device_that_another_program_holds_is_an_error_and_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    fake = plug_in(monkeypatch, (1,))
    fake.refuses_to_start = True
    for use in (Microphone().__aenter__(), Speaker().play(chunks(sweep(0.1, RATE_HZ)), CancelFlag())):
        with pytest.raises(DeviceUnavailable, match="Device unavailable") as caught:
            await use
        assert "another program" in caught.value.hint
        assert fake.streams[-1].is_closed


async def test_a_device_that_portaudio_does_not_let_go_costs_the_reply_and_not_those_behind_it_for_ever(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for limit in ("speaker._GONE_AFTER_S", "streams._CLOSES_WITHIN_S", "devices._LOCK_WITHIN_S"):
        monkeypatch.setattr(f"edgevox.audio.io.{limit}", 0.05)
    fake = plug_in(monkeypatch, (1,))
    fake.lets_go.clear()
    speaker = Speaker()
    async with asyncio.timeout(10):
        with pytest.raises(SoundStuck):
            await speaker.play(chunks(sweep(0.1, RATE_HZ)), CancelFlag())
        with pytest.raises(DeviceUnavailable, match="busy"):
            await speaker.play(chunks(sweep(0.1, RATE_HZ)), CancelFlag())
        fake.lets_go.set()
        await asyncio.to_thread(fake.has_closed.wait, 10)
        with pytest.raises(DeviceUnavailable, match="does not answer"):  # it can be opened again
            await speaker.play(chunks(sweep(0.1, RATE_HZ)), CancelFlag())
