"""A microphone whose PortAudio is in another process: it hears as well, and can always be let go."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from edgevox.audio.files import write_wav
from edgevox.audio.io.devices import find_device
from edgevox.audio.io.microphone import Microphone
from edgevox.audio.io.recorder import RecorderStream, open_recorder
from edgevox.core.errors import DeviceUnavailable
from edgevox.core.types import Audio
from edgevox.testing import NullSinks
from tests.dialogue.sounds import voiced

pytestmark = pytest.mark.audio_device

BOUND_S = 60.0


async def blocks(microphone: Microphone, count: int) -> list[Audio]:
    found = []
    async with aclosing(microphone.frames()) as frames:
        async for block in frames:
            found.append(block)
            if len(found) == count:
                break
    return found


def pid_of(microphone: Microphone) -> int:
    stream = microphone._stream
    assert isinstance(stream, RecorderStream)
    return stream._process.pid


async def test_what_is_said_is_heard_in_even_blocks(room: NullSinks, tmp_path: Path) -> None:
    write_wav(tmp_path / "said.wav", [Audio(voiced(2.0), 16_000)])
    async with asyncio.timeout(BOUND_S), Microphone(opened_by=open_recorder) as microphone:
        speaking = asyncio.create_task(asyncio.to_thread(room.speak, tmp_path / "said.wav"))
        heard = await blocks(microphone, 200)
        await speaking
        assert {(len(block.samples), block.rate_hz) for block in heard} == {(320, 16_000)}
        assert np.max([np.max(np.abs(block.samples)) for block in heard]) > 0.1
        assert 0.0 <= microphone.delay_s < 1.0
        assert microphone.dropped_samples == 0


async def test_one_that_hangs_is_let_go_at_once(room: NullSinks) -> None:
    async with asyncio.timeout(BOUND_S), Microphone(opened_by=open_recorder) as microphone:
        await blocks(microphone, 2)
        os.kill(pid_of(microphone), signal.SIGSTOP)
        begun_s = time.monotonic()
        await microphone.close()
        assert time.monotonic() - begun_s < 5.0


async def test_one_that_dies_is_a_microphone_that_is_gone(room: NullSinks) -> None:
    async with asyncio.timeout(BOUND_S), Microphone(opened_by=open_recorder) as microphone:
        await blocks(microphone, 2)
        os.kill(pid_of(microphone), signal.SIGKILL)
        with pytest.raises(DeviceUnavailable, match="does not answer any more"):
            await blocks(microphone, 1000)


async def test_a_device_that_has_gone_since_it_was_found_says_so(room: NullSinks) -> None:
    device = replace(find_device(None, "input"), name="Blue Yeti")
    with pytest.raises(DeviceUnavailable, match="Blue Yeti"):
        await open_recorder(device, "input", lambda *_: None, latency_s=0.1)
