"""The microphone on a real PortAudio device: what is played into it arrives, whatever else goes on."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing, asynccontextmanager, contextmanager
from pathlib import Path

import numpy as np
import pytest

from edgevox.audio.files import write_wav
from edgevox.audio.io.microphone import Microphone, Opener
from edgevox.audio.io.recorder import open_recorder
from edgevox.audio.io.streams import open_stream
from edgevox.core.errors import DeviceUnavailable
from edgevox.core.types import Audio
from edgevox.testing import NullSinks
from tests.audio.sounds import Samples, find, likeness, sweep

pytestmark = pytest.mark.audio_device

BOUND_S = 20.0
SOUND = sweep(1.5)


@pytest.fixture
def sound_file(tmp_path: Path) -> Path:
    path = tmp_path / "sweep.wav"
    write_wav(path, [Audio(SOUND, 16_000)])
    return path


@asynccontextmanager
async def speaking(room: NullSinks, path: Path) -> AsyncIterator[None]:
    task = asyncio.create_task(asyncio.to_thread(room.speak, path))
    try:
        yield
    finally:
        await task


async def listen(microphone: Microphone, duration_s: float) -> Samples:
    blocks: list[Samples] = []
    async with asyncio.timeout(BOUND_S), aclosing(microphone.frames()) as frames:
        async for block in frames:
            assert (len(block.samples), block.rate_hz) == (320, 16_000)
            blocks.append(block.samples)
            if len(blocks) * 0.02 >= duration_s:
                break
    return np.concatenate(blocks)


def assert_complete(recording: Samples) -> None:
    """The sound is there from its first to its last moment, in one piece."""
    match = find(SOUND, recording)
    assert match.likeness > 0.99
    there = recording[match.at : match.at + len(SOUND)]
    for moment in (slice(0, 800), slice(-800, None)):
        assert likeness(SOUND[moment], there[moment]) > 0.95


@pytest.mark.parametrize("opened_by", [open_stream, open_recorder], ids=["here", "in a process of its own"])
async def test_what_is_spoken_into_it_is_heard(room: NullSinks, sound_file: Path, opened_by: Opener) -> None:
    async with Microphone(opened_by=opened_by) as microphone, speaking(room, sound_file):
        assert_complete(await listen(microphone, 2.5))
        assert microphone.dropped_samples == 0


async def test_another_rate_and_block_length_are_kept_to(room: NullSinks) -> None:
    async with Microphone("pulse", rate_hz=24_000, block_ms=30) as microphone, asyncio.timeout(BOUND_S):
        block = await anext(microphone.frames())
    assert (len(block.samples), block.rate_hz) == (720, 24_000)


async def test_the_level_follows_the_sound(room: NullSinks, sound_file: Path) -> None:
    levels: list[float] = []
    async with Microphone() as microphone, speaking(room, sound_file), asyncio.timeout(BOUND_S):
        async for _ in microphone.frames():
            levels.append(microphone.level_dbfs)
            if len(levels) == 100:
                await microphone.close()
    assert max(levels) == pytest.approx(20 * np.log10(0.4 / np.sqrt(2)), abs=1)
    assert min(levels) == -100


@pytest.mark.parametrize("opened_by", [open_stream, open_recorder], ids=["here", "in a process of its own"])
async def test_a_listener_that_is_busy_for_a_second_loses_nothing(
    room: NullSinks, sound_file: Path, opened_by: Opener
) -> None:
    async with Microphone(opened_by=opened_by) as microphone, speaking(room, sound_file):
        before = await listen(microphone, 0.3)
        busy_for(1.0)
        assert microphone.delay_s > 0.9
        after = await listen(microphone, 2.5)
        assert_complete(np.concatenate((before, after)))
        assert microphone.dropped_samples == 0


def busy_for(duration_s: float) -> None:
    """Hold the loop, and fight for the interpreter."""
    until_s = time.monotonic() + duration_s
    while time.monotonic() < until_s:
        sum(range(1000))


@contextmanager
def busy_processors() -> Iterator[None]:
    """Two processes for every core that never rest."""
    command = [sys.executable, "-c", "while True: pass"]
    processes = [subprocess.Popen(command) for _ in range(2 * (os.cpu_count() or 1))]
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait(BOUND_S)


async def test_nothing_is_dropped_while_every_core_is_busy(room: NullSinks, sound_file: Path) -> None:
    async with Microphone() as microphone:
        with busy_processors():
            async with speaking(room, sound_file):
                assert_complete(await listen(microphone, 3.0))
        assert microphone.dropped_samples == 0


async def test_a_ring_that_runs_over_counts_what_is_lost(room: NullSinks, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("edgevox.audio.io.microphone._RING_S", 0.1)
    async with Microphone() as microphone:
        await listen(microphone, 0.1)
        assert microphone.dropped_samples == 0
        busy_for(0.5)
        assert microphone.dropped_samples > 0.2 * microphone.device.rate_hz
        await listen(microphone, 0.2)


async def test_closing_ends_the_frames(room: NullSinks) -> None:
    async with Microphone() as microphone:
        count = 0
        async with asyncio.timeout(BOUND_S):
            async for _ in microphone.frames():
                count += 1
                if count == 3:
                    await microphone.close()
    assert count >= 3


async def test_it_can_be_opened_again_and_again(room: NullSinks) -> None:
    for _ in range(5):
        async with Microphone() as microphone:
            await listen(microphone, 0.1)


def test_a_device_that_is_not_there_is_named_with_those_that_are(room: NullSinks) -> None:
    with pytest.raises(DeviceUnavailable, match=r"no microphone 'Blue Yeti'; there are: .*'pulse'"):
        Microphone("Blue Yeti")


async def test_a_microphone_that_is_unplugged_says_so(fragile_room: NullSinks, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("edgevox.audio.io.microphone._GONE_AFTER_S", 0.5)
    async with Microphone() as microphone:
        await listen(microphone, 0.1)
        fragile_room.control("unload-module", "module-remap-source")
        fragile_room.control("unload-module", "module-null-sink")
        with pytest.raises(DeviceUnavailable, match="does not answer any more"):
            await listen(microphone, BOUND_S)


async def test_a_sound_server_that_has_gone_is_an_error_with_a_hint(fragile_room: NullSinks) -> None:
    microphone = Microphone()
    fragile_room.control("exit")
    with pytest.raises(DeviceUnavailable, match="cannot be used") as caught:
        async with microphone:
            pass
    assert "edgevox devices" in caught.value.hint
