"""Supervises one MCP server: start, tool listing, refresh, and restart with backoff.

Every failure of a server and of the SDK is contained here.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from edgevox.core.errors import ToolError
from edgevox.tools.mcp.config import ServerSpec
from edgevox.tools.mcp.tools import Definition, SessionLost, reason_of

if TYPE_CHECKING:
    from edgevox.tools.mcp.session import McpSession

State: TypeAlias = Literal["starting", "ready", "away", "stopped"]
OnTools: TypeAlias = Callable[[tuple[Definition, ...]], Awaitable[None]]

_STOP_S = 5.0
_STARTS_AT_ONCE = 4
_START_SLOT_S = 3.0
_LONGEST_PAUSE_S = 60.0
# The tools are listed no more often than this, however often a server announces changes.
_SHORTEST_REFRESH_S = 1.0
# After this uptime the backoff starts again from its first pause.
_WELL_S = 60.0

_log = logging.getLogger(__name__)


class ServerSupervisor:
    """Supervises one server. `on_tools` receives every tool listing."""

    def __init__(
        self,
        spec: ServerSpec,
        on_tools: OnTools,
        *,
        starts: StartSlots,
        refresh_s: float,
        start_timeout_s: float,
        answer_s: float,
        first_pause_s: float,
    ) -> None:
        self.spec = spec
        self.state: State = "stopped"
        self.reason = ""
        self._on_tools = on_tools
        self._starts = starts
        self._refresh_s = refresh_s
        self._start_timeout_s = start_timeout_s
        self._answer_s = answer_s
        self._first_pause_s = first_pause_s
        self._session: McpSession | None = None
        self._task: asyncio.Task[None] | None = None
        self._is_stopping = False
        self._over = asyncio.Event()
        self._refresh = asyncio.Event()
        self._known = asyncio.Event()

    def start(self) -> None:
        """Start the server without waiting for it."""
        if self._task is None:
            self.state = "starting"
            self._task = asyncio.create_task(self._run(), name=f"mcp {self.spec.id}")

    async def stop(self) -> None:
        """Stop the server, with a timeout."""
        task, self._task = self._task, None
        if task is None:
            return
        self._is_stopping = True
        self._end()
        if self._session is None:
            task.cancel()  # still starting
        if not (await asyncio.wait((task,), timeout=_STOP_S))[0]:
            task.cancel()
            await asyncio.wait((task,), timeout=_STOP_S)
        self.state = "stopped"
        self._known.set()

    async def known(self) -> None:
        """Wait until the server has first answered or failed."""
        await self._known.wait()

    async def call(self, name: str, arguments: Mapping[str, Any]) -> object:
        """Call a tool, waiting for the server if it is starting. Raises ToolError."""
        if self.state == "starting":
            await self.known()
        session = self._session
        if session is None:
            raise ToolError(f"{self.spec.id} is unavailable: {self.reason or 'it is not running'}")
        try:
            return await session.call(name, arguments)
        except SessionLost as error:
            self._refresh.set()
            raise ToolError(f"{self.spec.id} failed: {error}") from error
        except asyncio.CancelledError:
            self._refresh.set()  # timed out: check whether it still answers
            raise

    # --- life cycle

    async def _run(self) -> None:
        failures = 0
        while not self._is_stopping:
            began_s = time.monotonic()
            try:
                await self._run_once()
            except Exception as error:  # noqa: BLE001 - the module's promise: a server fails alone
                _log.debug("the server %s failed", self.spec.id, exc_info=error)
                failures = 1 if time.monotonic() - began_s > _WELL_S else failures + 1
                self._session = None
                if not self._is_stopping:
                    self._over.clear()
                    self._set_unavailable(reason_of(error))
                    pause_s = min(_LONGEST_PAUSE_S, self._first_pause_s * 2.0 ** min(failures - 1, 16))
                    await _wait_for(self._over, pause_s)

    async def _run_once(self) -> None:
        """Run the server from its start until it ends, which raises, or until it is stopped."""
        self._over.clear()
        async with AsyncExitStack() as stack:
            session = await self._open(stack)
            watching = asyncio.create_task(session.changes(self._refresh.set))
            try:
                await self._serve(session)
            except SessionLost as error:
                # Ending it takes a moment, in which it must not be called.
                self._set_unavailable(reason := session.process.reason or str(error))
                raise SessionLost(reason) from error
            finally:
                self._session = None
                watching.cancel()
                await asyncio.gather(watching, return_exceptions=True)

    async def _open(self, stack: AsyncExitStack) -> McpSession:
        connected = await asyncio.to_thread(_import_connected)
        opening = connected(self.spec, on_change=self._refresh.set, on_end=self._end)
        async with self._starts.turn():
            try:
                async with asyncio.timeout(self._start_timeout_s):
                    return await stack.enter_async_context(opening)
            except TimeoutError:
                raise SessionLost(f"it did not answer within {self._start_timeout_s:g} s") from None

    async def _serve(self, session: McpSession) -> None:
        while not self._over.is_set():
            self._refresh.clear()
            try:
                async with asyncio.timeout(self._answer_s):
                    tools = await session.tools()
            except TimeoutError:
                raise SessionLost(f"it did not answer within {self._answer_s:g} s") from None
            await self._on_tools(tools)
            self._session = session
            if self.state != "ready":
                _log.info("the server %s is ready", self.spec.id)
            self.state, self.reason = "ready", ""
            self._known.set()
            if await _wait_for(self._refresh, self._refresh_s):
                await _wait_for(self._over, _SHORTEST_REFRESH_S)
        if not self._is_stopping:
            raise SessionLost("it has ended")

    def _end(self) -> None:
        self._over.set()
        self._refresh.set()

    def _set_unavailable(self, reason: str) -> None:
        if self.state != "away" or reason != self.reason:
            _log.warning("the server %s is unavailable: %s", self.spec.id, reason)
        self.state, self.reason = "away", reason
        self._known.set()


def _import_connected() -> Callable[..., AbstractAsyncContextManager[McpSession]]:
    # Imported here: the SDK takes a second to import, and most installations have no server.
    from edgevox.tools.mcp.session import connected

    return connected


class StartSlots:
    """Limits concurrent starts: a machine that starts thirty servers at once answers nobody."""

    def __init__(self) -> None:
        self._places = asyncio.Semaphore(_STARTS_AT_ONCE)

    @contextlib.asynccontextmanager
    async def turn(self) -> AsyncGenerator[None, None]:
        """Hold a slot inside the block, for a limited time: a silent server does not block the others."""
        await self._places.acquire()
        loop = asyncio.get_running_loop()
        timer = loop.call_later(_START_SLOT_S, self._places.release)
        try:
            yield
        finally:
            if loop.time() < timer.when():
                timer.cancel()
                self._places.release()


async def _wait_for(event: asyncio.Event, timeout_s: float) -> bool:
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(timeout_s):
            await event.wait()
    return event.is_set()
