"""BFCL's check: is a call one of the acceptable ones? Values are compared by meaning, not by spelling.

An answer names a function and, for every parameter, the values that are right; an empty string among them
means that the parameter may be left out.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TypeAlias

from edgevox.llm.tool_parsers import ToolCallItem

Answer: TypeAlias = Mapping[str, Mapping[str, Sequence[object]]]


def calls_match(calls: Sequence[ToolCallItem], answers: Sequence[Answer]) -> bool:
    """Whether there is one call for each answer, in any order."""
    left = list(calls)
    for answer in answers:
        match = next((call for call in left if call_matches(call, answer)), None)
        if match is None:
            return False
        left.remove(match)
    return not left


def call_matches(call: ToolCallItem, answer: Answer) -> bool:
    """Whether a call is the one that is asked for, with acceptable arguments and no others."""
    (name, parameters), *_ = answer.items()
    if call.name != name or call.error is not None:
        return False
    given = json.loads(call.arguments)
    if any(key not in parameters for key in given):
        return False
    for key, accepted in parameters.items():
        if key not in given:
            if "" not in accepted:
                return False
        elif not any(value_matches(given[key], value) for value in accepted):
            return False
    return True


def value_matches(given: object, accepted: object) -> bool:
    """Equal values of the same kind; text is compared without case, blanks and punctuation, as BFCL does."""
    if isinstance(given, bool) or isinstance(accepted, bool):
        return given is accepted
    if isinstance(given, int | float) and isinstance(accepted, int | float):
        return given == accepted
    if isinstance(given, str) and isinstance(accepted, str):
        return _plain(given) == _plain(accepted)
    if isinstance(given, list) and isinstance(accepted, list):
        return len(given) == len(accepted) and all(map(value_matches, given, accepted))
    if isinstance(given, dict) and isinstance(accepted, dict):
        return given.keys() == accepted.keys() and all(value_matches(given[key], accepted[key]) for key in given)
    return given is None and accepted is None


def _plain(text: str) -> str:
    return "".join(char for char in text.lower() if char not in " ,./-_*^'\"")
