"""Numbers between bounds, digit by digit."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal, InvalidOperation
from functools import lru_cache

from edgevox.llm.grammar.language import (
    EMPTY,
    NEVER,
    Node,
    Text,
    UnsupportedSchema,
    alt,
    chars,
    one_of_texts,
    optional,
    repeat,
    seq,
)

# Limits of an unbounded number: integers of 128 bits have 39 digits, and the shortest form of a float has 17
# significant ones.
MAX_INTEGER_DIGITS = 40
_MAX_FRACTION_DIGITS = 24
_MAX_BOUND_PLACES = 16
_MOST_LISTED = 1000

_DIGIT = chars((0x30, 0x39))
_NONZERO = chars((0x31, 0x39))
_FRACTION = seq(Text("."), repeat(_DIGIT, 1, _MAX_FRACTION_DIGITS))
_WHOLE = alt(Text("0"), seq(_NONZERO, repeat(_DIGIT, 0, MAX_INTEGER_DIGITS - 1)))

# Python and most programs write a number with an exponent below and above these.
_SMALLEST_PLAIN = Decimal("1e-4")
_FIRST_EXPONENT = 16
_LAST_EXPONENT = 308
_MANTISSA = seq(_NONZERO, optional(seq(Text("."), repeat(_DIGIT, 1, 17))))
# A number of forty digits with a large exponent would be infinite.
_SMALL_EXPONENT = alt(seq(Text("-"), repeat(_DIGIT, 1, 3)), seq(optional(Text("+")), repeat(_DIGIT, 1, 2)))
_LARGE_EXPONENT = seq(optional(Text("+")), alt(seq(chars("12"), _DIGIT, _DIGIT), seq(Text("30"), chars((0x30, 0x37)))))
ANY_NUMBER = seq(
    optional(Text("-")),
    alt(
        seq(_WHOLE, optional(_FRACTION), optional(seq(chars("eE"), _SMALL_EXPONENT))),
        seq(_MANTISSA, chars("eE"), _LARGE_EXPONENT),
    ),
)


@lru_cache(maxsize=512)
def integers(least: Decimal | None, most: Decimal | None, *, multiple_of: Decimal | None = None) -> Node:
    """Return the integers from `least` to `most`, both included."""
    low = None if least is None else math.ceil(least)
    high = None if most is None else math.floor(most)
    if multiple_of is None or 1 % multiple_of == 0:
        return _signed(low, high, _integers_from_zero)
    # An integer is a multiple of 2.5 if it is one of 5.
    step = Decimal(multiple_of).as_integer_ratio()[0]
    return _signed(low, high, _multiples_from_zero(step))


@lru_cache(maxsize=512)
def numbers(
    least: Decimal | None,
    most: Decimal | None,
    excludes_least: bool = False,
    excludes_most: bool = False,
    multiple_of: Decimal | None = None,
) -> Node:
    """Return the numbers between the bounds. Raises UnsupportedSchema."""
    if multiple_of is not None:
        return _decimal_multiples(least, most, excludes_least, excludes_most, multiple_of)
    if least is None and most is None:
        return ANY_NUMBER
    choices = []
    if most is None or most > 0 or (most == 0 and not excludes_most):
        from_zero = least is None or least < 0
        choices.append(
            _decimals(
                Decimal(0) if from_zero or least is None else least,
                most,
                excludes_least and not from_zero,
                excludes_most,
            )
        )
    if least is None or least < 0:
        below_zero = most is not None and most < 0
        magnitudes = _decimals(
            -most if below_zero and most is not None else Decimal(0),
            None if least is None else -least,
            excludes_most if below_zero else True,
            excludes_least,
        )
        choices.append(seq(Text("-"), magnitudes))
    return alt(*choices)


# --- integers


def _signed(low: int | None, high: int | None, from_zero: Callable[[int, int | None], Node]) -> Node:
    """Return the numbers from `low` to `high`; `from_zero` builds the non-negative ones."""
    if low is not None and high is not None and low > high:
        return NEVER
    choices = []
    if low is None or low < 0:
        nearest = 1 if high is None or high >= 0 else -high
        choices.append(seq(Text("-"), from_zero(nearest, None if low is None else -low)))
    if high is None or high >= 0:
        choices.append(from_zero(0 if low is None or low < 0 else low, high))
    return alt(*choices)


def _integers_from_zero(low: int, high: int | None) -> Node:
    choices = []
    first, last = str(low), None if high is None else str(high)
    longest = max(MAX_INTEGER_DIGITS, len(first) + 1) if last is None else len(last)
    for size in range(len(first), longest + 1):
        begin = first if size == len(first) else "1" + "0" * (size - 1)
        if size > len(first) and (last is None or size < len(last)):
            # All longer ones, up to the maximum length, at once.
            free = longest if last is None else longest - 1
            choices.append(seq(_NONZERO, repeat(_DIGIT, size - 1, free - 1)))
            if last is not None:
                choices.append(same_length("1" + "0" * (len(last) - 1), last))
            break
        choices.append(same_length(begin, last if last is not None and size == len(last) else "9" * size))
    return alt(*choices)


def same_length(low: str, high: str, digits: str = "0123456789") -> Node:
    """Return the digit strings from `low` to `high`, which are equally long. Letters match in either case.

    Each choice is a prefix, one digit that differs, and free digits. Nothing is nested, because llguidance limits
    nesting.
    """
    size = len(low)
    fork = next((at for at in range(size) if low[at] != high[at]), size)
    if fork == size:
        return _beginning(low, digits)
    top = len(digits) - 1
    first, last = digits.index(low[fork]), digits.index(high[fork])
    choices: list[Node] = []

    def add(beginning: str, lowest: int, highest: int) -> None:
        if lowest <= highest:
            free = repeat(_digit_class(digits, 0, top), *[size - len(beginning) - 1] * 2)
            choices.append(seq(_beginning(beginning, digits), _digit_class(digits, lowest, highest), free))

    # Trailing lowest digits of the lower bound do not restrict, and neither do highest ones of the upper.
    low_end, high_end = len(low.rstrip(digits[0])), len(high.rstrip(digits[-1]))
    for at in range(fork + 1, low_end):
        add(low[:at], digits.index(low[at]) + (at < low_end - 1), top)
    for at in range(fork + 1, high_end):
        add(high[:at], 0, digits.index(high[at]) - (at < high_end - 1))
    add(low[:fork], first + (low_end > fork + 1), last - (high_end > fork + 1))
    return alt(*choices)


def _beginning(written: str, digits: str) -> Node:
    return seq(*(_digit_class(digits, *[digits.index(char)] * 2) for char in written))


def _digit_class(digits: str, first: int, last: int) -> Node:
    meant = digits[first : last + 1]
    return chars(meant + meant.upper()) if meant.upper() != meant else chars(meant)


# --- decimals


def _decimals(low: Decimal, high: Decimal | None, excludes_low: bool, excludes_high: bool) -> Node:
    """Return non-negative numbers, with and without a fraction."""
    low = _rounded(low, ROUND_CEILING)
    high = None if high is None else _rounded(high, ROUND_FLOOR)
    if high is not None and (low > high or (low == high and (excludes_low or excludes_high))):
        return NEVER
    low_whole, low_fraction = _parts(low)
    if high is None:
        at_low = seq(Text(str(low_whole)), _fraction(low_fraction, None, excludes_low, False))
        above = seq(_integers_from_zero(low_whole + 1, None), optional(_FRACTION))
        return alt(at_low, above, _with_exponent(low, None))
    high_whole, high_fraction = _parts(high)
    if low_whole == high_whole:
        same = _fraction(low_fraction, high_fraction, excludes_low, excludes_high)
        return alt(seq(Text(str(low_whole)), same), _with_exponent(low, high))
    choices = [seq(Text(str(low_whole)), _fraction(low_fraction, None, excludes_low, False))]
    if low_whole + 1 <= high_whole - 1:
        choices.append(seq(_integers_from_zero(low_whole + 1, high_whole - 1), optional(_FRACTION)))
    choices.append(seq(Text(str(high_whole)), _fraction(None, high_fraction, False, excludes_high)))
    return alt(*choices, _with_exponent(low, high))


def _rounded(value: Decimal, rounding: str) -> Decimal:
    """Round to the significant places, towards the inside of the range."""
    places = Decimal(1).scaleb(-_MAX_BOUND_PLACES)
    try:
        return value.quantize(places, rounding=rounding)
    except InvalidOperation:
        # Too large for the context's digits; such a number is an integer.
        return value.to_integral_value(rounding=rounding)


def _parts(value: Decimal) -> tuple[int, str]:
    whole = int(value)
    return whole, f"{value - whole:f}".partition(".")[2].rstrip("0")


def _fraction(low: str | None, high: str | None, excludes_low: bool, excludes_high: bool) -> Node:
    """Return what may follow the integer part: nothing, or a point and digits."""
    empty_fits = not (low or (low == "" and excludes_low)) and not (high == "" and excludes_high)
    digits = _fraction_digits(low, high, excludes_low, excludes_high)
    return alt(EMPTY if empty_fits else NEVER, seq(Text("."), digits))


def _fraction_digits(low: str | None, high: str | None, excludes_low: bool, excludes_high: bool) -> Node:
    """Return one or more digits, so that the fraction lies between `low` and `high`; None means unbounded."""
    if low == "" and not excludes_low:
        low = None
    if high == "":
        if excludes_high or low is not None:
            return NEVER
        return repeat(Text("0"), 1, _MAX_FRACTION_DIGITS)
    if low is None and high is None:
        return repeat(_DIGIT, 1, _MAX_FRACTION_DIGITS)
    if low == "" and high is None:
        return seq(repeat(Text("0"), 0, _MAX_FRACTION_DIGITS), _NONZERO, repeat(_DIGIT, 0, _MAX_FRACTION_DIGITS))
    lowest = int(low[0]) if low else 0
    highest = int(high[0]) if high is not None else 9
    by_bounds: dict[tuple[str | None, str | None], str] = {}
    for digit in range(lowest, highest + 1):
        next_low = low[1:] if low is not None and digit == lowest else None
        next_high = high[1:] if high is not None and digit == highest else None
        key = next_low, next_high
        by_bounds[key] = by_bounds.get(key, "") + str(digit)
    choices = []
    for (next_low, next_high), digits in by_bounds.items():
        ends = not (next_low or (next_low == "" and excludes_low)) and not (next_high == "" and excludes_high)
        rest = _fraction_digits(next_low, next_high, excludes_low, excludes_high)
        choices.append(seq(chars(digits), alt(EMPTY if ends else NEVER, rest)))
    return alt(*choices)


def _with_exponent(low: Decimal, high: Decimal | None) -> Node:
    """Return the numbers that programs write with an exponent, where a power of ten lies in the range."""
    choices = []
    if low <= 0 and (high is None or high >= _SMALLEST_PLAIN):
        choices.append(seq(_MANTISSA, Text("e-"), optional(Text("0")), integers(Decimal(5), Decimal(324))))
    first = max(_FIRST_EXPONENT, 0 if low <= 0 else low.adjusted() + (low != Decimal(10) ** low.adjusted()))
    last = _LAST_EXPONENT - 1 if high is None else min(_LAST_EXPONENT, high.adjusted()) - 1
    if first <= last:
        powers = integers(Decimal(first), Decimal(last))
        choices.append(seq(_MANTISSA, Text("e"), optional(Text("+")), powers))
    return alt(*choices)


# --- multiples


def _multiples_from_zero(step: int) -> Callable[[int, int | None], Node]:
    return lambda low, high: _multiples(step, low, high)


def _multiples(step: int, low: int, high: int | None) -> Node:
    """Return the multiples of `step` from `low` on, which is not negative."""
    if high is not None and (high - low) // step <= _MOST_LISTED:
        return _listed(step, low, high)
    for base in (10, 100, 1000):
        if base % step == 0:
            # The last digits decide. The digits before them are free, except at the two ends of the range.
            first = max(1, -(-low // base))
            last = None if high is None else high // base - 1
            endings = [f"{value:0{len(str(base)) - 1}}" for value in range(0, base, step)]
            at_ends = [_listed(step, low, first * base - 1)]
            at_ends += [] if high is None or last is None else [_listed(step, (last + 1) * base, high)]
            return alt(*at_ends, seq(_integers_from_zero(first, last), one_of_texts(endings)))
    # No finite set of endings decides: the first thousand multiples are enough in practice.
    return _listed(step, low, low + step * _MOST_LISTED)


def _listed(step: int, low: int, high: int) -> Node:
    first = -(-low // step) * step
    values = [str(value) for value in range(first, high + 1, step)]
    return one_of_texts(values) if values else NEVER


def _decimal_multiples(
    least: Decimal | None, most: Decimal | None, excludes_least: bool, excludes_most: bool, step: Decimal
) -> Node:
    if least is not None and most is not None and (most - least) / step <= _MOST_LISTED:
        values = (step * number for number in range(math.ceil(least / step), math.floor(most / step) + 1))
        texts = [
            form
            for value in values
            if not (excludes_least and value == least) and not (excludes_most and value == most)
            for form in _forms(value)
        ]
        return one_of_texts(texts) if texts else NEVER
    low = None if least is None else math.ceil(least) + int(excludes_least and least == math.ceil(least))
    high = None if most is None else math.floor(most) - int(excludes_most and most == math.floor(most))
    if step == step.to_integral_value():
        return seq(_signed(low, high, _multiples_from_zero(int(step))), optional(Text(".0")))
    if 1 % step != 0 or 1 / step > _MOST_LISTED:
        raise UnsupportedSchema(f"multipleOf {step}")
    # Every integer is a multiple, also with a few fractions added.
    steps = int(1 / step)
    endings = sorted({form.partition(".")[2] for number in range(steps) for form in _forms(step * number)})
    fraction = seq(Text("."), one_of_texts([ending for ending in endings if ending]))

    def from_zero(low: int, high: int | None) -> Node:
        if high is None:
            return seq(_integers_from_zero(low, None), optional(fraction))
        inner = seq(_integers_from_zero(low, high - 1), optional(fraction)) if low < high else NEVER
        return alt(inner, Text(str(high)))

    nearest_zero = seq(Text("-0"), fraction) if (low is None or low < 0) and (high is None or high >= 0) else NEVER
    return alt(_signed(low, high, from_zero), nearest_zero)


def _forms(value: Decimal) -> tuple[str, ...]:
    """Return the spellings of a value: 2.50 is 2.5, and 2 may be 2.0."""
    plain = f"{value:f}"
    if "." in plain:
        plain = plain.rstrip("0").rstrip(".")
    return (plain, f"{plain}.0") if "." not in plain else (plain,)
