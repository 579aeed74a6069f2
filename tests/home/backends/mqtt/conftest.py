"""Fixtures: a broker, devices on it, and a home with its tools."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from edgevox.core.types import ToolCall
from edgevox.home import Action, Alarms, Entity, Home, House, ListItem, Timers, home_tools
from edgevox.home.backends.mqtt import MqttHome
from edgevox.home.entities import Calendar, Forecast, ForecastKind, StateChange
from edgevox.tools import Caller, ToolExecutor, ToolRegistry, ToolResult
from tests.home.backends.mqtt.devices import Devices, whole_house
from tests.home.backends.mqtt.mosquitto import Mosquitto
from tests.home.conftest import NOW, Clock

TIMEOUT_S = 2.0
SOON_S = 10.0


class AnyHome:
    """Stands between the tools and the home of a test: to make the tools takes longer than most tests."""

    def __init__(self) -> None:
        self.home: Home | None = None

    def _now(self) -> Home:
        assert self.home is not None
        return self.home

    def house(self) -> House:
        return self._now().house()

    async def apply(self, action: Action) -> tuple[Entity, ...]:
        return await self._now().apply(action)

    async def items(self, list_id: str) -> tuple[ListItem, ...]:
        return await self._now().items(list_id)

    async def changes(self, entity_id: str, since: datetime) -> tuple[StateChange, ...]:
        return await self._now().changes(entity_id, since)

    async def announce(self, message: str) -> None:
        await self._now().announce(message)

    def calendars(self) -> tuple[Calendar, ...]:
        return self._now().calendars()

    async def forecast(self, weather_id: str, kind: ForecastKind) -> tuple[Forecast, ...]:
        return await self._now().forecast(weather_id, kind)


_ANY_HOME = AnyHome()
_REGISTRY = ToolRegistry(home_tools(_ANY_HOME, Timers(Clock()), Alarms(Clock(), zone=UTC), lambda: NOW))


class Spoken:
    """A home behind the real executor."""

    def __init__(self, home: Home) -> None:
        self.home = _ANY_HOME.home = home
        self._executor = ToolExecutor(_REGISTRY)

    async def call(self, tool: str, /, **arguments: Any) -> ToolResult:
        return await self._executor.dispatch(ToolCall("1", tool, json.dumps(arguments)))

    async def say(self, tool: str, /, **arguments: Any) -> str:
        """What is spoken after a call, which is granted where it is asked about."""
        result = await self.call(tool, **arguments)
        if result.confirmation is not None:
            asked = result.confirmation
            result = await self._executor.dispatch_confirmed(
                asked.call, asked.token, by=Caller("person", frozenset({"*"}))
            )
        assert result.speech is not None, result
        return result.speech

    def entity(self, entity_id: str) -> Entity:
        entity = self.home.house().entity(entity_id)
        assert entity is not None, [entity.id for entity in self.home.house().entities]
        return entity


async def until(is_so: Callable[[], bool]) -> None:
    """Waits for what other tasks do."""
    async with asyncio.timeout(SOON_S):
        while not is_so():  # noqa: ASYNC110 - other processes end it
            await asyncio.sleep(0.01)


@pytest.fixture
def mosquitto(tmp_path: Path) -> Iterator[Mosquitto]:
    server = Mosquitto(tmp_path)
    server.start()
    yield server
    server.stop()


@pytest.fixture
async def devices(mosquitto: Mosquitto) -> AsyncIterator[Devices]:
    devices = Devices(mosquitto)
    yield devices
    await devices.disconnect()


@pytest.fixture
async def home(mosquitto: Mosquitto, devices: Devices) -> AsyncIterator[MqttHome]:
    """A home of all sorts, with everything known."""
    whole_house(devices)
    await devices.connect()
    home = MqttHome(mosquitto.broker(), timeout_s=TIMEOUT_S)
    await home.start()
    await until(lambda: not home.problem and all_known(home))
    yield home
    await home.close()


def all_known(home: MqttHome) -> bool:
    """Every thing has reported its state, but for the two that have none."""
    silent = {entity.id for entity in home.house().entities if entity.state in ("unknown", "unavailable")}
    return silent == {"scene.movie_night", "switch.fountain"}


@pytest.fixture
def spoken(home: MqttHome) -> Spoken:
    return Spoken(home)
