"""Handles the clauses of a command that the tools have no slot for: exceptions, times, durations, conditions.

The model reads the plain command ("turn off all the lights") and the hook applies the clause ("except the kitchen",
"at ten", "for five minutes") to its calls. A clause that cannot be applied refuses the call: ignoring it would do what
the person excluded, or do it too soon.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cache
from typing import ClassVar

from edgevox.core.errors import StateError
from edgevox.core.hooks import Answer, Calls, Deny, Hook, Run, ToolOutcome
from edgevox.core.languages import duration, listed
from edgevox.core.types import ChatRequest, ToolCall
from edgevox.core.words import normalized_words
from edgevox.home.alarms.alarm_handlers import RUNS
from edgevox.home.alarms.alarms import Alarms
from edgevox.home.alarms.scheduled import WATCH
from edgevox.home.alarms.sun import SunTimes
from edgevox.home.alarms.timers import Timers
from edgevox.home.alarms.watches import Condition, WatchKind
from edgevox.home.entities import HomeError, House
from edgevox.home.intents.catalogue import known_tools
from edgevox.home.intents.conditions import ConditionalRequest, resolve_condition, split_condition
from edgevox.home.intents.relative import POLITE, STEP, RelativeChange, parse_relative, pattern, stepped
from edgevox.home.intents.resolution import EXCEPT, ResolvedIntent
from edgevox.home.intents.time_clauses import (
    ACTIONS,
    LEADS_WITH_ACTION,
    NAMES_SUN,
    OTHER_REPEAT,
    split_length,
    split_time,
)
from edgevox.home.phrasing import brief, sentence, the
from edgevox.home.resolve import labels
from edgevox.home.resolve.target_resolver import excepted_entities
from edgevox.tools.executor import ToolExecutor

_POLITE_START = pattern(rf"^{POLITE}")
_STOP = pattern(rf"^{POLITE}stop\b")
_ENDS_IN_STATE = pattern(r" (?:on|off)$")
# "everything off in the kitchen", "lights out everywhere"
_NAMES_STATE = pattern(
    r"^(?!(?:i|we|you|they|let|may)\b)[\w' -]+? (?:on|off|out|open|closed|shut|up|down)"
    r"(?:,? (?:please|(?:in|on|at) (?:the |my |our )?[\w' -]+|upstairs|downstairs|everywhere|outside|inside))*$"
)
_ONLY_IF = pattern(rf"^{POLITE}only (?={ACTIONS}\b)")
_QUESTION = pattern(
    rf"^{POLITE}(?:is|are|was|were|did|does|do|has|have|what|which|who|where|when|why|how|tell me|remind|wake|"
    r"add|play|say|announce|broadcast)\b"
)
# These have a time of their own, which the model writes into the call.
# An alarm that is armed, and that of a house, is no alarm that rings at a time.
_PANEL = "".join(f"(?<!{word} )" for word in ("arm the", "arm my", "arm our", "arm", "house", "burglar", "security"))
_TIMED_THINGS = pattern(rf"\b(?:timers?|{_PANEL}alarms?|remind|reminders?|wake (?:me|us)|lists?)\b")

# --- exceptions

# What follows "but not" may say how or when: "but not too bright", "but not before ten".
_NO_EXCEPTION = (
    r"(?!(?:too|so|very|that (?:much|far|bright|loud)|as|all the way|completely|fully|entirely|quite|yet|now|"
    r"today|tonight|before|until|till|after|if|when|for|off|on|to|"
    r"muted?|silent|dark|bright|loud|high|low|warm|hot|cold|open|closed|shut|locked)\b)"
)
_EXCEPT_WORDS = (
    r"(?:except(?: for)?|excepting|apart from|aside from|other than|excluding|besides|barring|save for|"
    rf"with the exception of|(?:but|just|only) not(?= ){_NO_EXCEPTION.replace('(?!', '(?! ')})"
)
_KEPT = r"(?:on|off|open|closed|shut|locked|running|playing|alone|be|as (?:it is|they are|is))"
_STAYS = (
    r"(?:(?:can|may|should|must|has to|have to|is to|are to) )?(?:stays?|remains?)"
    rf"(?: {_KEPT}| (?:up|down|lit|burning))?"
)
_REST = (
    r"(?:(?:all )?the (?:rest|others?|other ones?)|everything else|(?:all )?(?:the )?other (?P<kind>\w+)|all others)"
)
_EXCEPTIONS = (
    pattern(rf"^(?:leave|keep) (?P<kept>.+?) {_KEPT}(?: and|,| but)+ (?P<verb>.+?) {_REST}(?P<after> .+)?$"),
    pattern(rf"^(?P<verb>.+?) {_REST}(?P<after> off| on)?,? (?:and|but) (?:leave|keep) (?P<kept>.+?) {_KEPT}$"),
    pattern(rf"^(?P<command>.+?)(?:,|,? (?:and|but)) (?:leave|keep) (?P<kept>(?!(?:it|them) ).+?) {_KEPT}$"),
    pattern(rf"^{_EXCEPT_WORDS} (?P<kept>.+?)(?:,| )(?={POLITE}{ACTIONS}\b)(?P<command>.+)$"),
    pattern(rf"^(?P<command>.+?),? {_EXCEPT_WORDS} (?P<kept>.+)$"),
    pattern(rf"^(?P<command>.+?)(?:,|,? (?:and|but|only|just))+ (?P<kept>(?:the|my|our) [^,]+?) {_STAYS}$"),
    pattern(rf"^(?P<command>.*\b(?:all|every\w*)\b.*?),? (?:but|bar) {_NO_EXCEPTION}(?P<kept>.+)$"),
)
_OTHERS = pattern(rf"\b{_REST.replace('(?P<kind>', '(?:').replace('w+', 'w+s')}(?=$| )")
# Replaced by the kind of what is excepted: "turn off the rest" after a light means the lights.
_REST_OF = "\N{HORIZONTAL ELLIPSIS}"
_SECOND_ACTION = pattern(rf"\b(?:and|then) {ACTIONS}\b")
# Verbs that say the kind themselves, and "all the lamps", which are not all lights.
_ALL_OF_VERB = pattern(
    rf"^{POLITE}(?P<verb>close|open|raise|shut(?!.*\b(?:off|down)\b)|unlock|lock) (?:up )?"
    r"(?:everything|it all|all of (?:it|them)|all(?= (?:up|in|on|at|upstairs|downstairs)\b|$))"
)
_ALL_LAMPS = pattern(r"^(?!.*\b(?:lights?|bulbs?)\b).*\b(?:all|every|both)\b.*\blamps?\b")
_FILLER_OF_KEPT = pattern(r"\b(?:the ones?|those|ones|please|that|in|at|of)\b")
_THE_ONE = pattern(r"^((?:the|my|our) .+) one$")  # "the kitchen one", but not the device "blinds one"

# --- conditions

_CONDITION_WORDS = r"(?:when(?:ever)?|once|as soon as|unless|until|if|before|after)"
_NO_CONDITION = (
    r"(?:you|that|more|possible|necessary|needed|please|it\W?i?s(?: not|n't| no| okay| ok| all ?right| too))"
)
_CONDITION = pattern(rf"\b(?<!at ){_CONDITION_WORDS}\b(?! {_NO_CONDITION}\b)")
_CONDITION_LEADS = pattern(
    rf"^(?:only )?{_CONDITION_WORDS} (?!{_NO_CONDITION}\b|(?:is|are|was|were|did|do|does|will|has|have|can|should)\b)"
    rf".+?[, ](?:then |please )*{ACTIONS}\b"
)
_NO_CONDITIONS = "I cannot act on a condition, so I left everything as it is."
_WHICH_STAY = "Which ones should stay as they are? Say it with except, please."
_NO_STOPPING = "I cannot stop that half way, so I left it as it is."
_ONE_AT_A_TIME = "Please tell me that in two sentences, so that I get it right."
_WHAT_TO_CHANGE = "I am not sure what to change. Please say its name."
_NO_WAY_BACK = "I do not know how to undo that later, so I left everything as it is."

_LATER = "start_timer"
_SCHEDULE = "set_reminder"
_MAX_COMMAND_CHARS = 200
# The answer of these tools when the command is stored; any other says why it is not.
_WILL = re.compile(r".* I will ")


@dataclass(frozen=True, slots=True)
class Clauses:
    """A command without its clauses: to run in `in_s` or at the times of `schedule`, and to undo after `for_s`.

    `when` and `length` are these times in words. `request` is what a condition was said for, and `condition` what it
    was resolved to. `problem` says why the command must not be run, and `answer` what was said about it.
    """

    command: str
    excepted: str = ""
    in_s: int | None = None
    schedule: str = ""
    when: str = ""
    for_s: int | None = None
    length: str = ""
    problem: str = ""
    relative: RelativeChange | None = None
    request: ConditionalRequest | None = None
    condition: Condition | None = None
    is_scheduled: bool = False
    asks_then: bool = False
    answer: str = ""

    @property
    def is_plain(self) -> bool:
        is_later = self.in_s or self.schedule or self.for_s or self.request
        return not (self.excepted or self.problem or self.relative or is_later)

    @property
    def later(self) -> str:
        """The command to run later, with its other clauses."""
        command = _POLITE_START.sub("", self.command)
        command = command[:1].lower() + command[1:]
        return " ".join(filter(None, (command, self.length, self.excepted and f"except {self.excepted}")))


def parse_clauses(text: str, now: datetime, sun_times: SunTimes | None = None) -> Clauses:
    """Separate a command from its clauses; a text that is no command is returned as it is."""
    words = " ".join(text.split()).strip(" .!?")
    if len(words) > _MAX_COMMAND_CHARS:
        return Clauses(text)
    request = split_condition(words)
    if request and not _TIMED_THINGS.search(f"{request.condition} {request.command}"):
        return _conditional(text, request, now, sun_times)
    if request and request.command:  # "when my alarm goes off, open the curtains"
        return Clauses(text, problem=_NO_CONDITIONS)
    if _TIMED_THINGS.search(words):
        return Clauses(text)
    is_time = split_time(words, now, sun_times or SunTimes()).in_s is not None  # "after ten minutes turn off …"
    if _CONDITION_LEADS.match(words) and not is_time:
        return Clauses(text, problem=_NO_CONDITIONS)
    if _QUESTION.match(words):
        return Clauses(text)
    clauses, sun_times = Clauses(words), sun_times or SunTimes()
    for step in (_without_length, _without_time, _without_exception, _without_length, _without_time):
        if not clauses.problem:
            clauses = step(clauses, now, sun_times)
    if not (
        LEADS_WITH_ACTION.match(clauses.command)
        or _ENDS_IN_STATE.search(clauses.command)
        or (clauses.excepted and _NAMES_STATE.match(clauses.command))
        or _ONLY_IF.match(clauses.command)
    ):
        return Clauses(text)
    if not clauses.problem and _CONDITION.search(clauses.command):
        clauses = replace(clauses, problem=_NO_CONDITIONS)
    if not clauses.problem and not clauses.excepted and _OTHERS.search(clauses.command):
        clauses = replace(clauses, problem=_WHICH_STAY)
    return replace(clauses, command=text) if clauses.is_plain or clauses.problem else clauses


def _conditional(text: str, request: ConditionalRequest, now: datetime, sun_times: SunTimes | None) -> Clauses:
    """The clauses of a command that has a condition, or of a request to be told or reminded."""
    if not request.command:
        return Clauses(text, request=request)
    clauses = parse_clauses(request.command, now, sun_times)
    if clauses.in_s is not None or clauses.schedule or clauses.request:
        return Clauses(text, problem=_ONE_AT_A_TIME)
    return replace(clauses, request=request)


def _without_exception(clauses: Clauses, _now: datetime, _sun_times: SunTimes) -> Clauses:
    for form in _EXCEPTIONS:
        if not (found := form.match(clauses.command)):
            continue
        parts = found.groupdict()
        if _SECOND_ACTION.search(parts["kept"]):
            return replace(clauses, problem=_ONE_AT_A_TIME)
        kept = " ".join(_FILLER_OF_KEPT.sub(" ", parts["kept"]).strip(" ,").split())
        kept = _THE_ONE.sub(r"\1", kept)
        command = (
            parts.get("command") or f"{parts['verb']} all the {parts.get('kind') or _REST_OF}{parts['after'] or ''}"
        )
        if not LEADS_WITH_ACTION.match(command) and (state := _ENDS_IN_STATE.search(kept)):  # "all except the tv off"
            kept, command = kept[: state.start()], f"{command}{state[0]}"
        return replace(clauses, command=command, excepted=kept)
    return clauses


def _without_time(clauses: Clauses, now: datetime, sun_times: SunTimes) -> Clauses:
    if clauses.in_s is not None or clauses.schedule:
        return clauses
    found = split_time(clauses.command, now, sun_times)
    return replace(
        clauses, command=found.command, in_s=found.in_s, schedule=found.schedule, when=found.when, problem=found.problem
    )


def _without_length(clauses: Clauses, now: datetime, sun_times: SunTimes) -> Clauses:
    found = split_length(clauses.command, now, sun_times) if clauses.for_s is None else None
    return replace(clauses, command=found[0], for_s=found[1], length=found[2]) if found else clauses


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


# --- the hook


class CommandClauses(Hook):
    """Applies the clauses of a command to the calls of the model, and refuses calls whose clause it cannot apply."""

    name: ClassVar[str] = "command_clauses"
    is_safety: ClassVar[bool] = True

    def __init__(self, executor: ToolExecutor, house: Callable[[], House], timers: Timers, alarms: Alarms) -> None:
        self._executor = executor
        self._house = house
        self._timers = timers
        self._alarms = alarms

    async def on_run_start(self, run: Run) -> Answer | Calls | None:
        clauses = parse_clauses(run.text, self._alarms.now(), self._alarms.sun_times)
        if (request := clauses.request) and not clauses.problem:
            clauses = self._with_condition(clauses, request)
            if clauses.condition and not request.command:
                return Calls((_watch_call("", clauses.condition, request),))
        # The tool of a plugin may know what the home does not.
        is_certain = clauses.request or NAMES_SUN.search(run.text) or OTHER_REPEAT.search(run.text)
        if clauses.problem and is_certain and not self._has_others(self._executor.registry.names):
            return Answer(clauses.problem)
        if _REST_OF in clauses.command:
            kind = self._kind_of(clauses.excepted)
            clauses = replace(clauses, command=clauses.command.replace(f"the {_REST_OF}", kind))
        if not (clauses.problem or len(run.text) > _MAX_COMMAND_CHARS or _SECOND_ACTION.search(clauses.command)):
            clauses = replace(clauses, relative=parse_relative(clauses.command))
        run.notes[self.name] = clauses
        return None

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
        intent = self._intent(call) if clauses.for_s is not None and not outcome.is_error else None
        if clauses.for_s is None or intent is None or not (back := _way_back(call, intent)):
            return None
        run.notes[self.name] = replace(clauses, for_s=None)
        try:
            self._timers.start(clauses.for_s, command=back, caller=run.caller)
        except (HomeError, StateError) as error:
            return Answer(f"{_spoken(outcome)} {sentence(error.message)}")
        return Answer(f"{_spoken(outcome)} {sentence(f'in {duration(clauses.for_s)} I will {brief(back)}')}")

    def _scheduled_answer(self, run: Run, clauses: Clauses, outcome: ToolOutcome) -> Answer | None:
        """The answer to a command that was stored for later, or why it was not."""
        if outcome.is_error:
            return None
        answer = _spoken(outcome)
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
        return replace(call, arguments=json.dumps(arguments, ensure_ascii=False))

    def _intent(self, call: ToolCall) -> ResolvedIntent | None:
        """The resolved call, or None for one that acts on no entity or cannot be resolved."""
        resolution = self._executor.resolve(call).resolution if call.name in _acting_tools() else None
        return resolution if isinstance(resolution, ResolvedIntent) else None

    def _is_apart(self, excepted: str, call: ToolCall) -> bool:
        """Whether a call would not act on what is excepted anyway: "fish tank off, but not the lights"."""
        intent = self._intent(call)
        try:
            kept = {entity.id for entity in excepted_entities(self._house(), excepted)}
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
    return replace(call, arguments=json.dumps(arguments, ensure_ascii=False))


def _problem(text: str, clauses: Clauses, call: ToolCall, intent: ResolvedIntent) -> str:
    """Why the clauses cannot be applied to a call, or ""."""
    if (
        _STOP.match(text)
        and call.name in ("turn_on", "turn_off", "set_position")
        and any(entity.domain in ("cover", "valve") for entity in intent.entities)
    ):
        return _NO_STOPPING
    if clauses.relative and call.name != clauses.relative.quantity.tool:
        return _WHAT_TO_CHANGE
    if clauses.in_s is not None or clauses.schedule:
        return str(intent.answer or "")
    return _NO_WAY_BACK if clauses.for_s is not None and not _way_back(call, intent) else ""


def _scheduling_call(clauses: Clauses) -> ToolCall:
    """The call that stores a command for later."""
    if clauses.schedule:
        arguments: dict[str, object] = {"task": clauses.later, "time": clauses.schedule, RUNS: True}
        return ToolCall("", _SCHEDULE, json.dumps(arguments, ensure_ascii=False))
    minutes, seconds = divmod(clauses.in_s or 0, 60)
    length = {"hours": minutes // 60, "minutes": minutes % 60, "seconds": seconds}
    arguments = {slot: count for slot, count in length.items() if count}
    return ToolCall("", _LATER, json.dumps({**arguments, "conversation_command": clauses.later}, ensure_ascii=False))


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
    arguments = {"task": text, WATCH: {**watch, **({"call": acts} if acts else {})}}
    return ToolCall("", _SCHEDULE, json.dumps(arguments, ensure_ascii=False))


def _spoken(outcome: ToolOutcome) -> str:
    """The sentence of an outcome, which the model reads as a JSON string."""
    return str(json.loads(outcome.content)) if outcome.content.startswith('"') else outcome.content


# The verb that undoes a tool, by domain; "" for the other domains.
_UNDO = {
    "turn_on": {"": "turn off", "cover": "close", "valve": "close", "lock": "", "scene": "", "script": ""},
    "turn_off": {"": "turn on", "cover": "open", "lock": "lock"},
    "media_pause": {"": "resume"},
    "media_player_mute": {"": "unmute"},
    "media_player_unmute": {"": "mute"},
}


def _way_back(call: ToolCall, intent: ResolvedIntent) -> str:
    """The command that undoes a call, or ""."""
    by_domain = _UNDO.get(call.name, {"": ""})
    verbs = {by_domain.get(entity.domain, by_domain[""]) for entity in intent.entities}
    verb = verbs.pop() if len(verbs) == 1 and intent.answer is None else ""
    return f"{verb} {listed([the(entity) for entity in intent.entities], 'and')}" if verb else ""
