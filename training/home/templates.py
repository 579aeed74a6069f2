"""Sentence templates with alternatives and optional parts, `(turn|switch) on [all] {t}`; home tool calls.

A line begins with the form of the sentence, which decides what may be added around it:

    ! an order: "turn on {t}"; "can you" and "please" fit
    : an order that ends in free text: "play {q}"; nothing but "please" may follow
    ? a question
    . anything else: "{t} on", "I'm cold"; only fillers fit
"""

from __future__ import annotations

import random
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from edgevox.home.intents.catalogue import catalogue
from training.types import Call

Form: TypeAlias = Literal["!", ":", "?", "."]

# A text, or a choice of sequences.
_Part: TypeAlias = "str | tuple[tuple[_Part, ...], ...]"

_TOKEN = re.compile(r"[()\[\]|]|[^()\[\]|]+")
_SPACES = re.compile(r" {2,}")
_BEFORE_MARK = re.compile(r" (?=[,.?!])")
_PLACE = re.compile(r"\{([\w']+)\}")


@dataclass(frozen=True, slots=True)
class Pattern:
    """One line of a grammar. `places` are the names in braces."""

    form: Form
    parts: tuple[_Part, ...]
    places: frozenset[str]

    def say(self, rng: random.Random, fill: Mapping[str, str]) -> str:
        """The line in one of its wordings, with the places filled."""
        pieces: list[str] = []
        _write(self.parts, rng, pieces)
        text = _PLACE.sub(lambda place: fill[place[1]], "".join(pieces))
        return _BEFORE_MARK.sub("", _SPACES.sub(" ", text)).strip()


class Grammar:
    """Patterns for one meaning, drawn with equal odds; a line `3! …` counts three times."""

    def __init__(self, lines: str) -> None:
        self.patterns: list[Pattern] = []
        for line in filter(None, map(str.strip, lines.splitlines())):
            head, _, text = line.partition(" ")
            form = head[-1]
            assert form in "!:?.", line
            times = int(head[:-1] or 1)
            self.patterns.extend([pattern(form, text)] * times)  # type: ignore[arg-type]  # asserted above

    def draw(self, rng: random.Random) -> Pattern:
        return self.patterns[int(rng.random() * len(self.patterns))]


def pattern(form: Form, text: str) -> Pattern:
    """Read one line without its mark."""
    tokens = _TOKEN.findall(text)
    parts, end = _sequence(tokens, 0)
    assert end == len(tokens), f"unbalanced: {text}"
    return Pattern(form, parts, frozenset(_PLACE.findall(text)))


def wordings(text: str) -> Pattern:
    """A pattern for a part of a sentence."""
    return pattern(".", text)


def every_wording(text: str) -> tuple[str, ...]:
    """All wordings of a part of a sentence, so that each of them is as likely as the next."""
    return tuple(map(str.strip, _all(pattern(".", text).parts)))


def _all(parts: tuple[_Part, ...]) -> list[str]:
    said = [""]
    for part in parts:
        ways = [part] if isinstance(part, str) else [words for way in part for words in _all(way)]
        said = [before + words for before in said for words in ways]
    return said


def _sequence(tokens: list[str], at: int) -> tuple[tuple[_Part, ...], int]:
    parts: list[_Part] = []
    while at < len(tokens) and tokens[at] not in ")]|":
        match tokens[at]:
            case "(":
                choice, at = _choice(tokens, at + 1, ")")
                parts.append(choice)
            case "[":
                choice, at = _choice(tokens, at + 1, "]")
                parts.append((*choice, ()))
            case text:
                parts.append(text)
                at += 1
    return tuple(parts), at


def _choice(tokens: list[str], at: int, closing: str) -> tuple[tuple[tuple[_Part, ...], ...], int]:
    ways: list[tuple[_Part, ...]] = []
    while True:
        way, at = _sequence(tokens, at)
        ways.append(way)
        if tokens[at] == closing:
            return tuple(ways), at + 1
        assert tokens[at] == "|", tokens
        at += 1


def _write(parts: tuple[_Part, ...], rng: random.Random, pieces: list[str]) -> None:
    for part in parts:
        if isinstance(part, str):
            pieces.append(part)
        else:
            _write(part[int(rng.random() * len(part))], rng, pieces)


SLOT_ORDER: dict[str, tuple[str, ...]] = {
    tool.name: tuple(tool.parameters["properties"]) for tool in catalogue().values()
}


def home_call(tool: str, **slots: Any) -> Call:  # noqa: ANN401 - a slot's value is of its schema's type
    """A call of a home tool, arguments in the schema's order."""
    order = SLOT_ORDER[tool]
    assert slots.keys() <= set(order), (tool, slots)
    return Call(tool, {name: slots[name] for name in order if name in slots})
