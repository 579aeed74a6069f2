"""One utterance and its answer: an id that everything it produces carries, and a flag that stops it."""

from __future__ import annotations

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


@dataclass(frozen=True, slots=True)
class Turn:
    """One utterance: a late result of a cancelled turn is known by its id and dropped."""

    id: str = field(default_factory=lambda: uuid.uuid4().hex[:12])
    cancel: CancelFlag = field(default_factory=CancelFlag)
    started_s: float = field(default_factory=time.monotonic)
