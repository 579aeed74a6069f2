"""Applies the clauses of a command to the calls of the model.

The model reads the plain command ("turn off all the lights") and the hook applies the clause ("except the kitchen",
"at ten", "for five minutes") to its calls. A clause that cannot be applied refuses the call: ignoring it would do what
the person excluded, or do it too soon.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import replace
from functools import cache
from typing import ClassVar

from edgevox.core.errors import StateError
from edgevox.core.hooks import Answer, Calls, Deny, Hook, Parts, Run, ToolOutcome
from edgevox.core.languages import duration, listed
from edgevox.core.types import ChatRequest, ToolCall
from edgevox.core.words import normalized_words
from edgevox.home.alarms.alarm_handlers import RUNS, length_slots
from edgevox.home.alarms.alarms import Alarms
from edgevox.home.alarms.scheduled_commands import WATCH
from edgevox.home.alarms.timers import Timers
from edgevox.home.alarms.watches import Condition, WatchKind
from edgevox.home.clauses.conditions import ConditionalRequest, resolve_condition, split_state_condition
from edgevox.home.clauses.imperative import as_imperative, plain_call
from edgevox.home.clauses.parser import MAX_COMMAND_CHARS, REST_OF, SECOND_ACTION, Clauses, parse_clauses
from edgevox.home.clauses.relative import parse_relative
from edgevox.home.clauses.times import OTHER_REPEAT, names_sun
from edgevox.home.entities import HomeError, House
from edgevox.home.grammar import POLITE, found, pattern, tool_call, without_article
from edgevox.home.intents.catalogue import known_tools
from edgevox.home.intents.quantities import STEP, stepped
from edgevox.home.intents.resolution import ResolvedIntent
from edgevox.home.phrasing import brief, is_are, is_in_state, knows_state, number, sentence, the
from edgevox.home.resolve import labels
from edgevox.home.resolve.fuzzy import is_plural
from edgevox.home.resolve.target_resolver import EXCEPT, ClarificationNeeded, excepted_entities
from edgevox.tools.executor import ToolExecutor

_STOP = pattern(rf"^{POLITE}stop\b")
# Verbs that say the kind themselves, and "all the lamps", which are not all lights.
_ALL_OF_VERB = pattern(
    rf"^{POLITE}(?P<verb>close|open|raise|shut(?!.*\b(?:off|down)\b)|unlock|lock) (?:up )?"
    r"(?:everything|it all|all of (?:it|them)|all(?= (?:up|in|on|at|upstairs|downstairs)\b|$))"
)
_ALL_LAMPS = pattern(r"^(?!.*\b(?:lights?|bulbs?)\b).*\b(?:all|every|both)\b.*\blamps?\b")
_NO_STOPPING = "I cannot stop that half way, so I left it as it is."
_WHAT_TO_CHANGE = "I am not sure what to change. Please say its name."
_NO_WAY_BACK = "I do not know how to undo that later, so I left everything as it is."
# The answer of these tools when the command is stored; any other says why it is not.
_WILL = re.compile(r".* I will ")


@cache
def _acting_tools() -> frozenset[str]:
    """Tools that act on entities at once. What a list or a player is given may contain such words itself."""
    return frozenset(
        tool.name
        for tool in known_tools().values()
        if tool.has_side_effects
        and tool.target_domains is not None
        and not {"item", "search_query"} & {*tool.parameters["properties"]}
    )


class CommandClauses(Hook):
    """Applies the clauses of a command to the calls of the model, and refuses calls whose clause it cannot apply."""

    name: ClassVar[str] = "command_clauses"
    is_safety: ClassVar[bool] = True

    def __init__(self, executor: ToolExecutor, house: Callable[[], House], timers: Timers, alarms: Alarms) -> None:
        self._executor = executor
        self._house = house
        self._timers = timers
        self._alarms = alarms

    async def on_run_start(self, run: Run) -> Answer | Calls | Parts | None:
        with suppress(HomeError, StateError):
            if decision := self._if_now(run.text):
                return decision
        clauses = parse_clauses(run.text, self._alarms.now(), self._alarms.sun_times)
        if (request := clauses.request) and not clauses.problem:
            clauses = self._with_condition(clauses, request)
            if clauses.condition and not request.command:
                return Calls((_watch_call("", clauses.condition, request),))
        # The tool of a plugin may know what the home does not.
        is_certain = clauses.request or names_sun(run.text) or OTHER_REPEAT.search(run.text)
        if clauses.problem and is_certain and not self._has_others(self._executor.registry.names):
            return Answer(clauses.problem)
        if REST_OF in clauses.command:
            kind = self._kind_of(clauses.excepted)
            clauses = replace(clauses, command=clauses.command.replace(f"the {REST_OF}", kind))
        if not (clauses.problem or len(run.text) > MAX_COMMAND_CHARS or SECOND_ACTION.search(clauses.command)):
            clauses = replace(clauses, relative=parse_relative(clauses.command))
        run.notes[self.name] = clauses
        return None if clauses.problem or clauses.relative or clauses.request else self._without_model(run, clauses)

    def _if_now(self, text: str) -> Answer | Parts | None:
        """ "Close the garage if it's open": the command where that is so now, else an answer."""
        if not (said := split_state_condition(text)):
            return None
        name, _, place = without_article(said.thing).partition(" in ")
        area = {"area": without_article(place)} if place else {}
        entities = found("get_state", self._house(), name=name, **area)
        fitting = [entity for entity in entities if said.is_out or knows_state(entity, said.state)]
        if not fitting or (len({entity.name for entity in fitting}) > 1 and not is_plural(name)):
            return None
        if said.is_out:
            is_so = any(entity.state not in ("docked", "off") for entity in fitting)
        else:
            is_so = any(is_in_state(entity, said.state) for entity in fitting)
        if is_so:
            return Parts((said.command,))
        what = the(fitting[0]) if len(fitting) == 1 else said.thing
        return Answer(sentence(f"{what} {is_are(name)} not {said.state}, so I left everything as it is"))

    def _without_model(self, run: Run, clauses: Clauses) -> Calls | None:
        """Make or schedule a plain command that has a clause, if all its words are of this home."""
        if clauses.is_plain or self._has_others(self._executor.registry.names):
            return None
        try:
            call = plain_call(as_imperative(clauses.command), self._house())
        except (HomeError, StateError):
            return None
        if call is None:
            return None
        if clauses.in_s is None and not clauses.schedule:
            return Calls((call,))
        asks_then = self._executor.needs_confirmation(call)
        run.notes[self.name] = replace(clauses, is_scheduled=True, asks_then=asks_then)
        return Calls((_scheduling_call(clauses),))

    async def before_llm(self, run: Run, request: ChatRequest) -> ChatRequest | None:
        clauses = self._clauses(run)
        if clauses.is_plain or clauses.problem:
            return None
        offered = {tool["function"]["name"] for tool in request.tools}
        if not (clauses.excepted or clauses.relative or not self._has_others(offered)):
            return None  # the tool of a plugin may have a slot for the time
        messages = [
            replace(message, content=clauses.relative.command if clauses.relative else clauses.command)
            if message.role == "user" and message.content == run.text
            else message
            for message in request.messages
        ]
        return replace(request, messages=tuple(messages))

    async def before_tool(self, run: Run, call: ToolCall) -> Deny | ToolCall | None:
        clauses, made = self._clauses(run), call
        call = _with_kind_said(clauses.command, call)
        intent = self._intent(call)
        if intent is None or (clauses.is_plain and not _STOP.match(run.text)):
            return call if call is not made else None  # also a call that the executor refuses
        if clauses.excepted or clauses.relative:
            call = self._with_hook_slots(clauses, call)
            intent = self._intent(call) or intent
        if problem := clauses.problem or _problem(run.text, clauses, call, intent):
            run.notes[self.name] = replace(clauses, problem=problem)
            return Deny(problem)
        if clauses.is_scheduled:
            return Deny("The command is scheduled as a whole.")
        if clauses.condition and clauses.request:
            run.notes[self.name] = replace(clauses, is_scheduled=True)
            acts = {"name": call.name, "arguments": json.loads(call.arguments)}
            return _watch_call(clauses.later, clauses.condition, clauses.request, acts)
        if clauses.in_s is not None or clauses.schedule:
            run.notes[self.name] = replace(
                clauses, is_scheduled=True, asks_then=self._executor.needs_confirmation(call)
            )
            return _scheduling_call(clauses)
        if clauses.for_s is not None and not clauses.back:
            run.notes[self.name] = replace(clauses, back=_way_back(call, intent))
        return call if call is not made else None

    async def after_tool(self, run: Run, call: ToolCall, outcome: ToolOutcome) -> Answer | ToolOutcome | None:
        clauses = self._clauses(run)
        if clauses.is_scheduled and not clauses.answer:
            return self._scheduled_answer(run, clauses, outcome)
        if clauses.is_scheduled:  # another call of the same command
            return Answer(clauses.answer)
        if call.name not in _acting_tools():
            return None
        if clauses.problem:
            return Answer(clauses.problem)
        back = clauses.back
        if clauses.for_s is None or outcome.is_error or not back:
            return None
        run.notes[self.name] = replace(clauses, for_s=None)
        try:
            self._timers.start(clauses.for_s, command=back, caller=run.caller)
        except (HomeError, StateError) as error:
            return Answer(f"{outcome.sentence} {sentence(error.message)}")
        return Answer(f"{outcome.sentence} {sentence(f'in {duration(clauses.for_s)} I will {brief(back)}')}")

    def _scheduled_answer(self, run: Run, clauses: Clauses, outcome: ToolOutcome) -> Answer | None:
        """The answer to a command that was stored for later, or why it was not."""
        if outcome.is_error:
            return None
        answer = outcome.sentence
        if not clauses.condition and _WILL.match(answer):
            will = "will ask you whether to" if clauses.asks_then else "will"
            answer = sentence(f"{clauses.when} I {will} {brief(clauses.later)}")
        run.notes[self.name] = replace(clauses, answer=answer)
        return Answer(answer)

    def _with_condition(self, clauses: Clauses, request: ConditionalRequest) -> Clauses:
        try:
            return replace(clauses, condition=resolve_condition(request.condition, self._house()))
        except (HomeError, StateError) as error:
            left = " I left everything as it is." if request.command else ""
            return replace(clauses, problem=f"{sentence(error.message)}{left}")

    def _has_others(self, names: Iterable[str]) -> bool:
        """Whether there are tools of plugins or MCP servers, which may have a slot for what the home cannot do."""
        registry = self._executor.registry
        return any(name not in known_tools() and not registry.get(name).called_by_rule for name in names)

    def _clauses(self, run: Run) -> Clauses:
        clauses = run.notes.get(self.name)
        return clauses if isinstance(clauses, Clauses) else Clauses(run.text)

    def _with_hook_slots(self, clauses: Clauses, call: ToolCall) -> ToolCall:
        arguments = json.loads(call.arguments)
        if clauses.excepted and not self._is_apart(clauses.excepted, call):
            arguments[EXCEPT] = clauses.excepted
        if (relative := clauses.relative) and call.name == relative.quantity.tool:
            arguments[STEP] = relative.step
            if relative.is_unnamed and relative.quantity.tool == "light_set":
                arguments["name"] = "all lights"
            stepping = self._intent(replace(call, arguments=json.dumps(arguments)))
            with suppress(HomeError):  # what the model wrote is a placeholder
                for entity in stepping.entities[:1] if stepping else ():
                    arguments[relative.quantity.slot] = stepped(entity, relative.quantity.slot, relative.step)
        return call.with_arguments(arguments)

    def _intent(self, call: ToolCall) -> ResolvedIntent | None:
        """The resolved call, or None for one that acts on no entity or cannot be resolved."""
        resolution = self._executor.resolve(call).resolution if call.name in _acting_tools() else None
        return resolution if isinstance(resolution, ResolvedIntent) else None

    def _is_apart(self, excepted: str, call: ToolCall) -> bool:
        """Whether a call would not act on what is excepted anyway: "fish tank off, but not the lights"."""
        intent, house = self._intent(call), self._house()
        known = labels.vocabulary(house, labels.labels_of(house).values()) | labels.ALL_WORDS
        if not known.issuperset(normalized_words(excepted)):
            return False  # a misheard name may be one that the call acts on
        try:
            kept = {entity.id for entity in excepted_entities(house, excepted)}
        except ClarificationNeeded as error:
            kept = {entity.id for entity in error.choices}
        except HomeError:
            return False
        acted_on = {entity.id for entity in intent.entities} if intent else set[str]()
        return bool(acted_on) and kept.isdisjoint(acted_on)

    def _kind_of(self, excepted: str) -> str:
        try:
            domains = {entity.domain for entity in excepted_entities(self._house(), excepted)}
        except HomeError:
            return "everything"
        return "the lights" if domains == {"light"} else "everything"


def _with_kind_said(command: str, call: ToolCall) -> ToolCall:
    """The call on the kind that the words name where it has none: "close everything" turns no lamp off."""
    if call.name not in ("turn_on", "turn_off"):
        return call
    arguments = json.loads(call.arguments)
    is_all = labels.ALL_WORDS.issuperset(normalized_words(str(arguments.get("name") or "")))
    said = _ALL_OF_VERB.match(command)
    if said and is_all and not (arguments.get("domain") or arguments.get("device_class")):
        kind = "lock" if said["verb"].casefold().endswith("lock") else "cover"
        arguments = {slot: value for slot, value in arguments.items() if slot != "name"} | {"domain": kind}
    elif is_all and arguments.get("domain") == "light" and _ALL_LAMPS.search(command):
        arguments["name"] = "lamps"
    else:
        return call
    return call.with_arguments(arguments)


def _problem(text: str, clauses: Clauses, call: ToolCall, intent: ResolvedIntent) -> str:
    """Why the clauses cannot be applied to a call, or ""."""
    if (
        _STOP.match(text)
        and call.name in ("turn_on", "turn_off", "set_position")
        and any(entity.domain == "cover" for entity in intent.entities)
    ):
        return _NO_STOPPING
    if clauses.relative and call.name != clauses.relative.quantity.tool:
        return _WHAT_TO_CHANGE
    if clauses.in_s is not None or clauses.schedule:
        return intent.answer.text if intent.answer else ""
    return _NO_WAY_BACK if clauses.for_s is not None and not _way_back(call, intent) else ""


def _scheduling_call(clauses: Clauses) -> ToolCall:
    """The call that stores a command for later."""
    if clauses.schedule:
        return tool_call("set_reminder", task=clauses.later, time=clauses.schedule, **{RUNS: True})
    return tool_call("start_timer", **length_slots(clauses.in_s or 0), conversation_command=clauses.later)


def _watch_call(
    command: str, condition: Condition, request: ConditionalRequest, acts: dict[str, object] | None = None
) -> ToolCall:
    """The call that watches for a condition, to run a command, to remind or to tell."""
    kind: WatchKind = "run" if command else "remind" if request.task else "tell"
    text = command or request.task or condition.fact
    watch = {
        "kind": kind,
        "condition": condition.model_dump(exclude_defaults=True),
        "is_repeating": request.is_repeating,
    }
    return tool_call("set_reminder", task=text, **{WATCH: {**watch, **({"call": acts} if acts else {})}})


# The verb that undoes a tool, by domain; "" for the other domains.
_UNDO = {
    "turn_on": {"": "turn off", "cover": "close", "valve": "close", "lock": "", "scene": "", "script": ""},
    "turn_off": {"": "turn on", "cover": "open", "lock": "lock"},
    "media_pause": {"": "resume"},
    "media_player_mute": {"": "unmute"},
    "media_player_unmute": {"": "mute"},
}


# The attribute that the opposite command restores.
_RESTORED = {"climate_set_temperature": "temperature", "light_set": "brightness", "set_position": "position"}


def _way_back(call: ToolCall, intent: ResolvedIntent) -> str:
    """The command that undoes a call, or ""; of a value the one before the call."""
    if (slot := _RESTORED.get(call.name)) and len(intent.entities) == 1 and intent.answer is None:
        (entity,) = intent.entities
        value = entity.attributes.get(slot)
        is_on = entity.state != "off"
        what = the(str(json.loads(call.arguments).get("name") or entity.name))
        return f"set {what} to {number(value)}" if is_on and isinstance(value, int | float) else ""
    by_domain = _UNDO.get(call.name, {"": ""})
    verbs = {by_domain.get(entity.domain, by_domain[""]) for entity in intent.entities}
    verb = verbs.pop() if len(verbs) == 1 and intent.answer is None else ""
    return f"{verb} {listed([the(entity) for entity in intent.entities], 'and')}" if verb else ""
