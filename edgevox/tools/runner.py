"""Runs a tool's function with a timeout, sync ones on daemon threads; exceptions become values.

An async tool runs as a task and is cancelled. A sync tool's thread cannot be stopped: it is abandoned, its
late result is dropped, and it counts against its tool until it ends.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import inspect
import logging
import threading
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from edgevox.core.errors import ToolError
from edgevox.core.turn import CancelFlag

_log = logging.getLogger(__name__)

# How long a cancelled async tool may clean up before it is abandoned, too.
GRACE_S = 1.0


@dataclass(frozen=True, slots=True)
class Returned:
    value: Any


@dataclass(frozen=True, slots=True)
class Raised:
    """An exception of a tool as text, so that no traceback or frame is kept alive."""

    kind: str
    message: str
    is_tool_error: bool = False


@dataclass(frozen=True, slots=True)
class Stopped:
    """The tool was stopped. `abandoned` means that it still runs."""

    why: Literal["timeout", "cancelled"]
    abandoned: bool


Outcome: TypeAlias = Returned | Raised | Stopped


class Runner:
    """Runs tools, and counts the abandoned runs that have not ended. Belongs to one event loop."""

    def __init__(self) -> None:
        self._abandoned: Counter[str] = Counter()

    def abandoned(self, name: str) -> int:
        """The number of abandoned runs of a tool that have not ended."""
        return self._abandoned[name]

    async def run(
        self, name: str, work: Callable[[], Any], *, is_async: bool, timeout_s: float, cancel: CancelFlag | None
    ) -> Outcome:
        """Run `work` until it ends, times out or `cancel` is set. Raises only CancelledError."""
        loop = asyncio.get_running_loop()
        stop: asyncio.Future[None] = loop.create_future()

        def on_cancel() -> None:
            with contextlib.suppress(RuntimeError):  # the loop is closed
                loop.call_soon_threadsafe(_settle, stop, None)

        if cancel is not None:
            cancel.add_listener(on_cancel)
        running = asyncio.ensure_future(_guarded_await(work)) if is_async else _on_thread(work)
        try:
            await asyncio.wait((running, stop), timeout=timeout_s, return_when=asyncio.FIRST_COMPLETED)
            if running.cancelled():
                return Raised("CancelledError", "the tool cancelled itself")
            if running.done():
                return running.result()
            why: Literal["timeout", "cancelled"] = "cancelled" if stop.done() else "timeout"
            return Stopped(why, abandoned=await self._stop(name, running))
        except asyncio.CancelledError:
            await self._stop(name, running)
            raise
        finally:
            if cancel is not None:
                cancel.remove_listener(on_cancel)
            stop.cancel()

    async def _stop(self, name: str, running: asyncio.Future[Returned | Raised]) -> bool:
        """Stop a run; True if it had to be abandoned, as a thread always is."""
        if isinstance(running, asyncio.Task):
            running.cancel()
            await asyncio.wait((running,), timeout=GRACE_S)
            if running.done():
                return False
        self._abandoned[name] += 1
        running.add_done_callback(lambda _running: self._abandoned.subtract((name,)))
        _log.warning("the tool %s does not stop and was abandoned", name)
        return True


def guarded(work: Callable[[], Any]) -> Returned | Raised:
    """Call third-party code; an exception is returned as a value."""
    try:
        return Returned(work())
    except (Exception, SystemExit) as error:  # noqa: BLE001 - even sys.exit() must not end the assistant
        return _raised(error)


async def _guarded_await(work: Callable[[], Awaitable[Any]]) -> Returned | Raised:
    try:
        return Returned(await work())
    except (Exception, SystemExit) as error:  # noqa: BLE001 - as above
        return _raised(error)


def _on_thread(work: Callable[[], Any]) -> asyncio.Future[Returned | Raised]:
    """Run `work` on a daemon thread of its own, in the context of the caller; the future ends with the thread."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[Returned | Raised] = loop.create_future()

    def run() -> None:
        outcome: Returned | Raised = Raised("BaseException", "the tool ended its thread")
        try:
            outcome = guarded(work)
            if isinstance(outcome, Returned) and inspect.iscoroutine(outcome.value):
                outcome.value.close()
                outcome = Raised("TypeError", "a tool that is not async returned a coroutine")
        except (KeyboardInterrupt, GeneratorExit):
            _log.warning("a tool raised KeyboardInterrupt or GeneratorExit")  # Ctrl-C reaches the main thread only
        finally:
            with contextlib.suppress(RuntimeError):  # the loop is closed
                loop.call_soon_threadsafe(_settle, future, outcome)

    context = contextvars.copy_context()
    threading.Thread(target=context.run, args=(run,), name="edgevox tool", daemon=True).start()
    return future


def _settle(future: asyncio.Future[Any], value: object) -> None:
    if not future.done():
        future.set_result(value)


def _raised(error: BaseException) -> Raised:
    if isinstance(error, ToolError):
        return Raised(error.code, error.message, is_tool_error=True)
    # str() of an exception may raise.
    try:
        message = str(error)
    except Exception:  # noqa: BLE001 - code of the tool's own
        message = ""
    return Raised(type(error).__name__, message)
