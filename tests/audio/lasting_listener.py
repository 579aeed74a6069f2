"""Listens for ever, as the assistant does, and says on standard output when it hears and when it does not."""

from __future__ import annotations

import asyncio
import sys
from functools import partial

from edgevox.audio.io.device_manager import AudioDeviceManager
from edgevox.audio.io.duplex import resolve_devices
from edgevox.config import AudioSettings
from edgevox.core.errors import SoundStuck
from edgevox.core.events import Event, SoundChanged
from edgevox.core.platform import reexec


def say(event: Event) -> None:
    if isinstance(event, SoundChanged) and event.device == "microphone":
        sys.stdout.write(f"{event.name if event.is_there else 'gone'}\n")
        sys.stdout.flush()


async def listen() -> None:
    find = partial(resolve_devices, AudioSettings(echo_cancellation="off"), speaks=True)
    async with AudioDeviceManager(find, say) as sound:
        try:
            async for _ in sound.frames():
                pass
        except SoundStuck:
            reexec()


if __name__ == "__main__":
    asyncio.run(listen())
