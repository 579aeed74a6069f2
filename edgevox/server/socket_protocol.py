"""uvicorn's WebSockets, with an end for those who do not read, and without stack traces for those who lie."""

from __future__ import annotations

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.exceptions import InvalidState
from websockets.frames import CloseCode

_GOODBYE_S = 2.0


class SocketProtocol(WebSocketsSansIOProtocol):
    """A connection that is closed is gone a moment later, whether the client has read its end or not."""

    async def run_asgi(self) -> None:
        await super().run_asgi()
        # To close it waits until all that was written is read, and that may be never.
        self.loop.call_later(_GOODBYE_S, self.transport.abort)

    def data_received(self, data: bytes) -> None:
        try:
            super().data_received(data)
        except InvalidState:  # it would answer what came behind a close
            self.transport.abort()

    def send_receive_event_to_app(self) -> None:
        if self.curr_msg_data_type == "text" and not self.close_sent and not _is_text(b"".join(self.frames)):
            self.frames = []
            self.conn.fail(CloseCode.INVALID_DATA, "text that is no UTF-8")
            self.handle_parser_exception()
        else:
            super().send_receive_event_to_app()


def _is_text(content: bytes) -> bool:
    try:
        content.decode()
    except UnicodeDecodeError:
        return False
    return True
