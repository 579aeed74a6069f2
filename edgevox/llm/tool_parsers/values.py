"""A call's arguments as other notations write them: between tags, in Python, in Gemma's own."""

from __future__ import annotations

import json

from edgevox.llm.tool_parsers.json_repair import JsonValue
from edgevox.types import ToolCall


def arguments_of(call: ToolCall) -> dict[str, JsonValue]:
    """The arguments of a call as a mapping."""
    found: dict[str, JsonValue] = json.loads(call.arguments or "{}")
    return found


def tagged_arguments(call: ToolCall) -> list[tuple[str, str]]:
    """Key and value as text: strings as they are, everything else as JSON."""
    return [
        (key, value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))
        for key, value in arguments_of(call).items()
    ]


def python_call(call: ToolCall) -> str:
    """`name(key=value)` in Python's notation."""
    return f"{call.name}({', '.join(f'{key}={value!r}' for key, value in arguments_of(call).items())})"


def gemma_value(value: JsonValue, quote: str) -> str:
    """A value in Gemma's notation: strings between `quote`, keys without quotes."""
    match value:
        case str():
            return f"{quote}{value}{quote}"
        case dict():
            return (
                "{" + ",".join(f"{key}:{gemma_value(member, quote)}" for key, member in value.items()) + "}"
            )
        case list():
            return "[" + ",".join(gemma_value(member, quote) for member in value) + "]"
        case _:
            return json.dumps(value)
