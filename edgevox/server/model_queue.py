"""One model for many programs, and the person in the room goes first.

A reply that is being written when somebody begins to speak is interrupted; it goes on when they have their
answer.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing

from edgevox.server.work_queue import WorkQueue
from edgevox.turn import CancelFlag
from edgevox.types import ChatDelta, ChatDone, ChatModel, ChatReply, ChatRequest


class ModelQueue(WorkQueue):
    """A queue whose work is generations of `model`: they can be interrupted, if it `resumes`.

    A model that does not is on another machine: what it writes takes nothing from the person in the room.
    """

    def __init__(
        self,
        model: ChatModel,
        *,
        max_waiting: int,
        resumes: bool = True,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(max_waiting=max_waiting, clock=clock)
        self._model = model
        self._resumes = resumes
        self._running: CancelFlag | None = None
        self.pauses = 0

    def model_for(self, who: str) -> ChatModel:
        """The model as the requests of `who` see it."""
        return _QueuedModel(self, who)

    async def stream(
        self, who: str, request: ChatRequest, cancel: CancelFlag
    ) -> AsyncGenerator[ChatReply, None]:
        """One generation, when it is the turn of `who`; interrupted and taken up again as often as needed."""
        written = request.begun
        was_paused = False
        while not cancel.is_set():
            async with self.turn(who, goes_on=was_paused):
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
            was_paused = pause.is_set()
            if not was_paused:
                return

    def _pause(self) -> None:
        super()._pause()
        if self._running is not None and self._resumes:
            self.pauses += 1
            self._running.set()


class _QueuedModel:
    def __init__(self, queue: ModelQueue, who: str) -> None:
        self._queue = queue
        self._who = who

    def stream(self, request: ChatRequest, cancel: CancelFlag) -> AsyncGenerator[ChatReply, None]:
        return self._queue.stream(self._who, request, cancel)
