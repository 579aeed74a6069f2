"""The end of the server, for requests that are still being answered: told, and not logged as a fault."""

from __future__ import annotations

import asyncio

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from edgevox.server.errors import ApiError


def ending() -> ApiError:
    """What a client is told whose answer is not whole yet."""
    return ApiError(503, "server_ends", "the server is being stopped", headers={"Retry-After": "5"})


class Goodbye:
    """Middleware around all others. uvicorn cancels what is open when it stops, and nobody else does."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        has_begun = False

        async def noted(message: Message) -> None:
            nonlocal has_begun
            has_begun = True
            await send(message)

        try:
            await self._app(scope, receive, noted)
        except asyncio.CancelledError:
            if has_begun:
                await send({"type": "http.response.body", "body": b"", "more_body": False})
            else:
                await ending().response(scope["path"])(scope, receive, send)
