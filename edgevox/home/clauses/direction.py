"""Compares the direction of a call with the words: nothing is turned on where only "off" was said."""

from __future__ import annotations

import json

from edgevox.core.types import ToolCall
from edgevox.core.words import number_value
from edgevox.home.entities import Entities
from edgevox.home.grammar import NUMBER, pattern
from edgevox.home.intents.quantities import QUANTITIES, STEP

_STATES = {
    "lock": (pattern(r"\b(?:lock\w*|secure\w*|bolt\w*)\b"), pattern(r"\b(?:unlock\w*|open\w*|unbolt\w*)\b")),
    "cover": (
        pattern(r"\b(?:open\w*|raise\w*|rais\w+|up|lift\w*|draw\w*|roll\w*|pull\w*|let)\b"),
        pattern(r"\b(?:clos\w+|shut\w*|lower\w*|down|draw\w*|roll\w*|pull\w*|drop\w*)\b"),
    ),
    "": (
        pattern(r"\b(?:on|start\w*|activat\w+|enabl\w+|open\w*|run\w*|up|begin|arm)\b"),
        pattern(r"\b(?:off|out|stop\w*|deactivat\w+|disabl\w+|clos\w+|shut\w*|kill\w*|cut\w*|end|disarm|down)\b"),
    ),
}
_STATES["valve"] = _STATES["cover"]
_SWITCHES = {"turn_on": 0, "turn_off": 1}
_GLARE = (
    pattern(r"\b(?:too|so|very|really|way|awfully|blindingly) bright\b|\bblind(?:ing|ed|s)\b"),
    pattern(r"\b(?:too|so|very|really|way|awfully|pitch) (?:dark|gloomy|black)\b"),
)
_BY = pattern(
    rf"\bby (?:about |another |around |a further )?(?P<one>{NUMBER})\b|\b(?P<two>{NUMBER}) ?(?:%|percent|"
    rf"degrees?)?(?: points)? "
    r"(?:more|less|higher|lower|warmer|cooler|colder|hotter|brighter|dimmer|darker|louder|quieter|faster|slower)\b"
)
_LESS = pattern(
    r"\b(?:down|lower\w*|less|decrease\w*|reduc\w+|quieter|softer|cooler|colder|darker|dimmer|slower|drop\w*)\b"
)
_MORE = pattern(
    r"\b(?:up|higher|more|increas\w+|rais\w+|louder|warmer|hotter|brighter|faster|boost\w*|crank\w*|brighten\w*)\b"
)
_COOLING = pattern(r"\b(?:ac|a/c|air|cooling|conditioner|conditioning)\b")


def wrong_direction(text: str, call: ToolCall, entities: Entities) -> bool:
    """Whether a call does the opposite of what the words say."""
    if call.name in _SWITCHES:
        own = _SWITCHES[call.name]
        domains = {entity.domain for entity in entities}
        states = _STATES.get(next(iter(domains), ""), _STATES[""]) if len(domains) == 1 else None
        if states is None or states[own].search(text):
            return False
        is_glare = domains == {"light"} and _GLARE[own].search(text) is not None  # "it's so bright" turns no light on
        return is_glare or states[1 - own].search(text) is not None
    quantity = next((quantity for quantity in QUANTITIES if quantity.tool == call.name), None)
    arguments = call_arguments(call)
    value = arguments.get(quantity.slot) if quantity else None
    if quantity is None or not isinstance(value, int | float) or STEP in arguments:
        return False
    if call.name == "set_position":
        return False  # "raise the blinds half way" may lower them
    if any(number_value(said["one"] or said["two"]) == value for said in _BY.finditer(text)):
        return True  # "by ten percent", set to ten percent
    is_less, is_more = _LESS.search(text) is not None, _MORE.search(text) is not None
    if is_less == is_more or _COOLING.search(text) or len(entities) != 1:
        return False
    now = entities[0].attributes.get(quantity.slot)
    if not isinstance(now, int | float) or entities[0].state == "off":
        return False
    return value > now if is_less else value < now


def call_arguments(call: ToolCall) -> dict[str, object]:
    try:
        arguments = json.loads(call.arguments or "{}")
    except ValueError:
        return {}
    return arguments if isinstance(arguments, dict) else {}
