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
from edgevox.home.alarms.alarm_handlers import RUNS, TIMER_ID, label_words, length_slots
from edgevox.home.alarms.alarms import Alarm, Alarms
from edgevox.home.alarms.scheduled_commands import ScheduledCommands
from edgevox.home.alarms.time_parser import InvalidTime, parse_time
from edgevox.home.alarms.time_phrasing import days_phrase, moment_phrase
from edgevox.home.alarms.timers import Timers
from edgevox.home.alarms.watches import Watches
from edgevox.home.clauses.imperative import from_gerund
from edgevox.home.clauses.times import seconds_until, split_time
from edgevox.home.entities import HomeError
from edgevox.home.grammar import tool_call
from edgevox.home.references.calls import moved_time
from edgevox.home.resolve.fuzzy import find_by_words
from edgevox.home.rules import timer_forms as forms

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
        if particle := forms.PARTICLE.match(rest):  # "let the cat in tomorrow"
            task = f"{task} {particle[1]}"
        elif forms.CUT.match(rest):
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
        if not (found := forms.ALL.match(text)):
            return None
        kind = found["kind"].casefold()
        return tool_call("cancel_all_timers") if kind == "timer" else tool_call("cancel_alarm", name=f"all {kind}s")

    def _several_timers(self, text: str) -> tuple[ToolCall, ...]:
        """ "Two timers: five minutes for the tea and eight for the eggs"."""
        if not (found := forms.SEVERAL_TIMERS.match(text)):
            return ()
        parts = [forms.EACH_TIMER.match(part) for part in forms.AND.split(found["each"])]
        units = [unit[0] for part in parts if part and (unit := forms.UNIT.search(part["length"]))]
        calls = []
        for part in parts:
            said = part["length"] if part else ""
            length = self._length(said if forms.UNIT.search(said) else f"{said} {units[-1]}") if part and units else {}
            if not part or not length:
                return ()
            calls.append(tool_call("start_timer", **length, name=part["name"]))
        return tuple(calls) if len(calls) > 1 else ()

    def _about_named(self, text: str) -> ToolCall | None:
        """What is left of a timer that is called so, or to cancel what is no longer needed."""
        for form in forms.LEFT:
            if (found := form.match(text)) and self._has_timer(found["name"]):
                return tool_call("timer_status", name=found["name"])
        if not (found := forms.NEVER_MIND.match(text)):
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
        found = forms.REPEATED_ALARM.match(text)
        if not found and not (found := forms.ALARM_AT.match(text)):
            return None
        said = f"{found.groupdict().get('days') or ''} {found['time']}".strip()
        return tool_call("set_alarm", time=said) if parse_time(said, self._alarms.now()).repeat else None

    # --- scheduled commands

    def _about_plans(self, text: str) -> ToolCall | None:
        """ "What is scheduled for tonight", "when does the TV go off", if something is."""
        for form in (*forms.PLANS, forms.ANYTHING_PLANNED):
            if not (found := form.match(text)) or not self._scheduled.all():
                continue
            about = found.groupdict().get("about") or ""
            with suppress(HomeError):
                parse_time(about, self._alarms.now())
                about = ""  # all that is scheduled has its time in the answer
            words = label_words(about)
            if forms.RINGING.search(about) or (about and not words):
                continue  # "when does my alarm go off"
            if self._scheduled.matching(words):
                return tool_call("alarm_status", name=f"schedules {about}".rstrip())
        return None

    def _about_schedules(self, text: str) -> ToolCall | None:
        if forms.LIST.match(text):
            return tool_call("alarm_status", name="schedules")
        if found := forms.CANCEL_SCHEDULES.match(text):
            wanted = label_words(found["name"] or found["thing"] or "")
            if not wanted and forms.OWN_CALENDAR.search(text):
                return None
            if wanted and not self._scheduled.matching(wanted):
                return None  # a calendar's: "cancel my schedule for tomorrow"
            which = (
                "all schedules"
                if found["all"] and not wanted
                else f"schedule {found['name'] or found['thing'] or ''}".rstrip()
            )
            return tool_call("cancel_alarm", name=which) if self._scheduled.all() else None
        if found := forms.DO_NOT.match(text):
            said = self._unwanted(found["command"])
            if said and (self._scheduled.matching(label_words(said)) or forms.CANCEL_DOING.match(text)):
                return tool_call("cancel_alarm", name=f"schedule {said}")
        if found := forms.AFTER_ALL.match(text):
            against = forms.REVERSED.get(found["state"].casefold(), set())
            matching = self._scheduled.matching(label_words(found["thing"]))
            if any(not against or against & set(one.text.casefold().split()) for one in matching):
                return tool_call("cancel_alarm", name=f"schedule {found['thing']}")
        return None

    def _unwanted(self, command: str) -> str:
        """What shall not be done, as the stored command says it."""
        if telling := forms.TELLING.match(command):
            return telling["rest"]
        return split_time(from_gerund(command) or command, self._alarms.now(), self._alarms.sun_times).command

    # --- the timer that was talked about

    def _about_it(self, text: str, last_calls: Sequence[ToolCall]) -> ToolCall | None:
        if forms.CANCEL.match(text) and (call := self._cancel_last(last_calls)):
            return call
        if (said := forms.TAKE_BACK.match(text)) and self._is_about(said["left"] or said["stays"], last_calls):
            return self._cancel_last(last_calls)
        timer_id = self._timer_id(last_calls)
        if found := forms.RENAME.match(text):
            which = label_words(found["which"] or "")
            named = [timer.id for timer in self._timers.all() if which and label_words(timer.called) == which]
            timer_id = named[0] if len(named) == 1 else timer_id
            return tool_call("start_timer", name=found["name"], **{TIMER_ID: timer_id}) if timer_id else None
        if not timer_id:
            return None
        for tool, changes in (("increase_timer", forms.LONGER), ("decrease_timer", forms.SHORTER)):
            for form in changes:
                if (found := form.match(text)) and (length := self._length(found["length"])):
                    return tool_call(tool, **length, **{TIMER_ID: timer_id})
        if forms.PAUSE.match(text):
            return tool_call("pause_timer", **{TIMER_ID: timer_id})
        return tool_call("unpause_timer", **{TIMER_ID: timer_id}) if forms.RESUME.match(text) else None

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
        if not (said := forms.MOVE.match(forms.PASSIVE.sub(r"move \g<which> \g<rest>", text))):
            return ()
        words, now = said["rest"].split(), self._alarms.now()
        for start in range(-1, len(words)):
            if start >= 0 and words[start].casefold() not in forms.TIME_WORDS:
                continue
            when = " ".join(words[start + 1 :])
            with suppress(HomeError):
                if parse_time(when, now).has_time:
                    about = " ".join(words[: max(start, 0)])
                    return self._set_again(said, about, when, 0, last_calls)
        by = forms.BY.match(said["rest"].strip())
        if by and (by["back"] or by["later"]) and (length := self._length(by["length"])):
            seconds = -length["seconds"] if forms.EARLIER.search(said["rest"]) else length["seconds"]
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
        said = forms.MORE_MINUTES.sub(r"\g<amount> \g<unit>", said)
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
