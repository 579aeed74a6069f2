"""Times of day and days as people say them: what an alarm or a reminder is set for, word for word."""

from __future__ import annotations

import random
from dataclasses import dataclass

from training.home.values import Numbers, duration
from training.number_words import in_spoken_words

DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october",
    "november", "december",
)  # fmt: skip
_ORDINALS = (
    "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "eleventh",
    "twelfth", "thirteenth", "fourteenth", "fifteenth", "sixteenth", "seventeenth", "eighteenth",
    "nineteenth", "twentieth",
)  # fmt: skip
_PARTS = ("in the morning", "in the morning", "in the evening", "in the afternoon", "at night")
_FULL = ("noon", "midnight", "midday", "noon", "midnight", "twelve noon", "lunchtime")
# Days that need no preposition, and parts of them.
_NEAR = (
    "tomorrow", "tomorrow", "tomorrow", "tomorrow", "tomorrow morning", "tomorrow morning",
    "tomorrow evening", "tomorrow afternoon", "tomorrow night", "today", "tonight", "tonight",
    "this evening", "this afternoon", "the day after tomorrow", "later today", "first thing tomorrow",
)  # fmt: skip
_AGAIN = (
    "every day", "every day", "every morning", "every morning", "every weekday", "every weekday", "daily",
    "every evening", "every night", "every workday", "every weekend", "every other day",
)  # fmt: skip
_ON = ("weekdays", "weekdays", "weekends", "workdays", "school days", "the weekend")
_VAGUE = (
    "tomorrow", "tomorrow", "tonight", "this evening", "this afternoon", "tomorrow morning",
    "tomorrow evening", "later", "later today", "in the morning", "in the evening", "next week",
    "the day after tomorrow", "this weekend", "next month", "in three days", "in a week", "in two weeks",
    "every day", "every week", "every morning", "every evening", "tomorrow afternoon", "next weekend",
)  # fmt: skip
_TO_THE_HOUR = (5, 10, 10, 20, 20, 25)
_SPOKEN_MINUTES = (5, 10, 15, 15, 20, 25, 30, 30, 30, 35, 40, 45, 45, 50, 55)
_DAY_PARTS = ("morning", "evening", "afternoon", "night", "today")
_HALVES = ("am", "pm", "a.m.", "p.m.", "AM", "PM")


@dataclass(frozen=True, slots=True)
class Moment:
    """A time as it is copied, without the preposition that stands before it in a sentence."""

    text: str
    preposition: str = ""

    @property
    def placed(self) -> str:
        """ "at seven", "on monday at eight", "tomorrow": as it stands behind an order."""
        return f"{self.preposition} {self.text}".strip()


def hour(rng: random.Random, *, may_say_part: bool = True) -> str:
    """A time of day: "seven", "half past six", "6:30", "7 am", "quarter to nine in the evening"."""
    number = rng.choice((5, 6, 6, 6, 7, 7, 7, 7, 8, 8, 8, 9, 9, 10, 11, 12, 1, 2, 3, 4, 5, 6))
    in_digits = rng.random() < 0.5
    says = str(number) if in_digits else in_spoken_words(number, rng)
    way = rng.random()
    if way < 0.15:
        text = says
    elif way < 0.25:
        text = f"{says} o'clock"
    elif way < 0.5:
        text = _relative(rng, says, in_digits=in_digits)
    elif way < 0.79:
        text = _to_the_minute(rng, number, says, in_digits=in_digits)
        if may_say_part and rng.random() < 0.3:
            return f"{text} {rng.choice(_HALVES)}"
    elif way < 0.83:
        return rng.choice(_FULL)
    elif way < 0.87:
        return f"{rng.randint(6, 23)}:{rng.choice((0, 0, 15, 30, 30, 45, 10, 5, 50)):02d}"
    elif not may_say_part:
        return says
    else:
        half = rng.choice(_HALVES)
        return f"{says}{half}" if in_digits and "." not in half and rng.random() < 0.4 else f"{says} {half}"
    if may_say_part and rng.random() < 0.18:
        return f"{text} {rng.choice(_PARTS)}"
    return text


def _relative(rng: random.Random, says: str, *, in_digits: bool) -> str:
    way = rng.random()
    if way < 0.4:
        return f"half past {says}" if rng.random() < 0.85 else f"half {says}"
    to = rng.choice(("past", "to", "past", "to", "after", "before"))
    if way < 0.75:
        return f"{rng.choice(('quarter', 'quarter', 'a quarter'))} {to} {says}"
    minutes = rng.choice(_TO_THE_HOUR)
    shown = str(minutes) if in_digits else in_spoken_words(minutes, rng)
    return f"{shown}{rng.choice(('', '', ' minutes'))} {to} {says}"


def _to_the_minute(rng: random.Random, number: int, says: str, *, in_digits: bool) -> str:
    minutes = rng.choice(_SPOKEN_MINUTES) if rng.random() < 0.85 else rng.randint(1, 59)
    if in_digits:
        mark = rng.choice((":", ":", ":", ":", ":", "."))
        text = f"{number}{mark}{minutes:02d}"
        if rng.random() < 0.08:
            text = f"{number}{minutes:02d}"
    else:
        oh = "oh " if minutes < 10 else ""
        text = f"{says} {oh}{in_spoken_words(minutes, rng)}"
    return text


def day(rng: random.Random) -> Moment:
    """A day, or days that come again, without a time of day."""
    way = rng.random()
    if way < 0.46:
        return Moment(rng.choice(_NEAR))
    if way < 0.72:
        name = rng.choice(DAYS)
        if rng.random() < 0.2:
            name += rng.choice((" morning", " evening", " night", " afternoon"))
        if rng.random() < 0.2:
            return Moment(f"{rng.choice(('next', 'this', 'next', 'every'))} {name}")
        return Moment(name, "on")
    if way < 0.86:
        return Moment(rng.choice(_AGAIN)) if rng.random() < 0.7 else Moment(rng.choice(_ON), "on")
    if way < 0.9:
        return Moment(f"{rng.choice(DAYS)}s", "on")
    month = rng.choice(_MONTHS)
    number = rng.randint(1, 20)
    ordinal = _ORDINALS[number - 1]
    short = f"{number}{('st', 'nd', 'rd')[number - 1] if number < 4 else 'th'}"
    said = rng.choice((ordinal, short))
    return Moment(rng.choice((f"the {said} of {month}", f"{month} {said}", f"the {said}")), "on")


def moment(rng: random.Random, *, needs_hour: bool = True) -> Moment:
    """A time of day, mostly with its day; a day alone where `needs_hour` is false."""
    if not needs_hour and rng.random() < 0.35:
        return Moment(rng.choice(_VAGUE)) if rng.random() < 0.55 else day(rng)
    if rng.random() < 0.48:
        return Moment(hour(rng), "at")
    when = day(rng)
    time = hour(rng, may_say_part=not when.text.endswith(_DAY_PARTS))
    if rng.random() < 0.5:
        return Moment(f"{when.text}{rng.choice((' at ', ' at ', ' at ', ' '))}{time}", when.preposition)
    return Moment(f"{time} {when.placed}", "at")


def in_a_while(rng: random.Random, numbers: Numbers) -> Moment:
    """ "in twenty minutes"."""
    return Moment(f"in {duration(rng, numbers)[0]}")
