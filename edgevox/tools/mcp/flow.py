"""How much a server may say: what is beyond it ends the connection, before it fills memory or the loop."""

from __future__ import annotations

import time
from collections.abc import Callable

MAX_MESSAGE_BYTES = 4_000_000
MAX_MESSAGES_PER_S = 500
MAX_BYTES_PER_S = 16_000_000
MAX_NONSENSE = 20


class Flood(ConnectionError):
    """The server says more than anybody can listen to."""


class Nonsense(ConnectionError):
    """The server says what is no message, again and again."""


class Flow:
    """Counts what one server says, second by second."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._began_s = clock()
        self._messages = 0
        self._bytes = 0
        self._nonsense = 0

    def count(self, size: int, *, is_message: bool = True) -> None:
        """Raises Flood, and Nonsense when too many in a row were no messages."""
        if (now_s := self._clock()) - self._began_s >= 1.0:
            self._began_s, self._messages, self._bytes = now_s, 0, 0
        self._messages += 1
        self._bytes += size
        if self._messages > MAX_MESSAGES_PER_S or self._bytes > MAX_BYTES_PER_S:
            raise Flood("it floods us with messages")
        self._nonsense = 0 if is_message else self._nonsense + 1
        if self._nonsense > MAX_NONSENSE:
            raise Nonsense("what it writes are no messages")
