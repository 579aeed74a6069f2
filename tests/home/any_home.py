"""A home that is exchanged while its tools stay."""

from __future__ import annotations

from datetime import datetime

from edgevox.home import Action, DemoHome, Entity, House, ListItem
from edgevox.home.entities import Calendar, Forecast, ForecastKind, StateChange


class AnyHome:
    """A home that can be exchanged under its tools: to make the tools takes longer than a test of one."""

    def __init__(self, home: DemoHome) -> None:
        self.home = home

    def house(self) -> House:
        return self.home.house()

    async def apply(self, action: Action) -> tuple[Entity, ...]:
        return await self.home.apply(action)

    async def items(self, list_id: str) -> tuple[ListItem, ...]:
        return await self.home.items(list_id)

    def calendars(self) -> tuple[Calendar, ...]:
        return self.home.calendars()

    async def forecast(self, weather_id: str, kind: ForecastKind) -> tuple[Forecast, ...]:
        return await self.home.forecast(weather_id, kind)

    async def changes(self, entity_id: str, since: datetime) -> tuple[StateChange, ...]:
        return await self.home.changes(entity_id, since)

    async def announce(self, message: str) -> None:
        await self.home.announce(message)
