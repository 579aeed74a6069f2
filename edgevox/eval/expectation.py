"""What a row expects: calls, the state of the demo home, what is scheduled, and the reply."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Annotated, Any, ClassVar, Literal, TypeAlias

from pydantic import BeforeValidator, ConfigDict, Field, NaiveDatetime

_STRICT = ConfigDict(extra="forbid")

STATE, ITEMS = "state", "items"

Facts: TypeAlias = Annotated[
    Mapping[str, Any], BeforeValidator(lambda given: {STATE: given} if isinstance(given, str) else given)
]
"""The state of an entity, its attributes and, for a list, its open `items`. An attribute may be a Range as JSON."""


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call, made or expected."""

    __pydantic_config__: ClassVar[ConfigDict] = _STRICT

    name: str
    arguments: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Range:
    """The numbers from `min` to `max`, both included, that are greater than `above` and less than `below`."""

    __pydantic_config__: ClassVar[ConfigDict] = _STRICT

    min: float = float("-inf")
    max: float = float("inf")
    above: float = float("-inf")
    below: float = float("inf")

    def __contains__(self, number: float) -> bool:
        return self.min <= number <= self.max and self.above < number < self.below


ScheduledKind: TypeAlias = Literal["timer", "alarm", "reminder", "command"]
"""A `command` is anything that runs a command when it is due."""


@dataclass(frozen=True, slots=True)
class Scheduled:
    """Something that is due at a wall-clock time `at`, or `in_s` seconds after the row's `now`.

    `words` must all occur in its name, task or command. Without `kind` any will do; without a time, any time; without
    `repeat`, any repetition (0 is Monday, an empty list means once).
    """

    __pydantic_config__: ClassVar[ConfigDict] = _STRICT

    kind: ScheduledKind | None = None
    at: NaiveDatetime | None = None
    in_s: float | None = None
    tolerance_s: float = 60.0
    words: tuple[str, ...] = ()
    repeat: tuple[Annotated[int, Field(ge=0, le=6)], ...] | None = None

    def due(self, now: NaiveDatetime) -> NaiveDatetime | None:
        return now + timedelta(seconds=self.in_s) if self.in_s is not None else self.at


@dataclass(frozen=True, slots=True)
class ExpectedReply:
    """What the reply says. Case, punctuation, and digits or words for a number do not matter.

    `contains` are words that must occur, a list in it means one of them; `excludes` must not occur. `number` must
    contain some number of the reply. `no_number`: the reply names none. `declines`: it says that it does not know or
    cannot; with `or_declines`, a reply that says so is right whatever else is expected.
    """

    __pydantic_config__: ClassVar[ConfigDict] = _STRICT

    contains: tuple[str | tuple[str, ...], ...] = ()
    excludes: tuple[str, ...] = ()
    number: Range | None = None
    no_number: bool = False
    declines: bool = False
    or_declines: bool = False


@dataclass(frozen=True, slots=True)
class Expectation:
    """The expected calls (or none), and the expected effects on the demo home.

    `schedule` is everything that is scheduled afterwards, None if it must not change. `unchanged`: there is no effect.
    `or_state` and `or_unchanged` are as right as `state` and `schedule`: another reading, or a question instead.
    """

    __pydantic_config__: ClassVar[ConfigDict] = _STRICT

    calls: tuple[Call, ...] = ()
    no_call: bool = False
    ordered: bool = False
    state: Mapping[str, Facts] = field(default_factory=dict)
    schedule: tuple[Scheduled, ...] | None = None
    reply: ExpectedReply | None = None
    unchanged: bool = False
    or_state: tuple[Mapping[str, Facts], ...] = ()
    or_unchanged: bool = False

    @property
    def states(self) -> tuple[Mapping[str, Mapping[str, Any]], ...]:
        """Every state that is right."""
        return (self.state, *self.or_state)

    @property
    def is_empty(self) -> bool:
        return not (self.calls or self.no_call or self.state or self.needs_home)

    @property
    def needs_home(self) -> bool:
        """Whether it can only be compared on a home with real tools: it is about effects, not calls."""
        has_effects = self.unchanged or self.or_unchanged or bool(self.or_state) or self.schedule is not None
        is_only_state = bool(self.state) and not (self.calls or self.no_call)
        return has_effects or is_only_state or self.reply is not None
