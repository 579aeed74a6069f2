"""The Home Assistant backend: follows states over the WebSocket API and applies actions."""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from datetime import datetime
from typing import Any

from edgevox.config.secrets import Secret
from edgevox.home.backends.home_assistant.calendars import HomeAssistantCalendar
from edgevox.home.backends.home_assistant.connection import (
    CANNOT_REACH,
    MALFORMED_ANSWER,
    CommandFailed,
    Connection,
    Unreachable,
    WrongToken,
    host_of,
)
from edgevox.home.backends.home_assistant.registries import follow_registries, read_is_admin, read_registries
from edgevox.home.backends.home_assistant.service_calls import (
    execute_action,
    gather_all,
    read_changes,
    read_forecast,
    read_items,
)
from edgevox.home.backends.home_assistant.services import supports
from edgevox.home.backends.home_assistant.states import LiveStates
from edgevox.home.backends.reconnecting import ReconnectingHome
from edgevox.home.entities import (
    Action,
    Calendar,
    Entity,
    Forecast,
    ForecastKind,
    HomeError,
    House,
    ListItem,
    Location,
    StateChange,
)

# Bits of Home Assistant's supported_features.
_SATELLITE_ANNOUNCES = 1
_PLAYS_MEDIA, _PLAYS_ANNOUNCEMENTS = 512, 1048576


_NOTHING_ANNOUNCES = "Your Home Assistant has nothing that I could announce it with."


async def announce(connection: Connection, live: LiveStates, message: str) -> None:
    """Announce through satellites, loudspeakers or a notification, whichever exists first. Raises HomeError."""
    if satellites := _satellites(live):
        await connection.call_service("assist_satellite", "announce", {"message": message}, satellites)
        return
    speakers, voices = _speakers(live), live.all_ids("tts")
    if speakers and voices:
        data = {"message": message, "media_player_entity_id": speakers}
        await connection.call_service("tts", "speak", data, [voices[0]])
        return
    try:
        await connection.call_service("notify", "notify", {"message": message})
    except CommandFailed as error:
        if error.reason != "not_found":
            raise
        # Since 2024.5 what notifies may be entities, of the phone app for example.
        if not (receivers := live.all_ids("notify")):
            raise HomeError(_NOTHING_ANNOUNCES) from None
        await connection.call_service("notify", "send_message", {"message": message}, list(receivers))


async def announces(connection: Connection, live: LiveStates) -> bool:
    """Whether there is something that `announce` would use. Raises like `Connection.command`."""
    if _satellites(live) or (_speakers(live) and live.all_ids("tts")) or live.all_ids("notify"):
        return True
    services = await connection.command("get_services")
    return isinstance(services, dict) and "notify" in (services.get("notify") or ())


def _satellites(live: LiveStates) -> list[str]:
    return [
        entity_id for entity_id in live.all_ids("assist_satellite") if live.features(entity_id) & _SATELLITE_ANNOUNCES
    ]


def _speakers(live: LiveStates) -> list[str]:
    """Media players that support announcements, and plain loudspeakers; no televisions."""
    return [
        entity.id
        for entity in live.house().entities
        if entity.domain == "media_player"
        and entity.state != "unavailable"
        and supports(entity, _PLAYS_MEDIA)
        and (supports(entity, _PLAYS_ANNOUNCEMENTS) or entity.device_class == "speaker")
    ]


_log = logging.getLogger(__name__)

_NO_ANSWER = "Home Assistant does not answer right now."
_NO_CALENDAR_EXPOSED = (
    "Home Assistant has a calendar, but it is not exposed to voice assistants: expose it there, under Settings, Voice "
    "assistants."
)
# Registries change in bursts, when an integration starts or a device is added: one read covers a burst.
_SETTLES_IN_S = 0.3
# While Home Assistant starts, its entities arrive one by one; after this time it is used as it is.
_STARTS_WITHIN_S = 30.0
_ASK_AGAIN_S = 0.5
# A changed script is seen by its new state; this catches what has none.
_READ_PROGRAMS_EVERY_S = 300.0
# The home is ready after this time at the latest; a scene or a script that is not read by then needs a yes.
_FIRST_PROGRAMS_S = 2.0


