"""A Wyoming server on loopback that answers every event with the same bytes, or with silence."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any


def line(kind: str, payload: bytes = b"", **data: Any) -> bytes:
    head = {"type": kind, "data": data, "payload_length": len(payload)}
    return json.dumps(head).encode() + b"\n" + payload


@asynccontextmanager
async def faulty(answer: bytes, *, at: str, hangs_up: bool = True) -> AsyncIterator[FaultyServer]:
    """Says `answer` when an event of the kind `at` has come; then it hangs up, or says no more."""
    server = FaultyServer(answer, at, hangs_up=hangs_up)
    listening = await asyncio.start_server(server.serve, "127.0.0.1", 0)
    server.address = f"tcp://127.0.0.1:{listening.sockets[0].getsockname()[1]}"
    try:
        yield server
    finally:
        listening.close()


class FaultyServer:
    def __init__(self, answer: bytes, at: str, *, hangs_up: bool) -> None:
        self.address = ""
        self.seen: list[dict[str, Any]] = []
        self.asked = asyncio.Event()
        self.gone = asyncio.Event()
        self._answer = answer
        self._at = at
        self._hangs_up = hangs_up

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while head := await reader.readline():
                event = json.loads(head)
                data = await reader.readexactly(event.get("data_length") or 0)
                await reader.readexactly(event.get("payload_length") or 0)
                self.asked.set()
                self.seen.append({"type": event["type"], **json.loads(data or b"{}")})
                if event["type"] == self._at:
                    writer.write(self._answer)
                    if self._hangs_up:
                        return
        finally:
            self.gone.set()
            writer.close()
