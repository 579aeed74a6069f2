"""Parses Home Assistant's MQTT discovery messages.

`<prefix>/<component>/[<node>/]<object>/config` announces one entity, `<prefix>/device/…/config` all the
entities of a device. Keys may be abbreviated (`stat_t`), and `~` stands for the start of a topic.
"""

from __future__ import annotations

import json
import math
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, TypeAlias

from edgevox.home.backends.mqtt.templates import BadTemplate, Template

_Options: TypeAlias = dict[str, Any]

_BASE = re.compile(r"^~|~\Z")
_COLOUR_TEMPERATURE = re.compile(r"(?:clr|color)_temp_(?P<rest>\w+)")


def expand_abbreviations(options: _Options) -> _Options:
    """The options with full keys; `availability` becomes a list of options."""
    whole = _whole_keys(options)
    if isinstance(device := whole.get("device"), dict):
        whole["device"] = _whole_keys(device)
    if "availability" in whole:
        listed = whole["availability"]
        listed = listed if isinstance(listed, list) else [listed]
        whole["availability"] = [_whole_keys(one) for one in listed if isinstance(one, dict)]
    return whole


def expand_base_topic(options: _Options) -> _Options:
    """Replace `~` in topics of expanded options by the base topic."""
    base = options.get("~")
    if not isinstance(base, str):
        return options
    whole = _whole_topics(options, base)
    if isinstance(listed := whole.get("availability"), list):
        whole["availability"] = [_whole_topics(one, base) for one in listed]
    return whole


def _whole_keys(options: _Options) -> _Options:
    return {_whole_key(key): value for key, value in options.items()}


def _whole_key(key: str) -> str:
    table = _abbreviations()
    if key in table["keys"]:
        return table["keys"][key]
    if colour := _COLOUR_TEMPERATURE.fullmatch(key):
        return f"color_temp_{_whole_key(colour['rest'])}"
    return "_".join(table["words"].get(word, word) for word in key.split("_"))


@cache
def _abbreviations() -> dict[str, dict[str, str]]:
    return tomllib.loads((files(__package__) / "abbreviations.toml").read_text(encoding="utf-8"))


def _whole_topics(options: _Options, base: str) -> _Options:
    return {
        key: _BASE.sub(lambda _: base, value, count=1) if isinstance(value, str) and key.endswith("topic") else value
        for key, value in options.items()
        if key != "~"
    }


_MAX_LEVELS = 30
_MAX_TEXT_CHARS = 250
_MAX_LISTED = 32
_MAX_COMPONENTS = 100
_MAX_DEPTH = 10


# Without these there is no state, or no command.
_MAIN_TEMPLATES = frozenset(
    {
        "activity_value_template", "availability_template", "command_template", "command_off_template",
        "state_value_template", "state_template", "value_template",
    }
)  # fmt: skip
# Of these nothing is read.
_IGNORED_TEMPLATES = frozenset({"action_template", "entity_picture_template", "json_attributes_template"})


class InvalidDiscovery(ValueError):
    """A discovery message that cannot be used."""


class UnusableTemplate(InvalidDiscovery):
    """A template that the sandbox does not evaluate."""


@dataclass(frozen=True, slots=True)
class DiscoveredEntity:
    """One entity of a discovery message, with a unique `key`."""

    key: str
    component: str
    object_id: str
    config: DiscoveryConfig


