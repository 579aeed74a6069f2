"""A demo home in memory, its tools, and a clock that stands still until a test moves it."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from edgevox.core.types import ToolCall
from edgevox.home import Alarms, DemoHome, Entity, Timers, home_tools
from edgevox.home.alarms.sun import SunTimes
from edgevox.home.alarms.watches import Watches
from edgevox.tools import Caller, ToolExecutor, ToolRegistry, ToolResult
from tests.home.any_home import AnyHome

NOW = datetime(2026, 3, 1, 19, 5, tzinfo=UTC)


class Clock:
    """Wall-clock seconds."""

    def __init__(self) -> None:
        self.now_s = NOW.timestamp()

    def __call__(self) -> float:
        return self.now_s


_CLOCK = Clock()
_TIMERS = Timers(_CLOCK)
_ALARMS = Alarms(_CLOCK, zone=UTC)
_WATCHES = Watches(_CLOCK)
_ANY_HOME = AnyHome(DemoHome())
_REGISTRY = ToolRegistry(home_tools(_ANY_HOME, _TIMERS, _ALARMS, lambda: NOW, _WATCHES))


class Bench:
    """A fresh home with its tools behind the real executor."""

    def __init__(self, home: DemoHome | None = None) -> None:
        self.home = _ANY_HOME.home = home or DemoHome(now=lambda: NOW)
        self.clock = _CLOCK
        self.timers = _TIMERS
        self.alarms = _ALARMS
        self.watches = _WATCHES
        self.registry = _REGISTRY
        self.executor = ToolExecutor(self.registry)
        self.clock.now_s = NOW.timestamp()
        self.timers.cancel(*self.timers.all())
        self.alarms.cancel(*self.alarms.all())
        self.alarms.sun_times = SunTimes()
        self.watches.cancel(*self.watches.all())

    async def call(self, tool: str, /, **arguments: Any) -> ToolResult:
        return await self.executor.dispatch(ToolCall("1", tool, json.dumps(arguments)))

    async def say(self, tool: str, /, **arguments: Any) -> str:
        """What is spoken after a call that needs no confirmation."""
        result = await self.call(tool, **arguments)
        assert result.speech is not None, result
        return result.speech

    async def confirmed(self, tool: str, /, **arguments: Any) -> str:
        """What is spoken after a call that is asked about, and granted."""
        asked = await self.call(tool, **arguments)
        assert asked.confirmation is not None, asked
        done = await self.executor.dispatch_confirmed(
            asked.confirmation.call, asked.confirmation.token, by=Caller("person", frozenset({"*"}))
        )
        assert done.speech is not None, done
        return done.speech

    def state(self, entity_id: str) -> str:
        return self.entity(entity_id).state

    def entity(self, entity_id: str) -> Entity:
        entity = self.home.house().entity(entity_id)
        assert entity is not None
        return entity


@pytest.fixture
def bench() -> Bench:
    return Bench()
