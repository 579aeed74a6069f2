"""Work for programs on an engine that the person in the room uses too: so many may wait, in turns."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager

from edgevox.events import Event
from edgevox.server.errors import ApiError
from edgevox.server.room import Room
from edgevox.server.turns import FairTurns

_REMEMBERED = 16
_FIRST_GUESS_S = 5.0
_MAX_RETRY_S = 60


class WorkQueue:
    """Admits requests; more than `max_waiting` beside the one at work are sent away.

    While the person in the room is being served, nothing new begins.
    """

    def __init__(self, *, max_waiting: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._max_waiting = max_waiting
        self._clock = clock
        self._turns = FairTurns()
        self._room = Room(self._pause, self._turns.let_go)
        self._took_s: deque[float] = deque(maxlen=_REMEMBERED)
        self.admitted = 0
        """How many requests are being answered, or wait for that."""
        self.refused = 0

    def hear(self, event: Event) -> None:
        """What happens in the room."""
        self._room.hear(event)

    @contextmanager
    def place(self) -> Iterator[None]:
        """A place for one request, inside the block. Raises ApiError when too many wait."""
        if self.admitted > self._max_waiting:
            self.refused += 1
            raise ApiError(
                429,
                "queue_full",
                f"{self.admitted} requests are being answered: try again later",
                headers={"Retry-After": str(self._retry_s())},
            )
        self.admitted += 1
        begun_s = self._clock()
        try:
            yield
        finally:
            self.admitted -= 1
            self._took_s.append(self._clock() - begun_s)

    @asynccontextmanager
    async def turn(self, who: str) -> AsyncIterator[None]:
        """The engine, inside the block, when it is the turn of `who`: for work as small as can be."""
        async with self._turns.turn(who):
            yield

    def _pause(self) -> None:
        """The person in the room comes first."""
        self._turns.hold()

    def _retry_s(self) -> int:
        """About how long it takes until there is room: as long as one of the last ones took."""
        typical_s = sum(self._took_s) / len(self._took_s) if self._took_s else _FIRST_GUESS_S
        return min(_MAX_RETRY_S, max(1, round(typical_s)))
