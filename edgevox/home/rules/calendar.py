"""Reads questions about the calendar, and requests to write an event into it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from datetime import datetime

from edgevox.core.types import Message, ToolCall
from edgevox.core.words import WEEKDAYS, word_set
from edgevox.home.alarms.time_expression import PastTime
from edgevox.home.alarms.time_tokens import MONTH_NUMBERS
from edgevox.home.calendar.answers import find_titled, parse_asked_time, parse_event
from edgevox.home.entities import Calendar, HomeError
from edgevox.home.grammar import Calls, pattern, tool_call

READS, ADDS = "calendar_get_events", "calendar_create_event"
NO_CHANGES = "I can read your calendar and add to it, but not change or delete what is there."

_OWN = r"(?:my|the|our|this|that)"
_NO_NAME = r"(?!(?:google|online|personal|whole|entire) )"
_CALENDAR = (
    rf"(?:{_OWN} {_NO_NAME}(?P<calendar>[\w']+(?: [\w']+)?) calendar"
    rf"|(?:{_OWN} |a )?(?:google |online |personal )?calendar|(?:my|our) (?:agenda|diary|planner|schedule))"
)

# --- reading

# A question with one of these words is about the calendar if all its other words are a time or fillers.
_SUBJECT = pattern(r"\b(?:calendar|agenda|diary|events?|appointments?|meetings?|(?:my|our) (?:schedule|plans))\b")
_NAMED = pattern(rf"\b{_OWN} {_NO_NAME}(?P<calendar>[\w']+(?: [\w']+)?) calendar\b")
_ASKS = pattern(
    r"^(?:what|what's|which|do|does|is|are|any|have|how|how's|show|tell|list|give|read|check|search|find|open|display|see"
    r"|let me know|let me see|upcoming|my|our|calendar|look)\b"
)
_ON_LIST = pattern(r"\bon (?:my|the|our|a) (?:\w+ )?list\b")
_ONE = pattern(r"\b(?:have|got|there) an? |\bnext (?=events?\b|appointments?\b|meetings?\b)")
_FILLERS = word_set(
    "what what's whats which is are there any all else my the our me us i we do does have has got on in of for to from "
    "out at up see show tell give read check search find open display look looks looking like let know list how how's "
    "upcoming coming scheduled schedule planned going happening due booked set lined about time calendar agenda diary "
    "google online personal event events appointment appointments meeting meetings entry entries plans anything "
    "something many other"
)
_NEXT = pattern(
    r"\bnext (?:event|appointment|meeting)|^(?:do (?:i|we) have|have (?:i|we) got|(?:are|is) there) any\b|\bupcoming\b"
)
_NEXT_IN_CALENDAR = pattern(rf"^what(?:'s| is) (?:next|the next thing)(?: up)? (?:on|in) {_CALENDAR}$")
# Questions that name no calendar and no event: of these the day must be said.
_GOING_ON = r"(?: (?:on|planned|scheduled|coming up|going on|happening|due|booked|lined up))*"
_READ_DAY = tuple(
    map(
        pattern,
        (
            rf"^(?:do|have) (?:i|we) (?:have |got )?(?:anything|something|much){_GOING_ON} (?P<day>.+)$",
            rf"^is there (?:anything|something){_GOING_ON} (?P<day>.+)$",
            rf"^what (?:do|have) (?:i|we) (?:have|got){_GOING_ON} (?P<day>.+)$",
            r"^what(?:'s| is) (?:my|our) (?:plan|day)(?: looking| like)*(?: for)? (?P<day>.+)$",
            r"^(?:am i|are we) (?:free|busy|available|booked)(?: for anything)? (?P<day>.+)$",
        ),
    )
)

# --- asking when

_APPOINTMENT = r"(?:appointment|meeting|event)"
_ANY_APPOINTMENT = pattern(rf"\b{_APPOINTMENT}\b")
_WITH = r"(?P<rest> with [\w' -]+?)?"
_WHEN = tuple(
    map(
        pattern,
        (
            rf"^(?:when|what time|at what time|what day)(?:'s| is| are) (?:my|the|our) (?:(?P<next>next )?"
            rf"(?P<title>{_APPOINTMENT})|(?:next )?(?P<named>[\w' -]+?)(?P<kind> {_APPOINTMENT})?){_WITH}"
            rf"(?: (?:on|in) {_CALENDAR})?(?: on| at)?$",
            rf"^(?:when|what time|what day) do (?:i|we) have (?:my |the |an? )?(?P<named>[\w' -]+?)"
            rf"(?P<kind> {_APPOINTMENT})?{_WITH}(?: (?:on|in) {_CALENDAR})?$",
            rf"^(?:do|have) (?:i|we) (?:have |got )?an? (?:(?P<named>[\w' -]+?) )?(?P<kind>{_APPOINTMENT}){_WITH}"
            r"(?: (?P<day>(?!with\b).+))?$",
        ),
    )
)

# --- adding

_WRITE = r"(?:add|put|enter|write|insert|save|note|include|place|pencil in|pencil|create|schedule|book|make)"
_INTO = r"(?:to|on|in|into|onto|for)"
_ADD = tuple(
    map(
        pattern,
        (
            rf"^{_WRITE} (?P<title>.+?),? {_INTO} {_CALENDAR}(?:,? (?P<time>.+))?$",
            rf"^{_WRITE} {_INTO} {_CALENDAR}[,:]? (?:that )?(?:i have )?(?P<title>.+)$",
            r"^(?:i|we)(?:'ve| have)? (?:got|have) (?P<title>.+?),? (?:so |and )?(?:please )?(?:add|put|write|enter) "
            rf"(?:it|that|this) {_INTO} {_CALENDAR}$",
            r"^(?:schedule|book|plan|set up|create|make|add|arrange|put in|enter)(?: me)? (?:an? |the |my )?(?:new )?"
            r"(?P<title>(?:(?:[\w']+ ){0,2}(?:appointment|meeting)|(?:calendar )?(?:event|entry))\b.*)$",
        ),
    )
)
_CALLED = pattern(
    r"^(?:an? |the |new )*(?:calendar )?(?:event|entry|appointment|meeting)(?P<time> .+?)? "
    r"(?:called|named|titled|with the (?:name|title)(?: of)?) (?P<title>.+)$"
)
_LEADING_KIND = pattern(r"^(?:calendar )?event (?!(?:with|for|at|in|on|to|about|of)\b)(?=\w)")
_NO_TITLE = pattern(r"(?:calendar )?(?:events?|entry|items?|something|it|this|that|them|these)?")
_ARTICLE = pattern(r"^(?:an?|the|my|our|new) ")
_LAST_PREPOSITION = pattern(r"(?:,| (?:to|for|on|at|in|from))+$")
_TIME_STARTS = word_set("at on for in tomorrow today tonight this next every each from between") | {
    *(form for day in WEEKDAYS for form in (day.casefold(), f"{day.casefold()}s")),
    *MONTH_NUMBERS,
}
_CLOCK = pattern(r"^[\w:]+(?: \w+)? (?:am|pm|a\.m|p\.m|o'clock)\b|^\d+:\d\d\b|^(?:noon|midnight)\b")
_FOR_SOME = pattern(r"^for \w+$(?<!day)(?<!tomorrow)(?<!tonight)(?<!noon)")  # "a table for two"

# --- what is not for here

# Other things that are written down, or done, at a time.
_OTHER_SUBJECT = pattern(
    r"\b(?:lists?|timers?|alarms?|remind|reminders?|remember|playlist|contacts?|emails?|lights?|lamps?|everything)\b"
    r"|\bto (?:turn|switch|open|close|lock|unlock|play|dim)\b|\b(?:and|then) (?:turn|switch|open|close|play|set)\b"
)
_CHANGE = pattern(
    r"^(?:delete|remove|cancel|clear|erase|move|reschedule|change|edit|take|drop|wipe|empty|postpone|get rid of)\b.*"
    r"\b(?:calendar|appointments?|meetings?|events?)\b"
)


async def parse(text: str, calendars: Sequence[Calendar], now: datetime) -> Calls:
    """The call of a request, or none."""
    return _reading(text, calendars, now) or _adding(text, now) or await _asking_when(text, calendars, now)


def wants_change(text: str) -> bool:
    """Whether a request changes or deletes what is in a calendar."""
    return _CHANGE.match(text) is not None and not _OTHER_SUBJECT.search(text)


def continued(text: str, past: Sequence[Message], now: datetime) -> Calls:
    """The call of the turn before with the time that it lacked: the answer to "For when?"."""
    last = next((message for message in reversed(past) if message.tool_calls or message.role == "user"), None)
    if last is None or len(last.tool_calls) != 1 or last.tool_calls[0].name != ADDS:
        return ()
    given = json.loads(last.tool_calls[0].arguments)
    if given.get("time") or not given.get("title") or not _is_time(text, now):
        return ()
    return (ToolCall("", ADDS, json.dumps({**given, "time": text}, ensure_ascii=False)),)


def _reading(text: str, calendars: Sequence[Calendar], now: datetime) -> Calls:
    if found := _NEXT_IN_CALENDAR.match(text):
        return (tool_call(READS, **_said(calendar=found["calendar"])),)
    if _ASKS.match(text) and _SUBJECT.search(text) and not _ON_LIST.search(text):
        named = _NAMED.search(text)
        rest = text if named is None else f"{text[: named.start()]} {text[named.end() :]}"
        words = _ONE.sub(" ", rest).casefold().replace(",", "").split()
        day = " ".join(word for word in words if word not in _FILLERS)
        if not day:
            day = "" if _NEXT.search(text) else "this week"
        elif not parse_asked_time(day, now):
            return ()
        return (tool_call(READS, **_said(day=day, calendar=named and named["calendar"])),)
    # Without a calendar, "what do I have tomorrow" may be about reminders.
    for form in _READ_DAY if calendars else ():
        if (found := form.match(text)) and parse_asked_time(found["day"], now):
            return (tool_call(READS, day=found["day"]),)
    return ()


async def _asking_when(text: str, calendars: Sequence[Calendar], now: datetime) -> Calls:
    """A question for the time of an event: of one that is called so, or of any appointment."""
    for form in _WHEN:
        if not (found := form.match(text)):
            continue
        parts = found.groupdict()
        if parts.get("next") and not parts["rest"]:
            return (tool_call(READS),)
        title = f"{parts.get('title') or parts['named'] or ''}{parts['rest'] or ''}".strip()
        slots = _said(title=title, day=parts.get("day"), calendar=parts.get("calendar"))
        has_other_words = _ANY_APPOINTMENT.search(parts["named"] or "") is not None
        if has_other_words or (parts.get("day") and not parse_asked_time(parts["day"], now)):
            continue
        try:
            if _SUBJECT.search(text) or (calendars and await find_titled(calendars, title, now)):
                return (tool_call(READS, **slots),)
        except HomeError:
            return ()
    return ()


def _adding(text: str, now: datetime) -> Calls:
    for command, lead in _without_leading_time(text, now):
        for form in _ADD:
            if not (found := form.match(command)) or _OTHER_SUBJECT.search(found["title"]):
                continue
            parts = found.groupdict()
            title, inner = _split_title(_as_title(parts["title"]), now)
            said = " ".join(filter(None, (lead, inner, parts.get("time"))))
            if said and not _is_time(said, now):
                continue
            title = _ARTICLE.sub("", title).strip(" ,")
            title = "" if _NO_TITLE.fullmatch(title) else title[:1].upper() + title[1:]
            return (tool_call(ADDS, title=title, **_said(time=said, calendar=parts.get("calendar"))),)
    return ()


def _without_leading_time(text: str, now: datetime) -> Iterator[tuple[str, str]]:
    """The text as it is, then without each time that it may begin with."""
    yield text, ""
    words = text.split()
    if words and words[0].casefold().strip(",") in _TIME_STARTS:
        for end in range(len(words) - 2, 0, -1):
            said = " ".join(words[:end]).rstrip(",")
            if _is_time(said, now):
                yield " ".join(words[end:]), said


def _as_title(said: str) -> str:
    """What an event is called, with its time behind it."""
    called = _CALLED.match(said)
    return f"{called['title']}{called['time'] or ''}" if called else _LEADING_KIND.sub("", said)


def _split_title(said: str, now: datetime) -> tuple[str, str]:
    """A title, and the time at its end."""
    words = said.split()
    for start in range(1, len(words)):
        time = " ".join(words[start:])
        is_start = words[start].casefold() in _TIME_STARTS or _CLOCK.match(time)
        if is_start and not _FOR_SOME.match(time) and _is_time(time, now):
            return _LAST_PREPOSITION.sub("", " ".join(words[:start])), time
    return said, ""


def _is_time(said: str, now: datetime) -> bool:
    try:
        parse_event("", said, now)
    except PastTime:
        return True  # the tool says that it is over
    except HomeError:
        return False
    return True


def _said(**slots: str | None) -> dict[str, str]:
    return {slot: value for slot, value in slots.items() if value}
