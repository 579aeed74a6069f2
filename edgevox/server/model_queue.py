"""One model for many programs: so many may wait, they take turns, and the person in the room goes first.

A reply that is being written when somebody begins to speak is interrupted; it goes on when they have their
answer.
"""

from __future__ import annotations

import dataclasses
import time
from collections import deque
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import aclosing, contextmanager

from edgevox.events import Event
from edgevox.server.errors import ApiError
from edgevox.server.room import Room
from edgevox.server.turns import FairTurns
from edgevox.turn import CancelFlag
from edgevox.types import ChatDelta, ChatDone, ChatModel, ChatReply, ChatRequest

_REMEMBERED = 16
_FIRST_GUESS_S = 5.0
_MAX_RETRY_S = 60


class ModelQueue:
    """Admits requests to `model`; more than `max_waiting` beside the one at work are sent away."""

    def __init__(
        self, model: ChatModel, *, max_waiting: int, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._model = model
        self._max_waiting = max_waiting
        self._clock = clock
        self._turns = FairTurns()
        self._room = Room(self._pause, self._turns.let_go)
        self._running: CancelFlag | None = None
        self._took_s: deque[float] = deque(maxlen=_REMEMBERED)
        self.admitted = 0
        """How many requests are being answered, or wait for that."""
        self.refused = 0
        self.pauses = 0

    def hear(self, event: Event) -> None:
        """What happens in the room."""
        self._room.hear(event)

    @contextmanager
    def place(self, who: str) -> Iterator[ChatModel]:
        """The model for one request of `who`, inside the block. Raises ApiError when too many wait."""
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
            yield _QueuedModel(self, who)
        finally:
            self.admitted -= 1
            self._took_s.append(self._clock() - begun_s)

    async def stream(
        self, who: str, request: ChatRequest, cancel: CancelFlag
    ) -> AsyncGenerator[ChatReply, None]:
        """One generation, when it is the turn of `who`; interrupted and taken up again as often as needed."""
        written = request.begun
        while not cancel.is_set():
            async with self._turns.turn(who):
                pause = CancelFlag()
                cancel.add_listener(pause.set)
                self._running = pause
                try:
                    asked = dataclasses.replace(request, begun=written)
                    async with aclosing(self._model.stream(asked, pause)) as replies:
                        async for reply in replies:
                            match reply:
                                case ChatDelta(text):
                                    written += text
                                    yield reply
                                case ChatDone(finish_reason="cancelled") if not cancel.is_set():
                                    pass  # only interrupted
                                case ChatDone():
                                    yield reply
                                    return
                finally:
                    self._running = None
                    cancel.remove_listener(pause.set)
            if not pause.is_set():
                return

    def _pause(self) -> None:
        self._turns.hold()
        if self._running is not None:
            self.pauses += 1
            self._running.set()

    def _retry_s(self) -> int:
        """About how long it takes until there is room: as long as one of the last ones took."""
        typical_s = sum(self._took_s) / len(self._took_s) if self._took_s else _FIRST_GUESS_S
        return min(_MAX_RETRY_S, max(1, round(typical_s)))


class _QueuedModel:
    """The model as one request sees it."""

    def __init__(self, queue: ModelQueue, who: str) -> None:
        self._queue = queue
        self._who = who

    def stream(self, request: ChatRequest, cancel: CancelFlag) -> AsyncGenerator[ChatReply, None]:
        return self._queue.stream(self._who, request, cancel)
