"""Work for programs on an engine that the person in the room uses too: so many may wait, in turns."""

from __future__ import annotations

import asyncio
import math
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager

from edgevox.events import Event
from edgevox.server.claims import Claims
from edgevox.server.errors import ApiError
from edgevox.server.room import Room
from edgevox.server.turns import FairTurns

_REMEMBERED = 16
_FIRST_GUESS_S = 2.0
_MAX_RETRY_S = 60
# Nobody comes back to the second.
_GRACE_S = 5.0
# Behind a turn of the room's own the next one is prepared: that asks for the engine first.
_AFTERWARDS_S = 0.1


class WorkQueue:
    """Admits requests; more than `max_waiting` beside the one at work are sent away.

    Each of those is told when a place will be free for it, and that place is not given to a newcomer. While
    the person in the room is being served, nothing new begins.
    """

    def __init__(self, *, max_waiting: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._max_waiting = max_waiting
        self._clock = clock
        self._turns = FairTurns()
        self._claims = Claims()
        self._room = Room(self._pause, self._go_on)
        self._going_on: asyncio.TimerHandle | None = None
        self._left_s: deque[float] = deque(maxlen=_REMEMBERED)
        """When the last ones left their places, since nobody had one."""
        self.admitted = 0
        """How many requests are being answered, or wait for that."""
        self.refused = 0

    def hear(self, event: Event) -> None:
        """What happens in the room."""
        self._room.hear(event)

    def check_room(self, who: str) -> None:
        """Before the work of reading a request: raises ApiError when there is no place for `who`."""
        self._claims.drop_expired(self._clock())
        free = self._max_waiting + 1 - self.admitted
        # Half of the places at most: the engine is not to wait for who may not come back.
        kept = 0 if who in self._claims else min(len(self._claims), self._max_waiting // 2 + 1)
        if free > kept:
            return
        self.refused += 1
        retry_s = self._retry_s(self._claims.ahead_of(who))
        if who:
            self._claims.hold(who, self._clock() + retry_s + _GRACE_S)
        raise ApiError(
            429,
            "queue_full",
            f"{self.admitted} requests are being answered: try again later",
            headers={"Retry-After": str(retry_s)},
        )

    @contextmanager
    def place(self, who: str = "") -> Iterator[None]:
        """A place for one request, inside the block. Raises ApiError when too many wait.

        `who` is told apart from others when it comes back.
        """
        self.check_room(who)
        self._claims.use(who)
        self.admitted += 1
        try:
            yield
        finally:
            self.admitted -= 1
            self._left_s.append(self._clock())
            if not self.admitted:
                self._left_s.clear()

    @asynccontextmanager
    async def turn(self, who: str, *, goes_on: bool = False) -> AsyncIterator[None]:
        """The engine, inside the block, when it is the turn of `who`: for work as small as can be.

        What was interrupted `goes_on` before anybody begins.
        """
        async with self._turns.turn(who, goes_on=goes_on):
            yield

    def _pause(self) -> None:
        """The person in the room comes first."""
        if self._going_on is not None:
            self._going_on.cancel()
            self._going_on = None
        self._turns.hold()

    def _go_on(self) -> None:
        """Nobody is being served in the room."""
        self._going_on = asyncio.get_running_loop().call_later(_AFTERWARDS_S, self._turns.let_go)

    def _retry_s(self, ahead: int) -> int:
        """About how long until there is room: places become free at the pace of the last ones.

        While the room is being served none does, and the pace falls.
        """
        left_s = self._left_s
        pace_s = (self._clock() - left_s[0]) / len(left_s) if left_s else _FIRST_GUESS_S
        return min(_MAX_RETRY_S, max(1, math.ceil(pace_s * (ahead + 1))))
