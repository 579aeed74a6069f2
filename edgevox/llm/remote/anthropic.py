"""The Anthropic messages API: request bodies and streamed responses."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, Literal, assert_never

from pydantic import BaseModel, Field, ValidationError

from edgevox.config.secrets import Secret
from edgevox.core.types import Busy, ChatDone, ChatRequest, FinishReason, Message, NamedTool, ToolCall
from edgevox.llm.remote.wire import Answer, BadResponse, PartialToolCall, Piece, ServerRefusal, function_of

_VERSION = "2023-06-01"
_SUFFIX = "/v1"
_ANSWER = "answer"
_FINISHES: dict[str, FinishReason] = {
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "tool_use": "tool_calls",
}


class AnthropicWire:
    """The Wire of Anthropic. Its URL may end in /v1."""

    no_tools: object = {"type": "none"}

    def chat_url(self, url: str) -> str:
        return f"{url.removesuffix(_SUFFIX)}{_SUFFIX}/messages"

    def models_url(self, url: str) -> str:
        return f"{url.removesuffix(_SUFFIX)}{_SUFFIX}/models"

    def headers(self, key: Secret | None) -> dict[str, str]:
        version = {"anthropic-version": _VERSION}
        return version | ({"x-api-key": key.reveal()} if key else {})

    def body(self, model: str, request: ChatRequest) -> dict[str, Any]:
        body: dict[str, Any] = {
            "model": model,
            "messages": _messages(request.messages),
            "max_tokens": request.sampling.max_tokens,
            "temperature": min(request.sampling.temperature, 1.0),  # newer models reject top_p with it
            "stream": True,
        }
        system = "\n\n".join(message.content for message in request.messages if message.role == "system")
        if system:
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

    def reader(self, request: ChatRequest) -> AnthropicReader:
        return AnthropicReader(request)


def _tool(function: Any) -> dict[str, Any]:  # noqa: ANN401  (JSON is what it is)
    parameters = function.get("parameters") or {"type": "object", "properties": {}}
    written = {"name": function["name"], "input_schema": parameters}
    if function.get("description"):
        written["description"] = function["description"]
    return written


def _choice(request: ChatRequest) -> dict[str, Any]:
    one_at_a_time = {} if request.parallel_calls else {"disable_parallel_tool_use": True}
    match request.tool_choice:
        case NamedTool(name):
            return {"type": "tool", "name": name, **one_at_a_time}
        case "required":
            return {"type": "any", **one_at_a_time}
        case "auto":
            return {"type": "auto", **one_at_a_time}
        case "none":
            return {"type": "none"}
        case _:
            assert_never(request.tool_choice)


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
        yield {"type": "tool_use", "id": call.id, "name": call.name, "input": _input(call)}


def _input(call: ToolCall) -> dict[str, Any]:
    try:
        match json.loads(call.arguments):
            case dict(arguments):
                return arguments
    except ValueError:
        pass
    return {}


# --- responses


class _Usage(BaseModel):
    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_read_input_tokens: int | None = None


class _Block(BaseModel):
    """A block, its start, or its delta."""

    type: str
    text: str = ""
    thinking: str = ""
    name: str = ""
    input: dict[str, Any] = Field(default_factory=dict)
    partial_json: str = ""


class _Stopped(BaseModel):
    stop_reason: str | None = None
    stop_sequence: str | None = None


class _Whole(_Stopped):
    type: Literal["message"]
    content: list[_Block] = Field(default_factory=list)
    usage: _Usage = _Usage()


class _Error(BaseModel):
    type: str = ""
    message: str = ""


class _Event(BaseModel):
    """One event of a stream. Unknown types are ignored, as Anthropic requires."""

    type: str
    index: int = 0
    message: _Whole | None = None
    content_block: _Block | None = None
    delta: dict[str, Any] | None = None
    usage: _Usage | None = None
    error: _Error | None = None


class AnthropicReader:
    """The AnswerReader of Anthropic."""

    def __init__(self, request: ChatRequest) -> None:
        self._answer = Answer(request)
        self._is_over = False

    @property
    def is_over(self) -> bool:
        return self._is_over

    @property
    def is_complete(self) -> bool:
        return self._is_over

    def feed(self, event: str) -> Iterator[Piece]:
        try:
            read = _Event.model_validate_json(event)
            match read.type:
                case "message_start" if read.message is not None:
                    self._count(read.message.usage)
                case "content_block_start" if read.content_block is not None:
                    yield from self._begin(read.index, read.content_block)
                case "content_block_delta":
                    yield from self._add(read.index, _Block.model_validate(read.delta))
                case "message_delta":
                    self._stop(_Stopped.model_validate(read.delta))
                    self._count(read.usage or _Usage())
                case "message_stop":
                    self._is_over = True
                case "error":
                    problem = read.error or _Error()
                    raise ServerRefusal(problem.message, problem.type)
                case _:
                    yield Busy()
        except ValidationError as error:
            raise BadResponse.at(error) from None

    def feed_whole(self, body: bytes) -> Iterator[Piece]:
        try:
            whole = _Whole.model_validate_json(body)
        except ValidationError as error:
            raise BadResponse.at(error) from None
        for index, block in enumerate(whole.content):
            yield from self._begin(index, block)
        self._stop(whole)
        self._count(whole.usage)
        self._is_over = True

    def finish(self) -> tuple[str, ChatDone]:
        return self._answer.finish()

    def _begin(self, index: int, block: _Block) -> Iterator[Piece]:
        if block.type == "tool_use":
            arguments = json.dumps(block.input, ensure_ascii=False) if block.input else ""
            self._answer.calls[index] = PartialToolCall(block.name, arguments)
        else:
            yield from self._add(index, block)

    def _add(self, index: int, block: _Block) -> Iterator[Piece]:
        if block.thinking:
            yield from self._answer.add_reasoning(block.thinking)
        yield from self._answer.said(block.text)
        if block.partial_json:
            if index not in self._answer.calls:
                raise BadResponse(f"unknown block {index}")
            self._answer.calls[index].arguments += block.partial_json
            yield Busy()

    def _stop(self, stopped: _Stopped) -> None:
        if stopped.stop_reason is not None:
            self._answer.finish_reason = _FINISHES.get(stopped.stop_reason, "stop")
        self._answer.stopped_at = stopped.stop_sequence

    def _count(self, usage: _Usage) -> None:
        answer = self._answer
        answer.cached_tokens = usage.cache_read_input_tokens or answer.cached_tokens
        if usage.input_tokens is not None:
            answer.prompt_tokens = usage.input_tokens + answer.cached_tokens
        answer.generated_tokens = usage.output_tokens or answer.generated_tokens
