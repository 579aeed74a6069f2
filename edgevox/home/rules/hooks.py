"""The hooks of the assistant in the order in which they run, and the one that makes the calls of the rules.

A hook may answer a request or make its calls without the model, change what the model reads, or change or refuse its
calls. The first that answers or makes calls ends the reading; its calls pass the later hooks like those of the model.

Priority decides; hooks of one priority run in the order of `assistant_hooks`.

- 200 `PlainWording` (clauses/wording.py): plain words for unusual ones, corrections applied, several commands split
- 200 `AddressedServers` (edgevox/app): requests to MCP servers that hold a path or an address; the app adds it
- 150 `CopiedWords` (edgevox/llm/hooks_slm): restores the words of the request in the arguments of a call
- 100 `LanguageReader` (rules/languages/hook.py): requests in six other languages
- 100 `References` (references/hook.py): sentences that need earlier turns become calls, or get names for pronouns
- 50 `SpeakerRoom` (rules/speaker_room.py): calls without a place get the room of the speaker, where it is known
- 0 `TimerRules` (rules/timers.py): timers, alarms and scheduled commands
- 0 `UnrequestedActions` (rules/unasked.py): sentences that forbid an act, or only speak of one
- 0 `CommandClauses` (clauses/hook.py): exceptions, times, durations, conditions and relative changes of a command
- 0 `HomeRules` (this module): calendars, read from the whole sentence; devices, steps, modes, names, media, weather
  and lists, read from the command without its clauses
- -5 `NamedServers` (edgevox/app): requests in the words of a tool of an MCP server; the app adds it
- -10 `KnowledgeQuestions` (edgevox/tools/builtin/knowledge): sums, units, dates, no invented figures; the app adds it
- -50 `UnreadLimits` (clauses/unread.py): refuses calls of the model when words that limit the command were not handled
- -100 `EffectRecorder` (references/effects.py): logs what the turn did, for later references
- -100 to -150 the other hooks for small models (edgevox/llm/hooks_slm): empty, repeated and copied calls and replies
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import ClassVar

from edgevox.core.errors import StateError
from edgevox.core.hooks import Answer, Calls, Deny, Hook, Run, ToolOutcome
from edgevox.core.types import ToolCall
from edgevox.home.alarms.alarms import Alarms
from edgevox.home.alarms.timers import Timers
from edgevox.home.alarms.watches import Watches
from edgevox.home.clauses.hook import CommandClauses
from edgevox.home.clauses.parser import Clauses
from edgevox.home.clauses.unread import UnreadLimits
from edgevox.home.clauses.wording import PlainWording
from edgevox.home.colours import find_colour
from edgevox.home.entities import Home, HomeError
from edgevox.home.grammar import pattern, plain_request
from edgevox.home.intents.catalogue import known_tools
from edgevox.home.intents.resolution import ResolvedIntent
from edgevox.home.references.effects import EffectLog, EffectRecorder
from edgevox.home.references.hook import References
from edgevox.home.rules import calendar, devices, lists, media, modes, named_things, steps, values, weather
from edgevox.home.rules.languages.hook import HomeLanguages, LanguageReader
from edgevox.home.rules.timers import TimerRules
from edgevox.home.rules.unasked import UnrequestedActions
from edgevox.llm.hooks_slm import default_slm_hooks
from edgevox.tools.executor import ToolExecutor


def assistant_hooks(
    executor: ToolExecutor,
    home: Home,
    timers: Timers,
    alarms: Alarms,
    watches: Watches,
    effects: EffectLog,
    languages: HomeLanguages | None = None,
) -> tuple[Hook, ...]:
    """Return the hooks for the tools of `executor`, which act on this home; `alarms.now` is the local time."""
    recent = (effects, executor, home.house, timers, alarms)
    return (
        PlainWording(home.house, alarms),
        LanguageReader(lambda: executor.registry.names, home.house, languages or HomeLanguages()),
        References(*recent),
        TimerRules(timers, alarms, watches),
        UnrequestedActions(),
        CommandClauses(executor, home.house, timers, alarms),
        HomeRules(executor, home, alarms.now),
        UnreadLimits(executor, home.house),
        EffectRecorder(*recent),
        *default_slm_hooks(executor.registry.only_reads),  # their priorities place them
    )


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
        if whole := self._as_a_whole(run):
            run.notes.pop(CommandClauses.name, None)  # its day is that of an item, or a part of a name
            return Calls(whole)
        noted = run.notes.get(CommandClauses.name)
        clauses = noted if isinstance(noted, Clauses) else Clauses(run.text)
        text = plain_request(clauses.command)
        try:
            house = self._home.house()
            # "Open the blinds a quarter" is a position, and no step from the present one.
            if not (clauses.problem or clauses.excepted) and (part := devices.parse_partway(text, house)):
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
                devices.parse(text, house)
                or values.parse(text, house)
                or modes.parse(text, house)
                or named_things.parse(text, house)
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

    def _as_a_whole(self, run: Run) -> tuple[ToolCall, ...]:
        """The call that puts an item on a list for a day, or that runs what has the whole sentence for its name."""
        text = plain_request(run.text)
        try:
            house = self._home.house()
            return lists.parse_due(text, house, self._now()) or named_things.routine(text, house)
        except (HomeError, StateError):
            return ()  # the call of the model tells why

    @property
    def _other_tools(self) -> list[str]:
        return [name for name in self._executor.registry.names if name not in known_tools()]

    @property
    def _has_other_weather(self) -> bool:
        """Whether a plugin or a server may know the weather of other places."""
        return any("weather" in name or "forecast" in name for name in self._other_tools)

    async def before_tool(self, run: Run, call: ToolCall) -> Deny | ToolCall | None:
        """Correct calls that contradict the words: the weather of another day, half a title, on for off."""
        if call.name == "media_search_and_play":
            return media.with_whole_title(plain_request(run.text), call)
        if call.name == "media_next" and media.asks_for_order(run.text):
            return Deny(media.NO_ORDER)
        if call.name in ("list_remove_item", "list_complete_item"):
            return await lists.with_list_of_item(call, self._home.house(), self._home.items)
        if call.name == "vacuum_start":
            return devices.with_area_to_clean(call, self._home.house())
        if call.name != "get_weather":
            noted = run.notes.setdefault(self.name, [])  # the calls are corrected before the first one is made
            earlier = noted if isinstance(noted, list) else []
            changed = corrected_call(run.text, call, earlier)
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
        return replace(asked[0], id=call.id).with_arguments(arguments)

    def _is_switched(self, call: ToolCall) -> bool:
        """Whether a call acts only on things that are simply on or off."""
        resolution = self._executor.resolve(call).resolution
        entities = resolution.entities if isinstance(resolution, ResolvedIntent) else ()
        return bool(entities) and all(entity.domain in _SWITCHED for entity in entities)

    async def after_tool(self, run: Run, call: ToolCall, outcome: ToolOutcome) -> Answer | None:
        """Answer a question about a level, where the tool tells only whether something is on."""
        if call.name == "media_next" and media.asks_for_order(run.text):
            return Answer(media.NO_ORDER)
        if call.name != "get_state" or outcome.is_error or outcome.is_failure:
            return None
        resolution = self._executor.resolve(call).resolution
        entities = resolution.entities if isinstance(resolution, ResolvedIntent) else ()
        answer = devices.level_answer(plain_request(run.text), entities[0]) if len(entities) == 1 else ""
        return Answer(answer) if answer else None


# --- calls of the model that contradict the words of the command

_SWITCHED = frozenset({"light", "switch", "fan", "media_player", "input_boolean", "humidifier"})
_OPPOSITE = {"turn_on": "turn_off", "turn_off": "turn_on"}
# Words that ask for a state. "On" is also a preposition, so it counts only where no name follows.
_ASKS = {
    "turn_on": pattern(
        r"\bon\b(?! (?:the|my|our|a|an)\b)|\b(?:turn|switch|put) on\b|\b(?:open|start|play|activate|lock)\b"
    ),
    "turn_off": pattern(r"\b(?:off|close|shut|stop|deactivate|unlock|kill)\b"),
}
_ONE_LIGHT = pattern(r"\b(?:the|that|this) light\b|^light\b")
_SEVERAL = pattern(r"\b(?:lights|lamps|all|every\w*|both|whole|everything|house)\b")


def corrected_call(text: str, call: ToolCall, earlier: Sequence[ToolCall]) -> ToolCall | None:
    """The call that was meant, or None if this one fits the words. `earlier` are the calls of the same command."""
    if call.name == "light_set":
        return _without_unknown_colour(call)
    if call.name not in _OPPOSITE:
        return None
    opposite = _OPPOSITE[call.name]
    # "The coffee maker off, and the lamp while you are at it": the one state that is said is for both.
    is_second = any(other.name == opposite for other in earlier)
    if is_second and _ASKS[opposite].search(text) and not _ASKS[call.name].search(text):
        return replace(call, name=opposite)
    try:
        arguments = json.loads(call.arguments or "{}")
    except ValueError:
        return None
    if arguments == {"domain": "light"} and _ONE_LIGHT.search(text) and not _SEVERAL.search(text):
        return replace(call, arguments=json.dumps({"name": "light"}))
    return None


def _without_unknown_colour(call: ToolCall) -> ToolCall | None:
    """The call without a colour that is none, where it also sets a brightness: a word beside it was taken for one."""
    try:
        arguments = json.loads(call.arguments or "{}")
        find_colour(str(arguments.get("color") or "white"))
    except HomeError:
        if "brightness" in arguments:
            return call.with_arguments({slot: value for slot, value in arguments.items() if slot != "color"})
    except ValueError:
        return None
    return None
