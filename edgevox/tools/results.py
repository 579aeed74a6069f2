"""What came of a call, as the model, the user and the host need it."""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from pydantic_core import to_jsonable_python

from edgevox.tools.confirmation import PendingConfirmation
from edgevox.tools.neutral import neutral_json, neutral_text
from edgevox.tools.tool import Speech
from edgevox.types import Message

ErrorCode: TypeAlias = Literal[
    "bad_request",
    "timeout",
    "internal_error",
    "requires_confirmation",
    "token_scope_insufficient",
    "tool_error",
    "tool_denied",
    "cancelled",
]
MAX_RESULT_CHARS = 4000
_DONE = "done"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult:
    """The answer to one call. `content` is for the model: fenced, harmless and of limited size.

    `speech` ends the turn with that sentence. `confirmation` is there when a person has to say yes first.
    `may_still_happen` says that the tool was left behind at its work.
    """

    tool_call_id: str
    name: str
    content: str
    is_error: bool = False
    code: ErrorCode | None = None
    speech: str | None = None
    confirmation: PendingConfirmation | None = None
    may_still_happen: bool = False
    elapsed_s: float = 0.0

    def as_message(self) -> Message:
        """The result where the chat template knows the role `tool`."""
        return Message("tool", self.content, tool_call_id=self.tool_call_id)


def speech_of(value: object) -> str | None:
    """The sentence that a tool wants spoken, or None."""
    return neutral_text(value.text[:MAX_RESULT_CHARS]) if isinstance(value, Speech) else None


def render(value: object, *, names: Collection[str] = (), max_chars: int = MAX_RESULT_CHARS) -> str:
    """A tool's return value as text for the model: JSON, so that a string has a beginning and an end.

    What the value's own code raises goes through.
    """
    plain = _plain(value.text if isinstance(value, Speech) else value)
    if plain is None:
        return _DONE
    if isinstance(plain, str):
        return _quoted(plain, max_chars)
    text = neutral_json(plain, names=names, max_chars=2 * max_chars)
    return text if len(text) <= max_chars else f"{text[:max_chars]}… (cut at {max_chars:,} characters)"


def _quoted(text: str, max_chars: int) -> str:
    """A string of JSON that is whole even where the text is cut."""
    harmless = neutral_text(text[:max_chars])
    written = json.dumps(harmless, ensure_ascii=False)
    is_cut = len(text) > max_chars
    if (excess := len(written) - max_chars - 2) > 0:
        is_cut = True
        written = json.dumps(harmless[:-excess], ensure_ascii=False)
    return f"{written} (cut: the beginning of {len(text):,} characters)" if is_cut else written


def sentence(text: str, *, max_chars: int = MAX_RESULT_CHARS) -> str:
    """Words of an error for the model."""
    return neutral_text(text if len(text) <= max_chars else f"{text[:max_chars]}…")


def _plain(value: object) -> Any:  # noqa: ANN401 - JSON
    """The value in JSON's types. A text that is itself a JSON object or list is read, not quoted."""
    if isinstance(value, str):
        if value[:1] in ("{", "["):
            try:
                return json.loads(value)
            except (ValueError, RecursionError):
                return value
        return value
    return to_jsonable_python(value, fallback=str, bytes_mode="base64")
