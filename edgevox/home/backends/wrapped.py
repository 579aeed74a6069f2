"""Homes that add something to another one: calendars, the code of the alarm panel."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TypeVar

from edgevox.config.secrets import read_secret, write_secret
from edgevox.core.errors import ConfigError
from edgevox.home.entities import (
    Action,
    Calendar,
    ConnectedHome,
    Entity,
    Forecast,
    ForecastKind,
    HomeError,
    House,
    ListItem,
    Location,
    StateChange,
)

PartT = TypeVar("PartT")
CODE_FILE = "alarm.code"
_PANEL = "alarm_control_panel"


class WrappedHome:
    """Passes everything on to another home; subclasses override what they add."""

    def __init__(self, home: ConnectedHome) -> None:
        self._home = home

    @property
    def wrapped(self) -> ConnectedHome:
        return self._home

    @property
    def problem(self) -> str:
        return self._home.problem

    @property
    def location(self) -> Location | None:
        return self._home.location

    def room_of(self, origin_id: str) -> str:
        return self._home.room_of(origin_id)

    async def start(self) -> None:
        await self._home.start()

    async def close(self) -> None:
        await self._home.close()

    def house(self) -> House:
        """Raises HomeError."""
        return self._home.house()

    async def apply(self, action: Action) -> tuple[Entity, ...]:
        """Raises HomeError."""
        return await self._home.apply(action)

    async def items(self, list_id: str) -> tuple[ListItem, ...]:
        """Raises HomeError."""
        return await self._home.items(list_id)

    async def announce_problem(self) -> str:
        return await self._home.announce_problem()

    async def announce(self, message: str) -> None:
        """Raises HomeError."""
        await self._home.announce(message)

    async def forecast(self, weather_id: str, kind: ForecastKind) -> tuple[Forecast, ...]:
        """Raises HomeError."""
        return await self._home.forecast(weather_id, kind)

    async def changes(self, entity_id: str, since: datetime) -> tuple[StateChange, ...]:
        """Raises HomeError."""
        return await self._home.changes(entity_id, since)

    def calendars(self) -> tuple[Calendar, ...]:
        """Raises HomeError."""
        return self._home.calendars()


def home_part(home: ConnectedHome, kind: type[PartT]) -> PartT | None:
    """The home, or one that it wraps, if it is of that kind."""
    while not isinstance(home, kind):
        if not isinstance(home, WrappedHome):
            return None
        home = home.wrapped
    return home


class HomeWithSatellites(WrappedHome):
    """Announcements also sound on the satellites: `announce_there` returns the number of places."""

    def __init__(self, home: ConnectedHome, announce_there: Callable[[str], int]) -> None:
        super().__init__(home)
        self._announce_there = announce_there

    async def announce(self, message: str) -> None:
        """Raises HomeError if it could be heard nowhere."""
        places = self._announce_there(message)
        try:
            await self._home.announce(message)
        except HomeError:
            if not places:
                raise


class HomeWithCalendars(WrappedHome):
    """Adds the calendars of the settings to those of a home."""

    def __init__(self, home: ConnectedHome, calendars: tuple[Calendar, ...]) -> None:
        super().__init__(home)
        self._calendars = calendars

    def calendars(self) -> tuple[Calendar, ...]:
        try:
            return (*self._calendars, *self._home.calendars())
        except HomeError:  # the home is not connected, its calendars are not needed
            return self._calendars


class HomeWithAlarmCode(WrappedHome):
    """Adds the stored code to actions on alarm panels, and stores a code that a panel has accepted."""

    def __init__(self, home: ConnectedHome, path: Path) -> None:
        super().__init__(home)
        self._path = path

    async def apply(self, action: Action) -> tuple[Entity, ...]:
        """Raises HomeError."""
        if not action.targets or any(target.domain != _PANEL for target in action.targets):
            return await self._home.apply(action)
        given = action.values.get("code")
        done = await self._home.apply(await asyncio.to_thread(self._with_code, action))
        if given and done:
            await asyncio.to_thread(self._store, str(given))
        return done

    def _with_code(self, action: Action) -> Action:
        """The action with the stored code. Raises HomeError for a file that cannot be used."""
        if action.values.get("code"):
            return action
        try:
            code = read_secret(self._path, "say the code once more")
        except ConfigError as error:
            raise HomeError(f"{error.message}: {error.hint}") from None
        if code is None:
            return action
        return replace(action, values={**action.values, "code": code.reveal()})

    def _store(self, code: str) -> None:
        """Raises HomeError."""
        try:
            write_secret(self._path, code)
        except ConfigError as error:
            raise HomeError(f"It is done, but I cannot keep the code: {error.hint}") from None
