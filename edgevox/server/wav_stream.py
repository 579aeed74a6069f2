"""A reply as a WAV stream over HTTP on a port of its own, for devices and media players that fetch what they play."""

from __future__ import annotations

import asyncio
import secrets
import socket
import struct

from edgevox.core.turn import cancel_tasks

_FETCHED_WITHIN_S = 10.0
_REQUEST_BYTES = 8_192
_UNKNOWN_LENGTH = 0xFFFFFFFF - 44


def own_address(other: str) -> str:
    """The address of this machine as the other one sees it. Raises OSError."""
    with socket.socket(socket.AF_INET6 if ":" in other else socket.AF_INET, socket.SOCK_DGRAM) as route:
        route.connect((other, 1))  # sends nothing
        return str(route.getsockname()[0])


class WavStream:
    """One passage at a URL of its own, while it is made; for one device, or for all that know the URL."""

    def __init__(self, own_host: str, device_host: str | None, rate_hz: int) -> None:
        self._own_host = own_host
        self._device_host = device_host
        self._rate_hz = rate_hz
        self._path = f"/{secrets.token_urlsafe(24)}.wav"
        self._pieces: list[bytes] = []
        self._is_whole = False
        self._changed = asyncio.Event()
        self._server: asyncio.Server | None = None
        self._fetches: set[asyncio.Task[None]] = set()

    async def open(self) -> str:
        """Return the URL. Raises OSError."""
        self._server = await asyncio.start_server(self._serve, self._own_host, 0, limit=_REQUEST_BYTES)
        host, port = self._server.sockets[0].getsockname()[:2]
        return f"http://{f'[{host}]' if ':' in host else host}:{port}{self._path}"

    def add(self, pcm: bytes) -> None:
        self._pieces.append(pcm)
        self._wake_readers()

    def end(self) -> None:
        self._is_whole = True
        self._wake_readers()

    async def close(self) -> None:
        if self._server is not None:
            self._server.close()
        await cancel_tasks(*self._fetches)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._fetches.add(task)
        try:
            await self._answer(reader, writer)
        except (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, asyncio.CancelledError):
            pass  # the device is gone or slow, or it was no request
        finally:
            self._fetches.discard(task)
            writer.close()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        async with asyncio.timeout(_FETCHED_WITHIN_S):
            head = await reader.readuntil(b"\r\n\r\n")
        method, _, rest = head.partition(b" ")
        peer = writer.get_extra_info("peername")  # None if it has already disconnected
        is_device = peer is not None and self._device_host in (None, peer[0])
        if not is_device or rest.partition(b" ")[0] != self._path.encode():
            writer.write(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
            return
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: audio/wav\r\nConnection: close\r\n\r\n")
        if method == b"HEAD":
            return
        writer.write(_wav_header(self._rate_hz))
        sent = 0
        while sent < len(self._pieces) or not self._is_whole:
            if sent == len(self._pieces):
                await self._changed.wait()
                continue
            writer.write(self._pieces[sent])
            sent += 1
            await writer.drain()

    def _wake_readers(self) -> None:
        """A player may fetch it twice, to look at its beginning first."""
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()


def _wav_header(rate_hz: int) -> bytes:
    """The header of a mono stream of 16 bits whose length is not known yet."""
    form = struct.pack("<HHIIHH", 1, 1, rate_hz, rate_hz * 2, 2, 16)
    riff = struct.pack("<4sI4s4sI", b"RIFF", _UNKNOWN_LENGTH + 36, b"WAVE", b"fmt ", len(form))
    return riff + form + struct.pack("<4sI", b"data", _UNKNOWN_LENGTH)
