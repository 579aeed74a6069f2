"""The Anthropic messages API: request bodies and streamed responses."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

from pydantic import AliasChoices, AliasPath, BaseModel, Field

from edgevox.core.types import Busy, ChatRequest, FinishReason, Message, NamedTool
from edgevox.llm.prompt.templates import parse_object
from edgevox.llm.remote.wire import Answer, BadResponse, PartialToolCall, Piece, Refusal, Wire, function_of

_VERSION = "2023-06-01"
_ANSWER = "answer"
_FINISHES: dict[str, FinishReason] = {
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "tool_use": "tool_calls",
}


def _body(model: str, request: ChatRequest) -> dict[str, Any]:
    body: dict[str, Any] = {
        "model": model,
        "messages": _messages(request.messages),
        "max_tokens": request.sampling.max_tokens,
        "temperature": min(request.sampling.temperature, 1.0),  # newer models reject top_p with it
        "stream": True,
    }
    if system := "\n\n".join(message.content for message in request.messages if message.role == "system"):
        body["system"] = system
    if stop := [text for text in request.stop if text.strip()]:
        body["stop_sequences"] = stop
    if request.json_schema is not None:
        # The API has no response schema, but a forced call follows one.
        body["tools"] = [{"name": _ANSWER, "input_schema": request.json_schema}]
        body["tool_choice"] = {"type": "tool", "name": _ANSWER}
    elif request.tools:
        body["tools"] = [_tool(function_of(tool)) for tool in request.tools]
        body["tool_choice"] = _choice(request)
    return body


def _tool(function: Mapping[str, Any]) -> dict[str, Any]:
    parameters = function.get("parameters") or {"type": "object", "properties": {}}
    description = {"description": text} if (text := function.get("description")) else {}
    return {"name": function["name"], "input_schema": parameters, **description}


def _choice(request: ChatRequest) -> dict[str, Any]:
    choice = request.tool_choice
    body: dict[str, Any] = {"type": "tool", "name": choice.name} if isinstance(choice, NamedTool) else {"type": choice}
    if choice == "required":
        body["type"] = "any"
    if choice != "none" and not request.parallel_calls:
        body["disable_parallel_tool_use"] = True
    return body


def _messages(messages: Sequence[Message]) -> list[dict[str, Any]]:
    """Convert messages: calls and results become blocks, and adjacent messages of one role are merged."""
    written: list[dict[str, Any]] = []
    for message in messages:
        if message.role == "system":
            continue
        role = "assistant" if message.role == "assistant" else "user"
        blocks = list(_blocks(message))
        if written and written[-1]["role"] == role:
            written[-1]["content"] += blocks
        elif blocks:
            written.append({"role": role, "content": blocks})
    return written


def _blocks(message: Message) -> Iterator[dict[str, Any]]:
    if message.role == "tool":
        yield {"type": "tool_result", "tool_use_id": message.tool_call_id, "content": message.content}
        return
    if message.content.strip():  # an empty block is rejected
        yield {"type": "text", "text": message.content}
    for call in message.tool_calls:
        yield {"type": "tool_use", "id": call.id, "name": call.name, "input": parse_object(call.arguments) or {}}


# --- responses


class _Usage(BaseModel):
    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_read_input_tokens: int | None = None


class _End(BaseModel):
    stop_reason: str | None = None
    stop_sequence: str | None = None


class _Block(_End):
    """A block, its start, or a delta of a block or of the message."""

    type: str = ""
    text: str = ""
    thinking: str = ""
    name: str = ""
    input: dict[str, Any] = Field(default_factory=dict)
    partial_json: str = ""


class _Whole(_End):
    type: Literal["message"]
    content: list[_Block] = Field(default_factory=list)
    usage: _Usage | None = None


class _Event(BaseModel):
    """One event of a stream. Unknown types are ignored, as Anthropic requires."""

    type: str
    index: int = 0
    block: _Block | None = Field(None, validation_alias=AliasChoices("content_block", "delta"))
    usage: _Usage | None = Field(None, validation_alias=AliasChoices("usage", AliasPath("message", "usage")))
    error: object = None


class AnthropicAnswer(Answer):
    """An answer in Anthropic's form."""

    def feed(self, event: str) -> Iterator[Piece]:
        read = _Event.model_validate_json(event)
        self._count(read.usage)
        match read.type, read.block:
            case "content_block_start", _Block() as block:
                yield from self._begin(read.index, block)
            case "content_block_delta", _Block() as block:
                yield from self._add(read.index, block)
            case "message_delta", _Block() as block:
                self._end(block)
            case (("content_block_start" | "content_block_delta" | "message_delta"), None):
                raise BadResponse(f"{read.type} without content")
            case "message_stop", _:
                self.is_over = True
            case "error", _:
                raise Refusal({"error": read.error})
            case _:
                yield Busy()

    def feed_whole(self, body: bytes) -> Iterator[Piece]:
        whole = _Whole.model_validate_json(body)
        for index, block in enumerate(whole.content):
            yield from self._begin(index, block)
        self._end(whole)
        self._count(whole.usage)

    def _begin(self, index: int, block: _Block) -> Iterator[Piece]:
        if block.type == "tool_use":
            arguments = json.dumps(block.input, ensure_ascii=False) if block.input else ""
            self._calls[index] = PartialToolCall(block.name, arguments)
        else:
            yield from self._add(index, block)

    def _add(self, index: int, block: _Block) -> Iterator[Piece]:
        if block.thinking:
            yield from self._add_reasoning(block.thinking)
        yield from self._add_text(block.text)
        if block.partial_json:
            if index not in self._calls:
                raise BadResponse(f"unknown block {index}")
            self._calls[index].arguments += block.partial_json
            yield Busy()

    def _end(self, end: _End) -> None:
        if end.stop_reason is not None:
            self._finish_reason = _FINISHES.get(end.stop_reason, "stop")
        self._stopped_at = end.stop_sequence

    def _count(self, usage: _Usage | None) -> None:
        if usage is None:
            return
        self._cached_tokens = usage.cache_read_input_tokens or self._cached_tokens
        if usage.input_tokens is not None:
            self._prompt_tokens = usage.input_tokens + self._cached_tokens
        self._generated_tokens = usage.output_tokens or self._generated_tokens


ANTHROPIC = Wire(
    base_url=lambda url: f"{url.removesuffix('/v1')}/v1",
    chat_path="/messages",
    headers=lambda key: {"anthropic-version": _VERSION} | ({"x-api-key": key.reveal()} if key else {}),
    body=_body,
    reader=AnthropicAnswer,
    no_tools={"type": "none"},
)
