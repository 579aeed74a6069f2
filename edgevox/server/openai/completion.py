"""Answers as /v1/chat/completions gives them: whole, or in chunks."""

from __future__ import annotations

import time
import uuid
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any, assert_never

from edgevox.server.errors import ApiError
from edgevox.server.event_stream import event
from edgevox.server.parts import Called, Ended, Part, Said, Usage
from edgevox.types import JsonObject, ToolCall

_DONE = event("[DONE]")


class Completion:
    """One answer of `model`. With `as_functions`, a call is told in the older form."""

    def __init__(self, model: str, *, as_functions: bool = False, with_usage: bool = False) -> None:
        self._head = {"id": f"chatcmpl-{uuid.uuid4().hex}", "created": int(time.time()), "model": model}
        self._as_functions = as_functions
        self._with_usage = with_usage

    async def whole(self, parts: AsyncGenerator[Part, None]) -> JsonObject:
        text = ""
        calls: list[ToolCall] = []
        ended: Ended | None = None
        async for part in parts:
            match part:
                case Said(piece):
                    text += piece
                case Called(call):
                    calls.append(call)
                case Ended():
                    ended = part
                case _:
                    assert_never(part)
        assert ended is not None
        message: dict[str, Any] = {"role": "assistant", "content": text if text or not calls else None}
        if calls and self._as_functions:
            message["function_call"] = _function(calls[0])
        elif calls:
            message["tool_calls"] = [_call(call) for call in calls]
        choice = {
            "index": 0,
            "message": message,
            "logprobs": None,
            "finish_reason": self._reason(ended),
        }
        return {**self._head, "object": "chat.completion", "choices": [choice], "usage": _usage(ended.usage)}

    async def chunks(self, parts: AsyncGenerator[Part, None]) -> AsyncGenerator[bytes, None]:
        """The same in server-sent events; closing it closes the parts."""
        async with aclosing(parts):
            async for chunk in self._chunks(parts):
                yield chunk

    async def _chunks(self, parts: AsyncGenerator[Part, None]) -> AsyncGenerator[bytes, None]:
        calls = 0
        has_begun = False
        async for part in parts:
            if not has_begun:  # not before there is something: until then it may still fail as a whole
                has_begun = True
                yield self._chunk({"role": "assistant", "content": ""})
            match part:
                case Said(piece):
                    yield self._chunk({"content": piece})
                case Called(call) if self._as_functions:
                    yield self._chunk({"function_call": _function(call)})
                case Called(call):
                    # The name goes first, as from OpenAI; clients put the arguments behind it.
                    opening = {
                        **_call(call),
                        "function": {"name": call.name, "arguments": ""},
                        "index": calls,
                    }
                    yield self._chunk({"tool_calls": [opening]})
                    rest = {"index": calls, "function": {"arguments": call.arguments}}
                    yield self._chunk({"tool_calls": [rest]})
                    calls += 1
                case Ended():
                    yield self._chunk({}, self._reason(part))
                    if self._with_usage:
                        yield self._event([], _usage(part.usage))
                case _:
                    assert_never(part)
        yield _DONE

    @staticmethod
    def tell(error: ApiError) -> bytes:
        """What went wrong in the middle of the chunks."""
        return event(error.as_openai())

    def _reason(self, ended: Ended) -> str:
        match ended.finish_reason:
            case "tool_calls" if self._as_functions:
                return "function_call"
            case "cancelled":
                return "stop"
            case reason:
                return reason

    def _chunk(self, delta: JsonObject, reason: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": reason}
        return self._event([choice], None)

    def _event(self, choices: list[JsonObject], usage: JsonObject | None) -> bytes:
        data = {**self._head, "object": "chat.completion.chunk", "choices": choices}
        return event({**data, "usage": usage} if self._with_usage else data)


def _function(call: ToolCall) -> JsonObject:
    return {"name": call.name, "arguments": call.arguments}


def _call(call: ToolCall) -> JsonObject:
    return {"id": call.id, "type": "function", "function": _function(call)}


def _usage(usage: Usage) -> JsonObject:
    return {
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.generated_tokens,
        "total_tokens": usage.prompt_tokens + usage.generated_tokens,
        "prompt_tokens_details": {"cached_tokens": usage.cached_tokens},
    }
