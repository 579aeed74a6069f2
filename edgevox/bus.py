"""Publish and subscribe, bounded: a slow subscriber loses its oldest events and never holds up a turn."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from typing import TypeAlias

from edgevox.events import Event

Listener: TypeAlias = Callable[[Event], None]

QUEUE_EVENTS = 1024


class Bus:
    """One stream of events. Use it from the event loop's thread only."""

    def __init__(self) -> None:
        self._listeners: list[Listener] = []

    def publish(self, event: Event) -> None:
        for listener in tuple(self._listeners):
            listener(event)

    @contextmanager
    def listening(self, listener: Listener) -> Iterator[None]:
        """Call `listener` for every event while the block runs. It must be quick and must not raise."""
        self._listeners.append(listener)
        try:
            yield
        finally:
            self._listeners.remove(listener)

    @contextmanager
    def subscription(self, capacity: int = QUEUE_EVENTS) -> Iterator[Subscription]:
        """Collect events from now on, for a reader in another task."""
        subscription = Subscription(capacity)
        with self.listening(subscription.offer):
            yield subscription


class Subscription:
    """A bounded queue of events; `lost` counts those that a slow reader missed."""

    def __init__(self, capacity: int) -> None:
        self.lost = 0
        self._queue: asyncio.Queue[Event] = asyncio.Queue(capacity)

    def offer(self, event: Event) -> None:
        if self._queue.full():
            self._queue.get_nowait()
            self.lost += 1
        self._queue.put_nowait(event)

    async def next(self) -> Event:
        """The oldest event that was not read yet; it may be cancelled without losing one."""
        return await self._queue.get()

    async def __aiter__(self) -> AsyncIterator[Event]:
        while True:
            yield await self._queue.get()
