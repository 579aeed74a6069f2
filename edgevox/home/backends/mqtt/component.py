"""The base class of MQTT components: state topics, commands, and the read-only sensors."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from edgevox.home.backends.mqtt.discovery import DiscoveryConfig
from edgevox.home.backends.mqtt.templates import BadTemplate, Template
from edgevox.home.entities import Action, Entity, HomeError
from edgevox.home.phrasing import sentence, the

# How a thing is: "state", and the attributes of its entity.
Values: TypeAlias = dict[str, Any]
Reader: TypeAlias = Callable[[str], Values]
Expected: TypeAlias = Callable[[Any], bool]
# Whether a thing has done it, from how it is and the names of what it has reported since it was told to.
Check: TypeAlias = Callable[[Entity, frozenset[str]], bool]

NO_VALUE = "None"  # a template's word for no value


@dataclass(frozen=True, slots=True)
class StateTopic:
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
class OutgoingMessage:
    """A message to be sent."""

    topic: str
    payload: str
    retain: bool = False


@dataclass(frozen=True, slots=True)
class Command:
    """What is sent to a thing, how it tells that it has done it, and how it is then.

    A thing that does not tell is taken to be as it was told to be. `underway` is the state of one that has
    begun, and has not yet arrived.
    """

    messages: tuple[OutgoingMessage, ...]
    assumed: Values
    is_done: Check | None = None
    underway: Callable[[Entity], str] | None = None


class Component:
    """A kind of thing; the classes below it know its options and its commands."""

    def __init__(self, config: DiscoveryConfig) -> None:
        self.config = config
        self.channels: list[StateTopic] = []
        self.is_optimistic = config.flag("optimistic")
        self.tells: set[str] = set()

    @property
    def known(self) -> Values:
        """What is known of it before it says anything."""
        return {}

    def order(self, target: Entity, action: Action) -> Command:
        """What to send for an action; `target` is the thing as it is. Raises HomeError if it cannot."""
        raise unsupported(target)

    def follow(self, topic_key: str, template_key: str, reader: Reader, *tells: str) -> None:
        """Have the messages of a topic read, if there is such a topic. Raises InvalidDiscovery."""
        if topic := self.config.topic(topic_key):
            self.channels.append(StateTopic(topic, self.config.template(template_key), reader))
            self.tells |= set(tells)

    def publish(self, topic_key: str, value: object, template_key: str = "", **more: object) -> OutgoingMessage:
        """A message to one of the topics. Raises InvalidDiscovery, and HomeError for a bad template."""
        template = self.config.template(template_key) if template_key else None
        try:
            payload = str(value) if template is None else template.write(value, **more)
        except BadTemplate:
            raise HomeError("That thing's announcement has a template that I cannot use.") from None
        return OutgoingMessage(self.config.needed_topic(topic_key), payload, self.config.flag("retain"))

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


def unsupported(target: Entity, what: str = "do that") -> HomeError:
    return HomeError(sentence(f"{the(target)} cannot {what}"))


# --- readers


def states(by_payload: Mapping[str, str]) -> Reader:
    """Reads a state from its payload; other payloads say nothing."""

    def read(text: str) -> Values:
        if text == NO_VALUE:
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


_MAX_STATE_CHARS = 255


class Sensor(Component):
    """A number or a word, in a unit where it has one."""

    def __init__(self, config: DiscoveryConfig) -> None:
        """Raises InvalidDiscovery."""
        super().__init__(config)
        config.needed_topic("state_topic")
        self.follow("state_topic", "value_template", _read, "state")


def _read(text: str) -> Values:
    return {"state": "unknown" if text == NO_VALUE else text[:_MAX_STATE_CHARS]}


class BinarySensor(Component):
    """Knows on and off."""

    def __init__(self, config: DiscoveryConfig) -> None:
        """Raises InvalidDiscovery."""
        super().__init__(config)
        config.needed_topic("state_topic")
        reported = {config.text("payload_on", "ON"): "on", config.text("payload_off", "OFF"): "off"}
        self.follow("state_topic", "value_template", states(reported), "state")
