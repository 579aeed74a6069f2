"""Numbers, percentages, temperatures, durations, colours and times of day, as said and as meant."""

from __future__ import annotations

import random
from dataclasses import dataclass

from training.spoken_values import in_spoken_words

COLOURS = (
    "red", "green", "blue", "yellow", "orange", "purple", "pink", "white", "warm white", "cool white",
    "cold white", "turquoise", "cyan", "magenta", "violet", "teal", "lime", "gold", "amber", "lavender",
    "indigo", "coral", "salmon", "navy", "maroon", "olive", "beige", "brown", "crimson", "mint", "peach",
    "light blue", "dark blue", "sky blue", "royal blue", "light green", "dark green", "forest green",
    "dark red",
    "hot pink", "light pink", "lilac", "aqua", "ivory", "plum", "tomato", "khaki", "silver", "fuchsia",
    "rose",
    "soft white", "daylight", "scarlet", "ruby", "emerald", "burgundy", "black",
)  # fmt: skip

_PERCENT_WORDS = ("%", "%", "%", " percent", " percent", " percent", " per cent")
_ROUND = tuple(range(5, 101, 5))


class Numbers:
    """How one person's numbers are written: in digits or in words, as the recogniser likes."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self.in_digits = rng.random() < 0.6

    def say(self, value: float) -> str:
        """A number as it stands in the sentence."""
        if self.in_digits and self._rng.random() < 0.95:
            return f"{value:g}"
        words = in_spoken_words(value, self._rng)
        hyphened = 20 < value < 100 and self._rng.random() < 0.15
        return words.replace(" ", "-", 1) if hyphened and value == int(value) else words

    def percent(self) -> int:
        """A share that people ask for: mostly round."""
        rng = self._rng
        return rng.choice(_ROUND) if rng.random() < 0.75 else rng.randint(1, 100)

    def say_percent(self, value: int) -> str:
        """ "40%", "forty percent", "40"."""
        said = self.say(value)
        if self._rng.random() < 0.3:
            return said
        unit = self._rng.choice(_PERCENT_WORDS)
        if unit == "%" and not said.isdigit():
            unit = " percent"
        return said + unit

    def share(self, words: dict[str, int]) -> tuple[str, int]:
        """A percentage, said as a number or now and then as one of `words`."""
        way = self._rng.random()
        if way < _FIGURE_SHARE:
            return self.fraction()
        if way < 0.14 + _FIGURE_SHARE:
            said = self._rng.choice(tuple(words))
            return said, words[said]
        value = self.percent()
        return self.say_percent(value), value

    def fraction(self) -> tuple[str, int]:
        """A share as a recogniser or a keyboard writes a fraction: "1/2", "¾"."""
        said = self._rng.choice(_FIGURES)
        return said, FIGURES[said]


_FIGURE_SHARE = 0.035
# Two thirds are left out: nobody knows whether they are 66 or 67 percent.
FIGURES = {
    "1/2": 50, "1/4": 25, "3/4": 75, "1/3": 33, "1/5": 20, "2/5": 40, "3/5": 60, "4/5": 80, "1/10": 10,
    "½": 50, "¼": 25, "¾": 75,
}  # fmt: skip
_FIGURES = ("1/2", "1/2", "1/4", "1/4", "3/4", "3/4", *FIGURES)
# Levels in words. What is said of a light or a fan differs from what is said of a blind.
LEVELS = {
    "maximum": 100, "full": 100, "max": 100, "half": 50, "a quarter": 25, "one quarter": 25, "minimum": 1,
    "a third": 33, "one third": 33, "a fifth": 20, "a tenth": 10, "three fifths": 60,
    "the maximum": 100, "the minimum": 1, "the lowest": 1, "its maximum": 100, "three quarters": 75,
    "min": 1, "its minimum": 1, "its lowest": 1, "lowest": 1, "the highest": 100, "its highest": 100,
}  # fmt: skip
POSITIONS = {"half": 50, "halfway": 50, "a quarter": 25, "three quarters": 75, "half open": 50, "fully open": 100}


def temperature(rng: random.Random) -> float:
    """Degrees that somebody might want: Celsius mostly, halves now and then."""
    if rng.random() < 0.22:
        return rng.randint(55, 85)
    whole = rng.randint(14, 28) if rng.random() < 0.9 else rng.randint(5, 35)
    return whole + 0.5 if rng.random() < 0.22 else whole


def say_temperature(value: float, numbers: Numbers, rng: random.Random) -> str:
    """ "21 degrees", "21.5°", "seventy degrees fahrenheit"."""
    said = numbers.say(value)
    way = rng.random()
    if way < 0.3:
        return said
    unit = "fahrenheit" if value >= 45 else "celsius"
    if way < 0.72:
        return f"{said} degrees"
    if way < 0.82:
        return f"{said} degrees {unit}"
    if not said[0].isdigit():
        return f"{said} degrees"
    if way < 0.92:
        return f"{said}°"
    return f"{said}°{unit[0].upper()}" if way < 0.97 else f"{said} {unit}"


def _unit(count: float, unit: str) -> str:
    return unit if count == 1 else unit + "s"


def duration(rng: random.Random, numbers: Numbers) -> tuple[str, dict[str, int], str]:
    """A length of time as it is said, its slots, and how it stands before "timer" ("" where it cannot)."""
    if rng.random() < _WRITTEN_SHARE:
        return _in_figures(rng)
    way = rng.random()
    if way < 0.46:
        count = rng.choice(
            (1, 2, 3, 4, 5, 5, 6, 7, 8, 9, 10, 10, 12, 15, 15, 18, 20, 20, 25, 30, 30, 35, 40, 45, 50, 60, 90)
        )
        return _plain(count, "minute", numbers, rng)
    if way < 0.58:
        return _plain(rng.choice((5, 10, 15, 20, 30, 30, 40, 45, 50, 60, 75, 90, 100, 120)), "second", numbers, rng)
    if way < 0.68:
        return _plain(rng.choice((1, 1, 2, 2, 3, 4, 5, 6, 8, 10, 12, 24)), "hour", numbers, rng)
    if way < 0.84:
        return _halves(rng, numbers)
    return _compound(rng, numbers)


def _plain(count: int, unit: str, numbers: Numbers, rng: random.Random) -> tuple[str, dict[str, int], str]:
    slots = {unit + "s": count}
    if count == 1 and rng.random() < 0.6:
        article = "an" if unit == "hour" else "a"
        return f"{article} {unit}", slots, f"one {unit}"
    said = numbers.say(count)
    short = {"minute": "min", "second": "sec", "hour": "hour"}[unit]
    if said.isdigit() and rng.random() < 0.04:
        return f"{said} {short}", slots, f"{said} {short}"
    joined = "-" if rng.random() < 0.2 else " "
    return f"{said} {_unit(count, unit)}", slots, f"{said}{joined}{unit}"


def _halves(rng: random.Random, numbers: Numbers) -> tuple[str, dict[str, int], str]:
    count = rng.randint(1, 6)
    said = numbers.say(count)
    match rng.randrange(9):
        case 0 | 1:
            return (
                rng.choice(("half an hour", "half an hour", "half hour", "a half hour")),
                {"minutes": 30},
                "half hour",
            )
        case 2:
            words = rng.choice(("a quarter of an hour", "quarter of an hour", "a quarter hour"))
            return words, {"minutes": 15}, "quarter hour"
        case 3:
            return "three quarters of an hour", {"minutes": 45}, ""
        case 4:
            words = rng.choice(("an hour and a half", "one and a half hours", "1 and a half hours", "1.5 hours"))
            return words, {"hours": 1, "minutes": 30}, "one and a half hour"
        case 5:
            words = rng.choice(("a minute and a half", "one and a half minutes", "1 and a half minutes", "1.5 minutes"))
            return words, {"minutes": 1, "seconds": 30}, "one and a half minute"
        case 6:
            count += 1
            said = numbers.say(count)
            words = rng.choice((f"{said} and a half hours", f"{said} hours and a half"))
            return words, {"hours": count, "minutes": 30}, f"{said} and a half hour"
        case 7:
            return "half a minute", {"seconds": 30}, ""
        case _:
            count += 1
            said = numbers.say(count)
            words = rng.choice((f"{said} and a half minutes", f"{said} minutes and a half"))
            return words, {"minutes": count, "seconds": 30}, f"{said} and a half minute"


_WRITTEN_SHARE = 0.13
_HALF = ("1/2", "1/2", "1/2", "½")
_QUARTER = ("1/4", "1/4", "¼")
_THREE_QUARTERS = ("3/4", "3/4", "¾")
_SMALLER = {"hour": "minutes", "minute": "seconds"}
_SHORT = {
    "hour": ("hr", "hr", "hrs", "h"),
    "minute": ("min", "min", "mins", "m"),
    "second": ("sec", "sec", "secs", "s"),
}


def _in_figures(rng: random.Random) -> tuple[str, dict[str, int], str]:
    """A length as recognisers and keyboards write it: "1/2 an hour", "2 1/2 minutes", "1 hr 20 min"."""
    way = rng.random()
    if way < 0.34:
        return _part_in_figures(rng)
    if way < 0.66:
        return _mixed_in_figures(rng)
    return _shortened(rng)


def _part_in_figures(rng: random.Random) -> tuple[str, dict[str, int], str]:
    """Less than one: "1/2 hour", "a 1/4 of an hour", "0.5 hours"."""
    unit = rng.choice(("hour", "hour", "minute"))
    an = "an" if unit == "hour" else "a"
    sixtieths, figures = rng.choice(
        ((30, _HALF), (30, _HALF), (30, _HALF), (15, _QUARTER), (45, _THREE_QUARTERS), (20, ("1/3",)))
    )
    figure = rng.choice(figures)
    slots = {_SMALLER[unit]: sixtieths}
    if sixtieths == 30 and rng.random() < 0.12:
        return f"{rng.choice(('0.5', '.5'))} {unit}s", slots, f"0.5 {unit}"
    words = rng.choice(
        (
            f"{figure} {unit}", f"{figure} {unit}", f"{figure} {an} {unit}", f"{figure} {an} {unit}",
            f"{figure} of {an} {unit}", f"a {figure} {unit}", f"a {figure} of {an} {unit}",
        )
    )  # fmt: skip
    return words, slots, f"{figure}{rng.choice((' ', ' ', '-'))}{unit}"


def _mixed_in_figures(rng: random.Random) -> tuple[str, dict[str, int], str]:
    """More than one, and a part: "1 1/2 hours", "2½ minutes", "1.25 hours"."""
    unit = rng.choice(("hour", "minute", "minute"))
    count = rng.choice((1, 1, 1, 2, 2, 3, 4, rng.randint(5, 12)))
    sixtieths, figures, decimal = rng.choice(
        (
            (30, _HALF, "5"), (30, _HALF, "5"), (30, _HALF, "5"), (30, _HALF, "5"),
            (15, _QUARTER, "25"), (45, _THREE_QUARTERS, "75"),
        )
    )  # fmt: skip
    figure = rng.choice(figures)
    slots = {f"{unit}s": count, _SMALLER[unit]: sixtieths}
    if rng.random() < 0.35:
        return f"{count}.{decimal} {unit}s", slots, f"{count}.{decimal} {unit}"
    if count == 1 and rng.random() < 0.15:
        one = "an hour" if unit == "hour" else "a minute"
        return f"{one} and {rng.choice(('a ', ''))}{figure}", slots, ""
    joined = rng.choice(("", " ") if figure in "½¼¾" else (" ", " ", " ", " and ", " & "))
    return f"{count}{joined}{figure} {unit}s", slots, f"{count}{joined}{figure} {unit}"


def _shortened(rng: random.Random) -> tuple[str, dict[str, int], str]:
    """Units cut short: "90 sec", "1 hr 20 min", "1h30"."""
    if rng.random() < 0.4:
        unit = rng.choice(("hour", "minute", "minute", "second"))
        count = rng.randint(1, 12) if unit == "hour" else rng.choice((*range(2, 21), 30, 40, 45, 75, 90))
        words = f"{count}{_short(rng, unit, count)}"
        return words, {f"{unit}s": count}, words
    first, second = rng.choice((("hour", "minute"), ("hour", "minute"), ("minute", "second")))
    big = rng.randint(1, 4) if first == "hour" else rng.randint(1, 15)
    small = rng.choice((5, 10, 12, 15, 20, 25, 30, 30, 40, 45, 50))
    slots = {f"{first}s": big, f"{second}s": small}
    if first == "hour" and rng.random() < 0.3:
        words = f"{big}h{small:02d}"
    else:
        words = f"{big}{_short(rng, first, big)} {small}{_short(rng, second, small)}"
    return words, slots, words


def _short(rng: random.Random, unit: str, count: int) -> str:
    short = rng.choice(_SHORT[unit])
    if len(short) == 1:
        return short
    return f" {short.removesuffix('s') if count == 1 else short}"


def _compound(rng: random.Random, numbers: Numbers) -> tuple[str, dict[str, int], str]:
    first, second = rng.choice(
        (("hour", "minute"), ("hour", "minute"), ("minute", "second"), ("minute", "second"), ("hour", "second"))
    )
    big = rng.randint(1, 5) if first == "hour" else rng.randint(1, 20)
    small = rng.choice((1, 2, 5, 10, 15, 20, 25, 30, 40, 45, 50, 55))
    slots = {first + "s": big, second + "s": small}
    words = (
        "an hour" if first == "hour" and big == 1 and rng.random() < 0.5 else f"{numbers.say(big)} {_unit(big, first)}"
    )
    link = rng.choice((" and ", " and ", " and ", " ", ", "))
    text = f"{words}{link}{numbers.say(small)} {_unit(small, second)}"
    if first == "hour" and second == "minute" and rng.random() < 0.12:
        tiny = rng.choice((10, 15, 30, 45))
        return f"{text}{link}{numbers.say(tiny)} seconds", slots | {"seconds": tiny}, ""
    adjective = f"{numbers.say(big)} {first}{link if link != ', ' else ' '}{numbers.say(small)} {second}"
    return text, slots, adjective


def article(words: str) -> str:
    """ "a" or "an", as `words` want it."""
    return (
        "an"
        if words.startswith(("a", "e", "i", "o", "u", "8", "11", "18", "hour")) and not words.startswith("one")
        else "a"
    )


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
