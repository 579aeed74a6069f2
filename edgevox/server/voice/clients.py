"""The clients that are connected: so many at once, and one that comes back takes its own old place."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from edgevox.server.voice.closing import CloseCode, CutOff


@dataclass(frozen=True, slots=True, eq=False)
class Place:
    """That of one client. It has to go when `is_lost` is set."""

    name: str
    caller: str
    is_lost: asyncio.Event = field(default_factory=asyncio.Event)

    async def lost(self) -> None:
        """Raises CutOff when another client has it."""
        await self.is_lost.wait()
        raise CutOff(CloseCode.REPLACED, "another client of the same token has taken the place")


class Clients:
    """At most `most` places. Of one event loop."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._places: list[Place] = []
        self._numbers = itertools.count(1)

    def __len__(self) -> int:
        return len(self._places)

    @contextmanager
    def place(self, caller: str) -> Iterator[Place]:
        """A place inside the block. Raises CutOff where there is none.

        A phone whose network was away is not known to be gone for a while: it takes the place that it had.
        """
        if len(self._places) >= self.most:
            own = next(
                (old for old in self._places if old.caller == caller and not old.is_lost.is_set()), None
            )
            if own is None:
                raise CutOff(CloseCode.NO_PLACE, f"{len(self._places)} clients are speaking already")
            own.is_lost.set()
        place = Place(f"c{next(self._numbers)}", caller)
        self._places.append(place)
        try:
            yield place
        finally:
            self._places.remove(place)
