"""The time between turns: what the agent can do then is done then, and given up when somebody speaks."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress

from edgevox.errors import EdgevoxError
from edgevox.turn import CancelFlag

# A home may change, and a conversation become old, while nobody speaks.
_LOOK_AGAIN_S = 5.0


class Resting:
    """Runs `rest` in the background from `begin` to `end`: at once, and every few seconds again."""

    def __init__(
        self, rest: Callable[[CancelFlag], Awaitable[None]], *, look_again_s: float = _LOOK_AGAIN_S
    ) -> None:
        self._rest = rest
        self._look_again_s = look_again_s
        self._cancel = CancelFlag()
        self._task: asyncio.Task[None] | None = None

    def begin(self) -> None:
        """The turn is over. Needs a running loop."""
        self.end()
        self._cancel = CancelFlag()
        self._task = asyncio.create_task(self._run(self._cancel))

    def end(self) -> None:
        """Somebody has said something: the engine is free within milliseconds."""
        self._cancel.set()

    async def close(self) -> None:
        """End it, and wait until nothing of it is left."""
        self.end()
        if self._task is not None:
            await self._task

    async def _run(self, cancel: CancelFlag) -> None:
        ended = asyncio.Event()
        cancel.add_listener(ended.set)
        try:
            while not ended.is_set():
                await self._rest(cancel)
                with suppress(TimeoutError):
                    async with asyncio.timeout(self._look_again_s):
                        await ended.wait()
        except EdgevoxError:
            return  # nobody waits for this, and the next turn says what is wrong
