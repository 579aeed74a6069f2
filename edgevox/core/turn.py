"""One turn: its id, caller and cancellation flag, and a gate before side effects that cannot be undone.

The functions at the end run asyncio tasks and leave none behind.
"""

from __future__ import annotations

import asyncio
import ctypes
import time
import uuid
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

T = TypeVar("T")


class CancelFlag:
    """A cancellation flag in one byte, which native code can watch at `address`; set until its owner clears it.

    A zero byte follows it, so that it can be read as a C string: empty while the work goes on.
    """

    __slots__ = ("_buffer", "_listeners")

    def __init__(self, buffer: ctypes.Array[ctypes.c_char] | None = None) -> None:
        self._buffer = buffer if buffer is not None else ctypes.create_string_buffer(2)
        self._listeners: list[Callable[[], None]] = []

    @property
    def address(self) -> int:
        return ctypes.addressof(self._buffer)

    def is_set(self) -> bool:
        return self._buffer[0] != b"\0"

    def set(self) -> None:
        """Stop the work. Safe from any thread, and idempotent."""
        self._buffer[0] = b"\1"
        for listener in tuple(self._listeners):
            listener()

    def clear(self) -> None:
        """Reset the flag; only the owner of its memory may do so, before new work starts."""
        self._buffer[0] = b"\0"

    def add_listener(self, listener: Callable[[], None]) -> None:
        """Call `listener` when the flag is set, at once if it is already set."""
        self._listeners.append(listener)
        if self.is_set():
            listener()

    def remove_listener(self, listener: Callable[[], None]) -> None:
        if listener in self._listeners:
            self._listeners.remove(listener)


class Gate:
    """Holds back side effects until the endpoint is certain.

    Once open it stays open. A turn cancelled before that has had no effect. Use it from one event loop only.
    """

    def __init__(self, *, is_open: bool = True) -> None:
        self.is_open = is_open
        self.is_waited_at = False
        """Whether something was ready before the gate opened."""
        self._woken = asyncio.Event()
        self._held: list[Callable[[], None]] = []
        self._on_wait: list[Callable[[], None]] = []

    def open(self) -> None:
        """Open the gate and run the held actions in order."""
        self.is_open = True
        held, self._held = self._held, []
        for action in held:
            action()
        self._woken.set()

    def when_open(self, action: Callable[[], None]) -> None:
        """Run `action` now if the gate is open, else when it opens; never if it stays closed."""
        if self.is_open:
            action()
        else:
            self._held.append(action)

    def when_waited_at(self, action: Callable[[], None]) -> None:
        """Run `action` each time a caller starts to wait: no further text follows until the gate opens."""
        self._on_wait.append(action)

    async def passed(self, cancel: CancelFlag) -> bool:
        """Wait until the gate opens; False if the turn was cancelled first."""
        if not self.is_open:
            loop = asyncio.get_running_loop()

            def wake() -> None:  # from any thread
                loop.call_soon_threadsafe(self._woken.set)

            self.is_waited_at = True
            for action in self._on_wait:
                action()
            cancel.add_listener(wake)
            try:
                await self._woken.wait()
            finally:
                cancel.remove_listener(wake)
        return self.is_open


EVERYTHING = "*"


@dataclass(frozen=True, slots=True)
class Caller:
    """The origin of a call and its scopes: `read` queries, `act` changes; a tool may need its own.

    A scope may end in `.*` for every scope below it; `*` alone is every scope. `has_token` if the scopes are those of
    a token with that name, which can be revoked, and `is_scheduled` for a command that the caller set for later.
    `room` is where the speaker is and `satellite` the device that was spoken to, "" where that is unknown.
    `person` is the speaker that a voice was recognised as, "" if none was.
    """

    name: str
    scopes: frozenset[str] = frozenset()
    has_token: bool = False
    is_scheduled: bool = False
    room: str = ""
    satellite: str = ""
    person: str = ""

    def may(self, scope: str) -> bool:
        if EVERYTHING in self.scopes or scope in self.scopes:
            return True
        parts = scope.split(".")
        return any(".".join((*parts[:end], "*")) in self.scopes for end in range(1, len(parts)))

    def limited_to(self, other: Caller) -> Caller:
        """This caller with only those scopes that `other` has too."""
        common = {scope for scope in self.scopes if other.may(scope)}
        return replace(self, scopes=frozenset(common | {scope for scope in other.scopes if self.may(scope)}))


LOCAL = Caller("local", frozenset({EVERYTHING}))
"""The microphone and the keyboard of this machine."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One utterance. The id identifies late results of a cancelled turn, so that they are dropped.

    `caller` replaces that of the agent: a scheduled command runs with the scopes of the caller that scheduled it.
    """

    id: str = field(default_factory=lambda: uuid.uuid4().hex[:12])
    cancel: CancelFlag = field(default_factory=CancelFlag)
    started_s: float = field(default_factory=time.monotonic)
    gate: Gate = field(default_factory=Gate)
    caller: Caller | None = None


async def cancel_tasks(*tasks: asyncio.Task[Any] | None) -> None:
    """Cancel the tasks and wait for their end; their errors are dropped."""
    running = [task for task in tasks if task is not None]
    for task in running:
        task.cancel()
    await asyncio.gather(*running, return_exceptions=True)


@asynccontextmanager
async def background_task(work: Coroutine[Any, Any, T]) -> AsyncIterator[asyncio.Task[T]]:
    """Run `work` in a task until the end of the block."""
    task = asyncio.create_task(work)
    try:
        yield task
    finally:
        await cancel_tasks(task)


def next_item(items: AsyncIterator[T]) -> asyncio.Task[T | None]:
    """A task that waits for the next item; its result is None at the end."""

    async def following() -> T | None:
        return await anext(items, None)

    return asyncio.create_task(following())
