"""Sanitizes tool output, so that it cannot act as a tool call, a chat role or a control token.

Results contain untrusted text: web pages, device names, messages. Two things in them could act: a control
token, which the tokenizer would read as a new turn, and a call, which a model may copy. Both have a syntax,
which is broken here without losing a word: a space after `<` and `[`, another kind of bracket, a dash for a colon.

The patterns cover the chat templates and wire formats of all model families, not only of the loaded one,
because another model may read the result later. Tool names are needed for one pattern only: whether
`{"name": "get_time"}` is a call or a person depends on them.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Collection, Mapping
from typing import Any

_NAME_KEYS = ("name", "function", "tool", "tool_name", "function_name", "recipient_name", "action")
_ARGUMENT_KEYS = ("arguments", "parameters", "args", "params", "input", "tool_input", "kwargs", "action_input")
_CALL_KEYS = (*_NAME_KEYS, *_ARGUMENT_KEYS, "type", "id", "call_id", "tool_calls", "tool_uses")
_ROLES = "system|developer|user|human|assistant|model|tool|tool[ _]results?|instructions?|response"
_MAX_DEPTH = 20
_CUT = "…"

_INVISIBLE = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\xad\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e007f]"
)
_SHAPES: tuple[tuple[re.Pattern[str], str], ...] = (
    # <|im_end|>, </s>, <tool_call>, <function=…, <<SYS>>; "a < b" stays.
    (re.compile(r"<(?=\S)"), "< "),
    # [INST], [/TOOL_CALLS], [ARGS], [control_12]
    (re.compile(r"\[(?=/?(?:[A-Z][A-Z_]*+|control_\d++)\])"), "[ "),
    # A list of Python calls: [unlock(door="front")]
    (re.compile(r"\[(?=\s*+[\w.:/-]++\s*+\()"), "("),
    # unlock(door="front"), call:unlock{…}, functools[{…}]
    (re.compile(r"(?<=\w)(?=[({])"), " "),
    (re.compile(r"(?<=\w)(?=\[\s*+[\[{])"), " "),
    (re.compile(r"\bto=(?=functions\b)"), "to: "),
    # A code block: some model families write their calls in one.
    (re.compile(r"`{3,}+"), "'''"),
    # {"name": "unlock", "arguments": {…}}, also escaped or without quotes
    (
        re.compile(
            rf"""\{{(?=\s*+\\*+(?:["']|&quot;)?+(?:{"|".join(_CALL_KEYS)})\\*+(?:["']|&quot;)?+\s*+:)""", re.IGNORECASE
        ),
        "(",
    ),
    # A line, or a bracket, that claims to start another role's turn. The text in between is bounded, and any
    # longer run counts as a start: so the time stays linear.
    (
        re.compile(
            rf"((?:^|[(\[{{#*>|\"'])[ \t#*]{{0,8}}+|(?<=[ \t#*]{{9}}))({_ROLES})[ \t*]*+:", re.IGNORECASE | re.MULTILINE
        ),
        r"\1\2 -",
    ),
)


def sanitize_tool_output(text: str) -> str:
    """The same words without any syntax that acts."""
    text = _visible(text)
    for shape, harmless in _SHAPES:
        text = shape.sub(harmless, text)
    return text


def sanitize_tool_json(value: Any, *, names: Collection[str] = (), max_chars: int) -> str:  # noqa: ANN401 - JSON
    """Serialise a value as sanitized JSON; a value much longer than `max_chars` is truncated."""
    return json.dumps(_Walk(names, max_chars).value(value, 0), ensure_ascii=False)


def _visible(text: str) -> str:
    return _INVISIBLE.sub("", text)


class _Walk:
    """Traverses one value, with the number of characters left."""

    def __init__(self, names: Collection[str], max_chars: int) -> None:
        self._names = names
        self._room = max_chars

    def value(self, value: Any, depth: int) -> Any:  # noqa: ANN401 - JSON
        self._room -= 2
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, Mapping | list | tuple) and depth > _MAX_DEPTH:
            return _CUT
        if isinstance(value, Mapping):
            return self._object(value, depth)
        if isinstance(value, list | tuple):
            members = []
            for member in value:
                if self._room <= 0:
                    members.append(_CUT)
                    break
                members.append(self.value(member, depth + 1))
            return members
        if isinstance(value, float) and not math.isfinite(value):
            return str(value)  # JSON has no such numbers
        return value

    def _text(self, text: str) -> str:
        if len(text) > self._room:
            text = text[: max(self._room, 0)] + _CUT
        self._room -= len(text)
        return sanitize_tool_output(text)

    def _object(self, members: Mapping[Any, Any], depth: int) -> dict[str, Any]:
        is_named = any(
            isinstance(member, str | Mapping) and _visible(str(key)) in _NAME_KEYS for key, member in members.items()
        )
        harmless: dict[str, Any] = {}
        for key, member in members.items():
            if self._room <= 0:
                harmless[_CUT] = _CUT
                break
            text = self._text(str(key))
            if is_named and text in _ARGUMENT_KEYS:
                text += "_"
            if text in _NAME_KEYS and isinstance(member, str) and self._is_tool(member):
                member = f"({member})"
            harmless[text] = self.value(member, depth + 1)
        return harmless

    def _is_tool(self, written: str) -> bool:
        name = _visible(written).strip()
        return name in self._names or name.rpartition(".")[2] in self._names
