"""Keeps a home connected: opens its connection, and opens it again, with backoff, whenever it is lost."""

from __future__ import annotations

import asyncio
import logging
import random
from typing import ClassVar

from edgevox.home.entities import HomeError, Location

_log = logging.getLogger(__name__)

_FIRST_WAIT_S = 0.5
_LONGEST_WAIT_S = 5.0
_WAIT_AFTER_REFUSAL_S = 3600.0
_LONG_LIVED_S = 10.0
_CANCEL_WITHIN_S = 1.0
_CANCELS = 3


class ReconnectingHome:
    """Base class of homes behind a connection. It belongs to the event loop that called `start`.

    `run_once` runs one connection: it calls `set_ready` once the home is usable, and returns why the connection ended.
    """

    refusals: ClassVar[tuple[type[HomeError], ...]] = ()
    """Errors after which a retry would do harm, so that it waits for an hour."""

    def __init__(self, *, not_connected: str, start_within_s: float) -> None:
        self.problem = self._not_connected = not_connected
        self.location: Location | None = None
        self._start_within_s = start_within_s
        self._tried = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Wait for the first attempt; one that takes too long continues in the background."""
        if self._task is None:
            self._task = asyncio.create_task(self._stay_connected())
        try:
            async with asyncio.timeout(self._start_within_s):
                await self._tried.wait()
        except TimeoutError:
            self.on_slow_start()

    async def close(self) -> None:
        if (task := self._task) is None:
            return
        self._task = None
        # wait_for, which aiomqtt uses, loses a cancellation that coincides with its result.
        for _ in range(_CANCELS):
            task.cancel()
            if (await asyncio.wait((task,), timeout=_CANCEL_WITHIN_S))[0]:
                break
        self.problem = self._not_connected
        self._tried.clear()

    def set_ready(self) -> None:
        self.problem = ""
        self._tried.set()

    def report(self, problem: str) -> None:
        """Say why the home is not usable; `start` waits no longer."""
        if problem != self.problem:
            _log.warning("%s", problem)
        self.problem = problem
        self._tried.set()

    def room_of(self, origin_id: str) -> str:
        """Not known, unless the backend overrides it."""
        return ""

    def on_slow_start(self) -> None:
        """Called when the first attempt has neither succeeded nor failed in time."""
        raise NotImplementedError

    async def run_once(self) -> HomeError:
        raise NotImplementedError

    async def _stay_connected(self) -> None:
        loop = asyncio.get_running_loop()
        failures = 0
        while True:
            began_s = loop.time()
            trouble = await self.run_once()
            self.report(trouble.message)
            failures = 0 if loop.time() - began_s > _LONG_LIVED_S else failures + 1
            await asyncio.sleep(backoff_s(failures, is_refused=isinstance(trouble, self.refusals)))


def backoff_s(failures: int, *, is_refused: bool) -> float:
    """Exponential backoff with jitter, so that many clients do not reconnect at once."""
    if is_refused:
        return _WAIT_AFTER_REFUSAL_S
    longest_s: float = min(_LONGEST_WAIT_S, _FIRST_WAIT_S * 2 ** min(failures, 10))
    return longest_s * random.uniform(0.5, 1.0)  # noqa: S311 - not a secret
