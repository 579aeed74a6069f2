"""Plays the passages of the voice socket on the satellite's loudspeaker, and reports how much was played."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass, field

import numpy as np

from edgevox.audio.io.speaker import Loudspeaker
from edgevox.core.errors import EdgevoxError
from edgevox.core.turn import CancelFlag, background_task, cancel_tasks
from edgevox.core.types import Audio, JsonObject

_log = logging.getLogger(__name__)

_REPORT_EVERY_S = 0.2
_LOUDEST = 32_768


@dataclass(eq=False, slots=True)
class _Passage:
    number: int
    rate_hz: int
    chunks: asyncio.Queue[Audio | None] = field(default_factory=asyncio.Queue)
    cancel: CancelFlag = field(default_factory=CancelFlag)
    received: int = 0
    started_s: float | None = None

    async def sounds(self) -> AsyncGenerator[Audio, None]:
        while (chunk := await self.chunks.get()) is not None:
            yield chunk


class PassagePlayer:
    """Plays one passage after the other; `send` gets the `played` frames."""

    def __init__(self, loudspeaker: Loudspeaker, send: Callable[[JsonObject], None]) -> None:
        self._loudspeaker = loudspeaker
        self._send = send
        self._passage: _Passage | None = None
        """The one that is being received."""
        self._playing: asyncio.Task[None] | None = None

    @property
    def is_playing(self) -> bool:
        return self._playing is not None and not self._playing.done()

    def begin(self, number: int, rate_hz: int) -> None:
        before, self._passage = self._playing, _Passage(number, rate_hz)
        self._playing = asyncio.create_task(self._play(self._passage, before))

    def add(self, pcm: bytes) -> None:
        if (passage := self._passage) is not None:
            samples = np.frombuffer(pcm, "<i2").astype(np.float32) / np.float32(_LOUDEST)
            passage.received += len(samples)
            passage.chunks.put_nowait(Audio(samples, passage.rate_hz))

    def end(self) -> None:
        if self._passage is not None:
            self._passage.chunks.put_nowait(None)

    def stop(self) -> None:
        if self._passage is not None:
            self._passage.cancel.set()
            self._passage.chunks.put_nowait(None)

    async def close(self) -> None:
        self.stop()
        await cancel_tasks(self._playing)

    async def _play(self, passage: _Passage, before: asyncio.Task[None] | None) -> None:
        if before is not None:
            await asyncio.gather(before, return_exceptions=True)
        try:
            async with background_task(self._report(passage)):
                await self._loudspeaker.play(passage.sounds(), passage.cancel, lambda: self._started(passage))
        except EdgevoxError as error:
            # The server ends the turn, since nothing is played.
            _log.warning("the reply cannot be played: %s", error.message)
            return
        heard = round(self._loudspeaker.heard_s * passage.rate_hz)
        self._report_played(passage, min(heard, passage.received) if passage.cancel.is_set() else passage.received)

    def _started(self, passage: _Passage) -> None:
        passage.started_s = asyncio.get_running_loop().time()

    async def _report(self, passage: _Passage) -> None:
        """Report while it plays; its loudspeaker tells the exact number only at the end."""
        loop = asyncio.get_running_loop()
        while True:
            await asyncio.sleep(_REPORT_EVERY_S)
            if passage.started_s is not None:
                played = round((loop.time() - passage.started_s) * passage.rate_hz)
                self._report_played(passage, min(played, passage.received))

    def _report_played(self, passage: _Passage, samples: int) -> None:
        self._send({"type": "played", "passage": passage.number, "samples": samples})
