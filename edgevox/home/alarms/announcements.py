"""The sentences spoken when a timer, alarm, reminder, schedule or watch is due, in the language of who set it."""

from __future__ import annotations

from datetime import datetime, tzinfo
from typing import assert_never

from edgevox.core.events import DueAlarm
from edgevox.core.languages import ENGLISH, all_phrases, capitalized, length_in, say, time_in
from edgevox.home.alarms.time_expression import local
from edgevox.home.alarms.time_phrasing import ago, day_time, o_clock
from edgevox.home.phrasing import brief, sentence

# Anything later was missed, because the machine was off or asleep.
_LATE_S = 60.0
_NOON = 12


def announcement(due: DueAlarm, now_s: float, zone: tzinfo, language: str = ENGLISH) -> str:
    """The sentence spoken when it rings, or rings too late; in English where the catalogue lacks the language."""
    late_s, now = now_s - due.due_s, local(now_s, zone)
    is_late = late_s >= _LATE_S
    if language != ENGLISH and language in all_phrases():
        said = _in_language(due, now, language, is_late=is_late)
        return f"{_ago_in(late_s, language)}: {said}" if is_late else said
    match due.kind:
        case "timer" | "schedule" | "watch" if due.command:
            when = f"{ago(late_s)} it was" if is_late else "it is"
            return sentence(f"{when} time to {brief(due.command)}")
        case "timer":
            return sentence(f"the {due.called} " + (f"ended {ago(late_s)}" if is_late else "is done"))
        case "alarm":
            return _alarm(due, now_s, zone, is_late=is_late)
        case "schedule" | "watch":
            return sentence(f"{ago(late_s)}: {due.label}" if is_late else due.label)
        case "reminder":
            task = brief(due.label) or "you wanted to be reminded of something"
            named = f"{due.person}, a reminder" if due.person else "Reminder"
            return sentence(f"{named} from {ago(late_s)}: {task}" if is_late else f"{named}: {task}")
        case _:
            assert_never(due.kind)


def _alarm(due: DueAlarm, now_s: float, zone: tzinfo, *, is_late: bool) -> str:
    name, now = brief(due.label), local(now_s, zone)
    if is_late:
        named = f"the {name} alarm" if name else "the alarm"
        return sentence(f"{named} for {day_time(local(due.due_s, zone))} was due {ago(now_s - due.due_s)}")
    what = f"Your alarm: {name}" if name else "Time to get up" if now.hour < _NOON else "Your alarm"
    return f"It is {o_clock(now)}. {sentence(what)}"


def _in_language(due: DueAlarm, now: datetime, language: str, *, is_late: bool) -> str:
    name = brief(due.label)
    match due.kind:
        case "timer" | "schedule" | "watch" if due.command:
            return sentence(say("ring_command", language, command=brief(due.command).rstrip(".")))
        case "timer" if name:
            return say("ring_timer_named", language, name=name)
        case "timer":
            return say("ring_timer", language, length=length_in(due.length_s, language))
        case "alarm":
            unnamed = "ring_get_up" if now.hour < _NOON and not is_late else "ring_alarm"
            what = say("ring_alarm_named", language, name=name) if name else say(unnamed, language)
            return what if is_late else f"{capitalized(say('time', language, time=time_in(now, language)))} {what}"
        case "schedule" | "watch":
            return sentence(name)
        case "reminder":
            task = (name or say("ring_something", language)).rstrip(".")
            if due.person:
                return sentence(say("ring_reminder_for", language, person=due.person, task=task))
            return sentence(say("ring_reminder", language, task=task))
        case _:
            assert_never(due.kind)


def _ago_in(seconds: float, language: str) -> str:
    from babel.dates import format_timedelta

    return capitalized(str(format_timedelta(-round(seconds), add_direction=True, threshold=1.5, locale=language)))
