"""The chain as callers know it: whole replies in OpenAI's form, and formats registered by name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from edgevox.errors import ConfigError
from edgevox.llm.tool_parsers.base import BaseFormatDetector, ToolCallItem
from edgevox.llm.tool_parsers.detectors import DETECTORS
from edgevox.llm.tool_parsers.plan import plan_for
from edgevox.llm.tool_parsers.streaming import parse_reply


def parse_tool_calls_from_content(
    content: str, *, preset_parsers: Sequence[str] = (), tools: Iterable[Mapping[str, Any]] | None = None
) -> tuple[list[dict[str, Any]], str, bool]:
    """The calls in OpenAI's form, the text left for speech, and whether there are calls.

    A call whose arguments stay invalid carries an `error`: tell the model, do not dispatch it.
    """
    reply = parse_reply(content, preset_parsers=preset_parsers, tools=tools)
    return [openai_call(call) for call in reply.calls], reply.text, reply.fallback


def openai_call(call: ToolCallItem) -> dict[str, Any]:
    """A call as the chat completions interface writes it."""
    written: dict[str, Any] = {
        "id": call.id,
        "type": "function",
        "function": {"name": call.name, "arguments": call.arguments},
    }
    if call.error is not None:
        written["error"] = call.error
    return written


def register_detector(name: str, cls: object) -> None:
    """Make a format known under `name`. Raises ConfigError if it is no detector, or the name is taken."""
    if not isinstance(cls, type) or not issubclass(cls, BaseFormatDetector):
        raise ConfigError(
            f"{cls!r} is not a detector", hint="subclass edgevox.llm.tool_parsers.BaseFormatDetector"
        )
    if name in DETECTORS:
        raise ConfigError(f"a tool-call parser called {name} exists already", hint="choose another name")
    DETECTORS[name] = cls
    plan_for.cache_clear()