class HomeAssistantHome(ReconnectingHome):
    """A ConnectedHome."""

    # A wrong token stays wrong, and Home Assistant may ban a client that retries it.
    refusals = (WrongToken,)

    def __init__(self, url: str, token: Secret, *, timeout_s: float) -> None:
        # One timeout to connect, one to read the home, one to spare.
        super().__init__(not_connected="", start_within_s=3 * timeout_s)
        self._url = url
        self._token = token
        self._timeout_s = timeout_s
        self._live = LiveStates()
        self._is_known = False
        self._current: Connection | None = None
        self._spoken_problem = CANNOT_REACH

    @property
    def _connection(self) -> Connection:
        """The current connection. Raises Unreachable at once if there is none."""
        if self._current is None:
            raise Unreachable(self._spoken_problem)
        return self._current

    def house(self) -> House:
        """Raises HomeError until Home Assistant was first reached."""
        if not self._is_known:
            raise HomeError(self.problem or CANNOT_REACH)
        return self._live.house()

    def room_of(self, origin_id: str) -> str:
        area = self._live.house().area(self._live.area_of(origin_id or self._live.processing_satellite()))
        return area.name if area else ""

    async def apply(self, action: Action) -> tuple[Entity, ...]:
        """Raises HomeError if no target did it."""
        connection = self._connection
        outcomes = await asyncio.gather(*(self._outcome(connection, target, action) for target in action.targets))
        done = tuple(outcome for outcome in outcomes if isinstance(outcome, Entity))
        failures = [outcome for outcome in outcomes if isinstance(outcome, HomeError)]
        if failures and not done:
            raise gather_all(failures)
        return done

    async def items(self, list_id: str) -> tuple[ListItem, ...]:
        """Raises HomeError."""
        try:
            return await read_items(self._connection, list_id)
        except TimeoutError:
            raise HomeError(_NO_ANSWER) from None

    async def announce(self, message: str) -> None:
        """Raises HomeError."""
        try:
            await announce(self._connection, self._live, message)
        except TimeoutError:
            raise HomeError(_NO_ANSWER) from None

    async def announce_problem(self) -> str:
        try:
            return "" if await announces(self._connection, self._live) else _NOTHING_ANNOUNCES
        except HomeError as error:
            return error.message
        except TimeoutError:
            return _NO_ANSWER

    async def play_announcement(self, player_id: str, url: str) -> None:
        """Have a media player fetch and play a sound; its music goes on afterwards, if it can. Raises HomeError."""
        data = {"media_content_id": url, "media_content_type": "music", "announce": True}
        try:
            await self._connection.call_service("media_player", "play_media", data, player_id)
        except TimeoutError:
            raise HomeError(_NO_ANSWER) from None

    async def forecast(self, weather_id: str, kind: ForecastKind) -> tuple[Forecast, ...]:
        """Raises HomeError."""
        entity = self._live.entity(weather_id)
        try:
            return await read_forecast(self._connection, entity, kind, self._timeout_s) if entity else ()
        except TimeoutError:
            raise HomeError(_NO_ANSWER) from None

    async def changes(self, entity_id: str, since: datetime) -> tuple[StateChange, ...]:
        """Raises HomeError; none if Home Assistant records no history."""
        try:
            return await read_changes(self._connection, entity_id, since)
        except CommandFailed:
            return ()
        except TimeoutError:
            raise HomeError(_NO_ANSWER) from None

    def calendars(self) -> tuple[Calendar, ...]:
        """Raises HomeError, also where calendars exist but none is exposed."""
        exposed = [entity for entity in self.house().entities if entity.domain == "calendar"]
        if not exposed and self._live.all_ids("calendar"):
            raise HomeError(_NO_CALENDAR_EXPOSED)
        return tuple(HomeAssistantCalendar(entity, lambda: self._connection) for entity in exposed)

    async def _outcome(self, connection: Connection, target: Entity, action: Action) -> Entity | HomeError:
        """The entity afterwards, or the reason why it failed."""
        try:
            return await execute_action(connection, self._live, target, action, timeout_s=self._timeout_s)
        except HomeError as error:
            return error

    # --- following states

    async def run_once(self) -> HomeError:
        trouble = await self._connected_until()
        # Callers hear details only of errors that the user can fix.
        self._spoken_problem = trouble.message if isinstance(trouble, WrongToken) else CANNOT_REACH
        return trouble

    async def _connected_until(self) -> HomeError:
        """Run one connection, and return the reason why it ended."""
        try:
            connection = await Connection.open(self._url, self._token, timeout_s=self._timeout_s)
        except HomeError as error:
            return error
        try:
            await self._serve(connection)
        except HomeError as error:
            return error
        except TimeoutError:
            return Unreachable(self._too_slow)
        except MALFORMED_ANSWER as error:
            _log.warning("unexpected answer from Home Assistant: %r", error)
            return HomeError("Home Assistant answers in a way that I do not understand; update EdgeVox.")
        finally:
            self._current = None
            await connection.close()
        return Unreachable(f"The connection to Home Assistant at {host_of(self._url)} was lost; I am trying again.")

    @property
    def _too_slow(self) -> str:
        return f"Home Assistant at {host_of(self._url)} takes too long to answer; I am trying again."

    def on_slow_start(self) -> None:
        self._report_not_ready(self._too_slow)

    def _report_not_ready(self, problem: str) -> None:
        self._spoken_problem = problem
        self.report(problem)

    async def _serve(self, connection: Connection) -> None:
        """Read the home, and follow it until the connection is lost. Raises HomeError and TimeoutError."""
        changed = asyncio.Event()
        await _bundle_messages(connection)
        await self._wait_for_start(connection)
        is_admin = await read_is_admin(connection)
        await follow_registries(connection, changed.set, is_admin=is_admin)
        self._live.register(await read_registries(connection, is_admin=is_admin))
        await self._follow_states(connection)
        try:
            async with asyncio.timeout(_FIRST_PROGRAMS_S):
                await self._try_programs(connection)
        except TimeoutError:
            self._live.programs_changed.set()
        self._is_known = True
        self._current = connection
        self.set_ready()
        _log.info("connected to Home Assistant %s at %s", connection.version, host_of(self._url))
        async with asyncio.TaskGroup() as both:
            reading = [
                both.create_task(self._read_again(connection, changed, is_admin)),
                both.create_task(self._read_programs(connection)),
            ]
            await connection.lost()
            for task in reading:
                task.cancel()

    async def _wait_for_start(self, connection: Connection) -> None:
        loop = asyncio.get_running_loop()
        until_s = loop.time() + _STARTS_WITHIN_S
        while loop.time() < until_s:
            config = await connection.command("get_config")
            match config:
                case {"latitude": int() | float() as latitude, "longitude": int() | float() as longitude}:
                    self.location = Location(latitude, longitude)
            if config.get("state", "RUNNING") == "RUNNING":
                return
            self._report_not_ready("Home Assistant is still starting.")
            await asyncio.sleep(_ASK_AGAIN_S)

    async def _follow_states(self, connection: Connection) -> None:
        """Subscribe to states; returns when all current ones are known."""
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

    async def _read_again(self, connection: Connection, changed: asyncio.Event, is_admin: bool) -> None:
        while True:
            await changed.wait()
            await asyncio.sleep(_SETTLES_IN_S)
            changed.clear()
            try:
                self._live.register(await read_registries(connection, is_admin=is_admin))
            except (HomeError, TimeoutError, *MALFORMED_ANSWER):
                changed.set()
                await asyncio.sleep(self._timeout_s)

    async def _read_programs(self, connection: Connection) -> None:
        """Keep what scenes, scripts and automations act on up to date; no turn waits for it."""
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(_READ_PROGRAMS_EVERY_S):
                    await self._live.programs_changed.wait()
            await asyncio.sleep(_SETTLES_IN_S)
            if not await self._try_programs(connection):
                await asyncio.sleep(self._timeout_s)

    async def _try_programs(self, connection: Connection) -> bool:
        """Whether the scenes, scripts and automations could be read."""
        try:
            await self._live.read_programs(connection)
        except (HomeError, TimeoutError, *MALFORMED_ANSWER) as error:
            _log.debug("scenes and scripts cannot be read: %r", error)
            self._live.programs_changed.set()
            return False
        return True


async def _bundle_messages(connection: Connection) -> None:
    """Ask for coalesced messages, if this version supports them."""
    try:
        await connection.command("supported_features", features={"coalesce_messages": 1})
    except CommandFailed:
        return
