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
import queue
import threading
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from edgevox.core.errors import ToolError
from edgevox.core.turn import CancelFlag

Job: TypeAlias = Callable[[], object]

# Starting a thread takes three times as long as passing a job to an idle one.
_KEEP_IDLE = 4
_KEEP_IDLE_S = 5.0


class ThreadPool:
    """Starts every job at once, on an idle thread or a new one; idle threads end after a while."""

    def __init__(self, *, keep_idle_s: float = _KEEP_IDLE_S) -> None:
        self._keep_idle_s = keep_idle_s
        self._lock = threading.Lock()
        self._idle: list[queue.SimpleQueue[Job]] = []

    def start(self, job: Job) -> None:
        """Run `job` on a thread; it must handle its own exceptions."""
        with self._lock:
            inbox = self._idle.pop() if self._idle else None
        if inbox is not None:
            inbox.put(job)
            return
        inbox = queue.SimpleQueue()
        inbox.put(job)
        threading.Thread(target=self._serve, args=(inbox,), name="edgevox tool", daemon=True).start()

    def _serve(self, inbox: queue.SimpleQueue[Job]) -> None:
        while True:
            try:
                job = inbox.get(timeout=self._keep_idle_s)
            except queue.Empty:
                with self._lock:
                    if inbox in self._idle:
                        self._idle.remove(inbox)
                        return
                continue  # a job arrived at the last moment
            job()
            del job  # do not keep its objects alive while idle
            with self._lock:
                if len(self._idle) >= _KEEP_IDLE:
                    return
                self._idle.append(inbox)


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
    """Runs tools, and counts the abandoned runs that have not ended."""

    def __init__(self, *, grace_s: float = GRACE_S) -> None:
        self._grace_s = grace_s
        self._workers = ThreadPool()
        self._lock = threading.Lock()
        self._abandoned: Counter[str] = Counter()

    def abandoned(self, name: str) -> int:
        """The number of abandoned runs of a tool that have not ended."""
        with self._lock:
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
        running = _Task(work) if is_async else _Thread(work, self._workers)
        try:
            await asyncio.wait((running.outcome, stop), timeout=timeout_s, return_when=asyncio.FIRST_COMPLETED)
            if running.outcome.done():
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

    async def _stop(self, name: str, running: _Task | _Thread) -> bool:
        """Stop a run; True if it had to be abandoned."""
        if await running.end(self._grace_s):
            return False
        with self._lock:
            self._abandoned[name] += 1
        _log.warning("the tool %s does not stop and was abandoned", name)
        running.on_end(lambda: self._uncount(name))
        return True

    def _uncount(self, name: str) -> None:
        with self._lock:
            self._abandoned[name] -= 1
            if self._abandoned[name] <= 0:
                del self._abandoned[name]


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


class _Task:
    """A running async tool."""

    def __init__(self, work: Callable[[], Awaitable[Any]]) -> None:
        self.outcome = asyncio.ensure_future(_guarded_await(work))

    def result(self) -> Returned | Raised:
        if self.outcome.cancelled():
            return Raised("CancelledError", "the tool cancelled itself")
        return self.outcome.result()

    async def end(self, grace_s: float) -> bool:
        self.outcome.cancel()
        await asyncio.wait((self.outcome,), timeout=grace_s)
        return self.outcome.done()

    def on_end(self, then: Callable[[], None]) -> None:
        self.outcome.add_done_callback(lambda _task: then())


class _Thread:
    """A running sync tool, in the context of its caller."""

    def __init__(self, work: Callable[[], Any], workers: ThreadPool) -> None:
        self._loop = asyncio.get_running_loop()
        self._lock = threading.Lock()
        self._is_over = False
        self._then: Callable[[], None] | None = None
        self.outcome: asyncio.Future[Returned | Raised] = self._loop.create_future()
        context = contextvars.copy_context()
        workers.start(lambda: context.run(self._run, work))

    def _run(self, work: Callable[[], Any]) -> None:
        outcome: Returned | Raised = Raised("BaseException", "the tool ended its thread")
        try:
            outcome = guarded(work)
        except (KeyboardInterrupt, GeneratorExit):
            _log.warning("a tool raised KeyboardInterrupt or GeneratorExit")  # Ctrl-C reaches the main thread only
        finally:
            with self._lock:
                self._is_over = True
                then = self._then
            if then is not None:
                then()
            else:
                with contextlib.suppress(RuntimeError):  # the loop is closed
                    self._loop.call_soon_threadsafe(_settle, self.outcome, outcome)

    def result(self) -> Returned | Raised:
        outcome = self.outcome.result()
        if isinstance(outcome, Returned) and inspect.iscoroutine(outcome.value):
            outcome.value.close()
            return Raised("TypeError", "a tool that is not async returned a coroutine")
        return outcome

    async def end(self, grace_s: float) -> bool:
        # A thread cannot be stopped.
        return False

    def on_end(self, then: Callable[[], None]) -> None:
        with self._lock:
            if not self._is_over:
                self._then = then
                return
        then()


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
