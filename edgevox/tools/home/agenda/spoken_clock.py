"""Reads the time of day out of words: "half past six", "seven oh five", "18:00", "0630", "noon"."""

from __future__ import annotations

from typing import TypeAlias

from edgevox.tools.home.agenda.said_time import HALF_DAY, WHOLE_DAY
from edgevox.tools.home.agenda.spoken_length import UNITS_S
from edgevox.tools.home.agenda.time_words import PAST, TO, TimeWords

Minutes: TypeAlias = tuple[int, ...]
"""The minutes of the day that are perhaps meant: two for an hour without its half, none for no hour."""

_NOON = ("noon", "midday", "lunchtime", "lunch time")
_ZERO = ("oh", "o", "zero")
_MINUTE_WORDS = ("minutes", "minute", "mins", "min")


def take_clock(words: TimeWords) -> Minutes:
    """The time of day that comes next; where none does, the cursor is anywhere."""
    minutes = _related(words)
    if minutes:
        words.take("oclock", "hundred hours", "hundred", "hours")
    return minutes


def _related(words: TimeWords) -> Minutes:
    """ "quarter to seven", "twenty minutes past five"; "half eight" is British, and is half past."""
    if words.take("half past", "half after", "half"):
        return _moved(_hour(words), 30)
    start = words.position
    if words.take("a quarter", "quarter"):
        minutes: int | None = 15
    else:
        minutes = words.take_number()
        words.take(*_MINUTE_WORDS)
    if minutes is not None and minutes < 60:
        if words.take(*PAST):
            return _moved(_hour(words), minutes)
        if words.take(*TO):
            return _moved(_hour(words), -minutes)
    words.position = start
    return _plain(words)


def _plain(words: TimeWords) -> Minutes:
    written = words.peek()
    if ":" in written or (written.isdecimal() and len(written) in (3, 4)):
        words.position += 1
        hour, minute = divmod(int(written.replace(":", "")), 100)
        return _possible(hour, minute, is_exact=written[0] == "0")
    possible = _hour(words)
    start = words.position
    is_single = bool(words.take(*_ZERO))
    minute = words.take_number() or 0
    is_minute = 1 <= minute <= 9 if is_single else 10 <= minute <= 59
    if is_minute and words.peek() not in (*UNITS_S, *PAST, *TO):
        return _moved(possible, minute)
    words.position = start
    return () if words.peek() in UNITS_S else possible


def _hour(words: TimeWords) -> Minutes:
    start = words.position
    if words.take_number() != 12:  # "twelve noon"
        words.position = start
    if words.take(*_NOON):
        return (HALF_DAY,)
    if words.take("midnight"):
        return (WHOLE_DAY,)
    words.position = start
    is_exact = words.peek().startswith("0") or bool(words.take(*_ZERO))
    hour = words.take_number()
    return () if hour is None else _possible(hour, 0, is_exact=is_exact)


def _possible(hour: int, minute: int, *, is_exact: bool) -> Minutes:
    if minute > 59 or hour * 60 + minute > WHOLE_DAY:
        return ()
    total = hour * 60 + minute
    if is_exact or hour == 0 or hour > 12:
        return (total,)
    return (total % HALF_DAY, total % HALF_DAY + HALF_DAY)


def _moved(possible: Minutes, minutes: int) -> Minutes:
    """So many minutes past or to an hour."""
    match possible:
        case (early, _):
            moved = (early + minutes) % HALF_DAY
            return (moved, moved + HALF_DAY)
        case (exact,) if exact < WHOLE_DAY:
            return ((exact + minutes) % WHOLE_DAY,)
        case (midnight,):
            return (midnight + minutes,)
        case _:
            return ()
