"""Separates a command from its time: "at ten every weekday", "half an hour before sunset", "for ten minutes"."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import datetime

from edgevox.core.languages import duration
from edgevox.core.words import WEEKDAYS, word_set
from edgevox.home.alarms.sun import NoLocation, SunTimes
from edgevox.home.alarms.time_expression import PastTime, TimeExpression, When
from edgevox.home.alarms.time_parser import InvalidTime, parse_time
from edgevox.home.alarms.time_phrasing import moment_phrase, repeat_phrase, sun_phrase
from edgevox.home.alarms.timers import MAX_TIMER_S
from edgevox.home.clauses.imperative import as_imperative, runs_for
from edgevox.home.entities import HomeError
from edgevox.home.grammar import ACTIONS, LEADS_WITH_ACTION, NUMBER, POLITE, pattern

_TIME_STARTS = word_set("in at on for after by tomorrow tonight today this next every each daily weekdays later")
# "Night light down to five" and "morning, open the curtains" begin with no time.
_LEADING_STARTS = _TIME_STARTS | {
    *(form for day in WEEKDAYS for form in (day.casefold(), f"{day.casefold()}s")),
    *("mornings", "evenings", "nights"),
}
_MIDDLE_STARTS = word_set("in at after tomorrow tonight every each")
# What follows a time in the middle of a command.
_GOES_ON = pattern(rf"^(?:the|my|our|all|on|off|open|closed|shut|{ACTIONS})\b")
_LATER = pattern(r"\blater$")
_FROM_NOW = pattern(r"\b(?:from now|later)$")
_ARTICLES = word_set("the my our all a an")
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
_SUN_SETS = r"(?:sun (?:goes|is|has gone) down|sun (?:sets|has set)|light goes)"
_SUN_RISES = r"(?:sun (?:comes|is|has come|goes) up|sun (?:rises|has risen))"
_DARK = r"it(?:'s| is| gets| has got(?:ten)?| becomes| starts getting)(?: too| really)? dark(?: out(?:side)?)?"
_LIGHT = r"it(?:'s| is| gets| becomes)(?: day)? ?light(?: out(?:side)?)?"
_AT = r"(?:at the (?:time|moment) (?:that )?|when|once|as soon as|the moment|by the time|at)"
_SUN_SPELLINGS = tuple(
    (pattern(rf"\b{start}(?:the )?{event}\b"), f"{time}{name}")
    for event, name in ((_SUN_SETS, "sunset"), (_SUN_RISES, "sunrise"), (_DARK, "dusk"), (_LIGHT, "dawn"))
    for start, time in (
        (r"(?:whenever|every time|each time|every day when) ", "every day at "),
        (rf"{_AT} ", "at "),
        (r"(?<=before )", ""),
        (r"(?<=after )", ""),
        (r"(?<=until )", ""),
        (r"(?<=till )", ""),
    )
)
# "When it's half ten" is a time of day; "when it's ten degrees" is not.
_CLOCK_SHOWS = pattern(
    r"\b(?:when|once|as soon as) (?:it(?:'s| is| gets to| turns| strikes)|the clock (?:strikes|says|shows|hits)) "
    rf"(?=(?:half|quarter|noon|midnight|{NUMBER})\b(?!.*\b(?:degrees?|percent)\b))"
)
_BARE_VALUE = pattern(
    rf"^{POLITE}(?:set|dim|put|lower|raise|make(?! sure)|run|keep)\b(?!.*\b(?:to|on|off|by|percent)\b)"
)
_HAS_UNIT = pattern(r"\b(?:am|pm|a\.m|p\.m|o'clock|noon|midnight|half|quarter|past|minutes?|hours?)\b|\d:\d")

# "by ten" after these is an amount.
_STEP_VERB = pattern(
    rf"^{POLITE}(?:raise|lower|dim|brighten|increase|decrease|reduce|boost|drop|cut|(?:turn|bring|put|take|set)\b.* "
    r"(?:up|down)\b|(?:turn|bring|make)\b.*\b\w+er\b|(?:open|close)\b.*\bmore\b)"
)
_SOME_TIME = (
    r"(?:at some (?:point|stage|time)|some ?time(?: later| soon)?|sooner or later|eventually|one of these days|"
    r"(?:a (?:bit|little) )?later(?: on)?|soon|in a (?:little |short )?(?:bit|while))"
    r"(?: today| tonight| tomorrow| this (?:morning|afternoon|evening|week))?"
)
_VAGUE = (pattern(rf"^(?P<command>.+?),? {_SOME_TIME}$"), pattern(rf"^{_SOME_TIME},? (?P<command>.+)$"))
_WAIT = pattern(
    rf"^{POLITE}(?:give it|wait(?: for)?|leave it|allow) (?:another )?(?P<length>.+?),? (?:and then|and|then|"
    rf"before you) "
    rf"(?P<command>{ACTIONS}\b.+)$"
)

# The half of the day of a repeated hour without am or pm, by what is done.
_EVENING_ACT = pattern(r"\b(?:off|out|lock|close|shut|dim|lower|lights?|lamps?|night|bed)\b")
_MORNING_ACT = pattern(r"\b(?:open|unlock|raise|wake)\b")
_EARLIEST_ACT = 4 * 60
_DAY_STARTS = 7 * 60

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


def names_sun(text: str) -> bool:
    """Whether a text names a time of the sun, also in words such as "when it gets dark"."""
    return NAMES_SUN.search(_with_sun_times(text)) is not None


def _with_sun_times(text: str) -> str:
    for form, spelled in _SUN_SPELLINGS:
        text = form.sub(spelled, text)
    return _CLOCK_SHOWS.sub("at ", text)


def split_time(text: str, now: datetime, sun_times: SunTimes) -> TimeClause:
    """The command without the time at its end, at its beginning, or at both: "every evening close the blinds at 8"."""
    said_text, text = text, _with_sun_times(text)
    if waited := _WAIT.match(text):
        text = f"{waited['command']} in {waited['length']}" if _parsed(f"in {waited['length']}", now) else text
    if OTHER_REPEAT.search(text):
        return TimeClause(OTHER_REPEAT.sub("", text).strip(" ,"), problem=_NO_REPEAT)
    try:
        if NAMES_SUN.search(text):
            return _split_sun_time(text, now, sun_times)
        for command, said, expression in _times(text, now):
            if not as_imperative(command) and any(as_imperative(rest) for rest, _, _ in _times(text, now)):
                continue
            for rest, more in _splits(command, _TIME_STARTS):
                both = _parsed(f"{more} {said}", now) if LEADS_WITH_ACTION.match(rest) and _parsed(more, now) else None
                if both and both.has_time:
                    return _clause(rest, f"{more} {said}", both, now, sun_times)
            return _clause(command, said, expression, now, sun_times)
    except (PastTime, NoLocation) as error:
        return TimeClause(text, problem=error.message)
    for form in _VAGUE:
        if (vague := form.match(text)) and as_imperative(vague["command"]):
            return TimeClause(as_imperative(vague["command"]), problem=_WHAT_TIME)
    return TimeClause(said_text)


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
        return runs_for(command) or as_imperative(command) or command, seconds_until(when, now), said
    return None


def seconds_until(when: When, now: datetime) -> int:
    return max(1, round(when.at.timestamp() - now.timestamp()))


def _times(text: str, now: datetime) -> Iterator[tuple[str, str, TimeExpression]]:
    ends = tuple(_splits(text, _TIME_STARTS))
    for place, (command, said) in enumerate((*ends, *_middles(text))):
        first = said.split()[0].casefold()
        value_verb = {"at": _BARE_VALUE, "by": _STEP_VERB}.get(first)
        if value_verb and value_verb.match(command) and not _HAS_UNIT.search(said):
            continue  # "set the thermostat at twenty", "raise the lamp by ten"
        if (expression := _parsed(_LATER.sub("from now", said.removeprefix("after ")), now)) is None:
            continue
        if place >= len(ends) and not (expression.has_time and _HAS_UNIT.search(said)):
            continue  # "light at twenty five percent"
        if first == "for" and (expression.in_s is not None or not expression.has_time):
            continue  # a length, or "for the night"
        yield command, said, expression


def _split_sun_time(text: str, now: datetime, sun_times: SunTimes) -> TimeClause:
    for command, said in (*_splits(text, None), *_middles(text)):
        if as_imperative(command) and (expression := _parsed(said, now)) and expression.sun:
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
    command = as_imperative(command) or command
    if not expression.has_time:
        return TimeClause(command, problem=_WHAT_TIME)
    if expression.repeat and (half := _half_of_day(command, expression)):
        said = f"{said} {half}"
        expression = parse_time(said, now)
    try:
        when = expression.when(now, "schedule", sun_times)
    except (PastTime, NoLocation) as error:
        return TimeClause(command, problem=error.message)
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
        is_start = starts is None or plain[start] in starts
        if (is_start or (starts is _TIME_STARTS and _FROM_NOW.search(text))) and not is_other:
            yield " ".join(words[:start]).rstrip(","), " ".join(words[start:])
    for end in range(len(words) - 1, 0, -1):
        command, said = " ".join(words[end:]), " ".join(words[:end]).rstrip(",:")
        may_lead = starts is None or plain[0] in starts or (starts is _TIME_STARTS and _may_lead(said))
        if may_lead and plain[end - 1] not in _ARTICLES and as_imperative(command):
            yield command, said


def _middles(text: str) -> Iterator[tuple[str, str]]:
    """Every way to take words out of the middle, the longest first: "turn the lamp in ten minutes off"."""
    words, plain = text.split(), text.casefold().split()
    for start in range(1, len(words) - 1):
        if plain[start] not in _MIDDLE_STARTS:
            continue
        for end in range(len(words) - 1, start + 1, -1):
            if not _GOES_ON.match(" ".join(words[end:])):
                continue
            command = f"{' '.join(words[:start]).rstrip(',')} {' '.join(words[end:])}"
            if as_imperative(command):
                yield command, " ".join(words[start:end]).rstrip(",")


def _may_lead(said: str) -> bool:
    starts = said.split()[0].casefold().rstrip(",:") in _LEADING_STARTS
    return starts or any(form.search(said) for form in (_FROM_NOW, _HAS_UNIT))


def _half_of_day(command: str, expression: TimeExpression) -> str:
    """Am or pm for a repeated hour that was said without: evening for what ends a day, else the hours of the day."""
    early = expression.minutes[0] if len(expression.minutes) == 2 else 0
    if early < _EARLIEST_ACT:
        return ""
    if _MORNING_ACT.search(command):
        return "am"
    return "pm" if early < _DAY_STARTS or _EVENING_ACT.search(command) else "am"
