"""Answers as /v1/messages gives them: whole, or in events."""

from __future__ import annotations

import json
import uuid
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any, assert_never

from edgevox.server.errors import ApiError
from edgevox.server.event_stream import event
from edgevox.server.parts import Called, Ended, Part, Said, Usage
from edgevox.types import JsonObject


class MessageReply:
    """One answer of `model`."""

    def __init__(self, model: str) -> None:
        self._head = {"id": f"msg_{uuid.uuid4().hex}", "type": "message", "role": "assistant", "model": model}

    async def whole(self, parts: AsyncGenerator[Part, None]) -> JsonObject:
        blocks: list[dict[str, Any]] = []
        ended: Ended | None = None
        async for part in parts:
            match part:
                case Said(text):
                    if not blocks or blocks[-1]["type"] != "text":
                        blocks.append({"type": "text", "text": ""})
                    blocks[-1]["text"] += text
                case Called(call):
                    given = json.loads(call.arguments)
                    blocks.append({"type": "tool_use", "id": call.id, "name": call.name, "input": given})
                case Ended():
                    ended = part
                case _:
                    assert_never(part)
        assert ended is not None
        return {**self._head, "content": blocks, **_stop(ended), "usage": _usage(ended.usage)}

    async def events(self, parts: AsyncGenerator[Part, None]) -> AsyncGenerator[bytes, None]:
        """The same in server-sent events; closing it closes the parts."""
        async with aclosing(parts):
            async for one in self._events(parts):
                yield one

    async def _events(self, parts: AsyncGenerator[Part, None]) -> AsyncGenerator[bytes, None]:
        """A block is begun, grows and is ended before the next."""
        index = -1
        has_begun = is_text_open = False
        async for part in parts:
            if not has_begun:  # not before there is something: until then it may still fail as a whole
                has_begun = True
                yield self._start()
            if is_text_open and not isinstance(part, Said):
                yield _event("content_block_stop", index=index)
                is_text_open = False
            match part:
                case Said(text):
                    if not is_text_open:
                        is_text_open = True
                        index += 1
                        block: JsonObject = {"type": "text", "text": ""}
                        yield _event("content_block_start", index=index, content_block=block)
                    yield _event(
                        "content_block_delta", index=index, delta={"type": "text_delta", "text": text}
                    )
                case Called(call):
                    index += 1
                    block = {"type": "tool_use", "id": call.id, "name": call.name, "input": {}}
                    yield _event("content_block_start", index=index, content_block=block)
                    delta = {"type": "input_json_delta", "partial_json": call.arguments}
                    yield _event("content_block_delta", index=index, delta=delta)
                    yield _event("content_block_stop", index=index)
                case Ended():
                    yield _event("message_delta", delta=_stop(part), usage=_usage(part.usage))
                case _:
                    assert_never(part)
        yield _event("message_stop")

    @staticmethod
    def tell(error: ApiError) -> bytes:
        """What went wrong in the middle of the events."""
        return event(error.as_anthropic(), "error")

    def _start(self) -> bytes:
        # How long the prompt is, the model tells at the end.
        nothing = {"stop_reason": None, "stop_sequence": None, "usage": _usage(Usage())}
        return _event("message_start", message={**self._head, "content": [], **nothing})


def _event(name: str, **fields: object) -> bytes:
    return event({"type": name, **fields}, name)


def _stop(ended: Ended) -> JsonObject:
    if ended.stopped_at is not None:
        return {"stop_reason": "stop_sequence", "stop_sequence": ended.stopped_at}
    reasons = {"length": "max_tokens", "tool_calls": "tool_use"}
    return {"stop_reason": reasons.get(ended.finish_reason, "end_turn"), "stop_sequence": None}


def _usage(usage: Usage) -> JsonObject:
    return {
        "input_tokens": usage.prompt_tokens - usage.cached_tokens,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": usage.cached_tokens,
        "output_tokens": usage.generated_tokens,
    }
