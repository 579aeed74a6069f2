"""What happens in the room, as server-sent events, for as long as somebody reads them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

from starlette.requests import Request
from starlette.responses import Response

from edgevox.bus import Bus
from edgevox.server.access import Access
from edgevox.server.assistant import Assistant
from edgevox.server.errors import ApiError
from edgevox.server.event_stream import event, streamed
from edgevox.server.view_routes import HISTORY
from edgevox.server.voice.telling import Telling
from edgevox.types import JsonObject

_MOST_READERS = 8
_STILL_HERE_S = 15.0


class RoomEvents:
    """GET /v1/events of one assistant."""

    def __init__(self, assistant: Assistant, access: Access, *, still_here_s: float = _STILL_HERE_S) -> None:
        self._assistant = assistant
        self._access = access
        self._still_here_s = still_here_s
        self._readers = 0

    async def listen(self, request: Request) -> Response:
        self._access.actor(request, HISTORY)
        board = self._assistant.switchboard
        if board is None:
            raise ApiError(404, "not_served", "this server has no room to tell of")
        await request.body()  # there is none; what comes next is that the client goes
        pieces = self._pieces(board.bus)
        return await streamed(request, pieces, lambda error: event(error.as_openai(), "error"))

    async def _pieces(self, bus: Bus) -> AsyncGenerator[bytes, None]:
        if self._readers >= _MOST_READERS:
            raise ApiError(
                429, "queue_full", f"{_MOST_READERS} read the events already", headers={"Retry-After": "5"}
            )
        frames: list[JsonObject] = []
        telling = Telling(frames.append, lambda _record: None)
        self._readers += 1
        try:
            with bus.subscription() as events:
                telling.begin()
                while True:
                    for frame in frames:
                        yield event(frame, frame["type"])
                    frames.clear()
                    try:
                        async with asyncio.timeout(self._still_here_s):
                            telling(await events.next())
                    except TimeoutError:
                        yield b": still here\n\n"
        finally:
            self._readers -= 1
