"""The replies of an engine on another machine: it may be slow, fall silent, or no longer be wanted."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing

from edgevox.engine.limits import EngineLimits
from edgevox.errors import EngineFailed
from edgevox.turn import CancelFlag
from edgevox.types import Busy, ReplyT


class _End:
    """There is nothing more to come."""


async def replies(
    source: AsyncGenerator[ReplyT | Busy, None], cancel: CancelFlag, limits: EngineLimits, *, who: str
) -> AsyncGenerator[ReplyT, None]:
    """What `source` gives. Once `cancel` is set it is closed, wherever it waits, and the replies end.

    Raises EngineFailed when `who` is silent for longer than the limits allow, and what the source raises.
    """
    loop = asyncio.get_running_loop()
    given: asyncio.Queue[ReplyT | Busy | _End] = asyncio.Queue()

    async def pump() -> None:
        async with aclosing(source):
            async for reply in source:
                given.put_nowait(reply)

    pumping = asyncio.create_task(pump())
    pumping.add_done_callback(lambda _task: given.put_nowait(_End()))

    def stop() -> None:  # from any thread
        loop.call_soon_threadsafe(pumping.cancel)

    cancel.add_listener(stop)
    limit_s = limits.first_reply_s
    try:
        while True:
            try:
                async with asyncio.timeout(limit_s):
                    reply = await given.get()
            except TimeoutError:
                raise EngineFailed(
                    f"{who} was silent for {limit_s:.0f} s",
                    hint="see its log; [engines] sets how long to wait",
                ) from None
            match reply:
                case _End():
                    break
                case Busy():
                    pass
                case _:
                    limit_s = limits.next_reply_s
                    if not cancel.is_set():
                        yield reply
        if not pumping.cancelled():
            pumping.result()
    finally:
        cancel.remove_listener(stop)
        pumping.cancel()
        await asyncio.gather(pumping, return_exceptions=True)
