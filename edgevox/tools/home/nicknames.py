"""Finds timers, alarms and reminders by what they were called: "the eggs" is the egg timer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from edgevox.tools.home.names import Words, are_same, readings, words

ThingT = TypeVar("ThingT")

# What kind of thing it is says nothing of which.
_KINDS = frozenset({"timer", "alarm", "reminder"})


def name_words(name: str | None) -> Words:
    """The words of a name that tell it from others."""
    return tuple(word for word in words(name or "") if word not in _KINDS)


def called_so(
    wanted: Words, things: Sequence[ThingT], name_of: Callable[[ThingT], str]
) -> tuple[ThingT, ...]:
    """Those that are called so: by these words, else by these among others, else by what sounds so."""
    named = [(thing, name_words(name_of(thing))) for thing in things]
    known = frozenset(word for _, own in named for word in own)
    for said in (wanted, *readings(wanted, known)):
        same = tuple(thing for thing, own in named if are_same(said, own))
        found = same or tuple(thing for thing, own in named if set(said) <= set(own))
        if found:
            return found
    return ()
