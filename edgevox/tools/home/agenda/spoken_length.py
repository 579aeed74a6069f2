"""Reads a length of time out of words: "an hour and a half", "two hours and ten minutes", "three days"."""

from __future__ import annotations

from dataclasses import dataclass

from edgevox.tools.home.agenda.time_words import PAST, TO, TimeWords

DAY_S = 86_400
UNITS_S = {
    "second": 1, "seconds": 1, "sec": 1, "secs": 1, "minute": 60, "minutes": 60, "min": 60, "mins": 60,
    "hour": 3600, "hours": 3600, "hr": 3600, "hrs": 3600, "day": DAY_S, "days": DAY_S,
    "week": 7 * DAY_S, "weeks": 7 * DAY_S, "fortnight": 14 * DAY_S,
}  # fmt: skip
_SHARES = {
    "three quarters of an": 0.75, "a quarter of an": 0.25, "quarter of an": 0.25, "half an": 0.5,
    "half a": 0.5, "a half": 0.5, "half": 0.5, "a couple of": 2, "couple of": 2, "an": 1, "a": 1,
}  # fmt: skip
_AND_SHARES = {"and a half": 0.5, "and a quarter": 0.25, "and three quarters": 0.75}


@dataclass(frozen=True, slots=True)
class Length:
    """So many months, days and seconds."""

    months: int = 0
    days: int = 0
    seconds: float = 0.0

    @property
    def total_s(self) -> float:
        """Of one that has no months."""
        return self.days * DAY_S + self.seconds


def take_length(words: TimeWords) -> Length | None:
    """The length that comes next; where none does, the cursor is anywhere."""
    start = words.position
    months = 1 if words.take("a", "one") else words.take_number()
    if months and words.take("months", "month"):
        return Length(months=months)
    words.position = start
    days, seconds = 0, 0.0
    while True:
        start = words.position
        if days or seconds:
            words.take("and")
        amount = _amount(words)
        name = words.peek()
        unit_s = words.take_from(UNITS_S)
        # "The twenty second" is a day, and "five minutes past" a time of day.
        is_other = (name == "second" and amount != 1) or words.peek() in (*PAST, *TO)
        if amount is None or unit_s is None or is_other:
            words.position = start
            return Length(0, days, seconds) if days or seconds else None
        part_s = (amount + _AND_SHARES.get(words.take(*_AND_SHARES), 0)) * unit_s
        if unit_s >= DAY_S and part_s % DAY_S == 0:
            days += round(part_s / DAY_S)
        else:
            seconds += part_s


def _amount(words: TimeWords) -> float | None:
    if name := words.take(*_SHARES):
        return _SHARES[name]
    if "." in words.peek():
        amount = float(words.peek())
        words.position += 1
        return amount
    number = words.take_number()
    return None if number is None else number + _AND_SHARES.get(words.take(*_AND_SHARES), 0)
