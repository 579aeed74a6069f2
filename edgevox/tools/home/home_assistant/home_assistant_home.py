"""A home that Home Assistant runs, followed live over its WebSocket."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from edgevox.settings.secret_file import Secret
from edgevox.tools.home.home import Action, HomeError
from edgevox.tools.home.home_assistant.announcing import announce
from edgevox.tools.home.home_assistant.carrying_out import carry_out, together
from edgevox.tools.home.home_assistant.connection import Connection
from edgevox.tools.home.home_assistant.failures import CANNOT_REACH, MISSHAPEN, CommandFailed
from edgevox.tools.home.home_assistant.link import Link
from edgevox.tools.home.home_assistant.live_house import LiveHouse
from edgevox.tools.home.home_assistant.registries import follow_registries, read_registries
from edgevox.tools.home.home_assistant.to_do import read_items
from edgevox.tools.home.house import Entity, House, ListItem

_NO_ANSWER = "Home Assistant does not answer right now."
# Registries change in bursts, when an integration starts or a device is added: one reading for all of it.
_SETTLES_IN_S = 0.3
# While Home Assistant starts, its things come one by one; one that never ends to start is used as it is.
_STARTS_WITHIN_S = 30.0
_ASK_AGAIN_S = 0.5


class HomeAssistantHome:
    """A ConnectedHome. It belongs to the event loop that called `start`."""

    def __init__(self, url: str, token: Secret, *, timeout_s: float) -> None:
        self._timeout_s = timeout_s
        self._live = LiveHouse()
        self._is_known = False
        self._link = Link(url, token, timeout_s=timeout_s, serve=self._serve)

    @property
    def problem(self) -> str:
        return self._link.problem

    async def start(self) -> None:
        await self._link.start()

    async def close(self) -> None:
        await self._link.close()

    def house(self) -> House:
        """Raises HomeError as long as Home Assistant was never reached."""
        if not self._is_known:
            raise HomeError(self.problem or CANNOT_REACH)
        return self._live.house()

    async def apply(self, action: Action) -> tuple[Entity, ...]:
        """Raises HomeError when none of the targets did it."""
        connection = self._link.connection
        outcomes = await asyncio.gather(
            *(self._outcome(connection, target, action) for target in action.targets)
        )
        done = tuple(outcome for outcome in outcomes if isinstance(outcome, Entity))
        failures = [outcome for outcome in outcomes if isinstance(outcome, HomeError)]
        if failures and not done:
            raise together(failures)
        return done

    async def items(self, list_id: str) -> tuple[ListItem, ...]:
        """Raises HomeError."""
        try:
            return await read_items(self._link.connection, list_id)
        except TimeoutError:
            raise HomeError(_NO_ANSWER) from None

    async def announce(self, message: str) -> None:
        """Raises HomeError."""
        try:
            await announce(self._link.connection, self._live, message)
        except TimeoutError:
            raise HomeError(_NO_ANSWER) from None

    async def _outcome(self, connection: Connection, target: Entity, action: Action) -> Entity | HomeError:
        """The entity as it is afterwards, or why it did not do it."""
        try:
            return await carry_out(connection, self._live, target, action, timeout_s=self._timeout_s)
        except HomeError as error:
            return error

    # --- following the house

    async def _serve(self, connection: Connection, ready: Callable[[], None]) -> None:
        """Know the house, and follow it until the connection is lost. Raises HomeError and TimeoutError."""
        changed = asyncio.Event()
        await _bundle_messages(connection)
        await self._wait_for_start(connection)
        await follow_registries(connection, changed.set)
        self._live.register(await read_registries(connection))
        await self._follow_states(connection)
        self._is_known = True
        ready()
        async with asyncio.TaskGroup() as both:
            reading = both.create_task(self._read_again(connection, changed))
            await connection.lost()
            reading.cancel()

    async def _wait_for_start(self, connection: Connection) -> None:
        loop = asyncio.get_running_loop()
        until_s = loop.time() + _STARTS_WITHIN_S
        while loop.time() < until_s:
            config = await connection.command("get_config")
            if config.get("state", "RUNNING") == "RUNNING":
                return
            self._link.wait_because("Home Assistant is still starting.")
            await asyncio.sleep(_ASK_AGAIN_S)

    async def _follow_states(self, connection: Connection) -> None:
        """Returns when every state is known; those that change later come by themselves."""
        known = asyncio.Event()

        def take(event: dict[str, Any]) -> None:
            if known.is_set():
                self._live.take(event)
            else:
                self._live.begin(event)
                known.set()

        await connection.subscribe(take, "subscribe_entities")
        async with asyncio.timeout(self._timeout_s):
            await known.wait()

    async def _read_again(self, connection: Connection, changed: asyncio.Event) -> None:
        while True:
            await changed.wait()
            await asyncio.sleep(_SETTLES_IN_S)
            changed.clear()
            try:
                self._live.register(await read_registries(connection))
            except (HomeError, TimeoutError, *MISSHAPEN):
                changed.set()
                await asyncio.sleep(self._timeout_s)


async def _bundle_messages(connection: Connection) -> None:
    """Have many states sent as one message, where this version can."""
    try:
        await connection.command("supported_features", features={"coalesce_messages": 1})
    except CommandFailed:
        return
