"""Payloads in a reply: JSON, and what tools and their errors look like to the model."""

from __future__ import annotations

import re
from dataclasses import dataclass

from edgevox.llm.tool_parsers.json_repair import JsonValue, Reader, Unreadable

# An object with a quoted key, or a list of objects or quoted texts: [1] and {name} are nobody's payload.
_BEGINS = re.compile(
    r"""\{\s*+["'][^"'\n]{0,100}+["']\s*+:|(?<!\w)\[\s*+(?:\{\s*+["']|"[^"\n]{0,200}+"\s*+[,\]])"""
)
_MAY_BEGIN = re.compile(
    r"""[{\[]\s*+(?:["'{\[]|$)|`{1,3}(?:json)?+\s*+(?:[{\[]|$)|</?tool_|^\s*+\((?:system|the tools)\b""",
    re.IGNORECASE,
)
_MACHINE_WORDS = re.compile(
    r"\b(?:invalid_arguments|internal_error|unknown_tool|token_scope_insufficient|requires_confirmation"
    r"|bad_request|tool_denied|tool_error)\s*+:|^\s*+\((?:system\s*+:|the tools have run\b)"
    r"|^\s*+the tools have run:|</?tool_(?:call|response|result)s?\b",
    re.IGNORECASE,
)
_DEFINITION_KEYS = ("properties", "parameters", "arguments", "function", "tool_calls", "$defs")


@dataclass(frozen=True, slots=True)
class Payload:
    """JSON at text[start:end]; `value` is None where it cannot be read."""

    start: int
    end: int
    value: JsonValue


def payloads(text: str) -> list[Payload]:
    """The JSON objects and lists in a text, in order. One that is cut off or broken reaches to the end."""
    found: list[Payload] = []
    pos = 0
    while (begin := _BEGINS.search(text, pos)) is not None:
        reader = Reader(text)
        reader.pos = begin.start()
        try:
            value = reader.value()
        except Unreadable:
            found.append(Payload(begin.start(), len(text), None))
            break
        found.append(Payload(begin.start(), reader.pos, value))
        pos = reader.pos
    return found


def holds_machine_words(text: str) -> bool:
    """Whether a text has the error codes, tags and remarks in it that are between program and model."""
    return _MACHINE_WORDS.search(text) is not None


def speakable_chars(text: str) -> int:
    """How much of an unfinished reply can be spoken: what may be a payload waits for the end."""
    found = _MAY_BEGIN.search(text)
    return len(text) if found is None else found.start()


def is_definition(value: JsonValue) -> bool:
    """Whether the JSON is a schema or a call: there is nothing in it to tell a person."""
    if isinstance(value, list):
        return any(is_definition(member) for member in value)
    if not isinstance(value, dict):
        return False
    describes = any(isinstance(value.get(key), dict | list) for key in _DEFINITION_KEYS)
    return describes or value.get("type") in ("object", "function")
