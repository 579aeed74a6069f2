"""What the wire formats of servers have in common: a body out of a request, and replies out of what comes."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

from pydantic import ValidationError

from edgevox.llm.tool_parsers import DETECTORS
from edgevox.settings.secret_file import Secret
from edgevox.types import Busy, ChatDelta, ChatDone, ChatRequest, FinishReason, ToolCall

WIRE_FORMAT = "hermes"
"""The form in which calls are handed on where the request names none."""

Piece: TypeAlias = ChatDelta | Busy

_THINK, _END_THINK = "<think>", "</think>\n"


class NotReadable(Exception):
    """What came is not of this wire format."""

    @classmethod
    def at(cls, error: ValidationError) -> NotReadable:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        return cls(f"{'.'.join(map(str, first['loc']))} {first['msg']}".strip())


class Refused(Exception):
    """The server says, in the middle of an answer, that something is wrong. `kind` is its word for it."""

    def __init__(self, message: str, kind: str = "") -> None:
        super().__init__(message)
        self.kind = kind


class AnswerReader(Protocol):
    """Reads one answer, event by event or whole. Raises NotReadable, and Refused for what the server says."""

    @property
    def is_over(self) -> bool:
        """Whether the server has said that it is done: what comes now is nothing of it."""

    @property
    def is_complete(self) -> bool:
        """Whether all of it was read, even if the server has not said so."""

    def feed(self, event: str) -> Iterator[Piece]:
        """One event of a stream."""

    def feed_whole(self, body: bytes) -> Iterator[Piece]:
        """The whole answer, from a server that does not stream."""

    def finish(self) -> tuple[str, ChatDone]:
        """What is left to be said, calls included, and the end."""


class Wire(Protocol):
    """One way to speak to a server."""

    @property
    def no_tools(self) -> object:
        """The choice that keeps a server that has tools of its own from using them."""

    def chat_url(self, url: str) -> str: ...

    def models_url(self, url: str) -> str: ...

    def headers(self, key: Secret | None) -> dict[str, str]: ...

    def body(self, model: str, request: ChatRequest) -> dict[str, Any]: ...

    def reader(self, request: ChatRequest) -> AnswerReader: ...


@dataclass
class GrowingCall:
    """A call whose arguments are still being written."""

    name: str = ""
    arguments: str = ""


class Answer:
    """What was read of an answer so far; the end of a text, thoughts and calls are written as models do."""

    def __init__(self, request: ChatRequest) -> None:
        self.calls: dict[int, GrowingCall] = {}
        self.prompt_tokens = 0
        self.cached_tokens = 0
        self.generated_tokens = 0
        self.finish_reason: FinishReason | None = None
        self.stopped_at: str | None = None
        self._request = request
        self._is_thinking = False

    def said(self, text: str) -> Iterator[Piece]:
        if text:
            yield ChatDelta(self._end_of_thoughts() + text)

    def thought(self, text: str) -> Iterator[Piece]:
        """Thoughts go on only where somebody wanted them: nobody else takes them out again."""
        if not self._request.thinking or not text:
            yield Busy()
            return
        begin = "" if self._is_thinking else _THINK
        self._is_thinking = True
        yield ChatDelta(begin + text)

    def finish(self) -> tuple[str, ChatDone]:
        text = self._end_of_thoughts() + written(self._request, tuple(self.calls.values()))
        reason = self.finish_reason or "stop"
        if self.calls and reason == "stop":
            reason = "tool_calls"
        done = ChatDone(
            reason,
            self.prompt_tokens,
            self.cached_tokens,
            self.generated_tokens,
            stopped_at=self.stopped_at,
        )
        return text, done

    def _end_of_thoughts(self) -> str:
        end = _END_THINK if self._is_thinking else ""
        self._is_thinking = False
        return end


def written(request: ChatRequest, calls: Sequence[GrowingCall]) -> str:
    """Calls that a server has read, as the model would have written them: the parser chain reads them.

    Raises NotReadable for arguments that cannot be written so; in JSON, the chain may yet repair them.
    """
    if not calls:
        return ""
    if request.json_schema is not None:  # the call was only the way to hold the answer to its schema
        return calls[0].arguments
    wire_format = request.wire_format or WIRE_FORMAT
    for call in calls:
        if wire_format != WIRE_FORMAT and not _is_object(call.arguments or "{}"):
            raise NotReadable(f"the arguments of {call.name}")
    made = tuple(
        ToolCall(str(number), call.name, call.arguments or "{}") for number, call in enumerate(calls)
    )
    return "\n" + DETECTORS[wire_format]().render(made)


def _is_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except ValueError:
        return False


def function_of(tool: Mapping[str, Any]) -> Mapping[str, Any]:
    """The function of a tool, with what every server knows: others refuse more."""
    function = tool.get("function", tool)
    return {key: function[key] for key in ("name", "description", "parameters") if key in function}
