"""A Wyoming satellite in this process: it reports its wake word and streams audio when the test says so."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from wyoming.audio import AudioChunk, AudioStop
from wyoming.event import Event, Eventable
from wyoming.info import Attribution, Describe, Info, Satellite
from wyoming.ping import Ping, Pong
from wyoming.pipeline import PipelineStage, RunPipeline
from wyoming.snd import Played

from edgevox.core.turn import cancel_tasks
from edgevox.core.types import SAMPLE_RATE_HZ
from edgevox.engines.wyoming import CHANNELS, WIDTH, WyomingProtocolError, read_event, write_event

_INFO = Info(
    satellite=Satellite(
        name="device", attribution=Attribution(name="test", url=""), installed=True, description=None, version=None
    )
)
_PIECE_BYTES = 2_048
# As on a small device: what is sent to one that reads nothing soon waits.
_BUFFER_BYTES = 8_192


class WyomingDevice:
    """All connections of one satellite; the last one counts."""

    def __init__(self) -> None:
        self.is_ready = False
        """Whether a server has told it to run."""
        self.reads = asyncio.Event()
        """Cleared where it reads nothing more, as behind a broken router."""
        self.reads.set()
        self.events: list[str] = []
        self.played_bytes = 0
        self.connections: list[asyncio.Task[None]] = []
        self._writer: asyncio.StreamWriter | None = None

    async def call(self, pcm: bytes) -> None:
        """Report the wake word, and stream what follows it. Raises OSError."""
        await self._send(RunPipeline(PipelineStage.ASR, PipelineStage.TTS))
        for start in range(0, len(pcm), _PIECE_BYTES):
            await self._send(AudioChunk(SAMPLE_RATE_HZ, WIDTH, CHANNELS, pcm[start : start + _PIECE_BYTES]))

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self.connections.append(task)
        self._writer = writer
        try:
            while (event := await read_event(reader)) is not None:
                await self.reads.wait()
                await self._handle(event)
        except (OSError, WyomingProtocolError, asyncio.CancelledError):
            pass  # cut
        finally:
            self.is_ready &= self._writer is not writer
            writer.transport.abort()

    async def _handle(self, event: Event) -> None:
        self.events.append(event.type)
        match event.type:
            case "describe" if Describe.is_type(event.type):
                await self._send(_INFO)
            case "run-satellite":
                self.is_ready = True
            case "ping":
                await self._send(Pong(Ping.from_event(event).text))
            case "audio-chunk":
                self.played_bytes += len(event.payload or b"")
            case "audio-stop" if AudioStop.is_type(event.type):
                await self._send(Played())
            case _:
                pass

    async def _send(self, event: Eventable) -> None:
        assert self._writer is not None
        await write_event(self._writer, event)


@asynccontextmanager
async def wyoming_device() -> AsyncIterator[tuple[str, WyomingDevice]]:
    """Its address, and the device."""
    device = WyomingDevice()
    listening = socket.create_server(("127.0.0.1", 0))
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _BUFFER_BYTES)
    server = await asyncio.start_server(device.serve, sock=listening)
    try:
        yield f"127.0.0.1:{server.sockets[0].getsockname()[1]}", device
    finally:
        server.close()
        await cancel_tasks(*device.connections)
