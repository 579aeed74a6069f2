"""Requests about timers, alarms and scheduled commands that are read by rule, since the default model misreads them.

"Pause it" after a timer was set is about that timer; "delete all alarms" names all of them; "what have you scheduled"
and "don't turn off the lights at ten" are about scheduled commands, of which the model knows nothing.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from typing import ClassVar

from edgevox.core.errors import StateError
from edgevox.core.hooks import Calls, Hook, Run
from edgevox.core.types import Message, ToolCall
from edgevox.home.alarms.alarm_handlers import TIMER_ID, label_words
from edgevox.home.alarms.alarms import Alarms
from edgevox.home.alarms.scheduled import ScheduledCommands
from edgevox.home.alarms.time_parser import InvalidTime, parse_time
from edgevox.home.alarms.timers import Timers
from edgevox.home.alarms.watches import Watches
from edgevox.home.entities import HomeError
from edgevox.home.intents.relative import POLITE, pattern
from edgevox.home.intents.time_clauses import ACTIONS, split_time

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
    rf"(?!(?:a|off|back|the|my|him|her|them|me|on|in|at) )(?:the )?(?P<name>[\w' -]{{2,40}}?)(?: timer)?{_END}"
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
_OWN_CALENDAR = pattern(r"\bmy schedule\b")
_DO_NOT = pattern(
    rf"^(?:(?:actually|wait|oh|no),? )*{POLITE}(?:don't|do not|don’t|no need to|never mind about|"
    rf"you (?:don't|do not) (?:need|have) to|you needn't|stop|cancel|no longer) "
    rf"(?P<command>(?:to )?(?:{ACTIONS}|tell(?:ing)? me|let(?:ting)? me know|notify(?:ing)? me|remind(?:ing)? me|"
    r"(?:turn|switch|clos|open|lock|unlock|dimm|start|stopp|sett)ing|watch(?:ing)?)\b.+?)(?: any ?more| after all)?"
    rf"{_END}"
)
_TELLING = pattern(
    r"^(?:to )?(?:tell(?:ing)? me|let(?:ting)? me know|notify(?:ing)? me|remind(?:ing)? me|watch(?:ing)?(?: for)?)"
    r"(?: when(?:ever)?| if| every time| to| about)? (?P<rest>.+)$"
)
_ING = pattern(r"^(?P<stem>clos|open|unlock|lock|turn|switch|start|dim|stop|set)(?:[mpt])?ing\b")
_STEMS = {"clos": "close"}

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
            call = self._about_all(text) or self._about_schedules(text) or self._about_it(text, run)
            return Calls((call,)) if call else None
        return None

    def _about_all(self, text: str) -> ToolCall | None:
        if not (found := _ALL.match(text)):
            return None
        kind = found["kind"].casefold()
        return _call("cancel_all_timers") if kind == "timer" else _call("cancel_alarm", name=f"all {kind}s")

    # --- scheduled commands

    def _about_schedules(self, text: str) -> ToolCall | None:
        if _LIST.match(text):
            return _call("alarm_status", name="schedules")
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
            return _call("cancel_alarm", name=which) if self._scheduled.all() else None
        if found := _DO_NOT.match(text):
            said = self._unwanted(found["command"])
            if said and self._scheduled.matching(label_words(said)):
                return _call("cancel_alarm", name=f"schedule {said}")
        return None

    def _unwanted(self, command: str) -> str:
        """What shall not be done, as the stored command says it."""
        if telling := _TELLING.match(command):
            return telling["rest"]
        command = _ING.sub(lambda found: _STEMS.get(found["stem"], found["stem"]), command)
        return split_time(command, self._alarms.now(), self._alarms.sun_times).command

    # --- the timer that was talked about

    def _about_it(self, text: str, run: Run) -> ToolCall | None:
        last_calls = _last_calls(run.past())
        if _CANCEL.match(text) and (call := self._cancel_last(last_calls)):
            return call
        timer_id = self._timer_id(last_calls)
        if found := _RENAME.match(text):
            which = label_words(found["which"] or "")
            named = [timer.id for timer in self._timers.all() if which and label_words(timer.called) == which]
            timer_id = named[0] if len(named) == 1 else timer_id
            return _call("start_timer", name=found["name"], **{TIMER_ID: timer_id}) if timer_id else None
        if not timer_id:
            return None
        for forms, tool in ((_LONGER, "increase_timer"), (_SHORTER, "decrease_timer")):
            for form in forms:
                if (found := form.match(text)) and (length := self._length(found["length"])):
                    return _call(tool, **length, **{TIMER_ID: timer_id})
        if _PAUSE.match(text):
            return _call("pause_timer", **{TIMER_ID: timer_id})
        return _call("unpause_timer", **{TIMER_ID: timer_id}) if _RESUME.match(text) else None

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
            return _call("cancel_timer", **{TIMER_ID: timer_id})
        for call in last_calls:
            if call.name in ("set_alarm", "set_reminder"):
                latest = self._watches.all()[-1:] if "watch" in json.loads(call.arguments) else self._alarms.latest()
                return _call("cancel_alarm", **{TIMER_ID: latest[0].id}) if latest else None
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


def _call(tool: str, **arguments: object) -> ToolCall:
    return ToolCall("", tool, json.dumps(arguments, ensure_ascii=False))
