"""An engine in this process, on a thread of its own: for library use, tests and debugging."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator
from typing import Generic

from edgevox.errors import EdgevoxError
from edgevox.turn import CancelFlag
from edgevox.types import Busy, Engine, ReplyT, RequestT


class _End:
    """The engine has said everything."""


class LocalEngine(Generic[RequestT, ReplyT]):
    """A Stage around an engine that lives here. A crash of the engine is a crash of this process."""

    def __init__(self, engine: Engine[RequestT, ReplyT]) -> None:
        self._engine = engine
        self._one_at_a_time = asyncio.Lock()

    @property
    def is_up(self) -> bool:
        return True

    async def start(self) -> None:
        """Read the model. Raises ModelError."""
        await asyncio.to_thread(self._engine.load)

    async def close(self) -> None:
        """Nothing to end: the engine goes with its process."""

    async def stream(self, request: RequestT, cancel: CancelFlag) -> AsyncGenerator[ReplyT, None]:
        async with self._one_at_a_time:
            loop = asyncio.get_running_loop()
            replies: asyncio.Queue[ReplyT | EdgevoxError | _End] = asyncio.Queue()

            def work() -> None:
                last: EdgevoxError | _End = _End()
                try:
                    for reply in self._engine.run(request, cancel):
                        if not isinstance(reply, Busy):
                            loop.call_soon_threadsafe(replies.put_nowait, reply)
                except EdgevoxError as error:
                    last = error
                loop.call_soon_threadsafe(replies.put_nowait, last)

            threading.Thread(target=work, daemon=True).start()
            while not isinstance(item := await replies.get(), _End):
                if isinstance(item, EdgevoxError):
                    raise item
                yield item
