"""The hook that makes calls of the rules, without asking the model."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from typing import ClassVar

from edgevox.core.errors import StateError
from edgevox.core.hooks import Answer, Calls, Deny, Hook, Run, ToolOutcome
from edgevox.core.types import ToolCall
from edgevox.home.entities import Home, HomeError
from edgevox.home.intents.catalogue import known_tools
from edgevox.home.intents.clauses import Clauses, CommandClauses
from edgevox.home.intents.resolution import ResolvedIntent
from edgevox.home.rules import calendar, contradictions, levels, lists, media, modes, movement, partway, steps, weather
from edgevox.home.rules.reading import plain_request
from edgevox.tools.executor import ToolExecutor


class HomeRules(Hook):
    """Reads requests that the model's tools cannot express. Runs behind CommandClauses, which takes the clauses off."""

    name: ClassVar[str] = "home_rules"

    def __init__(self, executor: ToolExecutor, home: Home, now: Callable[[], datetime]) -> None:
        self._executor = executor
        self._home = home
        self._now = now

    async def on_run_start(self, run: Run) -> Answer | Calls | None:
        if (about_calendar := await self._about_calendar(run)) is not None:
            return about_calendar
        noted = run.notes.get(CommandClauses.name)
        clauses = noted if isinstance(noted, Clauses) else Clauses(run.text)
        text = plain_request(clauses.command)
        try:
            house = self._home.house()
            # "Open the blinds a quarter" is a position, and no step from the present one.
            if not (clauses.problem or clauses.excepted) and (part := partway.parse(text, house)):
                return Calls(part)
            # "Raise the thermostat by two" as a whole is a change, and no command for two o'clock.
            if changed := steps.parse(plain_request(run.text), house):
                clauses = Clauses(run.text)
            elif not (clauses.problem or clauses.excepted):
                changed = steps.parse(text, house)
            if isinstance(changed, str):
                return Answer(changed)
            if changed:
                # The clauses need not make the change relative once more.
                run.notes[CommandClauses.name] = replace(clauses, relative=None)
                return Calls(changed)
            if clauses.problem:
                return None
            if clauses.relative:
                return None
            if not self._has_other_weather and weather.asks_about_elsewhere(text, house, self._now().date()):
                return Answer(weather.NOT_HERE)
            calls = (
                movement.parse(text, house)
                or levels.parse(text, house)
                or modes.parse(text, house)
                or media.parse(text, house)
                or weather.parse(text, house, self._now().date())
                or await lists.parse(text, house, self._home.items)
            )
        except (HomeError, StateError):
            return None  # the call of the model tells why
        names = self._executor.registry.names
        return Calls(calls) if calls and all(call.name in names for call in calls) else None

    async def _about_calendar(self, run: Run) -> Answer | Calls | None:
        try:
            calendars = self._home.calendars()
        except HomeError:
            calendars = ()  # the call says why
        if not calendars and any("calendar" in name for name in self._other_tools):
            return None  # a plugin or a server has the calendar
        text, now = plain_request(run.text), self._now()
        calls = await calendar.parse(text, calendars, now) or calendar.continued(text, run.past(), now)
        if calls and all(call.name in self._executor.registry for call in calls):
            run.notes.pop(CommandClauses.name, None)  # its time is that of the event
            return Calls(calls)
        return Answer(calendar.NO_CHANGES) if calendar.wants_change(text) else None

    @property
    def _other_tools(self) -> list[str]:
        return [name for name in self._executor.registry.names if name not in known_tools()]

    @property
    def _has_other_weather(self) -> bool:
        """Whether a plugin or a server may know the weather of other places."""
        return any("weather" in name or "forecast" in name for name in self._other_tools)

    async def before_tool(self, run: Run, call: ToolCall) -> Deny | ToolCall | None:
        """Correct calls that contradict the words: the weather of another day, all lights for one, on for off."""
        if call.name != "get_weather":
            noted = run.notes.setdefault(self.name, [])  # the calls are corrected before the first one is made
            earlier = noted if isinstance(noted, list) else []
            changed = contradictions.corrected(run.text, call, earlier)
            if changed and changed.name != call.name and not self._is_switched(changed):
                changed = None  # the opposite of "secure the door" would unlock it
            earlier.append(changed or call)
            return changed
        try:
            asked = weather.parse(plain_request(run.text), self._home.house(), self._now().date())
        except (HomeError, StateError):
            return None
        if not asked or asked[0].name not in self._executor.registry:
            return None
        slots = {slot: value for slot, value in json.loads(call.arguments).items() if slot == "name"}
        arguments = {**json.loads(asked[0].arguments), **slots}
        return ToolCall(call.id, asked[0].name, json.dumps(arguments, ensure_ascii=False))

    def _is_switched(self, call: ToolCall) -> bool:
        """Whether a call acts only on things that are simply on or off."""
        resolution = self._executor.resolve(call).resolution
        entities = resolution.entities if isinstance(resolution, ResolvedIntent) else ()
        return bool(entities) and all(entity.domain in contradictions.SWITCHED for entity in entities)

    async def after_tool(self, run: Run, call: ToolCall, outcome: ToolOutcome) -> Answer | None:
        """Answer a question about a level, where the tool tells only whether something is on."""
        if call.name != "get_state" or outcome.is_error or outcome.is_failure:
            return None
        resolution = self._executor.resolve(call).resolution
        entities = resolution.entities if isinstance(resolution, ResolvedIntent) else ()
        answer = levels.level_answer(plain_request(run.text), entities[0]) if len(entities) == 1 else ""
        return Answer(answer) if answer else None
