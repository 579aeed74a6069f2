"""Keys of announcements without abbreviations (`stat_t`), and topics without `~`, their common start."""

from __future__ import annotations

import re
from typing import Any, TypeAlias

_Options: TypeAlias = dict[str, Any]

# Each part of a key stands for a word, but for a few keys.
_KEYS = {
    "p": "platform",
    "ret": "retain",
    "pl_ret": "payload_return_to_base",
    "sup_clrm": "supported_color_modes",
    "en": "enabled_by_default",
    "sa": "suggested_area",
    "act_stat_t": "activity_state_topic",
    "act_val_tpl": "activity_value_template",
    "max_temp": "max_temp",
    "min_temp": "min_temp",
    "temp_step": "temp_step",
    "exp_aft": "expire_after",
    "off_dly": "off_delay",
}
_WORDS = {
    "act": "action", "aft": "after", "avail": "available", "avty": "availability", "bri": "brightness",
    "cat": "category", "cla": "class", "clr": "color", "clrm": "color_mode", "cls": "close",
    "clsd": "closed", "cmd": "command", "cmps": "components", "cod": "code", "curr": "current",
    "def": "default", "dev": "device", "dis": "disarm", "ent": "entity", "feat": "features",
    "hum": "humidity", "ids": "identifiers", "meas": "measurement", "mirs": "mireds", "mow": "mowing",
    "nite": "night", "obj": "object", "opnd": "opened", "opt": "optimistic", "pct": "percentage",
    "pl": "payload", "pos": "position", "pow": "power", "pr": "preset", "prs": "press", "req": "required",
    "rng": "range", "scl": "scale", "spd": "speed", "stat": "state", "strt": "start",
    "sup": "supported", "t": "topic", "temp": "temperature", "tpl": "template", "uniq": "unique",
    "unlk": "unlock", "val": "value", "whit": "white",
}  # fmt: skip
_COLOUR_TEMPERATURE = re.compile(r"(?:clr|color)_temp_(?P<rest>\w+)")


def spelled_out(options: _Options) -> _Options:
    """The options by their whole names; `availability` is a list of options afterwards."""
    whole = _whole_keys(options)
    if isinstance(device := whole.get("device"), dict):
        whole["device"] = _whole_keys(device)
    if "availability" in whole:
        listed = whole["availability"]
        listed = listed if isinstance(listed, list) else [listed]
        whole["availability"] = [_whole_keys(one) for one in listed if isinstance(one, dict)]
    return whole


def with_whole_topics(options: _Options) -> _Options:
    """Options that were spelled out, with the start of topics in the place of `~`."""
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
    if key in _KEYS:
        return _KEYS[key]
    if colour := _COLOUR_TEMPERATURE.fullmatch(key):
        return f"color_temp_{_whole_key(colour['rest'])}"
    return "_".join(_WORDS.get(word, word) for word in key.split("_"))


def _whole_topics(options: _Options, base: str) -> _Options:
    return {key: _whole_topic(key, value, base) for key, value in options.items() if key != "~"}


def _whole_topic(key: str, value: object, base: str) -> object:
    if not isinstance(value, str) or not key.endswith("topic"):
        return value
    if value.startswith("~"):
        return base + value[1:]
    return value[:-1] + base if value.endswith("~") else value
