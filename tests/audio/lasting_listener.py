"""Listens for ever, as the assistant does, and says on standard output when it hears and when it does not."""

from __future__ import annotations

import asyncio
import sys
from functools import partial

from edgevox.audio.found_sound import find_sound
from edgevox.audio.lasting_sound import LastingSound
from edgevox.errors import SoundStuck
from edgevox.events import Event, SoundChanged
from edgevox.new_process import begin_anew
from edgevox.settings import AudioSettings


def say(event: Event) -> None:
    if isinstance(event, SoundChanged) and event.device == "microphone":
        sys.stdout.write(f"{event.name if event.is_there else 'gone'}\n")
        sys.stdout.flush()


async def listen() -> None:
    find = partial(find_sound, AudioSettings(echo_cancellation="off"), speaks=True)
    async with LastingSound(find, say) as sound:
        try:
            async for _ in sound.frames():
                pass
        except SoundStuck:
            begin_anew()


if __name__ == "__main__":
    asyncio.run(listen())
