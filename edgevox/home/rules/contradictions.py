"""Corrects calls of the model that contradict the words of the command."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

from edgevox.core.types import ToolCall
from edgevox.home.rules.reading import pattern

SWITCHED = frozenset({"light", "switch", "fan", "media_player", "input_boolean", "humidifier"})
_OPPOSITE = {"turn_on": "turn_off", "turn_off": "turn_on"}
# Words that ask for a state. "On" is also a preposition, so it counts only where no name follows.
_ASKS = {
    "turn_on": pattern(
        r"\bon\b(?! (?:the|my|our|a|an)\b)|\b(?:turn|switch|put) on\b|\b(?:open|start|play|activate|lock)\b"
    ),
    "turn_off": pattern(r"\b(?:off|close|shut|stop|deactivate|unlock|kill)\b"),
}
_ONE_LIGHT = pattern(r"\b(?:the|that|this) light\b|^light\b")
_SEVERAL = pattern(r"\b(?:lights|lamps|all|every\w*|both|whole|everything|house)\b")


def corrected(text: str, call: ToolCall, earlier: Sequence[ToolCall]) -> ToolCall | None:
    """The call that was meant, or None if this one fits the words. `earlier` are the calls of the same command."""
    if call.name not in _OPPOSITE:
        return None
    opposite = _OPPOSITE[call.name]
    # "The coffee maker off, and the lamp while you are at it": the one state that is said is for both.
    is_second = any(other.name == opposite for other in earlier)
    if is_second and _ASKS[opposite].search(text) and not _ASKS[call.name].search(text):
        return replace(call, name=opposite)
    try:
        arguments = json.loads(call.arguments or "{}")
    except ValueError:
        return None
    if arguments == {"domain": "light"} and _ONE_LIGHT.search(text) and not _SEVERAL.search(text):
        return replace(call, arguments=json.dumps({"name": "light"}))
    return None
