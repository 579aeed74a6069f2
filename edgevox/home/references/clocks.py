"""Corrects the time of a timer, an alarm or a reminder that was just set: "no, fifty minutes", "make it half past"."""

from __future__ import annotations

import json
from datetime import date, datetime, timedelta

from edgevox.core.types import ToolCall
from edgevox.home.alarms.alarms import Alarm, Alarms
from edgevox.home.alarms.time_expression import PastTime, TimeExpression
from edgevox.home.alarms.time_parser import InvalidTime, parse_time
from edgevox.home.alarms.time_phrasing import clock_time, moment_phrase
from edgevox.home.intents.relative import pattern
from edgevox.home.references.effects import Effect, TurnEffects
from edgevox.home.references.forms import TAIL, one_sentence

_LENGTHS = ("hours", "minutes", "seconds")
# What is left must be a time as a whole, so a command is never taken for one.
_CORRECTED = pattern(
    r"^(?:(?:(?:no|nope|oops|sorry|actually|rather|wait(?= no\b|,)|i (?:meant?|said)|(?:make|change|set|move|put) "
    r"(?:it|that|this)(?: (?:to|for|at))?|not (?:\w+ ){1,3}?but|(?:to|for|at))\b[, ]*)+)"
    rf"(?P<time>.+?)(?: instead| rather)?(?:,? not .+)?{TAIL}"
)
_LACKS_HOUR = pattern(r"\b(?:half|quarter|(?:five|ten|twenty(?:[ -]five)?)) (?:past|to)$")


def corrected_clock(text: str, last: TurnEffects, alarms: Alarms) -> ToolCall | None:
    """The call of the last turn with another time; None if it set no timer or alarm, or the text is no time."""
    effect = last.actions[-1] if len(last.actions) == 1 else None
    found = _CORRECTED.match(one_sentence(text))
    if effect is None or found is None:
        return None
    now, said = alarms.now(), found["time"]
    match effect.call.name:
        case "start_timer":
            return _timer(effect, said, now)
        case "set_alarm" | "set_reminder":
            known = {alarm.id for alarm in last.clocks.alarms}
            new = [alarm for alarm in last.clocks_after.alarms if alarm.id not in known]
            when = _moment(said, new[0], alarms) if len(new) == 1 else ""
            return _with(effect, {**effect.arguments, "time": when}) if when else None
        case _:
            return None


def _timer(effect: Effect, said: str, now: datetime) -> ToolCall | None:
    expression = _parsed(f"in {said}", now)
    if expression is None or not expression.in_s:
        return None
    minutes, seconds = divmod(round(expression.in_s), 60)
    length = dict(zip(_LENGTHS, (minutes // 60, minutes % 60, seconds), strict=True))
    kept = {slot: value for slot, value in effect.arguments.items() if slot not in _LENGTHS}
    return _with(effect, kept | {unit: count for unit, count in length.items() if count})


def _moment(said: str, alarm: Alarm, alarms: Alarms) -> str:
    """The new time as the tool reads it: what was not said stays as it was; "" if there is none."""
    now = alarms.now()
    if alarm.repeat or alarm.sun:
        return ""
    meant = alarm.meant(alarms.zone)
    if _LACKS_HOUR.search(said):
        said = f"{said} {clock_time(meant.replace(minute=0))}"
    expression = _parsed(said, now)
    if expression is None or expression.repeat or expression.sun:
        return ""
    if expression.in_s is not None or (expression.dates and expression.has_time):
        return said
    if expression.has_time:
        times = [_at(meant, minute) for minute in expression.minutes]
        ahead = [when for when in times if when.timestamp() > now.timestamp()]
        return moment_phrase(min(ahead, key=lambda when: abs(when - meant)), now) if ahead else said
    if expression.dates:
        return moment_phrase(_on(expression.dates[0], meant), now)
    return ""


def _at(day: datetime, minute: int) -> datetime:
    return day.replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(minutes=minute)


def _on(day: date, time: datetime) -> datetime:
    return time.replace(year=day.year, month=day.month, day=day.day)


def _parsed(said: str, now: datetime) -> TimeExpression | None:
    try:
        return parse_time(said, now)
    except (InvalidTime, PastTime):
        return None


def _with(effect: Effect, arguments: dict[str, object]) -> ToolCall:
    return ToolCall("", effect.call.name, json.dumps(arguments, ensure_ascii=False))
