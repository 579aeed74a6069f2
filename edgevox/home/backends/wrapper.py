"""Base class of homes that add something to another home and pass everything else on to it."""

from __future__ import annotations

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
)


class HomeWrapper:
    """Passes every call on to `home`, with what it raises."""

    def __init__(self, home: ConnectedHome) -> None:
        self.home = home

    @property
    def problem(self) -> str:
        return self.home.problem

    @property
    def location(self) -> Location | None:
        return self.home.location

    async def start(self) -> None:
        await self.home.start()

    async def close(self) -> None:
        await self.home.close()

    def house(self) -> House:
        return self.home.house()

    async def apply(self, action: Action) -> tuple[Entity, ...]:
        return await self.home.apply(action)

    async def items(self, list_id: str) -> tuple[ListItem, ...]:
        return await self.home.items(list_id)

    async def announce(self, message: str) -> None:
        await self.home.announce(message)

    async def forecast(self, weather_id: str, kind: ForecastKind) -> tuple[Forecast, ...]:
        return await self.home.forecast(weather_id, kind)

    def calendars(self) -> tuple[Calendar, ...]:
        return self.home.calendars()


class HomeWithCalendars(HomeWrapper):
    """Adds the calendars of the settings to those of a home."""

    def __init__(self, home: ConnectedHome, calendars: tuple[Calendar, ...]) -> None:
        super().__init__(home)
        self._calendars = calendars

    def calendars(self) -> tuple[Calendar, ...]:
        try:
            return (*self._calendars, *self.home.calendars())
        except HomeError:  # the home is not connected, its calendars are not needed
            return self._calendars
