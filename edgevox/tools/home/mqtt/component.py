"""What every kind of thing has: topics that say how it is, and commands that change it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from edgevox.tools.home.home import Action, HomeError
from edgevox.tools.home.house import Entity
from edgevox.tools.home.mqtt.announcement import Config
from edgevox.tools.home.mqtt.templates import BadTemplate, Template
from edgevox.tools.home.wording import sentence, the

# How a thing is: "state", and the attributes of its entity.
Values: TypeAlias = dict[str, Any]
Reader: TypeAlias = Callable[[str], Values]
Expected: TypeAlias = Callable[[Any], bool]
# Whether a thing has done it, from how it is and the names of what it has reported since it was told to.
Check: TypeAlias = Callable[[Entity, frozenset[str]], bool]

NOTHING_SAID = "None"  # a template's word for no value


@dataclass(frozen=True, slots=True)
class Channel:
    """A topic, and what its messages say of the thing."""

    topic: str
    template: Template | None
    read: Reader

    def values(self, payload: str) -> Values:
        """Nothing where the message is not about this, or makes no sense."""
        text = payload if self.template is None else self.template.read(payload)
        if text is None or text == "":
            return {}
        try:
            return self.read(text.encode(errors="ignore").decode())
        except (ValueError, TypeError, ArithmeticError, RecursionError):
            return {}


@dataclass(frozen=True, slots=True)
class Publication:
    """A message to be sent."""

    topic: str
    payload: str
    retain: bool = False


@dataclass(frozen=True, slots=True)
class Order:
    """What is sent to a thing, how it tells that it has done it, and how it is then.

    A thing that does not tell is taken to be as it was told to be. `underway` is the state of one that has
    begun, and has not yet arrived.
    """

    messages: tuple[Publication, ...]
    assumed: Values
    is_done: Check | None = None
    underway: Callable[[Entity], str] | None = None


class Component:
    """A kind of thing; the classes below it know its options and its commands."""

    def __init__(self, config: Config) -> None:
        self.config = config
        self.channels: list[Channel] = []
        self.is_optimistic = config.flag("optimistic")
        self.tells: set[str] = set()

    @property
    def known(self) -> Values:
        """What is known of it before it says anything."""
        return {}

    def order(self, target: Entity, action: Action) -> Order:
        """What to send for an action; `target` is the thing as it is. Raises HomeError if it cannot."""
        raise cannot(target)

    def follow(self, topic_key: str, template_key: str, reader: Reader, *tells: str) -> None:
        """Have the messages of a topic read, if there is such a topic. Raises BadAnnouncement."""
        if topic := self.config.topic(topic_key):
            self.channels.append(Channel(topic, self.config.template(template_key), reader))
            self.tells |= set(tells)

    def publish(self, topic_key: str, value: object, template_key: str = "", **more: object) -> Publication:
        """A message to one of the topics. Raises BadAnnouncement, and HomeError for a bad template."""
        template = self.config.template(template_key) if template_key else None
        try:
            payload = str(value) if template is None else template.write(value, **more)
        except BadTemplate:
            raise HomeError("That thing's announcement has a template that I cannot use.") from None
        return Publication(self.config.needed_topic(topic_key), payload, self.config.flag("retain"))

    def when(self, *reported: str, **expected: Expected) -> Check | None:
        """It has these values, and has reported those anew; None for a thing that tells neither."""
        named = frozenset(reported) & self.tells
        wanted = {name: expectation for name, expectation in expected.items() if name in self.tells}
        if self.is_optimistic or not (named or wanted):
            return None

        def is_done(entity: Entity, news: frozenset[str]) -> bool:
            now = {**entity.attributes, "state": entity.state}
            return named <= news and all(fits(now.get(name)) for name, fits in wanted.items())

        return is_done


def cannot(target: Entity, what: str = "do that") -> HomeError:
    return HomeError(sentence(f"{the(target)} cannot {what}"))


# --- readers


def states(by_payload: Mapping[str, str]) -> Reader:
    """Reads a state from its payload; other payloads say nothing."""

    def read(text: str) -> Values:
        if text == NOTHING_SAID:
            return {"state": "unknown"}
        return {"state": by_payload[text]} if text in by_payload else {}

    return read


def numbers(name: str, convert: Callable[[float], float] | None = None) -> Reader:
    """Reads one value that is a number."""
    return lambda text: {name: (convert or finite)(float(text))}


def finite(number: float) -> float:
    """Raises ValueError."""
    if not math.isfinite(number):
        raise ValueError("not a number")
    return number


def percent(low: float, high: float) -> Callable[[float], int]:
    """From a scale of the thing's own to 0 to 100; `low` may be the larger one."""

    def convert(number: float) -> int:
        share = (finite(number) - low) / (high - low) if high != low else 0.0
        return round(100 * min(1.0, max(0.0, share)))

    return convert


def of_percent(share: float, low: float, high: float) -> int:
    """The other way round: what the thing calls so many percent."""
    return round(low + (high - low) * share / 100)


# --- expectations


def one_of(*wanted: str) -> Expected:
    return lambda value: value in wanted


def about(wanted: float, within: float) -> Expected:
    return lambda value: isinstance(value, int | float) and abs(value - wanted) <= within
