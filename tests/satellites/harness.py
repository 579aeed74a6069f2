"""A satellite without devices: the test speaks into its microphone, and its loudspeaker keeps what it plays."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import asynccontextmanager

import numpy as np
from numpy.typing import NDArray

from edgevox.audio.io.duplex import Duplex
from edgevox.audio.vad import BLOCK_SAMPLES
from edgevox.core.turn import CancelFlag, background_task
from edgevox.core.types import SAMPLE_RATE_HZ, Audio
from edgevox.satellites.connection import ServerAddress
from edgevox.satellites.program import Doing, Satellite, SatelliteOptions
from tests.dialogue.sounds import silent, voiced
from tests.server.websocket.harness import OWNER, until

CALL = np.float32(0.9)
"""The level of the block that the detector takes for the wake word."""


class FakeSound:
    """The devices. What is played takes no time, or its own if it `plays_in_real_time`."""

    live = True
    dropped_samples = 0
    delay_s = 0.0

    def __init__(self, *, plays_in_real_time: bool = False) -> None:
        self._plays_in_real_time = plays_in_real_time
        self.duplex: Duplex = "device"
        self.heard_s = 0.0
        self.played_s: list[float] = []
        self.is_muted = False
        self._blocks: asyncio.Queue[Audio] = asyncio.Queue()

    def say(self, samples: NDArray[np.float32]) -> None:
        for start in range(0, len(samples) - BLOCK_SAMPLES + 1, BLOCK_SAMPLES):
            self._blocks.put_nowait(Audio(samples[start : start + BLOCK_SAMPLES], SAMPLE_RATE_HZ))

    async def frames(self) -> AsyncGenerator[Audio, None]:
        while True:
            yield await self._blocks.get()
            await asyncio.sleep(0)

    async def play(
        self, chunks: AsyncIterator[Audio], cancel: CancelFlag, on_start: Callable[[], None] = lambda: None
    ) -> None:
        self.heard_s = 0.0
        async for chunk in chunks:
            if not self.heard_s:
                on_start()
            if self._plays_in_real_time and not cancel.is_set():
                await asyncio.sleep(chunk.duration_s)
            self.heard_s += chunk.duration_s
        self.played_s.append(self.heard_s)

    def duck(self, is_ducked: bool) -> None:
        """Without effect."""

    def hold(self, is_held: bool) -> None: ...

    def mute(self) -> None:
        self.is_muted = True

    def unmute(self) -> None:
        self.is_muted = False


class CallDetector:
    """Takes one very loud block for the wake word."""

    noticed_after_s = 0.02
    confidence = 0.99

    def feed(self, block: Audio) -> bool:
        return float(block.samples[0]) == CALL


def call() -> NDArray[np.float32]:
    return np.full(BLOCK_SAMPLES, CALL, dtype=np.float32)


class Device:
    """A running satellite."""

    def __init__(self, sound: FakeSound) -> None:
        self.sound = sound
        self.told: list[tuple[Doing, str]] = [("connecting", "")]
        self.is_over = asyncio.Event()

    @property
    def doing(self) -> Doing:
        return self.told[-1][0]

    def command(self, *, after_call: bool = True) -> None:
        """Call it, and speak; the recogniser of the voice_server knows what is said."""
        parts = [voiced(0.8, SAMPLE_RATE_HZ), silent(1.5, SAMPLE_RATE_HZ)]
        self.sound.say(np.concatenate([call(), *parts] if after_call else parts))

    async def connected(self) -> None:
        await until(lambda: self.doing != "connecting")


@asynccontextmanager
async def satellite(
    url: str,
    name: str = "shelf",
    *,
    room: str = "",
    token: str = OWNER,
    retry_s: float = 0.01,
    player: str = "",
    plays_in_real_time: bool = False,
) -> AsyncIterator[Device]:
    """A satellite that runs during the block; it waits `retry_s` before each new attempt."""
    device = Device(FakeSound(plays_in_real_time=plays_in_real_time))

    async def sleep(_seconds: float) -> None:
        await asyncio.sleep(retry_s)

    program = Satellite(
        SatelliteOptions(ServerAddress.parse(url), token, name, room, player=player),
        device.sound,
        CallDetector(),
        lambda doing, detail: device.told.append((doing, detail)),
        sleep=sleep,
    )
    async with background_task(program.run()) as running:
        running.add_done_callback(lambda _done: device.is_over.set())
        try:
            yield device
        finally:
            if running.done():
                running.result()
