"""A connection for as long as Home Assistant is there: made again when it is lost, and never in a rush."""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Awaitable, Callable
from typing import TypeAlias

from edgevox.settings.secret_file import Secret
from edgevox.tools.home.home import HomeError
from edgevox.tools.home.home_assistant.connection import Connection, where
from edgevox.tools.home.home_assistant.failures import CANNOT_REACH, MISSHAPEN, Unreachable, WrongToken

_log = logging.getLogger(__name__)

Serve: TypeAlias = Callable[[Connection, Callable[[], None]], Awaitable[None]]

_FIRST_WAIT_S = 0.5
_LONGEST_WAIT_S = 5.0
# A wrong token stays wrong, and Home Assistant may ban who comes with one again and again.
_WAIT_AFTER_REFUSAL_S = 3600.0
_LONG_LIVED_S = 10.0
# In time-outs: one to connect, one to read the house, one to spare.
_STARTS_WITHIN = 3


class Link:
    """Opens connections one after the other, and has `serve` work with each until it is lost.

    `serve(connection, ready)` calls `ready()` when the connection can be used, and returns when it is lost;
    it may raise HomeError and TimeoutError.
    """

    def __init__(self, url: str, token: Secret, *, timeout_s: float, serve: Serve) -> None:
        self.problem = ""
        self._said_to_callers = CANNOT_REACH
        self._url = url
        self._token = token
        self._timeout_s = timeout_s
        self._serve = serve
        self._connection: Connection | None = None
        self._tried = asyncio.Event()
        self._keeping: asyncio.Task[None] | None = None

    @property
    def connection(self) -> Connection:
        """The connection there is. Raises Unreachable while there is none, at once."""
        if self._connection is None:
            raise Unreachable(self._said_to_callers)
        return self._connection

    async def start(self) -> None:
        """Returns when the first try has succeeded or failed; one that takes too long goes on without us."""
        if self._keeping is None:
            self._keeping = asyncio.create_task(self._keep())
        try:
            async with asyncio.timeout(_STARTS_WITHIN * self._timeout_s):
                await self._tried.wait()
        except TimeoutError:
            self.wait_because(self._too_slow)

    async def close(self) -> None:
        if self._keeping is not None:
            self._keeping.cancel()
            await asyncio.wait([self._keeping])
            self._keeping = None
        self._tried = asyncio.Event()

    def wait_because(self, problem: str) -> None:
        """There is a connection, and it cannot be used yet: nobody who starts us waits for it."""
        self.problem = self._said_to_callers = problem
        self._tried.set()

    @property
    def _too_slow(self) -> str:
        return f"Home Assistant at {where(self._url)} takes too long to answer; I am trying again."

    async def _keep(self) -> None:
        loop = asyncio.get_running_loop()
        failures = 0
        while True:
            began_s = loop.time()
            trouble = await self._one_connection()
            self._report(trouble)
            failures = 0 if loop.time() - began_s > _LONG_LIVED_S else failures + 1
            await asyncio.sleep(wait_s(failures, is_refused=isinstance(trouble, WrongToken)))

    async def _one_connection(self) -> HomeError:
        """Why it came to its end, or never began."""
        try:
            connection = await Connection.open(self._url, self._token, timeout_s=self._timeout_s)
        except HomeError as error:
            return error

        def ready() -> None:
            self._connection = connection
            self.problem = ""
            self._tried.set()
            _log.info("connected to Home Assistant %s at %s", connection.version, where(self._url))

        try:
            await self._serve(connection, ready)
        except HomeError as error:
            return error
        except TimeoutError:
            return Unreachable(self._too_slow)
        except MISSHAPEN as error:
            _log.warning("Home Assistant's answer is not understood: %r", error)
            return HomeError("Home Assistant answers in a way that I do not understand; update EdgeVox.")
        finally:
            self._connection = None
            await connection.close()
        return Unreachable(
            f"The connection to Home Assistant at {where(self._url)} was lost; I am trying again."
        )

    def _report(self, trouble: HomeError) -> None:
        if trouble.message != self.problem:
            _log.warning("%s", trouble.message)
        self.problem = trouble.message
        # Only what the user can do something about is worth more than one sentence.
        self._said_to_callers = trouble.message if isinstance(trouble, WrongToken) else CANNOT_REACH
        self._tried.set()


def wait_s(failures: int, *, is_refused: bool) -> float:
    """Longer after each failure, and never twice the same: many clients must not come back as one."""
    if is_refused:
        return _WAIT_AFTER_REFUSAL_S
    longest_s: float = min(_LONGEST_WAIT_S, _FIRST_WAIT_S * 2 ** min(failures, 10))
    return longest_s * random.uniform(0.5, 1.0)  # noqa: S311 - not a secret
