"""Wyoming's events on a socket: JSON lines with sound behind them, read with limits on their size."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from wyoming.event import Event, Eventable, async_write_event

MAX_LINE_BYTES = 65_536
MAX_DATA_BYTES = 1_000_000
MAX_PAYLOAD_BYTES = 4_000_000


class NotWyoming(Exception):
    """What came is no event, or a larger one than is read."""


async def read_event(reader: asyncio.StreamReader) -> Event | None:
    """The next event; None where the other side has ended. Raises NotWyoming and OSError.

    The package's own reader takes whatever size it is told, and takes damage for the end.
    """
    try:
        line = await reader.readuntil(b"\n")
        head = _object(line)
        data_size, payload_size = _size(head, "data_length"), _size(head, "payload_length")
        if data_size > MAX_DATA_BYTES or payload_size > MAX_PAYLOAD_BYTES:
            raise NotWyoming("an event is too large")
        data = _part(head.get("data") or {})
        if data_size:
            data |= _object(await reader.readexactly(data_size))
        payload = await reader.readexactly(payload_size) if payload_size else None
    except asyncio.IncompleteReadError as error:
        if error.partial:
            raise NotWyoming("an event breaks off") from None
        return None
    except asyncio.LimitOverrunError:
        raise NotWyoming("a line is too long") from None
    kind = head.get("type")
    if not isinstance(kind, str):
        raise NotWyoming("an event has no type")
    return Event(kind, data, payload)


async def write_event(writer: asyncio.StreamWriter, event: Eventable) -> None:
    """Raises OSError."""
    await async_write_event(event.event(), writer)


def _object(text: bytes) -> dict[str, Any]:
    try:
        return _part(json.loads(text))
    except (ValueError, RecursionError):
        raise NotWyoming("a line is no JSON") from None


def _part(value: object) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise NotWyoming("an event is no object")
    return value


def _size(head: dict[str, Any], key: str) -> int:
    size = head.get(key) or 0
    if not isinstance(size, int) or size < 0:
        raise NotWyoming(f"{key} is no size")
    return size
