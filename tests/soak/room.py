"""The room of the soak: speech faster than life, and devices that can be pulled out."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import numpy as np
from numpy.typing import NDArray

from edgevox.app.service import AudioDevices, ServiceSession
from edgevox.audio.io.device_manager import AudioDeviceManager
from edgevox.audio.io.devices import Device
from edgevox.audio.io.duplex import ResolvedDevices
from edgevox.audio.io.sound_server import Defaults, SoundServer
from edgevox.audio.vad import BLOCK_SAMPLES
from edgevox.config import Settings, load_settings
from edgevox.core.errors import DeviceUnavailable
from edgevox.core.events import Event
from edgevox.core.files import Folders
from edgevox.core.turn import CancelFlag
from edgevox.core.types import SAMPLE_RATE_HZ, Audio
from tests.app.conversation import ProcessSessionFactory

BLOCK_S = BLOCK_SAMPLES / SAMPLE_RATE_HZ
_SILENCE = np.zeros(BLOCK_SAMPLES, dtype=np.float32)
_DEVICE = Device(0, "made up", "made up", 1, 1, 16_000, is_default_input=True, is_default_output=True)


class SoakRoom:
    """What is plugged in, what is said into it, and how much sound there has been."""

    def __init__(self, speed: float) -> None:
        self.speed = speed
        self.blocks = 0
        self.is_plugged_in = True
        self.server = _NoServer()
        self._due: deque[NDArray[np.float32]] = deque()

    def say(self, sound: NDArray[np.float32]) -> None:
        self._due.extend(
            sound[start : start + BLOCK_SAMPLES] for start in range(0, len(sound) - BLOCK_SAMPLES + 1, BLOCK_SAMPLES)
        )

    @property
    def is_silent(self) -> bool:
        """Whether everything was said."""
        return not self._due

    def hush(self) -> None:
        """Drops the sentences that were still to be said."""
        self._due.clear()

    def next_block(self) -> NDArray[np.float32]:
        self.blocks += 1
        return self._due.popleft() if self._due else _SILENCE

    def find(self) -> ResolvedDevices:
        return ResolvedDevices(
            _Microphone(self) if self.is_plugged_in else None,
            _Speaker(),
            microphone_problem="" if self.is_plugged_in else "the microphone was pulled out",
        )


class SoakSessionFactory(ProcessSessionFactory):
    """Sessions with real engine processes and a lasting sound on made-up devices.

    `listen` hears the events of every session.
    """

    def __init__(self, folders: Folders, listen: Callable[[Event], None], *, work_s: float, speed: float) -> None:
        super().__init__(folders, work_s=work_s)
        self.soak_room = SoakRoom(speed)
        self._listen = listen

    def settings(self) -> Settings:
        # The records are counted: none may be rotated away.
        flags = {"tools.enabled": False, "records.max_bytes": 1_000_000_000}
        return load_settings(self.folders, flags=flags, environ={})

    def sound(self, settings: Settings, publish: Callable[[Event], None]) -> AbstractAsyncContextManager[AudioDevices]:
        room = self.soak_room
        return AudioDeviceManager(room.find, publish, server=room.server, look=lambda: None)

    @asynccontextmanager
    async def session_context(self, session: ServiceSession) -> AsyncIterator[None]:
        with session.runtime.bus.listening(self._listen):
            yield


class _NoServer(SoundServer):
    """Tells of what is plugged in as a sound server does."""

    def __init__(self) -> None:
        self.tell: Callable[[], None] = lambda: None

    async def defaults(self) -> Defaults | None:
        return None

    @asynccontextmanager
    async def watched(self, on_change: Callable[[], None]) -> AsyncIterator[None]:
        self.tell = on_change
        yield


class _Microphone:
    live = True
    device = _DEVICE
    dropped_samples = 0
    delay_s = 0.0
    level_dbfs = -40.0

    def __init__(self, room: SoakRoom) -> None:
        self._room = room
        self._is_open = False

    async def __aenter__(self) -> None:
        self._is_open = True

    async def close(self) -> None:
        self._is_open = False

    async def frames(self) -> AsyncGenerator[Audio, None]:
        due_s = time.monotonic()
        while self._is_open:
            due_s = max(due_s + BLOCK_S / self._room.speed, time.monotonic() - 0.1)
            await asyncio.sleep(max(0.0, due_s - time.monotonic()))
            if not self._room.is_plugged_in:
                raise DeviceUnavailable("the microphone was pulled out")
            yield Audio(self._room.next_block(), SAMPLE_RATE_HZ)


class _Speaker:
    device = _DEVICE
    heard_s = 0.0

    def duck(self, is_ducked: bool) -> None: ...

    def hold(self, is_held: bool) -> None: ...

    async def play(self, chunks: AsyncIterator[Audio], cancel: CancelFlag, on_start: Callable[[], None]) -> None:
        self.heard_s = 0.0
        async for chunk in chunks:
            if not self.heard_s:
                on_start()
            self.heard_s += chunk.duration_s
            if cancel.is_set():
                return
