"""Separates a command from its time: "at ten every weekday", "half an hour before sunset", "for ten minutes"."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import datetime

from edgevox.core.languages import duration
from edgevox.core.words import word_set
from edgevox.home.alarms.sun import NoLocation, SunTimes
from edgevox.home.alarms.time_expression import PastTime, TimeExpression, When
from edgevox.home.alarms.time_parser import InvalidTime, parse_time
from edgevox.home.alarms.time_phrasing import moment_phrase, repeat_phrase, sun_phrase
from edgevox.home.alarms.timers import MAX_TIMER_S
from edgevox.home.entities import HomeError
from edgevox.home.intents.relative import POLITE, pattern

ACTIONS = (
    r"(?:turn|switch|shut|close|open|lock|unlock|dim|brighten|set|make|put|start|stop|run|pause|resume|mute|unmute|"
    r"mow|vacuum|clean|hoover|lower|raise|kill|leave|keep|activate|deactivate|enable|disable|power|light|cut)"
)
LEADS_WITH_ACTION = pattern(rf"^{POLITE}{ACTIONS}\b")

_TIME_STARTS = word_set("in at on for after by tomorrow tonight today this next every each daily weekdays later")
_LENGTH_STARTS = word_set("for until till")
_IDIOM = pattern(r"for (?:a|one|just a) (?:second|sec|moment|bit|while|change|start)$")
_SUN_WORDS = r"(?:sun ?(?:set|rise|down|up)|dusk|dawn|nightfall|daybreak)"
NAMES_SUN = pattern(rf"\b(?:at|before|after|around|until|till|by|from) (?:the )?{_SUN_WORDS}\b")
# Repetitions that are no days of the week, and would be ignored otherwise.
OTHER_REPEAT = pattern(
    r"\b(?:every|each) (?:(?:other|second|third|few|half|couple of|half an|\d+|two|three|four|five|six|eight|ten|"
    r"twelve|fifteen|twenty|thirty|forty) )?(?:minute|hour|month|year|fortnight)s?\b|"
    r"\b(?:every|each) (?:other|second|third|few|couple of|\d+|two|three|four|five|six) (?:day|night|week|evening|"
    r"morning|\w+day)s?\b|\b(?:hourly|monthly|once an? (?:hour|month))\b"
)
_BARE_VALUE = pattern(rf"^{POLITE}(?:set|dim|put|lower|raise|make|run|keep)\b(?!.*\b(?:to|on|off)\b)")
_HAS_UNIT = pattern(r"\b(?:am|pm|a\.m|p\.m|o'clock|noon|midnight|half|quarter|past|minutes?|hours?)\b|\d:\d")

_NO_REPEAT = "I can repeat that on days of the week only, so I left everything as it is."
_WHAT_TIME = "Please say that again with a time of day; I left everything as it is."
_WHICH_SUN_TIME = "I am not sure when that is. Please say it as at sunset, or half an hour before sunset."


@dataclass(frozen=True, slots=True)
class TimeClause:
    """A command without its time: to run in `in_s`, or at the repeating or distant time `schedule`.

    `when` is the time in words for the answer. `problem` says why the command must not be run.
    """

    command: str
    in_s: int | None = None
    schedule: str = ""
    when: str = ""
    problem: str = ""


def split_time(text: str, now: datetime, sun_times: SunTimes) -> TimeClause:
    """The command without the time at its end, at its beginning, or at both: "every evening close the blinds at 8"."""
    if OTHER_REPEAT.search(text):
        return TimeClause(OTHER_REPEAT.sub("", text).strip(" ,"), problem=_NO_REPEAT)
    try:
        if NAMES_SUN.search(text):
            return _split_sun_time(text, now, sun_times)
        for command, said, expression in _times(text, now):
            for rest, more in _splits(command, _TIME_STARTS):
                both = _parsed(f"{more} {said}", now) if LEADS_WITH_ACTION.match(rest) and _parsed(more, now) else None
                if both and both.has_time:
                    return _clause(rest, f"{more} {said}", both, now, sun_times)
            return _clause(command, said, expression, now, sun_times)
    except (PastTime, NoLocation) as error:
        return TimeClause(text, problem=error.message)
    return TimeClause(text)


def split_length(text: str, now: datetime, sun_times: SunTimes) -> tuple[str, int, str] | None:
    """The command without "for ten minutes" or "until nine", the seconds until then, and these words."""
    for command, said in _splits(text, _LENGTH_STARTS):
        first, _, rest = said.partition(" ")
        if _IDIOM.match(said) or (first.casefold() == "for" and _BARE_VALUE.match(command)):
            continue  # "for a moment", "set the time her for ten minutes"
        try:
            expression = parse_time(rest, now)
            when = expression.when(now, "reminder", sun_times)
        except HomeError:
            continue
        if expression.in_s is None if first.casefold() == "for" else not expression.has_time:
            continue  # "for the night"
        return command, seconds_until(when, now), said
    return None


def seconds_until(when: When, now: datetime) -> int:
    return max(1, round(when.at.timestamp() - now.timestamp()))


def _times(text: str, now: datetime) -> Iterator[tuple[str, str, TimeExpression]]:
    for command, said in _splits(text, _TIME_STARTS):
        first = said.split()[0].casefold()
        if _BARE_VALUE.match(command) and first == "at" and not _HAS_UNIT.search(said):
            continue  # "set the thermostat at twenty"
        if (expression := _parsed(said.removeprefix("after "), now)) is None:
            continue
        if first == "for" and (expression.in_s is not None or not expression.has_time):
            continue  # a length, or "for the night"
        yield command, said, expression


def _split_sun_time(text: str, now: datetime, sun_times: SunTimes) -> TimeClause:
    for command, said in _splits(text, None):
        if LEADS_WITH_ACTION.match(command) and (expression := _parsed(said, now)) and expression.sun:
            return _clause(command, said, expression, now, sun_times)
    sun_times.location()
    return TimeClause(text, problem=_WHICH_SUN_TIME)


def _parsed(said: str, now: datetime) -> TimeExpression | None:
    """Raises PastTime."""
    try:
        return parse_time(said, now)
    except InvalidTime:
        return None


def _clause(command: str, said: str, expression: TimeExpression, now: datetime, sun_times: SunTimes) -> TimeClause:
    """Raises PastTime and NoLocation."""
    if not expression.has_time:
        return TimeClause(command, problem=_WHAT_TIME)
    when = expression.when(now, "schedule", sun_times)
    in_s = seconds_until(when, now)
    if when.repeat:
        at = sun_phrase(when.sun, when.repeat) if when.sun else f"at {repeat_phrase(when.at, when.repeat)}"
        return TimeClause(command, schedule=said, when=at)
    if when.in_s is not None:
        at = f"in {duration(when.in_s)}"
    else:
        at = f"at {moment_phrase(when.at, now)}"
        at = f"{sun_phrase(when.sun)}, {at}," if when.sun else at
    return TimeClause(command, schedule=said, when=at) if in_s > MAX_TIMER_S else TimeClause(command, in_s, "", at)


def _splits(text: str, starts: Collection[str] | None) -> Iterator[tuple[str, str]]:
    """Every way to read a text as a command and a clause that begins with one of these words; None for any word."""
    words, plain = text.split(), [*text.casefold().split(), ""]
    for start in range(1, len(words)):
        # "the lamp on at eight" is on; "for tonight" begins now.
        is_other = starts is not None and (
            (plain[start] == "on" and plain[start + 1] in starts) or plain[start - 1] == "for"
        )
        if (starts is None or plain[start] in starts) and not is_other:
            yield " ".join(words[:start]).rstrip(","), " ".join(words[start:])
    for end in range(len(words) - 1, 0, -1) if starts is None or plain[0] in starts else ():
        command = " ".join(words[end:])
        if LEADS_WITH_ACTION.match(command):
            yield command, " ".join(words[:end]).rstrip(",")
