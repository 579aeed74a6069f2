"""The Wyoming protocol: events and PCM audio on a socket, and the client for a Wyoming server."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import numpy as np
from wyoming.audio import AudioChunk
from wyoming.error import Error
from wyoming.event import Event, Eventable, async_write_event
from wyoming.info import Describe, Info

from edgevox.config.sections import checked_tcp, host_and_port
from edgevox.core.errors import ConfigError, EngineFailed
from edgevox.core.files import parse_json
from edgevox.core.types import Audio
from edgevox.engines.base import EngineLimits

WIDTH, CHANNELS = 2, 1
"""The format we send."""

_RATES_HZ = range(4_000, 192_001)
_MAX_CHANNELS = 8
# By sample width in bytes: type, zero level and full scale.
_FORMS = {1: ("u1", 128, 2**7), 2: ("<i2", 0, 2**15), 4: ("<i4", 0, 2**31)}


class UnsupportedPcm(Exception):
    """An unsupported PCM format."""


class PcmReader:
    """Reassembles the samples of one stream from its chunks."""

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, chunk: AudioChunk) -> Audio:
        """Return the complete samples, mixed to mono. Raises UnsupportedPcm."""
        rate, width, channels = chunk.rate, chunk.width, chunk.channels
        if width not in _FORMS or rate not in _RATES_HZ or channels not in range(1, _MAX_CHANNELS + 1):
            raise UnsupportedPcm(f"unsupported audio format: {rate} Hz, {width} bytes, {channels} channels")
        content = self._rest + chunk.audio
        whole = len(content) - len(content) % (width * channels)
        self._rest = content[whole:]
        kind, silence, loudest = _FORMS[width]
        samples = np.frombuffer(content[:whole], kind).astype(np.float32).reshape(-1, channels)
        return Audio(((samples - silence) / loudest).mean(axis=1, dtype=np.float32), rate)


MAX_LINE_BYTES = 65_536
MAX_DATA_BYTES = 1_000_000
MAX_PAYLOAD_BYTES = 4_000_000


class WyomingProtocolError(Exception):
    """The peer sent an invalid or too large event."""


async def read_event(reader: asyncio.StreamReader) -> Event | None:
    """Return the next event, or None at the end of the stream. Raises WyomingProtocolError and OSError.

    The wyoming package's reader accepts any announced size, and treats damage as the end.
    """
    try:
        line = await reader.readuntil(b"\n")
        head = _object(line)
        data_size, payload_size = _size(head, "data_length"), _size(head, "payload_length")
        if data_size > MAX_DATA_BYTES or payload_size > MAX_PAYLOAD_BYTES:
            raise WyomingProtocolError("an event is too large")
        data = _part(head.get("data") or {})
        if data_size:
            data |= _object(await reader.readexactly(data_size))
        payload = await reader.readexactly(payload_size) if payload_size else None
    except asyncio.IncompleteReadError as error:
        if error.partial:
            raise WyomingProtocolError("an event is truncated") from None
        return None
    except asyncio.LimitOverrunError:
        raise WyomingProtocolError("a line is too long") from None
    kind = head.get("type")
    if not isinstance(kind, str):
        raise WyomingProtocolError("an event has no type")
    return Event(kind, data, payload)


async def write_event(writer: asyncio.StreamWriter, event: Eventable) -> None:
    """Raises OSError."""
    await async_write_event(event.event(), writer)


def _object(text: bytes) -> dict[str, Any]:
    try:
        return _part(parse_json(text))
    except (ValueError, RecursionError):
        raise WyomingProtocolError("a line is not JSON") from None


def _part(value: object) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise WyomingProtocolError("an event is not an object")
    return value


def _size(head: dict[str, Any], key: str) -> int:
    size = head.get(key) or 0
    if not isinstance(size, int) or size < 0:
        raise WyomingProtocolError(f"{key} is not a size")
    return size


_CONNECT_S = 10.0
_DESCRIBE_S = 15.0
_MAX_QUOTED_CHARS = 300


class WyomingClient:
    """The engine on the server in `setting`, without its requests. Raises ConfigError for an invalid address."""

    def __init__(self, address: str, *, setting: str, limits: EngineLimits | None) -> None:
        try:
            self.address = checked_tcp(address)
        except ValueError as error:
            raise ConfigError(str(error), hint="for example tcp://localhost:10300") from None
        self._setting = setting
        self._limits = limits or EngineLimits()
        self.is_up = True
        """Whether the last connection attempt succeeded."""

    @asynccontextmanager
    async def connect(self) -> AsyncIterator[WyomingClientConnection]:
        """Open a connection for the block. Raises EngineFailed."""
        host, port = host_and_port(self.address)
        try:
            async with asyncio.timeout(_CONNECT_S):
                reader, writer = await asyncio.open_connection(host, port, limit=MAX_LINE_BYTES)
        except OSError as error:  # includes TimeoutError
            self.is_up = False
            reason = error.strerror or str(error) or "no answer"
            raise EngineFailed(
                f"{self.address} cannot be reached: {reason}",
                hint=f"is the server running, and is {self._setting} right?",
            ) from None
        self.is_up = True
        try:
            yield WyomingClientConnection(self.address, reader, writer)
        finally:
            writer.close()

    async def info(self) -> Info:
        """Return the server's services. Raises EngineFailed, and ConfigError if it is not a Wyoming server."""
        try:
            async with asyncio.timeout(_DESCRIBE_S), self.connect() as connection:
                await connection.send(Describe())
                while not Info.is_type((event := await connection.receive()).type):
                    pass
                return Info.from_event(event)
        except TimeoutError:
            problem = "it does not answer `describe`"
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            problem = f"invalid answer to `describe` ({error})"
        raise ConfigError(f"{self.address} is not a Wyoming server: {problem}", hint=f"check {self._setting}")

    def check_offer(self, kind: str, names: list[str], wanted: str | None) -> None:
        """Raises ConfigError unless `wanted`, a model or a voice by `kind`, is among those of the server."""
        if wanted is not None and wanted not in names:
            raise ConfigError(
                f"{self.address} has no {kind} {wanted}",
                hint=f"set {self._setting}_{kind} to one of {', '.join(names[:12])}",
            )

    async def close(self) -> None:
        """No effect: each request has its own connection."""


class WyomingClientConnection:
    """One connection."""

    def __init__(self, address: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._address = address
        self._reader = reader
        self._writer = writer

    async def send(self, event: Eventable) -> None:
        """Raises EngineFailed."""
        try:
            await write_event(self._writer, event)
        except OSError as error:
            raise self._failed(f"closed the connection: {error.strerror or error}") from None

    async def receive(self) -> Event:
        """Return the next event. Raises EngineFailed, also for an error event."""
        try:
            event = await read_event(self._reader)
        except WyomingProtocolError as error:
            raise self._failed(f"does not speak Wyoming: {error}") from None
        except OSError as error:
            raise self._failed(f"closed the connection: {error.strerror or error}") from None
        if event is None:
            raise self._failed("closed the connection before its answer was complete")
        if Error.is_type(event.type):
            reason = " ".join(str(event.data.get("text", "")).split())[:_MAX_QUOTED_CHARS]
            raise self._failed(f"reported an error: {reason}")
        return event

    def _failed(self, what: str) -> EngineFailed:
        return EngineFailed(f"{self._address} {what}", hint="see its log")
