"""uvicorn's WebSockets, with an end for those who do not read."""

from __future__ import annotations

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

_GOODBYE_S = 2.0


class SocketProtocol(WebSocketsSansIOProtocol):
    """A connection that is closed is gone a moment later, whether the client has read its end or not."""

    async def run_asgi(self) -> None:
        await super().run_asgi()
        # To close it waits until all that was written is read, and that may be never.
        self.loop.call_later(_GOODBYE_S, self.transport.abort)
