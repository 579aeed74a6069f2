"""Answers that stay true for a while: the same question is not asked twice."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

ValueT = TypeVar("ValueT")


class Memo(Generic[ValueT]):
    """The newest `max_entries` answers, each for its own time."""

    def __init__(self, max_entries: int = 256, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._max_entries = max_entries
        self._clock = clock
        self._entries: OrderedDict[Hashable, tuple[float, ValueT]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, key: Hashable) -> ValueT | None:
        entry = self._entries.get(key)
        if entry is None:
            return None
        expires_s, value = entry
        if self._clock() >= expires_s:
            del self._entries[key]
            return None
        self._entries.move_to_end(key)
        return value

    def put(self, key: Hashable, value: ValueT, *, ttl_s: float) -> None:
        self._entries[key] = self._clock() + ttl_s, value
        self._entries.move_to_end(key)
        while len(self._entries) > self._max_entries:
            self._entries.popitem(last=False)
