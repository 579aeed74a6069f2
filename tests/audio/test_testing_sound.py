"""The microphone that hears a recording."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import numpy as np
import pytest

from edgevox.audio.files import write_wav
from edgevox.core.errors import AudioError
from edgevox.core.types import Audio
from edgevox.testing import WavMicrophone
from tests.audio.sounds import Samples, likeness, sweep

BOUND_S = 10.0


async def everything(microphone: WavMicrophone) -> Samples:
    async with asyncio.timeout(BOUND_S), microphone:
        blocks = [block async for block in microphone.frames()]
    assert {(len(block.samples), block.rate_hz) for block in blocks} == {(320, 16_000)}
    return np.concatenate([block.samples for block in blocks])


async def test_a_recording_is_heard_and_then_silence(tmp_path: Path) -> None:
    path = tmp_path / "sweep.wav"
    write_wav(path, [Audio(sweep(1.0, 44_100), 44_100)])
    heard = await everything(WavMicrophone(path, silence_s=0.5))
    assert len(heard) == 24_000
    assert likeness(heard[:16_000], sweep(1.0)) > 0.999
    assert not heard[16_100:].any()


async def test_sound_is_heard_as_it_is() -> None:
    heard = await everything(WavMicrophone(Audio(sweep(1.0), 16_000), silence_s=0))
    assert np.array_equal(heard, sweep(1.0))


async def test_it_is_as_fast_as_it_is_read_or_as_slow_as_the_world() -> None:
    sound = Audio(sweep(0.5), 16_000)
    began_s = time.monotonic()
    await everything(WavMicrophone(sound, silence_s=0, realtime=True))
    real_s = time.monotonic() - began_s
    await everything(WavMicrophone(sound, silence_s=0))
    assert real_s >= 0.5 > time.monotonic() - began_s - real_s


async def test_closing_ends_the_frames() -> None:
    microphone = WavMicrophone(Audio(sweep(1.0), 16_000))
    count = 0
    async for _ in microphone.frames():
        count += 1
        await microphone.close()
    assert count == 1


def test_a_file_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(AudioError):
        WavMicrophone(tmp_path / "nothing.wav")
