"""Server-sent events, as they arrive: a server may not send more than is kept."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterable

from edgevox.llm.remote.wire import NotReadable
from edgevox.types import Busy

MAX_BYTES = 8_000_000
"""The longest answer, with all that stands around its words."""


async def server_events(pieces: AsyncIterable[bytes]) -> AsyncGenerator[str | Busy, None]:
    """The data of each event; Busy for what only says that the server is there. Raises NotReadable."""
    rest, data, total = b"", [], 0
    async for piece in pieces:
        total += len(piece)
        if total > MAX_BYTES:
            raise NotReadable(f"it is longer than {MAX_BYTES:,} bytes")
        *lines, rest = (rest + piece).split(b"\n")
        for line in lines:
            field, _, value = line.rstrip(b"\r").partition(b":")
            if field == b"data":
                data.append(value.removeprefix(b" "))
            elif field == b"" and not line.strip() and data:
                yield _text(data)
                data = []
            else:
                yield Busy()
    if rest.startswith(b"data:"):  # the last line may have no end
        data.append(rest.removeprefix(b"data:").strip())
    if data:
        yield _text(data)


def _text(data: list[bytes]) -> str:
    try:
        return b"\n".join(data).decode()
    except UnicodeDecodeError:
        raise NotReadable("it is no UTF-8") from None
