"""Taking turns: one at a time works, those who wait follow each other by name; nobody begins while held."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class FairTurns:
    """Of one event loop. Whoever has much to do waits behind whoever has little."""

    def __init__(self) -> None:
        self._waiting: dict[str, deque[asyncio.Future[None]]] = {}
        self._is_taken = False
        self._is_held = False

    @property
    def waiting(self) -> int:
        return sum(map(len, self._waiting.values()))

    @asynccontextmanager
    async def turn(self, who: str, *, goes_on: bool = False) -> AsyncIterator[None]:
        """Wait, then have the place to oneself; whoever `goes_on` has had it before, and is the next."""
        if self._is_taken or self._is_held or self._waiting:
            await self._wait(who, is_next=goes_on)
        while self._is_held:  # since the place was given
            self._is_taken = False
            await self._wait(who, is_next=True)
        self._is_taken = True
        try:
            yield
        finally:
            self._is_taken = False
            self._next()

    def hold(self) -> None:
        """Nobody begins from now on."""
        self._is_held = True

    def let_go(self) -> None:
        self._is_held = False
        self._next()

    async def _wait(self, who: str, *, is_next: bool) -> None:
        place: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        if is_next:
            own = self._waiting.pop(who, deque())
            own.appendleft(place)
            self._waiting = {who: own, **self._waiting}
        else:
            self._waiting.setdefault(who, deque()).append(place)
        try:
            await place
        except asyncio.CancelledError:
            if place.done() and not place.cancelled():
                self._is_taken = False
                self._next()  # it had been given the place, and does not take it
            else:
                self._leave(who, place)
            raise

    def _next(self) -> None:
        if self._is_taken or self._is_held or not self._waiting:
            return
        who = next(iter(self._waiting))
        places = self._waiting.pop(who)
        place = places.popleft()
        if places:
            self._waiting[who] = places  # behind the others
        self._is_taken = True
        place.set_result(None)

    def _leave(self, who: str, place: asyncio.Future[None]) -> None:
        places = self._waiting[who]
        places.remove(place)
        if not places:
            del self._waiting[who]
