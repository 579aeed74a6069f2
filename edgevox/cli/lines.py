"""Lines from standard input, without ever holding up the event loop or the end of the program."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from collections.abc import AsyncGenerator, Callable

_CHUNK_BYTES = 65536


async def stdin_lines(
    on_prompt: Callable[[], None], *, keeps_blank: bool = False
) -> AsyncGenerator[str, None]:
    """Every line until the end of the input; `on_prompt` is called when one is wanted.

    Blank ones are left out, unless they are to be kept.
    """
    loop = asyncio.get_running_loop()
    lines: asyncio.Queue[str | None] = asyncio.Queue()

    def read() -> None:
        # os.read, not sys.stdin: a thread inside that file's lock makes the interpreter abort at exit.
        fd = sys.stdin.fileno()
        pending = b""
        while data := os.read(fd, _CHUNK_BYTES):
            *whole, pending = (pending + data).split(b"\n")
            for line in whole:
                loop.call_soon_threadsafe(lines.put_nowait, line.decode(errors="replace"))
        if pending:
            loop.call_soon_threadsafe(lines.put_nowait, pending.decode(errors="replace"))
        loop.call_soon_threadsafe(lines.put_nowait, None)

    threading.Thread(target=read, name="stdin", daemon=True).start()
    on_prompt()
    while (line := await lines.get()) is not None:
        if line.strip() or keeps_blank:
            yield line.strip()
            on_prompt()
