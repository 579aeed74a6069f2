"""Numbers between bounds, digit by digit."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal, InvalidOperation
from functools import lru_cache

from edgevox.llm.grammar.language import (
    EMPTY,
    NEVER,
    Node,
    Text,
    UnsupportedSchema,
    alt,
    of_ranges,
    one_of_texts,
    optional,
    repeat,
    seq,
    shared_size,
)
from edgevox.llm.grammar.regex import whole_language

# Limits of an unbounded number: integers of 128 bits have 39 digits, and the shortest form of a float has 17
# significant ones.
_MAX_INTEGER_DIGITS = 40
_MAX_FRACTION_DIGITS = 24
_MAX_BOUND_PLACES = 16
_MOST_LISTED = 1000

# Programs write numbers beyond these with an exponent; only where a whole decade of them fits are they accepted.
_SMALLEST_PLAIN, _LARGEST_PLAIN = Decimal("1e-4"), Decimal("1e16")
_MANTISSA = r"[1-9](?:\.\d{1,17})?"
_TINY = whole_language(rf"{_MANTISSA}e-(?:0?[5-9]|[1-9]\d|[12]\d\d|3(?:[01]\d|2[0-4]))")
_HUGE = whole_language(rf"{_MANTISSA}e\+?(?:1[6-9]|[2-9]\d|[12]\d\d|30[0-7])")
# A number of forty digits with a large exponent would be infinite.
ANY_NUMBER = whole_language(
    rf"-?(?:(?:0|[1-9]\d{{0,{_MAX_INTEGER_DIGITS - 1}}})(?:\.\d{{1,{_MAX_FRACTION_DIGITS}}})?"
    rf"(?:[eE](?:-\d{{1,3}}|\+?\d{{1,2}}))?|{_MANTISSA}[eE]\+?(?:[12]\d\d|30[0-7]))"
)


@dataclass(frozen=True, slots=True)
class Bounds:
    """From `least` to `most`, both included unless they are open; None is unbounded."""

    least: Decimal | None = None
    most: Decimal | None = None
    open_least: bool = False
    open_most: bool = False
    multiple_of: Decimal | None = None

    def integers(self, places: int = 0) -> tuple[int | None, int | None]:
        """Return the first and the last integer; with `places`, of the numbers times that power of ten."""
        low, high = (bound.scaleb(places) if bound and places else bound for bound in (self.least, self.most))
        first = None if low is None else math.floor(low) + 1 if self.open_least else math.ceil(low)
        return first, None if high is None else math.ceil(high) - 1 if self.open_most else math.floor(high)


@lru_cache(maxsize=512)
def integers(bounds: Bounds) -> Node:
    """Return the integers between the bounds."""
    step = bounds.multiple_of
    # An integer is a multiple of 2.5 if it is one of 5.
    whole_step = 1 if step is None else step.as_integer_ratio()[0]
    return _signed(*bounds.integers(), lambda low, high: _multiples(whole_step, low, high))


@lru_cache(maxsize=512)
def numbers(bounds: Bounds) -> Node:
    """Return the numbers between the bounds. Raises UnsupportedSchema."""
    if bounds.multiple_of is not None:
        return _decimal_multiples(bounds, bounds.multiple_of)
    if bounds == Bounds():
        return ANY_NUMBER
    least, most = (None if bound is None else -bound for bound in (bounds.most, bounds.least))
    mirrored = Bounds(least, most, bounds.open_most, bounds.open_least)
    return alt(_decimals(bounds, with_zero=True), seq(Text("-"), _decimals(mirrored, with_zero=False)))


# --- ranges


def _signed(low: int | None, high: int | None, from_zero: Callable[[int, int | None], Node]) -> Node:
    """Return the numbers from `low` to `high`; `from_zero` builds the non-negative ones."""
    choices = []
    if low is None or low < 0:
        nearest = 1 if high is None or high >= 0 else -high
        choices.append(seq(Text("-"), from_zero(nearest, None if low is None else -low)))
    if high is None or high >= 0:
        choices.append(from_zero(0 if low is None or low < 0 else low, high))
    return alt(*choices)


def _integers(low: int, high: int | None, places: int = 0) -> Node:
    """Return the integers from `low` on, which is not negative, with a point before the last `places` digits."""
    first = f"{low:0{places + 1}}"
    fraction = seq(Text("."), repeat(_DIGIT, places, places)) if places else EMPTY
    if high is None:
        longer = repeat(_DIGIT, len(first) - places, max(_MAX_INTEGER_DIGITS, len(first) + 1) - 1)
        return alt(_same_length(first, "9" * len(first), places), seq(_digits(1, 9), longer, fraction))
    last = f"{high:0{places + 1}}"
    if low > high:
        return NEVER
    if len(first) == len(last):
        return _same_length(first, last, places)
    between = repeat(_DIGIT, len(first) - places, len(last) - 2 - places)
    return alt(
        _same_length(first, "9" * len(first), places),
        seq(_digits(1, 9), between, fraction),
        _same_length("1" + "0" * (len(last) - 1), last, places),
    )


def _same_length(low: str, high: str, places: int) -> Node:
    """Return the digit strings from `low` to `high`, which are equally long, with a point.

    Each choice is a prefix, one digit that differs, and free digits. Nothing is nested, because llguidance limits
    nesting.
    """
    whole, fork = len(low) - places, shared_size(low, high)

    def pointed(digits: str) -> Node:
        return Text(f"{digits[:whole]}.{digits[whole:]}" if places and len(digits) >= whole else digits)

    def choice(prefix: str, first: int, last: int) -> Node:
        free_whole = max(0, whole - len(prefix) - 1)
        point = Text("." if places and len(prefix) < whole else "")
        free_places = places - max(0, len(prefix) + 1 - whole)
        free = (repeat(_DIGIT, count, count) for count in (free_whole, free_places))
        return seq(pointed(prefix), _digits(first, last), next(free), point, next(free))

    if fork == len(low):
        return pointed(low)
    # Trailing zeros of the lower bound do not restrict, and neither do trailing nines of the upper.
    low_end, high_end = len(low.rstrip("0")), len(high.rstrip("9"))
    return alt(
        *(choice(low[:at], int(low[at]) + (at < low_end - 1), 9) for at in range(fork + 1, low_end)),
        *(choice(high[:at], 0, int(high[at]) - (at < high_end - 1)) for at in range(fork + 1, high_end)),
        choice(low[:fork], int(low[fork]) + (low_end > fork + 1), int(high[fork]) - (high_end > fork + 1)),
    )


def _digits(first: int, last: int) -> Node:
    return of_ranges(((0x30 + first, 0x30 + last),)) if first <= last else NEVER


_DIGIT = _digits(0, 9)


def _decimals(bounds: Bounds, *, with_zero: bool) -> Node:
    """Return the non-negative numbers between the bounds: with no more places than these have, and with more."""
    most = None if bounds.most is None else _rounded(bounds.most, ROUND_FLOOR)
    if bounds.least is None or bounds.least < 0:
        least, open_least = Decimal(0), not with_zero
    else:
        least, open_least = _rounded(bounds.least, ROUND_CEILING), bounds.open_least
    bounds = Bounds(least, most, open_least, bounds.open_most)
    if most is not None and (least > most or (least == most and (open_least or bounds.open_most))):
        return NEVER
    places = max(max(0, -int(bound.normalize().as_tuple().exponent)) for bound in (least, most) if bound is not None)
    choices = []
    for fewer in range(places + 1):
        low, high = bounds.integers(fewer)
        choices.append(_integers(low or 0, high, fewer))
    low, high = Bounds(least, most).integers(places)
    low, more = low or 0, _MAX_FRACTION_DIGITS - places
    point, zeros = Text("" if places else "."), repeat(Text("0"), 0, more)
    inner = _integers(low + open_least, None if high is None else high - 1, places)
    choices.append(seq(inner, point, repeat(_DIGIT, 1, more)))
    if high is not None and not bounds.open_most:
        choices.append(seq(_integers(high, high, places), point, Text("0"), zeros))
    if open_least and low != high:
        choices.append(seq(_integers(low, low, places), point, zeros, _digits(1, 9), repeat(_DIGIT, 0, more)))
    if least <= 0 and (most is None or most >= _SMALLEST_PLAIN):
        choices.append(_TINY)
    if most is None and least <= _LARGEST_PLAIN:
        choices.append(_HUGE)
    return alt(*choices)


def _rounded(value: Decimal, rounding: str) -> Decimal:
    """Round to the significant places, towards the inside of the range."""
    try:
        return value.quantize(Decimal(1).scaleb(-_MAX_BOUND_PLACES), rounding=rounding)
    except InvalidOperation:
        # Too large for the context's digits; such a number is an integer.
        return value.to_integral_value(rounding=rounding)


# --- multiples


def _multiples(step: int, low: int, high: int | None) -> Node:
    """Return the multiples of `step` from `low` on, which is not negative."""
    if step == 1:
        return _integers(low, high)
    if high is not None and (high - low) // step <= _MOST_LISTED:
        return _listed(step, low, high)
    for base in (10, 100, 1000):
        if base % step == 0:
            # The last digits decide. The digits before them are free, except at the two ends of the range.
            first = max(1, -(-low // base))
            last = None if high is None else high // base - 1
            endings = [f"{value:0{len(str(base)) - 1}}" for value in range(0, base, step)]
            at_end = NEVER if high is None or last is None else _listed(step, (last + 1) * base, high)
            middle = seq(_integers(first, last), one_of_texts(endings))
            return alt(_listed(step, low, first * base - 1), at_end, middle)
    # No finite set of endings decides: the first thousand multiples are enough in practice.
    return _listed(step, low, low + step * _MOST_LISTED)


def _listed(step: int, low: int, high: int) -> Node:
    return one_of_texts([str(value) for value in range(-(-low // step) * step, high + 1, step)])


def _decimal_multiples(bounds: Bounds, step: Decimal) -> Node:
    least, most = bounds.least, bounds.most
    if least is not None and most is not None and (most - least) / step <= _MOST_LISTED:
        values = (step * number for number in range(math.ceil(least / step), math.floor(most / step) + 1))
        excluded = [bound for bound, is_open in ((least, bounds.open_least), (most, bounds.open_most)) if is_open]
        return one_of_texts([form for value in values if value not in excluded for form in _forms(value)])
    low, high = bounds.integers()
    if step == step.to_integral_value():
        return seq(_signed(low, high, lambda low, high: _multiples(int(step), low, high)), optional(Text(".0")))
    if 1 % step != 0 or 1 / step > _MOST_LISTED:
        raise UnsupportedSchema(f"multipleOf {step}")
    # Every integer is a multiple, also with a few fractions added.
    endings = sorted({form.partition(".")[2] for number in range(int(1 / step)) for form in _forms(step * number)})
    fraction = seq(Text("."), one_of_texts([ending for ending in endings if ending]))

    def from_zero(low: int, high: int | None) -> Node:
        if high is None:
            return seq(_integers(low, None), optional(fraction))
        return alt(seq(_integers(low, high - 1), optional(fraction)), Text(str(high)))

    nearest_zero = seq(Text("-0"), fraction) if (low is None or low < 0) and (high is None or high >= 0) else NEVER
    return alt(_signed(low, high, from_zero), nearest_zero)


def _forms(value: Decimal) -> tuple[str, ...]:
    """Return the spellings of a value: 2.50 is 2.5, and 2 may be 2.0."""
    plain = f"{value:f}"
    if "." in plain:
        plain = plain.rstrip("0").rstrip(".")
    return (plain, f"{plain}.0") if "." not in plain else (plain,)
