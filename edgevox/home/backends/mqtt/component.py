"""The base of MQTT components: their state topics and commands, and parsers for states and numbers."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from edgevox.home.backends.mqtt.discovery import DiscoveryConfig, InvalidDiscovery
from edgevox.home.backends.mqtt.templates import BadTemplate, Template
from edgevox.home.entities import Action, Attributes, Entity, HomeError, Verb
from edgevox.home.phrasing import sentence, the

# The "state" and attributes of an entity.
Values: TypeAlias = dict[str, Any]
Reader: TypeAlias = Callable[[str], Values]
Expected: TypeAlias = Callable[[Any], bool]
# Whether a command is done, given the entity and the values that were reported since it was sent.
Check: TypeAlias = Callable[[Entity, frozenset[str]], bool]

NO_VALUE = "None"  # how templates spell a missing value


@dataclass(frozen=True, slots=True)
class StateTopic:
    """A state topic and the parser of its messages."""

    topic: str
    template: Template | None
    read: Reader

    def values(self, payload: str) -> Values:
        """The values of a message; empty if it has none, or is invalid."""
        text = payload if self.template is None else self.template.read(payload)
        if text is None or text == "":
            return {}
        try:
            return self.read(text.encode(errors="ignore").decode())
        except (ValueError, TypeError, LookupError, AttributeError, ArithmeticError, RecursionError):
            return {}


@dataclass(frozen=True, slots=True)
class OutgoingMessage:
    """A message to publish."""

    topic: str
    payload: str
    retain: bool = False


@dataclass(frozen=True, slots=True)
class Command:
    """The messages of a command, how its completion is detected, and the values afterwards.

    An entity without state feedback is assumed to have obeyed. `underway` is the state of one that has
    started to move.
    """

    messages: tuple[OutgoingMessage, ...]
    assumed: Values
    is_done: Check | None = None
    underway: Callable[[Entity], str] | None = None


Handler: TypeAlias = Callable[[Entity, Attributes], Command]
"""Makes the command for an action with these values on the current entity. Raises HomeError if unsupported."""


class Component:
    """The state topics of one entity, and the commands by verb."""

    def __init__(self, config: DiscoveryConfig, *needed_topics: str) -> None:
        """Raises InvalidDiscovery."""
        self.config = config
        self.channels: list[StateTopic] = []
        self.is_optimistic = config.flag("optimistic")
        self.reports: set[str] = set()
        self.initial_values: Values = {}
        self.commands: dict[Verb, Handler] = {}
        for key in needed_topics:
            config.needed_topic(key)

    def command(self, target: Entity, action: Action) -> Command:
        """The command for an action; `target` is the current entity. Raises HomeError if unsupported."""
        if action.verb not in self.commands:
            raise unsupported(target)
        try:
            return self.commands[action.verb](target, action.values)
        except InvalidDiscovery:  # announced without the topic or the template that this needs
            raise unsupported(target) from None

    def subscribe(self, topic_key: str, template_key: str, reader: Reader, *reports: str) -> None:
        """Subscribe to a state topic, if it is configured. Raises InvalidDiscovery."""
        if topic := self.config.topic(topic_key):
            self.channels.append(StateTopic(topic, self.config.template(template_key), reader))
            self.reports |= set(reports)

    def publish(self, topic_key: str, value: object, template_key: str = "", **more: object) -> OutgoingMessage:
        """A message to a command topic. Raises InvalidDiscovery, and HomeError for a bad template."""
        template = self.config.template(template_key)
        try:
            payload = str(value) if template is None else template.write(value, **more)
        except BadTemplate:
            raise HomeError("That thing's announcement has a template that I cannot use.") from None
        return OutgoingMessage(self.config.needed_topic(topic_key), payload, self.config.flag("retain"))

    def sends(
        self,
        verbs: Iterable[Verb],
        payload: str,
        *states: str,
        topic: str = "command_topic",
        template: str = "command_template",
        **variables: str,
    ) -> None:
        """Publish this payload for the verbs. Any of `states` confirms it; without feedback the first is assumed."""

        def send(target: Entity, values: Attributes) -> Command:
            message = self.publish(topic, payload, template, **variables)
            return Command((message,), {"state": states[0]} if states else {}, self.when(state=one_of(*states)))

        self.commands |= dict.fromkeys(verbs, send)

    def refuses(self, verbs: Iterable[Verb], why: str) -> None:
        """Answer these verbs with a reason: "needs a code"."""

        def refuse(target: Entity, values: Attributes) -> Command:
            raise HomeError(sentence(f"{the(target)} {why}"))

        self.commands |= dict.fromkeys(verbs, refuse)

    def when(self, *reported: str, **expected: Expected) -> Check | None:
        """A check for these values, with `reported` sent again; None for an entity that reports neither."""
        named = frozenset(reported) & self.reports
        wanted = {name: expectation for name, expectation in expected.items() if name in self.reports}
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
    """Maps payloads to states; other payloads are ignored."""

    def read(text: str) -> Values:
        if text == NO_VALUE:
            return {"state": "unknown"}
        return {"state": by_payload[text]} if text in by_payload else {}

    return read


def plain_states(*known: str) -> Reader:
    """Payloads that are states themselves; others are ignored."""
    return states(dict(zip(known, known, strict=True)))


def numbers(name: str, convert: Callable[[float], float] | None = None) -> Reader:
    """Parses one number."""
    return lambda text: {name: (convert or finite)(float(text))}


def finite(number: float) -> float:
    """Raises ValueError."""
    if not math.isfinite(number):
        raise ValueError("not a number")
    return number


def percent(low: float, high: float) -> Callable[[float], int]:
    """Converts from the device's scale to 0 to 100; `low` may be the larger one."""

    def convert(number: float) -> int:
        share = (finite(number) - low) / (high - low) if high != low else 0.0
        return round(100 * min(1.0, max(0.0, share)))

    return convert


def of_percent(share: float, low: float, high: float) -> int:
    """Converts percent to the device's scale."""
    return round(low + (high - low) * share / 100)


# --- expectations


def one_of(*wanted: str) -> Expected:
    return lambda value: value in wanted


def about(wanted: float, within: float) -> Expected:
    return lambda value: isinstance(value, int | float) and abs(value - wanted) <= within
