"""Compares calls and values by meaning: texts by words without case and articles, numbers by value."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from edgevox.eval.expectation import Call

NormalizeText: TypeAlias = Callable[[str], str]
"""Maps texts that count as equal to one spelling."""

DOMAIN = "domain"
ARTICLES = frozenset({"the", "a", "an", "my"})
_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?")


def plain_text(text: str) -> str:
    """Remove case, articles and final punctuation."""
    words = text.replace("’", "'").casefold().strip(" .,!?").split()
    kept = [word for word in words if word not in ARTICLES]
    return " ".join(kept or words)


def same_tools(wanted: Sequence[Call], made: Sequence[Call], *, ordered: bool) -> bool:
    """Return whether the same tools were called equally often."""
    names, made_names = [call.name for call in wanted], [call.name for call in made]
    return names == made_names if ordered else sorted(names) == sorted(made_names)


def same_calls(
    wanted: Sequence[Call],
    made: Sequence[Call],
    *,
    ordered: bool,
    lenient_domain: bool = False,
    normal: NormalizeText = plain_text,
) -> bool:
    """Return whether calls and arguments are equal.

    With `lenient_domain` the domain counts only where both sides give it.
    """
    if not same_tools(wanted, made, ordered=ordered):
        return False
    orders = [tuple(made)] if ordered else itertools.permutations(made)
    return any(
        all(
            one.name == other.name
            and same_arguments(one.arguments, other.arguments, lenient_domain=lenient_domain, normal=normal)
            for one, other in zip(wanted, order, strict=True)
        )
        for order in orders
    )


def same_arguments(
    wanted: Mapping[str, Any],
    made: Mapping[str, Any],
    *,
    lenient_domain: bool = False,
    normal: NormalizeText = plain_text,
) -> bool:
    """Return whether all arguments are equal; null is the same as missing."""
    one = {slot: value for slot, value in wanted.items() if value is not None}
    other = {slot: value for slot, value in made.items() if value is not None}
    if lenient_domain and (DOMAIN not in one or DOMAIN not in other):
        one.pop(DOMAIN, None)
        other.pop(DOMAIN, None)
    return one.keys() == other.keys() and all(same_value(one[slot], other[slot], normal) for slot in one)


def same_value(wanted: object, made: object, normal: NormalizeText = plain_text) -> bool:
    """Return whether two JSON values are equivalent: "20" equals 20 and 20.0; lists are ordered."""
    match wanted, made:
        case Mapping(), Mapping():
            return same_arguments(wanted, made, normal=normal)
        case list(), list():
            return len(wanted) == len(made) and all(
                same_value(one, other, normal) for one, other in zip(wanted, made, strict=True)
            )
        case (Mapping() | list(), _) | (_, Mapping() | list()):
            return False
        case bool(), bool():
            return wanted is made
        case str(), str() if normal(wanted) == normal(made):
            return True
        case _:
            return _plain(wanted) == _plain(made)


def _plain(value: object) -> float | str:
    match value:
        case bool():
            return str(value).casefold()
        case int() | float():
            return float(value)
        case _:
            text = str(value).strip().casefold()
            return float(text) if _NUMBER.fullmatch(text) else text
