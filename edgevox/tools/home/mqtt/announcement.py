"""What things say of themselves: Home Assistant's MQTT discovery, spelled out.

`<prefix>/<component>/[<node>/]<object>/config` announces one thing, `<prefix>/device/…/config` all the
things of a device. Keys may be abbreviated (`stat_t`), and `~` stands for the start of a topic.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from edgevox.tools.home.mqtt.spelling import spelled_out, with_whole_topics
from edgevox.tools.home.mqtt.templates import BadTemplate, Template

_MAX_LEVELS = 30
_MAX_TEXT_CHARS = 250
_MAX_LISTED = 32
_MAX_COMPONENTS = 100
_MAX_DEPTH = 10

_Raw: TypeAlias = dict[str, Any]


class BadAnnouncement(ValueError):
    """An announcement that cannot be used."""


@dataclass(frozen=True, slots=True)
class Announced:
    """One thing of an announcement; `key` tells it from every other."""

    key: str
    component: str
    object_id: str
    config: Config


class Config:
    """The options of one thing, each read as what it should be."""

    def __init__(self, options: Mapping[str, Any]) -> None:
        self._options = options

    def has(self, key: str) -> bool:
        return self._options.get(key) is not None

    def mentions(self, key: str) -> bool:
        """True also where it says that there is none."""
        return key in self._options

    def text(self, key: str, default: str = "") -> str:
        """As Home Assistant has it: true is "True"."""
        value = self._options.get(key)
        if value is None or isinstance(value, dict | list):
            return default
        return _text(value)

    def texts(self, key: str) -> tuple[str, ...]:
        value = self._options.get(key)
        listed = value if isinstance(value, list) else [] if value is None else [value]
        return tuple(_text(one) for one in listed[:_MAX_LISTED])

    def number(self, key: str, default: float) -> float:
        """Raises BadAnnouncement."""
        value = self._options.get(key)
        try:
            number = default if value is None else float(value)
        except (TypeError, ValueError, OverflowError):
            number = math.nan
        if not math.isfinite(number):
            raise BadAnnouncement(f"{key} is no number")
        return number

    def flag(self, key: str, default: bool = False) -> bool:
        value = self._options.get(key)
        return default if value is None else str(value).casefold() in ("true", "1", "yes", "on")

    def topic(self, key: str) -> str | None:
        """A topic to publish to, or to follow. Raises BadAnnouncement for one with wildcards."""
        value = self._options.get(key)
        if value is None or value == "":
            return None
        if not isinstance(value, str) or not _is_topic(value):
            raise BadAnnouncement(f"{key} is no topic")
        return value

    def needed_topic(self, key: str) -> str:
        """Raises BadAnnouncement where there is none."""
        if (topic := self.topic(key)) is None:
            raise BadAnnouncement(f"{key} is missing")
        return topic

    def template(self, key: str) -> Template | None:
        """Raises BadAnnouncement."""
        source = self._options.get(key)
        if not source:
            return None
        try:
            return Template(str(source))
        except BadTemplate as error:
            raise BadAnnouncement(f"{key}: {error}") from None

    def part(self, key: str) -> Config:
        """The options below a key; none where there are none."""
        value = self._options.get(key)
        return Config(value if isinstance(value, dict) else {})

    def parts(self, key: str) -> tuple[Config, ...]:
        """A list of options, or a single one."""
        value = self._options.get(key)
        listed = value if isinstance(value, list) else [value]
        return tuple(Config(one) for one in listed[:_MAX_LISTED] if isinstance(one, dict))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Config) and self._options == other._options

    __hash__ = None  # type: ignore[assignment]  # options are not hashable


def _text(value: object) -> str:
    """JSON can hold half letters, which nobody can print or send."""
    return str(value)[:_MAX_TEXT_CHARS].encode(errors="ignore").decode()


def _is_topic(text: str) -> bool:
    """A broker closes the connection for a bad one."""
    return (
        text == _text(text)
        and text.count("/") <= _MAX_LEVELS
        and not text.startswith("$")
        and set("+#\0").isdisjoint(text)
    )


def read_announcement(path: str, payload: bytes) -> tuple[Announced, ...]:
    """The things that a message announces, none for an empty one; `path` is the topic without its prefix.

    Raises BadAnnouncement.
    """
    component, _, rest = path.partition("/")
    object_id = rest.removesuffix("/config")
    if not payload:
        return ()
    try:
        raw = json.loads(payload)
    except (ValueError, RecursionError):
        raise BadAnnouncement("not JSON") from None
    if not isinstance(raw, dict) or not _is_flat(raw):
        raise BadAnnouncement("not an object of options")
    options = spelled_out(raw)
    if component != "device":
        return (Announced(path, component, object_id, Config(with_whole_topics(options))),)
    parts = options.pop("components", None)
    if not isinstance(parts, dict) or len(parts) > _MAX_COMPONENTS:
        raise BadAnnouncement("no components")
    return tuple(_of_device(path, object_id, options, parts))


def _is_flat(raw: _Raw) -> bool:
    """What is nested deeply can be neither compared nor printed."""
    level: list[object] = [raw]
    for _ in range(_MAX_DEPTH):
        inner = (
            one.values() if isinstance(one, dict) else one for one in level if isinstance(one, dict | list)
        )
        level = [value for values in inner for value in values]
    return not level


def _of_device(path: str, object_id: str, shared: _Raw, parts: _Raw) -> Iterator[Announced]:
    for name, raw in parts.items():
        if not isinstance(raw, dict):
            continue
        options = spelled_out(raw)
        component = str(options.pop("platform", ""))
        if options:  # one that has nothing but its platform is being removed
            merged = with_whole_topics({**shared, **options})
            yield Announced(f"{path} {name}", component, f"{object_id}_{name}", Config(merged))
