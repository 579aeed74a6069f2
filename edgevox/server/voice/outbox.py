"""What is to be sent to one client, in its order: bounded, and sound in it can be taken back."""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import Awaitable, Callable
from typing import TypeAlias

from edgevox.server.voice.closing import CloseCode, CutOff
from edgevox.types import JsonObject

Send: TypeAlias = Callable[[str | bytes], Awaitable[None]]

READ_WITHIN_S = 10.0
# Half a minute of speech at the highest rate. No more than a few seconds of it are ever sent ahead.
MOST_BYTES = 3_000_000


class Outbox:
    """`put` from the loop, at any time; `run` sends. What waits is lost when the connection ends."""

    def __init__(self, *, read_within_s: float = READ_WITHIN_S, most_bytes: int = MOST_BYTES) -> None:
        self._waiting: deque[str | bytes] = deque()
        self._bytes = 0
        self._is_there = asyncio.Event()
        self._read_within_s = read_within_s
        self._most_bytes = most_bytes

    @property
    def waiting_bytes(self) -> int:
        return self._bytes

    def tell(self, frame: JsonObject) -> None:
        """Send a frame of text."""
        self._put(json.dumps(frame, ensure_ascii=False, separators=(",", ":")))

    def sound(self, pcm: bytes) -> None:
        self._put(pcm)

    def drop_sound(self) -> None:
        """Do not send what waits of the sound."""
        self._waiting = deque(one for one in self._waiting if isinstance(one, str))
        self._bytes = sum(map(len, self._waiting))

    async def run(self, send: Send) -> None:
        """Send until it is cancelled. Raises CutOff when nobody reads."""
        while True:
            await self._is_there.wait()
            while self._waiting:
                if self._bytes > self._most_bytes:
                    raise CutOff(CloseCode.STALLED, "too much waits to be read")
                frame = self._waiting.popleft()
                self._bytes -= len(frame)
                await self._send(send, frame)
            self._is_there.clear()

    async def _send(self, send: Send, frame: str | bytes) -> None:
        try:
            async with asyncio.timeout(self._read_within_s):
                await send(frame)
        except TimeoutError:
            raise CutOff(CloseCode.STALLED, f"nothing was read for {self._read_within_s:g} seconds") from None

    def _put(self, frame: str | bytes) -> None:
        if self._bytes > self._most_bytes:
            return  # it is being closed: nothing more is kept for it
        self._waiting.append(frame)
        self._bytes += len(frame)
        self._is_there.set()
