"""What timers, alarms and reminders are called: what is kept of it, and which one "the eggs" is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from edgevox.tools.home.home import HomeError
from edgevox.tools.home.names import Words, are_same, readings, words

ThingT = TypeVar("ThingT")

_MAX_CHARS = 200
# What kind of thing it is says nothing of which.
_KINDS = frozenset({"timer", "alarm", "reminder"})


def kept_text(said: object) -> str:
    """What is kept of a name or a task. Raises HomeError: a part of it could neither be run nor forgotten."""
    text = " ".join(str(said or "").split())
    if len(text) > _MAX_CHARS:
        raise HomeError("That is too long for me to remember.")
    return text


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
