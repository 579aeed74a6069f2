"""Other programs' sound is lowered and comes back: on a private PulseAudio server."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from edgevox.audio.io.stream_ducking import StreamDucker
from edgevox.testing import NullSinks
from tests.server.websocket.harness import until

pytestmark = pytest.mark.audio_device

FULL, LOWERED = 60_000, 30_000
# Lowers the streams until it is ended.
PROGRAM = """
import asyncio
from edgevox.audio.io.stream_ducking import StreamDucker
async def main():
    StreamDucker().duck(True)
    await asyncio.Event().wait()
asyncio.run(main())
"""


@contextmanager
def music(room: NullSinks) -> Iterator[Callable[[], int]]:
    """Another program that plays; the volume of its stream."""
    command = ["pacat", "--playback", "--device=spk", "--raw", f"--volume={FULL}", "/dev/zero"]
    # Started by a shell that ends at once: else it would be a child of this program.
    environment = os.environ | room.environment
    started = subprocess.run(
        ["sh", "-c", 'setsid "$@" >/dev/null 2>&1 & echo $!', "sh", *command],
        env=environment,
        capture_output=True,
        text=True,
        timeout=20,
        check=True,
    )
    pid = int(started.stdout)

    def volume() -> int:
        listed = json.loads(room.control("--format=json", "list", "sink-inputs"))
        own = [one for one in listed if one["properties"]["application.process.id"] == str(pid)]
        return own[0]["volume"]["front-left"]["value"] if own else -1

    try:
        yield volume
    finally:
        os.kill(pid, signal.SIGTERM)


async def test_other_sound_is_lowered_and_comes_back(room: NullSinks) -> None:
    ducker = StreamDucker()
    with music(room) as volume:
        await until(lambda: volume() == FULL)
        ducker.duck(True)
        await until(lambda: volume() == LOWERED)
        ducker.duck(False)
        await until(lambda: volume() == FULL)
        ducker.duck(True)
        await until(lambda: volume() == LOWERED)
        await ducker.close()
        assert volume() == FULL


async def test_the_volume_comes_back_when_the_program_is_killed(room: NullSinks) -> None:
    with music(room) as volume:
        await until(lambda: volume() == FULL)
        environment = os.environ | room.environment
        program = await asyncio.create_subprocess_exec(sys.executable, "-c", PROGRAM, env=environment)
        await until(lambda: volume() == LOWERED)
        program.kill()
        await program.wait()
        await until(lambda: volume() == FULL)
