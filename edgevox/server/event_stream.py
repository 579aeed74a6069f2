"""Server-sent events: an answer while it is made. A client that goes away ends it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import TypeAlias

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from edgevox.errors import EdgevoxError
from edgevox.server.errors import ApiError, as_api_error
from edgevox.server.gone import ClientGone, unless_gone
from edgevox.server.goodbye import ending
from edgevox.types import JsonObject

Tell: TypeAlias = Callable[[ApiError], bytes]


def event(data: JsonObject | str, name: str | None = None) -> bytes:
    """One event as it goes over the wire."""
    text = data if isinstance(data, str) else json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    head = f"event: {name}\n" if name else ""
    return f"{head}data: {text}\n\n".encode()


async def streamed(
    request: Request,
    pieces: AsyncGenerator[bytes, None],
    tell: Tell,
    *,
    media_type: str = "text/event-stream",
) -> Response:
    """The answer in pieces; what goes wrong before the first is raised, and then `tell` puts it in words."""
    try:
        first = await unless_gone(request.receive, anext(pieces))
    except BaseException:
        await pieces.aclose()
        raise
    return _Stream(first, pieces, tell, media_type)


class _Stream(Response):
    def __init__(
        self, first: bytes, pieces: AsyncGenerator[bytes, None], tell: Tell, media_type: str
    ) -> None:
        super().__init__(media_type=media_type, headers={"Cache-Control": "no-store"})
        del self.headers["content-length"]
        self._first = first
        self._pieces = pieces
        self._tell = tell

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async with aclosing(self._pieces):
            try:
                await unless_gone(receive, self._send(send))
            except (ClientGone, OSError):
                return
            except asyncio.CancelledError:
                await send({"type": "http.response.body", "body": self._tell(ending()), "more_body": True})
                raise

    async def _send(self, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
        await send({"type": "http.response.body", "body": self._first, "more_body": True})
        try:
            async for piece in self._pieces:
                await send({"type": "http.response.body", "body": piece, "more_body": True})
        except ApiError as error:
            await send({"type": "http.response.body", "body": self._tell(error), "more_body": True})
        except EdgevoxError as error:
            told = self._tell(as_api_error(error))
            await send({"type": "http.response.body", "body": told, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})
