"""The time in other places: "what time is it in London", "how far ahead is Tokyo", "3 pm here is when in New York"."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, timedelta, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from edgevox.core.languages import capitalized, counted, listed
from edgevox.core.words import MONTHS, NUMBER_WORDS, WEEKDAYS
from edgevox.tools.builtin.knowledge.numbers import NumberTooLong, Tokens, take_number
from edgevox.tools.builtin.knowledge.places import find_place
from edgevox.tools.builtin.knowledge.question import NoAnswer, Reading, first_match, pattern, plain_question

HERE = "here"
_HERE_WORDS = (
    "here", "home", "our time", "my time", "local time", "this place", "where i am", "my location", "my place",
    "our place",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class ClockTime:
    """A time of day as it was said; `is_certain` when it is clear which half of the day is meant."""

    minutes: int
    is_certain: bool = True

    @property
    def text(self) -> str:
        hour, minute = divmod(self.minutes, 60)
        if self.is_certain:
            return day_time(hour, minute)
        return f"{hour % 12 or 12}:{minute:02}"


def day_time(hour: int, minute: int) -> str:
    """ "9:14 in the evening", "noon"."""
    if minute == 0 and hour in (0, 12):
        return "noon" if hour else "midnight"
    if hour < 12:
        part = "at night" if hour < 5 else "in the morning"
    else:
        part = "in the afternoon" if hour < 18 else "in the evening" if hour < 22 else "at night"
    return f"{hour % 12 or 12}:{minute:02} {part}"


def day_text(day: date) -> str:
    """ "Wednesday, November 18"."""
    return f"{WEEKDAYS[day.weekday()]}, {MONTHS[day.month - 1]} {day.day}"


def spoken_time(place: str, now: datetime, *, asks_date: bool = False) -> str:
    """The sentence for the time in a place. Raises NoAnswer."""
    there, zone = _zone(place, now)
    when = now.astimezone(zone)
    if asks_date:
        return f"In {there} it is {day_text(when.date())}."
    days = (when.date() - now.date()).days
    day = {0: "", 1: " tomorrow", -1: " yesterday"}.get(days, "")
    on = f", {WEEKDAYS[when.weekday()]}" if day else ""
    return f"In {there} it is {day_time(when.hour, when.minute)}{on}."


def spoken_same_time(at: str, place: str, to: str, now: datetime) -> str:
    """The sentence for a time in one place as it is in another. Raises NoAnswer."""
    clock = read_clock(at)
    if clock is None:
        raise NoAnswer(f"I do not know what time “{at[:40]}” is.")
    first, zone = _zone(place, now)
    second, other = _zone(to, now)
    hour, minute = divmod(clock.minutes, 60)
    start = now.astimezone(zone).replace(hour=hour, minute=minute, second=0, microsecond=0)
    end = start.astimezone(other)
    text = ClockTime(end.hour * 60 + end.minute, clock.is_certain).text
    days = (end.date() - start.date()).days
    day = (
        {1: " on the next day", -1: " on the day before"}.get(days, "")
        if clock.is_certain and text != "midnight"
        else ""
    )
    return f"When it is {clock.text} {_at(first)}, it is {text}{day} {_at(second)}."


def _at(place: str) -> str:
    return place if place == HERE else f"in {place}"


def spoken_difference(place: str, other: str, now: datetime) -> str:
    """The sentence for the hours between two places. Raises NoAnswer."""
    first, zone = _zone(place, now)
    second, base = _zone(other, now)
    minutes = int(((zone.utcoffset(now) or timedelta()) - (base.utcoffset(now) or timedelta())).total_seconds()) // 60
    name = first if first != HERE else "it"
    if not minutes:
        return f"{capitalized(first)} and {second} have the same time."
    hours, rest = divmod(abs(minutes), 60)
    parts = [counted(count, noun) for count, noun in ((hours, "hour"), (rest, "minute")) if count]
    direction = "ahead of" if minutes > 0 else "behind"
    if name == "it":
        return f"It is {listed(parts, 'and')} {'later' if minutes > 0 else 'earlier'} here than in {second}."
    end = f"{direction} {second}" if second != HERE else {"ahead of": "ahead of us", "behind": "behind us"}[direction]
    return f"{capitalized(name)} is {listed(parts, 'and')} {end}."


def _zone(said: str, now: datetime) -> tuple[str, tzinfo]:
    if said.strip().casefold() in (HERE, ""):
        assert now.tzinfo is not None
        return HERE, now.tzinfo
    place = find_place(said.casefold())
    if place is None:
        raise NoAnswer(f"I do not know a place called {said[:40].title() if said.islower() else said[:40]}.")
    try:
        return place.name, ZoneInfo(place.zone)
    except ZoneInfoNotFoundError:
        raise NoAnswer(f"I do not know the time zone of {place.name}.") from None


_PARTS = {"in the morning": 0, "at night": 12, "in the evening": 12, "in the afternoon": 12, "tonight": 12}


def read_clock(text: str) -> ClockTime | None:
    """A time of day: "3 pm", "15:30", "half past eight", "nine in the morning"; None for anything else."""
    tokens = Tokens.of(text.replace(".", "").replace("o'clock", ""))
    if tokens.take("noon", "midday"):
        return None if tokens else ClockTime(12 * 60)
    if tokens.take("midnight"):
        return None if tokens else ClockTime(0)
    past = {"half past": 30, "quarter past": 15, "a quarter past": 15, "quarter to": -15, "a quarter to": -15}
    shift = past.get(tokens.take(*past), 0)
    hour, minute = _take_int(tokens), 0
    if hour is None:
        return None
    if tokens.take(":", "oh"):
        minute = _take_int(tokens) or 0
    elif not shift and (found := _take_int(tokens)) is not None:
        minute = found
    half = tokens.take("am", "a m", "pm", "p m", *_PARTS)
    if tokens or hour > 24 or minute > 59 or (half and hour > 12):
        return None
    if half in ("pm", "p m") or _PARTS.get(half):
        hour = hour % 12 + (12 if half != "at night" or hour % 12 >= 5 else 0)
    elif half:
        hour %= 12
    return ClockTime((hour * 60 + minute + shift) % (24 * 60), bool(half) or hour > 12 or hour == 0)


def _take_int(tokens: Tokens) -> int | None:
    start = tokens.at
    try:
        number = take_number(tokens)
    except NumberTooLong:
        return None
    if number is None or number.denominator != 1:
        tokens.at = start
        return None
    return int(number)


_WHAT_TIME = (
    r"(?:(?:what(?:'s| is| was| will be)?|whats|check|report|how)? ?(?:the )?"
    r"(?:current |local |exact |correct |present )?time"
    r"(?: is it| it is| is|'s it| now| right now| of day)*|what hour is it)"
)
_NOW = r"(?: (?:now|right now|just now|time|at present))?"
# Whatever is "time for" or "time at" something need not be a place: "time for bath".
_TIME_FORMS = (
    rf"{_WHAT_TIME} (?:over )?in (?P<place>.+?){_NOW}",
    rf"(?:how late is it|what(?:'s the)? time (?:do|have|are) (?:they|people|folks) ?(?:have|got|at|on)?) (?:over )?in "
    rf"(?P<place>.+?){_NOW}",
    # "My sister lives in Lima, what time is it there?"
    rf".*\b(?:in|from|to|at|of) (?P<place>[^,]+?),? (?:so |and )?what(?:'s the)? time (?:(?:is it|it is|would it "
    rf"be)(?: right)?"
    rf"(?: now)? (?:over )?there|(?:have they|do they)(?: got| have)?){_NOW}",
    rf"(?=what|current|the current|the time){_WHAT_TIME} at (?P<place>.+?){_NOW}",
    r"(?:what(?:'s| is)|whats) (?:the )?(?:current )?(?P<place>.+?)(?:'s)?(?: current| local)? time(?: now)?",
    r"(?:what(?:'s| is) )?(?:the )?(?:time for (?=the .+ time zone)|current time )(?P<place>.+)",
    r"(?P<place>.+?)'s current time",
    r"(?P<place>\w+ \w+) time",
    r"what time is it (?P<place>(?:east|west|central|pacific|mountain|on the ).+?|eastern|pacific|central)",
)
_DATE_FORMS = (
    r"(?:what(?:'s| is)|whats)(?: the)?(?: current| today's)? (?:date|day)(?: today| is it| it is| now)* in "
    r"(?P<place>.+?)",
    r"what (?:date|day|day of the week) is it(?: today| now)? (?:over )?in (?P<place>.+?)",
)
_IT_IS = r"(?:(?:when|if|suppose|say|given(?: that)?|now)? ?(?:it is|it's|its|it was|it will be|the time is))"
_SAME_FORMS = (
    rf"{_IT_IS} (?P<at>.+?) (?:over )?(?:in|(?=on the)) ?(?P<place>.+?),? (?:then )?what(?:'s| is)?(?: the)? time"
    r"(?: is it| would it be| will it be| is that)? ?(?:in )?(?P<to>.+)",
    rf"{_IT_IS} (?P<at>.+?)(?P<place> here)?,? (?:then )?what(?:'s| is)?(?: the)? time"
    r"(?: is it| would it be| will it be| is that)? ?(?:in )?(?P<to>.+)",
    rf"what(?:'s| is)?(?: the)? time(?: is it| would it be| will it be) (?:in )?(?P<to>.+?) {_IT_IS} (?P<at>.+?)(?: "
    rf"in (?P<place>.+))?",
    r"(?:convert|change|what(?:'s| is)|whats) (?P<at>.+?(?: [ap]\.?m\.?| o'clock|noon|midnight))(?: in)? "
    r"(?P<place>.+?)(?: time)? (?:to|in|into) (?P<to>.+)",
    r"(?:what time is )?(?P<at>.+?(?: [ap]\.?m\.?| o'clock|noon|midnight))(?: in)? (?P<place>.+?)(?: time)? "
    r"(?:is (?:what(?: time)?|when) )?in (?P<to>.+?)(?: time)?",
    r"what(?:'s| is)? (?P<at>.+?(?: [ap]\.?m\.?| o'clock|noon|midnight)) (?P<place>here) in (?P<to>.+?)(?: time)?",
)
# The time here is asked for.
_HERE_FORM = (
    rf"{_IT_IS} (?P<at>.+?) (?:over )?in (?P<place>.+?),? (?:then )?what(?:'s| is)?(?: the)? time"
    r"(?: is it| would it be| will it be| is that)?(?: for (?:us|me)| here)?"
)
_DIFFERENCE_FORMS = (
    r"(?:what(?:'s| is)?|whats|how (?:much|big|many hours)|find)? ?(?:is )?(?:the |is the )?(?:time|hours?)(?: "
    r"zone)? ?difference (?:is there |is |are )?(?:between|from) "
    r"(?P<other>.+?) (?:and|to) (?P<place>.+?)(?: is what)?",
    r"how (?:much|many hours) (?:later|earlier) is it in (?P<place>.+?)(?: than (?:in )?(?P<other>.+))?",
    r"how (?:much|many hours) (?:later|earlier) is (?!it)(?P<place>.+?) than (?P<other>.+)",
    r"how many hours (?:of )?difference (?:is|are)(?: there)? between (?P<other>.+?) and (?P<place>.+)",
    r"how (?:many hours|far|much)(?: of a)? (?:difference|time difference) (?:is there )?between (?P<other>.+?) and "
    r"(?P<place>.+)",
    r"how (?:many hours|far|much) (?:ahead|behind) (?:(?:of )?(?P<other>.+?) )?(?:is|are) (?P<place>.+?)",
    r"how (?:many hours|far|much) (?:is|are) (?P<place>.+?) (?:ahead(?: of)?|behind) ?(?P<other>.*?)",
    r"how many hours (?:is|are) (?P<place>.+?) from (?P<other>.+)",
)
# "what time is it in …" these is no question about a place.
_NO_PLACE = (
    r".*\b(?:zones?|other|another|city|place|minutes?|hours?|seconds?|days?|weeks?|morning|evening|afternoon|night|"
    r"format|words|numbers?|military|"
    r"twelve|twenty|total|there|it|that|this|my|our|your|room|house|kitchen|seconds|english|spanish|german|"
    r"french)\b.*|.*\d.*"
)


def read_clock_question(text: str) -> Reading | None:
    """The call that answers a question about the time elsewhere; None for any other text."""
    question = plain_question(text)
    for form in _DIFFERENCE_FORMS:
        if (found := first_match((form,), question)) is None:
            continue
        us = "us" if "difference" in form else HERE  # "how far ahead of us is Tokyo"
        place, other = _place_name(found["place"]), _place_name(found["other"], us)
        if place and other and place != other:
            return Reading("time_difference", {"place": place, "other": other})
    for form in _SAME_FORMS:
        found = first_match((form,), question)
        if found is None or read_clock(found["at"]) is None:
            continue
        place, to = _place_name(found["place"]), _place_name(found["to"])
        if place and to and place != to:
            return Reading("time_in_place", {"place": to, "at": found["at"], "at_place": place})
    found = first_match((_HERE_FORM,), question)
    if found and read_clock(found["at"]) and find_place(found["place"]):
        return Reading("time_in_place", {"place": HERE, "at": found["at"], "at_place": found["place"]})
    if (found := first_match(_DATE_FORMS, question)) and find_place(found["place"]):
        return Reading("time_in_place", {"place": found["place"], "ask": "date"})
    for form in _TIME_FORMS:
        if (found := first_match((form,), question)) is None:
            continue
        if find_place(found["place"]):
            return Reading("time_in_place", {"place": found["place"]})
    return _by_content(question)


# --- any wording: a word for the time, and a known place behind a preposition

_ASKS_TIME = (
    r"\b(?:what(?:'s|s)?|which|is|tell|check|know|how|got)\b.*\b(?:time|clock|o'clock|hour|late|early)\b|"
    r"\b(?:is it|it's|would it be) (?:still |already |now )*(?:\w+ )?(?:late|early|morning|afternoon|evening|night|day|"
    r"daytime|night ?time|midnight|noon|bedtime|dark|light)\b|^(?:the )?(?:local |current )?time\b|\btime(?: now)?$"
)
_ASKS_DIFFERENCE = (
    r"\b(?:time difference|difference in time|hours? difference|hours? (?:ahead|behind|apart|between)|"
    r"(?:ahead|behind) (?:of )?us|time zones? (?:away|apart|difference))\b|\bhow many hours .*\b(?:ahead|behind|from)\b"
)
_OTHER_SUBJECT = (
    r"\b(?:timers?|alarms?|remind\w*|wake|weather|rain\w*|forecast|sun|sunset|sunrise|flights?|trains?|bus|drive|travel|"
    r"get to|arrive|leave|open|close|shops?|news|song|play|movie|film|game|match|meeting|appointment|event|calendar|"
    r"show|party|dinner|lunch|light|lights|lamp|last time|first time|every time|long time|best time|good time|traffic|"
    r"e?mails?|express|messages?|compared|noon in|midnight in|if it)\b|\d"
    rf"|\b(?:{'|'.join(NUMBER_WORDS[2:21])})\b"
)
_BEFORE_PLACE = frozenset({"in", "at", "to", "from", "over", "between", "and", "is", "are", "behind", "than"})
_AFTER_PLACE = frozenset(
    {
        "",
        *[
            "and",
            "to",
            "what",
            "what's",
            "now",
            "right",
            "time",
            "at",
            "this",
            "there",
            "currently",
            "just",
            "is",
            "or",
            "than",
            "here",
            "from",
            "so",
            "how",
            "already",
        ],
    }
)
_MAX_PLACE_WORDS = 3


def _by_content(question: str) -> Reading | None:
    is_difference = pattern(_ASKS_DIFFERENCE).search(question) is not None
    if pattern(_OTHER_SUBJECT).search(question) or not (is_difference or pattern(_ASKS_TIME).search(question)):
        return None
    places = _places_in(question.replace(",", "").replace("'s time", " time").split())
    if is_difference and places:
        if (
            len(places) == 1
            and pattern(r" (?:and|from|than) ").search(question)
            and not pattern(r"\b(?:here|us|me)\b").search(question)
        ):
            return None  # the other place is unknown
        other = places[0] if len(places) > 1 else HERE
        return Reading("time_difference", {"place": places[-1], "other": other})
    return Reading("time_in_place", {"place": places[0]}) if len(places) == 1 and not is_difference else None


def _places_in(words: list[str]) -> list[str]:
    """The known places behind a preposition."""
    found, start = list[str](), 0
    while start < len(words):
        for count in range(min(_MAX_PLACE_WORDS, len(words) - start), 0, -1):
            name = " ".join(words[start : start + count])
            if start == 0 or words[start - 1] not in _BEFORE_PLACE:
                continue
            if (*words[start + count :], "")[0] not in _AFTER_PLACE:
                continue  # "San Paulo" is none that is known
            if first_match((_NO_PLACE,), name) is None and name not in _HERE_WORDS and find_place(name):
                found.append(name)
                start += count - 1
                break
        start += 1
    return found


def asked_place(text: str) -> str:
    """The unknown place whose time is asked for; "" if the sentence asks for something else."""
    found = first_match(_TIME_FORMS[:1], plain_question(text))
    place = found["place"] if found else ""
    return "" if first_match((_NO_PLACE,), place) is not None or len(place.split()) > 4 else place


def _place_name(said: str, us: str = "us") -> str:
    """The place if it is known, "here" for this one, "" otherwise; `us` is the meaning of "us"."""
    plain = pattern(r" times?(?: zones?)?$").sub("", said.strip())
    plain = us if plain == "us" else plain
    if not plain or plain == HERE or plain in _HERE_WORDS:
        return HERE
    return plain if find_place(plain) else ""
