"""The terms of an arithmetic expression and the operations on them: exact fractions of bounded size."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction

from edgevox.tools.builtin.knowledge.question import NoAnswer

MAX_BITS = 1024
PERCENT = "percent"
TOO_LARGE = "That number is too large for me."
_BY_ZERO = "Dividing by zero has no result."
_MAX_FACTORIAL = 170


class NotArithmetic(ValueError):
    """The text is not an expression."""


@dataclass(frozen=True, slots=True)
class Term:
    """A part of an expression: its value, its words, and how many operations it has."""

    value: Fraction
    text: str
    operations: int = 0
    is_exact: bool = True
    is_percent: bool = False
    noun: str = ""
    is_sentence: bool = False
    """`text` is the whole answer."""


def _bounded(value: Fraction) -> Fraction:
    if value.numerator.bit_length() > MAX_BITS or value.denominator.bit_length() > MAX_BITS:
        raise NoAnswer(TOO_LARGE)
    return value


def _joined(first: Term, second: Term, value: Fraction, words: str, *, is_exact: bool = True) -> Term:
    nouns = {first.noun, second.noun} - {""}
    if len(nouns) > 1:
        raise NotArithmetic
    return Term(
        _bounded(value),
        f"{first.text} {words} {second.text}",
        first.operations + second.operations + 1,
        first.is_exact and second.is_exact and is_exact,
        noun=nouns.pop() if nouns else "",
    )


def added(first: Term, second: Term, sign: int = 1) -> Term:
    """ "100 plus 20 percent" is 120."""
    change = first.value * second.value if second.is_percent and not first.is_percent else second.value
    return _joined(first, second, first.value + sign * change, "plus" if sign > 0 else "minus")


def multiplied(first: Term, second: Term) -> Term:
    return _joined(first, second, first.value * second.value, "times")


def divided(first: Term, second: Term) -> Term:
    if not second.value:
        raise NoAnswer(_BY_ZERO)
    term = _joined(first, second, first.value / second.value, "divided by")
    return replace(term, noun="") if first.noun == second.noun else term


def share(part: Term, whole: Term) -> Term:
    term = divided(part, whole)
    text = f"{part.text} as a percentage of {whole.text}"
    return replace(term, value=_bounded(term.value * 100), text=text, noun=PERCENT)


def remainder(first: Term, second: Term) -> Term:
    if not second.value:
        raise NoAnswer(_BY_ZERO)
    joined = _joined(first, second, first.value % second.value, "divided by")
    return replace(joined, text=f"the remainder of {joined.text}")


def raised(base: Term, exponent: Term, text: str) -> Term:
    power, value = exponent.value, base.value
    if not value and power <= 0:
        raise NoAnswer("That has no result.")
    if power.denominator == 1:
        bits = max(value.numerator.bit_length(), value.denominator.bit_length())
        if abs(power) > MAX_BITS or bits * abs(power) > 2 * MAX_BITS:
            if abs(value) != 1:
                raise NoAnswer(TOO_LARGE)
            power = power % 2
        result, is_exact = value ** int(power), True
    elif value < 0:
        raise NoAnswer("That has no real result.")
    else:
        result, is_exact = Fraction(float(value) ** float(power)), False
    joined = _joined(base, exponent, Fraction(result), "", is_exact=is_exact)
    return replace(joined, text=text)


def root(term: Term, degree: int) -> Term:
    if term.value < 0 and degree == 2:
        raise NoAnswer("A negative number has no real square root.")
    name = "square" if degree == 2 else "cube"
    value = _bounded(term.value)
    exact = tuple(_whole_root(part, degree) for part in (abs(value.numerator), value.denominator))
    sign = -1 if value < 0 else 1
    if all(root is not None for root in exact):
        result, is_exact = Fraction(exact[0] or 0, exact[1] or 1) * sign, True
    else:
        result, is_exact = Fraction(float(abs(value)) ** (1 / degree)) * sign, False
    return Term(result, f"the {name} root of {term.text}", term.operations + 1, term.is_exact and is_exact)


def _whole_root(number: int, degree: int) -> int | None:
    root = math.isqrt(number) if degree == 2 else round(number ** (1 / 3))
    return root if root**degree == number else None


def factorial(term: Term) -> Term:
    if term.value.denominator != 1 or term.value < 0:
        raise NoAnswer("Only whole numbers have a factorial.")
    if term.value > _MAX_FACTORIAL:
        raise NoAnswer(TOO_LARGE)
    value = _bounded(Fraction(math.factorial(int(term.value))))
    return Term(value, f"{term.text} factorial", term.operations + 1, term.is_exact)
