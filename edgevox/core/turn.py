"""One turn: its id, its cancellation flag, and a gate before side effects that cannot be undone."""

from __future__ import annotations

import asyncio
import ctypes
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field

_FLAG_BYTES = 2


class CancelFlag:
    """A byte that says stop. Native code can watch it at `address`; it stays set until its owner clears it.

    The memory is the byte and a zero behind it, so that it reads as a C string: empty while the work goes on.
    """

    __slots__ = ("_buffer", "_listeners")

    def __init__(self, buffer: ctypes.Array[ctypes.c_char] | None = None) -> None:
        self._buffer = buffer if buffer is not None else ctypes.create_string_buffer(_FLAG_BYTES)
        self._listeners: list[Callable[[], None]] = []

    @property
    def address(self) -> int:
        return ctypes.addressof(self._buffer)

    def is_set(self) -> bool:
        return self._buffer[0] != b"\0"

    def set(self) -> None:
        """Stop the work. Safe from any thread, and more than once."""
        self._buffer[0] = b"\1"
        for listener in tuple(self._listeners):
            listener()

    def clear(self) -> None:
        """Make the flag fit for new work; only the owner of its memory may do so, before the work starts."""
        self._buffer[0] = b"\0"

    def add_listener(self, listener: Callable[[], None]) -> None:
        """Have `listener` called when the flag is set, at once if it is set already."""
        self._listeners.append(listener)
        if self.is_set():
            listener()

    def remove_listener(self, listener: Callable[[], None]) -> None:
        if listener in self._listeners:
            self._listeners.remove(listener)


class Gate:
    """Holds back what cannot be taken back, until it is certain that the person has finished.

    It stays open once it is. A turn that was cancelled before that has left no trace. Of one event loop.
    """

    def __init__(self, *, is_open: bool = True) -> None:
        self.is_open = is_open
        self.is_waited_at = False
        """Whether something was ready before it was certain."""
        self._woken = asyncio.Event()
        self._held: list[Callable[[], None]] = []
        self._on_wait: list[Callable[[], None]] = []

    def open(self) -> None:
        """It is certain. What was held is done now, in its order."""
        self.is_open = True
        held, self._held = self._held, []
        for action in held:
            action()
        self._woken.set()

    def when_open(self, action: Callable[[], None]) -> None:
        """Do this as soon as it is certain: at once, later or never."""
        if self.is_open:
            action()
        else:
            self._held.append(action)

    def when_waited_at(self, action: Callable[[], None]) -> None:
        """Do this each time that something comes to wait here: nothing more is written until it is open."""
        self._on_wait.append(action)

    async def passed(self, cancel: CancelFlag) -> bool:
        """Wait until it is certain; False when the turn was cancelled first."""
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


@dataclass(frozen=True, slots=True)
class Turn:
    """One utterance: a late result of a cancelled turn is known by its id and dropped."""

    id: str = field(default_factory=lambda: uuid.uuid4().hex[:12])
    cancel: CancelFlag = field(default_factory=CancelFlag)
    started_s: float = field(default_factory=time.monotonic)
    gate: Gate = field(default_factory=Gate)
