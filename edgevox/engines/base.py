"""The protocol and time limits of engine hosts, and the host that runs an engine in a thread.

`limited_replies` puts the same time limits on the replies of an engine on another machine.
"""

from __future__ import annotations

import asyncio
import threading
import traceback
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing, suppress
from dataclasses import dataclass
from typing import Generic, Protocol, runtime_checkable

from edgevox.core.errors import EdgevoxError, EngineFailed
from edgevox.core.turn import CancelFlag, cancel_tasks
from edgevox.core.types import Busy, Engine, ReplyT, ReplyT_co, RequestT, RequestT_contra, Stage
from edgevox.engines.ipc import End


@runtime_checkable
class HostedEngine(Stage[RequestT_contra, ReplyT_co], Protocol[RequestT_contra, ReplyT_co]):
    """A Stage that is started and closed."""

    @property
    def is_up(self) -> bool:
        """Whether it is expected to answer now."""

    async def start(self) -> None:
        """Load or connect. Raises ModelError, EngineFailed and, for a remote engine, ConfigError."""

    async def close(self) -> None:
        """Stop it."""


@dataclass(frozen=True, slots=True)
class EngineLimits:
    """Time limits. They are generous: exceeding one restarts the engine."""

    start_s: float = 60.0
    first_reply_s: float = 60.0
    next_reply_s: float = 20.0
    heartbeat_s: float = 2.0
    """How long a child's heartbeat may stop, idle or busy: see ipc.py."""


def answer(
    engine: Engine[RequestT, ReplyT], request: RequestT, cancel: CancelFlag
) -> Iterator[ReplyT | Busy | End | EdgevoxError]:
    """The replies of an engine, then End or the error that ended them."""
    try:
        yield from engine.run(request, cancel)
    except EdgevoxError as error:
        yield error
    except Exception as error:  # noqa: BLE001  (a bug in an engine must not leave its caller waiting)
        traceback.print_exc()
        yield EngineFailed(
            f"the engine could not answer: {type(error).__name__}: {error}",
            hint="try again; if it happens every time, `edgevox doctor` checks the model",
        )
    else:
        yield End()


class LocalEngine(Generic[RequestT, ReplyT]):
    """Runs an engine on a thread of this process. If the engine crashes, so does the process."""

    def __init__(self, engine: Engine[RequestT, ReplyT]) -> None:
        self._engine = engine
        self._one_at_a_time = asyncio.Lock()

    @property
    def is_up(self) -> bool:
        return True

    async def start(self) -> None:
        """Load the model. Raises ModelError."""
        await asyncio.to_thread(self._engine.load)

    async def close(self) -> None:
        """Nothing to stop: the engine ends with its process."""

    async def stream(self, request: RequestT, cancel: CancelFlag) -> AsyncGenerator[ReplyT, None]:
        await self._one_at_a_time.acquire()
        loop = asyncio.get_running_loop()
        replies: asyncio.Queue[ReplyT | Busy | End | EdgevoxError] = asyncio.Queue()
        stop = CancelFlag()

        def work() -> None:
            with suppress(RuntimeError):  # the loop has ended
                for reply in answer(self._engine, request, stop):
                    loop.call_soon_threadsafe(replies.put_nowait, reply)
                # Only now: an engine goes on for a while after its replies were closed, and runs once at a time.
                loop.call_soon_threadsafe(self._one_at_a_time.release)

        threading.Thread(target=work, daemon=True).start()
        cancel.add_listener(stop.set)
        try:
            while not isinstance(reply := await replies.get(), End):
                if isinstance(reply, EdgevoxError):
                    raise reply
                if not isinstance(reply, Busy):
                    yield reply
        finally:
            cancel.remove_listener(stop.set)
            stop.set()


async def limited_replies(
    source: AsyncGenerator[ReplyT | Busy, None], cancel: CancelFlag, limits: EngineLimits, *, name: str
) -> AsyncGenerator[ReplyT, None]:
    """Yield the items of `source`. When `cancel` is set the source is closed, wherever it waits, and iteration ends.

    Raises EngineFailed if the engine `name` is silent for longer than the limits allow, and whatever the source raises.
    """
    loop = asyncio.get_running_loop()
    given: asyncio.Queue[ReplyT | Busy | End] = asyncio.Queue()

    async def pump() -> None:
        async with aclosing(source):
            async for reply in source:
                given.put_nowait(reply)

    pumping = asyncio.create_task(pump())
    pumping.add_done_callback(lambda _task: given.put_nowait(End()))

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
                    f"{name} was silent for {limit_s:.0f} s", hint="see its log; [engines] sets how long to wait"
                ) from None
            match reply:
                case End():
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
        await cancel_tasks(pumping)