class DiscoveryConfig:
    """The options of one entity, with typed access."""

    def __init__(self, options: Mapping[str, Any]) -> None:
        self._options = options

    def has(self, key: str) -> bool:
        return self._options.get(key) is not None

    def mentions(self, key: str) -> bool:
        """Whether the key is present, even if it is null."""
        return key in self._options

    def text(self, key: str, default: str = "") -> str:
        """The value as text, as in Home Assistant: true is "True"."""
        value = self._options.get(key)
        if value is None or isinstance(value, dict | list):
            return default
        return _text(value)

    def texts(self, key: str) -> tuple[str, ...]:
        value = self._options.get(key)
        listed = value if isinstance(value, list) else [] if value is None else [value]
        return tuple(_text(one) for one in listed[:_MAX_LISTED])

    def number(self, key: str, default: float) -> float:
        """Raises InvalidDiscovery."""
        value = self._options.get(key)
        try:
            number = default if value is None else float(value)
        except (TypeError, ValueError, OverflowError):
            number = math.nan
        if not math.isfinite(number):
            raise InvalidDiscovery(f"{key} is not a number")
        return number

    def flag(self, key: str, default: bool = False) -> bool:
        value = self._options.get(key)
        return default if value is None else str(value).casefold() in ("true", "1", "yes", "on")

    def topic(self, key: str) -> str | None:
        """A topic without wildcards, or None. Raises InvalidDiscovery."""
        value = self._options.get(key)
        if value is None or value == "":
            return None
        if not isinstance(value, str) or not _is_topic(value):
            raise InvalidDiscovery(f"{key} is not a topic")
        return value

    def needed_topic(self, key: str) -> str:
        """Raises InvalidDiscovery if it is missing."""
        if (topic := self.topic(key)) is None:
            raise InvalidDiscovery(f"{key} is missing")
        return topic

    def template(self, key: str) -> Template | None:
        """Raises InvalidDiscovery."""
        source = self._options.get(key)
        if not source:
            return None
        try:
            return Template(str(source))
        except BadTemplate as error:
            raise UnusableTemplate(f"its {key} {error}") from None

    def without_bad_templates(self) -> tuple[DiscoveryConfig, tuple[str, ...]]:
        """The options without what needs a template that cannot be used, and a phrase for each that is left out.

        Raises InvalidDiscovery if the entity is nothing without it.
        """
        options, left_out = dict(self._options), list[str]()
        for key in self._options:
            if not key.endswith("_template") or key in _IGNORED_TEMPLATES:
                continue
            try:
                self.template(key)
            except InvalidDiscovery as error:
                if key in _MAIN_TEMPLATES:
                    raise
                left_out.append(str(error))
                stem = key.removesuffix("_template").removesuffix("_value")
                for gone in (key, f"{stem}_topic", f"{stem}_state_topic"):
                    options.pop(gone, None)
        return (DiscoveryConfig(options) if left_out else self), tuple(left_out)

    def part(self, key: str) -> DiscoveryConfig:
        """The nested options below a key; empty if there are none."""
        value = self._options.get(key)
        return DiscoveryConfig(value if isinstance(value, dict) else {})

    def parts(self, key: str) -> tuple[DiscoveryConfig, ...]:
        """A list of nested options, or a single one."""
        value = self._options.get(key)
        listed = value if isinstance(value, list) else [value]
        return tuple(DiscoveryConfig(one) for one in listed[:_MAX_LISTED] if isinstance(one, dict))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DiscoveryConfig) and self._options == other._options

    __hash__ = None  # type: ignore[assignment]  # options are not hashable


def _text(value: object) -> str:
    """JSON can contain lone surrogates, which cannot be printed or sent."""
    return str(value)[:_MAX_TEXT_CHARS].encode(errors="ignore").decode()


def _is_topic(text: str) -> bool:
    """A broker closes the connection for an invalid topic."""
    return (
        text == _text(text)
        and text.count("/") <= _MAX_LEVELS
        and not text.startswith("$")
        and set("+#\0").isdisjoint(text)
    )


def parse_discovery(path: str, payload: bytes) -> tuple[DiscoveredEntity, ...]:
    """The announced entities, none for an empty message; `path` is the topic without its prefix.

    Raises InvalidDiscovery.
    """
    component, _, rest = path.partition("/")
    object_id = rest.removesuffix("/config")
    if not payload:
        return ()
    try:
        raw = json.loads(payload)
    except (ValueError, RecursionError):
        raise InvalidDiscovery("not JSON") from None
    if not isinstance(raw, dict) or not _is_flat(raw):
        raise InvalidDiscovery("not a JSON object")
    options = expand_abbreviations(raw)
    if component != "device":
        return (DiscoveredEntity(path, component, object_id, DiscoveryConfig(expand_base_topic(options))),)
    parts = options.pop("components", None)
    if not isinstance(parts, dict) or len(parts) > _MAX_COMPONENTS:
        raise InvalidDiscovery("no components")
    return tuple(_of_device(path, object_id, options, parts))


def _is_flat(raw: _Options) -> bool:
    """Deeply nested values can be neither compared nor printed."""
    level: list[object] = [raw]
    for _ in range(_MAX_DEPTH):
        inner = (one.values() if isinstance(one, dict) else one for one in level if isinstance(one, dict | list))
        level = [value for values in inner for value in values]
    return not level


def _of_device(path: str, object_id: str, shared: _Options, parts: _Options) -> Iterator[DiscoveredEntity]:
    for name, raw in parts.items():
        if not isinstance(raw, dict):
            continue
        options = expand_abbreviations(raw)
        component = str(options.pop("platform", ""))
        if options:  # only a platform means that the component is being removed
            merged = expand_base_topic({**shared, **options})
            yield DiscoveredEntity(f"{path} {name}", component, f"{object_id}_{name}", DiscoveryConfig(merged))
