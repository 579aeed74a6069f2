"""Requests about timers, alarms and scheduled commands that are read by rule, since the default model misreads them.

"Pause it" after a timer was set is about that timer; "delete all alarms" names all of them; "what have you scheduled"
and "don't turn off the lights at ten" are about scheduled commands, of which the model knows nothing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from contextlib import suppress
from datetime import timedelta
from typing import ClassVar

from edgevox.core.errors import StateError
from edgevox.core.hooks import Calls, Hook, Run
from edgevox.core.types import Message, ToolCall
from edgevox.core.words import WEEKDAYS
from edgevox.home.alarms.alarm_handlers import RUNS, TIMER_ID, label_words, length_slots
from edgevox.home.alarms.alarms import Alarm, Alarms
from edgevox.home.alarms.scheduled_commands import ScheduledCommands
from edgevox.home.alarms.time_parser import InvalidTime, parse_time
from edgevox.home.alarms.time_phrasing import days_phrase, moment_phrase
from edgevox.home.alarms.timers import Timers
from edgevox.home.alarms.watches import Watches
from edgevox.home.clauses.imperative import GERUND, from_gerund
from edgevox.home.clauses.times import seconds_until, split_time
from edgevox.home.entities import HomeError
from edgevox.home.grammar import ACTIONS, POLITE, pattern, tool_call
from edgevox.home.references.calls import moved_time
from edgevox.home.resolve.fuzzy import find_by_words

_END = r"(?: please| again| now| for me)*$"
_IT = r"(?:it|that|that one|this one|the timer|that timer|this timer|my timer)"

_LONGER = (
    pattern(rf"^{POLITE}(?:add|put) (?:another |an extra )?(?P<length>.+?)(?: more)? (?:to|on|onto) {_IT}{_END}"),
    pattern(rf"^{POLITE}give {_IT} (?:another |an extra )?(?P<length>.+?)(?: more| longer)?{_END}"),
    pattern(rf"^{POLITE}make {_IT} (?P<length>.+?) longer{_END}"),
    pattern(rf"^{POLITE}(?:extend|increase|lengthen|prolong) {_IT} by (?P<length>.+?){_END}"),
)
_SHORTER = (
    pattern(rf"^{POLITE}(?:take|knock) (?P<length>.+?) (?:off|from|off of) {_IT}{_END}"),
    pattern(rf"^{POLITE}make {_IT} (?P<length>.+?) shorter{_END}"),
    pattern(rf"^{POLITE}(?:shorten|decrease|reduce) {_IT} by (?P<length>.+?){_END}"),
)
_MORE_MINUTES = pattern(r"\b(?P<amount>\w+) more (?P<unit>minutes?|seconds?|hours?)\b")
_PAUSE = pattern(rf"^{POLITE}(?:pause|hold|freeze) {_IT}{_END}")
_RESUME = pattern(rf"^{POLITE}(?:resume|continue|unpause|restart) {_IT}{_END}")
_CANCEL = pattern(rf"^{POLITE}(?:cancel|delete|remove|stop|end) {_IT}{_END}")
_RENAME = pattern(
    rf"^{POLITE}(?:rename (?P<which>{_IT}|(?:the |my )?.+? timer) (?:to|as)|(?:call|name) (?P<it>{_IT})) "
    rf"(?!(?:a|off|back|the|my|him|her|them|me|on|in|at)\b)(?:the )?(?P<name>[\w' -]{{2,40}}?)(?: timer)?{_END}"
)
_ALL = pattern(
    rf"^{POLITE}(?:cancel|delete|remove|clear|erase|dismiss|get rid of|turn off|stop|kill) "
    rf"(?:all|all of|every|every single|each of)(?: of)?(?: my| the| our)? (?P<kind>alarm|reminder|timer)s?{_END}"
)

_SCHEDULES = r"(?:schedules|scheduled (?:commands?|actions?|things?|tasks?)|watches)"
_LIST = pattern(
    rf"^{POLITE}(?:(?:what|which)(?: \w+)? (?:have|did|do) you (?:have )?(?:scheduled?|planned to do|have scheduled)|"
    rf"(?:what|which) {_SCHEDULES}\b.*|(?:list|show|tell me|read)(?: me)?(?: all)?(?: my| your| the)? {_SCHEDULES}|"
    rf"(?:what|which \w+) are you (?:watching|waiting)(?: for| out for)?|"
    rf"(?:are|is) (?:there )?any(?:thing)? {_SCHEDULES}(?: set)?|do you have any {_SCHEDULES})"
    rf"(?: for me| right now| at the moment)*{_END}"
)
_CANCEL_SCHEDULES = pattern(
    rf"^{POLITE}(?:cancel|delete|remove|clear|stop|drop|forget) (?:(?P<all>all|every|both) )?"
    rf"(?:of )?(?:my |your |the )?(?:schedules?|scheduled (?:commands?|actions?|things?|tasks?)|"
    rf"scheduled (?P<thing>.+?))(?: (?:for|about|of|to|that|which|with|on) (?P<name>.+?))?{_END}"
)
_PLANS = (
    pattern(
        r"^(?:what(?:'s| is| things are)|which things are|is anything|is there anything) (?:scheduled|planned|"
        r"set up|lined up)"
        rf"(?: to happen)?(?: (?:for|about|with) (?P<about>.+?))?{_END}"
    ),
    pattern(
        r"^(?:what|which things) (?:have|do|did) you (?:got |have |get )?(?:scheduled|planned|set up|lined up)"
        rf"(?: to do)?(?: (?:for|about|with) (?P<about>.+?))?{_END}"
    ),
    pattern(
        r"^(?:will|are) you (?:going to )?(?:do|turn|turning|switch|switching|open|opening|close|closing|doing|start|"
        rf"starting|run|running)\b.*\b(?:anything|something)\b.*\b(?:later|tonight|today|tomorrow|soon)\b.*{_END}"
    ),
    pattern(
        r"^(?:when|what time|at what time) (?:does|do|will|is|are) (?P<about>.+?) (?:go|going to go|come|be turned|be "
        r"switched|turn|switch|set to go|due to go|supposed to go) (?:on|off|out)$"
    ),
    pattern(
        r"^(?:when|what time|at what time) (?:does|do|will) (?P<about>.+?) (?:open|close|shut|start|stop|run|"
        r"lock|unlock)$"
    ),
)
_ANYTHING_PLANNED = pattern(
    r"^(?:have you(?: got)?|do you have|is there|did you|are there|have we(?: got)?) (?:anything|something|any \w+|"
    r"stuff|"
    r"things) (?:scheduled|planned|lined up|set up|coming up)(?: (?:for|about|with) (?P<about>.+?))?(?: please)?$"
)
_LEFT = (
    pattern(
        r"^how (?:long|much time|much longer|many minutes) (?:has|have|does|do|is|are) (?P<name>.+?) (?:got |"
        r"have |still )*left$"
    ),
    pattern(
        r"^how (?:long|much time|much longer|many minutes) (?:is |are )?(?:left |to go )+(?:on|for|with) (?P<name>.+?)$"
    ),
    pattern(
        r"^how (?:long|much longer) (?:do|does|until|till) (?P<name>.+?) (?:still )?(?:need|take|(?:is|are) "
        r"(?:done|ready))$"
    ),
)
_NEVER_MIND = pattern(
    rf"^(?:(?:actually|wait|oh|no),? )*{POLITE}(?:never ?mind|forget|scrap|drop)(?: about)? (?:the|my) "
    rf"(?:(?P<before>.+?) )?(?P<kind>timer|alarm|reminder)(?: (?:for|about|to|on|of|at) (?P<after>.+?))?{_END}"
)
_AFTER_ALL = pattern(
    r"^(?:(?:actually|wait|oh|no),? )*(?:just )?(?:leave|keep) (?P<thing>.+?) (?P<state>on|off|open|shut|closed|locked|"
    r"unlocked|alone|as (?:it is|they are|is))(?: (?:tonight|today|tomorrow|this|at|in|on)\b.*?)? (?:after all|"
    r"instead)$"
)
_REVERSED = {
    "on": {"off"}, "off": {"on"}, "open": {"close", "shut"}, "shut": {"open"}, "closed": {"open"},
    "locked": {"unlock"}, "unlocked": {"lock"},
}  # fmt: skip
_REPEATED_ALARM = pattern(
    rf"^{POLITE}(?P<days>(?:every|each|on|weekdays|weekends|daily)\b.*?),? (?:wake (?:me|us)(?: up)?|(?:set |i need |"
    rf"i want )?an? alarm(?: goes off| rings)?) (?P<time>(?:at|for)\b.+?){_END}"
)
_ALARM_AT = pattern(
    rf"^{POLITE}(?:(?:wake|get) (?:me|us) up|wake (?:me|us)|(?:set |i need |i want )?(?:an? |my )?alarm"
    r"(?: (?:to )?(?:go off|"
    rf"ring))?) (?P<time>(?:at|for|every|on)\b.+?){_END}"
)
_SEVERAL_TIMERS = pattern(
    rf"^{POLITE}(?:(?:set|start|make|create|run|give me) )?(?:me )?(?:two|three|four|2|3|4|some|several)? ?timers"
    rf"(?:,? please)?[,:]? (?:one )?(?P<each>.+)$"
)
_EACH_TIMER = pattern(
    r"^(?:one )?(?:for |of )?(?P<length>.+?)(?: timer)? (?:for|called|named) (?:the |my )?(?P<name>[\w' ]{2,30})$"
)
_UNIT = pattern(r"\b(?:seconds?|minutes?|hours?|mins?|secs?)\b")
_OWN_CALENDAR = pattern(r"\bmy schedule\b")
_DROP = (
    r"(?:(?:cancel|forget|never ?mind|scrap|skip|drop|call off|don't bother|do not bother)(?: about| with)?|"
    r"i(?:'ve| have)? changed my mind about)"
)
_DO_NOT = pattern(
    rf"^(?:(?:actually|wait|oh|no),? )*{POLITE}(?:don't|do not|don’t|no need to|never mind about|"
    rf"(?:you|we) (?:don't|do not) (?:need|have) to|you needn't|stop|no longer|no more|{_DROP}) "
    rf"(?P<command>(?:to )?(?:{ACTIONS}|tell(?:ing)? me|let(?:ting)? me know|notify(?:ing)? me|remind(?:ing)? me|"
    rf"{GERUND}|watch(?:ing)?)\b.+?)(?: any ?more| after all)?"
    rf"{_END}"
)
_TELLING = pattern(
    r"^(?:to )?(?:tell(?:ing)? me|let(?:ting)? me know|notify(?:ing)? me|remind(?:ing)? me|watch(?:ing)?(?: for)?)"
    r"(?: when(?:ever)?| if| every time| to| about)? (?P<rest>.+)$"
)
# Never left to the model, which would do it: "cancel turning off the TV".
_CANCEL_DOING = pattern(rf"^(?:(?:actually|wait|oh|no),? )*{POLITE}{_DROP} {GERUND}")
# After something was set: "actually don't", "call it off", "on second thoughts leave the tv on".
_TAKE_BACK = pattern(
    r"^(?:(?:oh|no|wait|actually|hm+|sorry|well|ah|on second thoughts?|please|just|then)[, ]+)*(?:"
    r"(?:don'?t|do not)(?: do (?:it|that)| bother(?: with (?:it|that))?)?|"
    r"(?:never ?mind|forget|scrap|scratch|drop|cancel|undo|skip|strike)(?: about)?(?: (?:it|that))?|"
    r"call (?:it|that) off|"
    r"i(?:'ve| have)? changed my mind(?: about that)?|"
    r"(?:leave|keep) (?P<left>it|them|that|(?:the|my|our) [\w' ]+?) (?:on|off|open|closed|shut|locked|unlocked|running|"
    r"alone|be|as (?:it is|they are))|"
    r"(?P<stays>it|they|that|(?:the|my|our) [\w' ]+?) (?:can|may|should|must)(?: just)? stay"
    r"(?: (?:on|off|open|closed|shut|"
    r"locked|unlocked|running))?)(?: (?:after all|then|please|instead|thanks|anyway|now|tonight|today))*$"
)
# Another time for something that is set: "push my alarm back to half eight", "make it an hour later".
_MOVED = r"(?:moved|changed|shifted|pushed|brought|rescheduled|postponed|delayed|set)"
_PASSIVE = pattern(rf"^(?:can|could|should|may) (?P<which>(?:the|my|our) .+?) be {_MOVED} (?P<rest>.+)$")
_MOVE = pattern(
    r"^(?:(?:oh|no|wait|actually|sorry|well|hey|so)[, ]+)*"
    rf"{POLITE}(?:move|change|shift|push|bring|reschedule|make|put|postpone|delay|adjust|switch|set(?=.* instead\b)|"
    r"i (?:want|need|'d like)(?=.* to be\b)) "
    r"(?:(?P<which>(?:the|my|our|that|this) (?:.*? )??(?P<kind>alarm|reminder|wake[- ]up(?: call)?)s?)|it|that|this)"
    r"(?P<rest> .+?)"
    rf"(?: instead| rather)?{_END}"
)
_TIME_WORDS = frozenset({"to", "for", "until", "till", "at", "be"})
_BY = pattern(
    r"^(?P<back>(?:back|forwards?|up|on|out|off|ahead) )?(?:by )?(?P<length>.+?)(?P<later> later| earlier| sooner)?$"
)
_EARLIER = pattern(r"\b(?:forwards?|up|ahead|earlier|sooner)\b")
_RINGING = pattern(r"\b(?:timers?|alarms?|reminders?)\b")
_DAY = rf"(?:tomorrow|tonight|today|at|this|next|every|{'|'.join(WEEKDAYS)})"
_PARTICLE = pattern(rf"^ (in|up|off|out|down|over|back|away|around)(?= {_DAY}\b)")
_CUT = pattern(r"^['’]\w")
_AND = pattern(r",? and (?:then |another |one )?|, ")

_NO_NAME = frozenset(
    {"the", "my", "our", "that", "this", "to", "for", "about", "of", "from", "me", "wake", "up", "call"}
)
_TIMER_TOOLS = frozenset(
    {"start_timer", "increase_timer", "decrease_timer", "pause_timer", "unpause_timer", "timer_status"}
)


class TimerRules(Hook):
    """Makes the calls of such requests without the model."""

    name: ClassVar[str] = "timer_rules"

    def __init__(self, timers: Timers, alarms: Alarms, watches: Watches) -> None:
        self._timers = timers
        self._alarms = alarms
        self._watches = watches
        self._scheduled = ScheduledCommands(timers, alarms, watches)

    async def on_run_start(self, run: Run) -> Calls | None:
        text = " ".join(run.text.split()).strip(" .!?")
        with suppress(StateError, HomeError):  # the model's call reports it
            if timers := self._several_timers(text):
                return Calls(timers)
            rules = (self._about_all, self._about_schedules, self._about_plans, self._about_named, self._repeated_alarm)
            last_calls = _last_calls(run.past())
            if moved := self._moved(text, last_calls):
                return Calls(moved)
            call = next(filter(None, (rule(text) for rule in rules)), None) or self._about_it(text, last_calls)
            return Calls((call,)) if call else None
        return None

    async def before_tool(self, run: Run, call: ToolCall) -> ToolCall | None:
        """Complete a task that the model cut inside a word: "feed next door" of "feed next door's cat"."""
        if call.name != "set_reminder":
            return None
        arguments = json.loads(call.arguments)
        task, text = str(arguments.get("task") or ""), " ".join(run.text.split()).strip(" .!?")
        start = text.casefold().find(task.casefold())
        rest = text[start + len(task) :] if task and start >= 0 else ""
        if particle := _PARTICLE.match(rest):  # "let the cat in tomorrow"
            task = f"{task} {particle[1]}"
        elif _CUT.match(rest):
            task = f"{task}{self._without_time(rest)}"
        else:
            return None
        return call.with_arguments({**arguments, "task": task})

    def _without_time(self, rest: str) -> str:
        """The rest of a task, up to the time after it."""
        words = rest.split()
        for start in range(1, len(words)):
            with suppress(HomeError):
                parse_time(" ".join(words[start:]), self._alarms.now())
                return " ".join(words[:start])
        return rest

    def _about_all(self, text: str) -> ToolCall | None:
        if not (found := _ALL.match(text)):
            return None
        kind = found["kind"].casefold()
        return tool_call("cancel_all_timers") if kind == "timer" else tool_call("cancel_alarm", name=f"all {kind}s")

    def _several_timers(self, text: str) -> tuple[ToolCall, ...]:
        """ "Two timers: five minutes for the tea and eight for the eggs"."""
        if not (found := _SEVERAL_TIMERS.match(text)):
            return ()
        parts = [_EACH_TIMER.match(part) for part in _AND.split(found["each"])]
        units = [unit[0] for part in parts if part and (unit := _UNIT.search(part["length"]))]
        calls = []
        for part in parts:
            said = part["length"] if part else ""
            length = self._length(said if _UNIT.search(said) else f"{said} {units[-1]}") if part and units else {}
            if not part or not length:
                return ()
            calls.append(tool_call("start_timer", **length, name=part["name"]))
        return tuple(calls) if len(calls) > 1 else ()

    def _about_named(self, text: str) -> ToolCall | None:
        """What is left of a timer that is called so, or to cancel what is no longer needed."""
        for form in _LEFT:
            if (found := form.match(text)) and self._has_timer(found["name"]):
                return tool_call("timer_status", name=found["name"])
        if not (found := _NEVER_MIND.match(text)):
            return None
        name, kind = found["before"] or found["after"] or "", found["kind"].casefold()
        if kind == "timer":
            return tool_call("cancel_timer", **({"name": name} if name else {})) if self._has_timer(name) else None
        if not any(alarm.kind == kind for alarm in self._alarms.all()):
            return None
        with suppress(HomeError):
            parse_time(name, self._alarms.now())
            return tool_call("cancel_alarm", name=kind, time=name)
        return tool_call("cancel_alarm", name=f"{name} {kind}".strip())

    def _has_timer(self, name: str) -> bool:
        wanted = set(label_words(name))
        return any(wanted <= {*label_words(timer.name), *label_words(timer.called)} for timer in self._timers.all())

    def _repeated_alarm(self, text: str) -> ToolCall | None:
        """ "Every Tuesday and Thursday wake me at 5:30", of which the model takes the days for a name."""
        found = _REPEATED_ALARM.match(text)
        if not found and not (found := _ALARM_AT.match(text)):
            return None
        said = f"{found.groupdict().get('days') or ''} {found['time']}".strip()
        return tool_call("set_alarm", time=said) if parse_time(said, self._alarms.now()).repeat else None

    # --- scheduled commands

    def _about_plans(self, text: str) -> ToolCall | None:
        """ "What is scheduled for tonight", "when does the TV go off", if something is."""
        for form in (*_PLANS, _ANYTHING_PLANNED):
            if not (found := form.match(text)) or not self._scheduled.all():
                continue
            about = found.groupdict().get("about") or ""
            with suppress(HomeError):
                parse_time(about, self._alarms.now())
                about = ""  # all that is scheduled has its time in the answer
            words = label_words(about)
            if _RINGING.search(about) or (about and not words):
                continue  # "when does my alarm go off"
            if self._scheduled.matching(words):
                return tool_call("alarm_status", name=f"schedules {about}".rstrip())
        return None

    def _about_schedules(self, text: str) -> ToolCall | None:
        if _LIST.match(text):
            return tool_call("alarm_status", name="schedules")
        if found := _CANCEL_SCHEDULES.match(text):
            wanted = label_words(found["name"] or found["thing"] or "")
            if not wanted and _OWN_CALENDAR.search(text):
                return None
            if wanted and not self._scheduled.matching(wanted):
                return None  # a calendar's: "cancel my schedule for tomorrow"
            which = (
                "all schedules"
                if found["all"] and not wanted
                else f"schedule {found['name'] or found['thing'] or ''}".rstrip()
            )
            return tool_call("cancel_alarm", name=which) if self._scheduled.all() else None
        if found := _DO_NOT.match(text):
            said = self._unwanted(found["command"])
            if said and (self._scheduled.matching(label_words(said)) or _CANCEL_DOING.match(text)):
                return tool_call("cancel_alarm", name=f"schedule {said}")
        if found := _AFTER_ALL.match(text):
            against = _REVERSED.get(found["state"].casefold(), set())
            matching = self._scheduled.matching(label_words(found["thing"]))
            if any(not against or against & set(one.text.casefold().split()) for one in matching):
                return tool_call("cancel_alarm", name=f"schedule {found['thing']}")
        return None

    def _unwanted(self, command: str) -> str:
        """What shall not be done, as the stored command says it."""
        if telling := _TELLING.match(command):
            return telling["rest"]
        return split_time(from_gerund(command) or command, self._alarms.now(), self._alarms.sun_times).command

    # --- the timer that was talked about

    def _about_it(self, text: str, last_calls: Sequence[ToolCall]) -> ToolCall | None:
        if _CANCEL.match(text) and (call := self._cancel_last(last_calls)):
            return call
        if (said := _TAKE_BACK.match(text)) and self._is_about(said["left"] or said["stays"], last_calls):
            return self._cancel_last(last_calls)
        timer_id = self._timer_id(last_calls)
        if found := _RENAME.match(text):
            which = label_words(found["which"] or "")
            named = [timer.id for timer in self._timers.all() if which and label_words(timer.called) == which]
            timer_id = named[0] if len(named) == 1 else timer_id
            return tool_call("start_timer", name=found["name"], **{TIMER_ID: timer_id}) if timer_id else None
        if not timer_id:
            return None
        for forms, tool in ((_LONGER, "increase_timer"), (_SHORTER, "decrease_timer")):
            for form in forms:
                if (found := form.match(text)) and (length := self._length(found["length"])):
                    return tool_call(tool, **length, **{TIMER_ID: timer_id})
        if _PAUSE.match(text):
            return tool_call("pause_timer", **{TIMER_ID: timer_id})
        return tool_call("unpause_timer", **{TIMER_ID: timer_id}) if _RESUME.match(text) else None

    def _is_about(self, thing: str | None, last_calls: Sequence[ToolCall]) -> bool:
        """Whether what stays as it is belongs to the command that was just scheduled."""
        arguments = [json.loads(call.arguments) for call in last_calls]
        commands = [
            str(one.get("conversation_command") or (one.get(RUNS) and one.get("task")) or "") for one in arguments
        ]
        if not thing:
            return True
        words = set(label_words(thing)) - {"it", "them", "they", "that"}
        return any(command and words <= set(label_words(command)) for command in commands)

    def _moved(self, text: str, last_calls: Sequence[ToolCall]) -> tuple[ToolCall, ...]:
        """Replace an alarm, a reminder or a scheduled command by the same one at another time."""
        if not (said := _MOVE.match(_PASSIVE.sub(r"move \g<which> \g<rest>", text))):
            return ()
        words, now = said["rest"].split(), self._alarms.now()
        for start in range(-1, len(words)):
            if start >= 0 and words[start].casefold() not in _TIME_WORDS:
                continue
            when = " ".join(words[start + 1 :])
            with suppress(HomeError):
                if parse_time(when, now).has_time:
                    about = " ".join(words[: max(start, 0)])
                    return self._set_again(said, about, when, 0, last_calls)
        by = _BY.match(said["rest"].strip())
        if by and (by["back"] or by["later"]) and (length := self._length(by["length"])):
            seconds = -length["seconds"] if _EARLIER.search(said["rest"]) else length["seconds"]
            return self._set_again(said, "", "", seconds, last_calls)
        return ()

    def _set_again(
        self, said: re.Match[str], about: str, when: str, by_s: int, last_calls: Sequence[ToolCall]
    ) -> tuple[ToolCall, ...]:
        """The calls that cancel the one that is meant and set it at the new time; none if it is not clear."""
        now = self._alarms.now()
        if said["which"] is None:
            timer = next((one for one in self._timers.all() if one.id == self._timer_id(last_calls)), None)
            if timer and timer.command:
                at = parse_time(when, now).when(now, "schedule") if when else None
                in_s = seconds_until(at, now) if at else round(self._timers.remaining_s(timer)) + by_s
                again = tool_call("start_timer", **length_slots(in_s), conversation_command=timer.command)
                return (tool_call("cancel_timer", **{TIMER_ID: timer.id}), again) if in_s > 0 else ()
            is_set = any(call.name in ("set_alarm", "set_reminder") for call in last_calls)
            there = self._alarms.latest()[:1] if is_set else ()
        else:
            kind = "reminder" if said["kind"].casefold() == "reminder" else "alarm"
            there = tuple(self._called(kind, f"{said['which']} {about}"))
        if len(there) != 1 or there[0].sun:
            return ()
        alarm, meant = there[0], there[0].meant(self._alarms.zone)
        time = moved_time(when, alarm, self._alarms) if when else moment_phrase(meant + timedelta(seconds=by_s), now)
        time = time or f"{when} {days_phrase(alarm.repeat) if alarm.repeat else ''}"
        parse_time(time, now).when(now, alarm.kind)
        slots = {"name": alarm.label} if alarm.kind == "alarm" and alarm.label else {}
        slots |= {"task": alarm.label} if alarm.kind != "alarm" else {}
        runs = {RUNS: True} if alarm.kind == "schedule" else {}
        again = tool_call("set_alarm" if alarm.kind == "alarm" else "set_reminder", time=time, **slots, **runs)
        return (tool_call("cancel_alarm", **{TIMER_ID: alarm.id}), again)

    def _called(self, kind: str, name: str) -> Sequence[Alarm]:
        """The alarms or reminders of that name, or for that time: "the seven o'clock alarm"."""
        there = [alarm for alarm in self._alarms.all() if alarm.kind == kind]
        words = tuple(word for word in label_words(name) if word not in _NO_NAME)
        if not words or (len(there) == 1 and not there[0].label):
            return there
        if named := find_by_words(words, there, lambda alarm: label_words(alarm.label)):
            return named
        with suppress(HomeError):
            at = parse_time(" ".join(words), self._alarms.now())
            return [alarm for alarm in there if at.shows(alarm.meant(self._alarms.zone))]
        return ()

    def _timer_id(self, last_calls: Sequence[ToolCall]) -> str:
        """The timer that the last turn was about, or ""."""
        about = [call for call in last_calls if call.name in _TIMER_TOOLS]
        started = self._timers.in_order_of_start()
        if not about or not started:
            return ""
        arguments = json.loads(about[-1].arguments)
        if known := next((timer.id for timer in started if timer.id == arguments.get(TIMER_ID)), ""):
            return known
        if about[-1].name == "start_timer" or len(started) == 1:
            return started[-1].id
        return ""

    def _cancel_last(self, last_calls: Sequence[ToolCall]) -> ToolCall | None:
        """Cancel what the last turn set: a timer, an alarm, a reminder or a scheduled command."""
        if timer_id := self._timer_id(last_calls):
            return tool_call("cancel_timer", **{TIMER_ID: timer_id})
        for call in last_calls:
            if call.name in ("set_alarm", "set_reminder"):
                latest = self._watches.all()[-1:] if "watch" in json.loads(call.arguments) else self._alarms.latest()
                return tool_call("cancel_alarm", **{TIMER_ID: latest[0].id}) if latest else None
        return None

    def _length(self, said: str) -> dict[str, int]:
        said = _MORE_MINUTES.sub(r"\g<amount> \g<unit>", said)
        try:
            seconds = parse_time(f"in {said}", self._alarms.now()).in_s
        except (InvalidTime, HomeError):
            return {}
        return {"seconds": round(seconds)} if seconds else {}


def _last_calls(past: Sequence[Message]) -> list[ToolCall]:
    """The calls of the last turn."""
    calls: list[ToolCall] = []
    for message in reversed(past):
        if message.role == "user":
            break
        calls = [*message.tool_calls, *calls]
    return calls
