"""Anthropic's /v1/messages: request body, response and stream events."""

from __future__ import annotations

import json
import uuid
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing
from typing import Annotated, Any, Literal, TypeAlias, assert_never

from pydantic import Field

from edgevox.config import ServerSettings
from edgevox.core.types import JsonObject, Message, NamedTool, Sampling, ToolCall, ToolChoice
from edgevox.server.chat import input as chat
from edgevox.server.http.errors import ApiError
from edgevox.server.http.wire import Ignored, RequestBody, StrictBody, only, sse_event


class _Text(RequestBody):
    type: Literal["text"]
    text: str


class _ToolUse(RequestBody):
    type: Literal["tool_use"]
    id: str
    name: chat.ToolName
    input: dict[str, Any]


class _ToolResult(RequestBody):
    type: Literal["tool_result"]
    tool_use_id: str
    content: Annotated[str | list[_Text] | None, chat.TEXT_ONLY] = None
    is_error: bool | None = None


class _Thought(RequestBody):
    """Reasoning of another model, which is ignored."""

    type: Literal["thinking", "redacted_thinking"]


_Block: TypeAlias = Annotated[_Text | _ToolUse | _ToolResult | _Thought, Field(discriminator="type")]


class _Message(RequestBody):
    role: Literal["user", "assistant"]
    content: Annotated[str | list[_Block], chat.TEXT_ONLY]

    def messages(self) -> Iterator[Message]:
        """Yield the tool results, then the text with its calls."""
        blocks = [_Text(type="text", text=self.content)] if isinstance(self.content, str) else self.content
        texts, calls = [], []
        for block in blocks:
            match block:
                case _Text(text=text):
                    texts.append(text)
                case _ToolUse() if self.role == "assistant":
                    calls.append(ToolCall(block.id, block.name, json.dumps(block.input, ensure_ascii=False)))
                case _ToolResult() if self.role == "user":
                    result = _joined(block.content or "")
                    result = f"error: {result}" if block.is_error else result
                    yield Message("tool", result, tool_call_id=block.tool_use_id)
                case _:
                    pass
        is_only_results = self.role == "user" and bool(blocks) and not texts
        if not is_only_results:
            yield Message(self.role, "\n".join(texts), tool_calls=tuple(calls))


class _Tool(RequestBody):
    name: chat.ToolName
    description: str | None = None
    input_schema: dict[str, Any]
    type: Annotated[Any, only("custom")] = None


class _Choice(RequestBody):
    type: Literal["auto", "any", "none"]
    disable_parallel_tool_use: bool | None = None


class _NamedChoice(RequestBody):
    type: Literal["tool"]
    name: chat.ToolName
    disable_parallel_tool_use: bool | None = None


class _OutputFormat(RequestBody):
    type: Literal["json_schema"]
    schema_: dict[str, Any] = Field(alias="schema")


class _OutputConfig(RequestBody):
    format: _OutputFormat | None = None
    task_budget: Annotated[Any, only()] = None


class MessagesBody(chat.ChatBody, StrictBody):
    """The supported fields of a request."""

    max_tokens: int = Field(ge=1)
    messages: list[_Message] = Field(min_length=1)
    system: str | list[_Text] | None = None
    tools: list[_Tool] | None = None
    tool_choice: Annotated[_Choice | _NamedChoice, Field(discriminator="type")] | None = None
    stop_sequences: Annotated[list[chat.StopString], Field(max_length=16)] | None = None
    temperature: float | None = Field(None, ge=0, le=1)
    top_p: float | None = Field(None, ge=0, le=1)
    top_k: int | None = Field(None, ge=0, le=100_000)
    output_config: _OutputConfig | None = None
    output_format: _OutputFormat | None = None
    metadata: Ignored = None
    thinking: Ignored = None
    cache_control: Ignored = None
    context_management: Ignored = None
    service_tier: Ignored = None
    speed: Ignored = None
    inference_geo: Ignored = None
    diagnostics: Ignored = None
    user_profile_id: Ignored = None
    workspace_id: Ignored = None
    container: Annotated[Any, only()] = None
    mcp_servers: Annotated[Any, only([])] = None

    def reply_format(self, model: str) -> MessageReply:
        return MessageReply(model)

    def question(self, base: Sampling, limits: ServerSettings) -> chat.ChatInput:
        chat.checked_count(len(self.tools or ()), limits.max_tools, "tools")
        tools = [chat.tool_schema(tool.name, tool.description, tool.input_schema) for tool in self.tools or ()]
        messages = [message for one in self.messages for message in one.messages()]
        system = [Message("system", _joined(self.system))] if self.system else []
        return chat.ChatInput(
            chat.in_order([*system, *messages], [tool.name for tool in self.tools or ()], limits),
            tools=None if self.tools is None else tuple(tools),
            tool_choice=self._choice(),
            parallel_calls=self.tool_choice is None or not self.tool_choice.disable_parallel_tool_use,
            sampling=self.sampling(base),
            stop=tuple(self.stop_sequences or ()),
            json_schema=self._json_schema(),
        )

    def _json_schema(self) -> JsonObject | None:
        given = (self.output_config.format if self.output_config else None) or self.output_format
        return given.schema_ if given else None

    def _choice(self) -> ToolChoice:
        match self.tool_choice:
            case None:
                return "auto"
            case _NamedChoice(name=name):
                return NamedTool(name)
            case _Choice(type=kind):
                return "required" if kind == "any" else kind


class CountTokensBody(MessagesBody):
    """A request whose prompt is to be counted: the same, without a limit for the answer."""

    max_tokens: int = 1


def _joined(content: str | list[_Text]) -> str:
    return content if isinstance(content, str) else "\n".join(block.text for block in content)


class MessageReply(chat.ReplyFormat):
    """Formats one answer of `model`."""

    def __init__(self, model: str) -> None:
        self._head = {"id": f"msg_{uuid.uuid4().hex}", "type": "message", "role": "assistant", "model": model}

    async def whole(self, parts: AsyncGenerator[chat.ReplyPart, None]) -> JsonObject:
        pieces, ended = await chat.whole_reply(parts)
        blocks: list[JsonObject] = []
        for piece in pieces:
            match piece:
                case chat.ReplyText(text):
                    blocks.append({"type": "text", "text": text})
                case chat.ReplyToolCall(call):
                    arguments = json.loads(call.arguments)
                    blocks.append({"type": "tool_use", "id": call.id, "name": call.name, "input": arguments})
        return {**self._head, "content": blocks, **_stop(ended), "usage": _usage(ended.usage)}

    async def events(self, parts: AsyncGenerator[chat.ReplyPart, None]) -> AsyncGenerator[bytes, None]:
        """Start, extend and stop one content block after another; closing it closes the parts."""
        index = -1
        is_text_open = False
        async with aclosing(parts):
            async for part in parts:
                if is_text_open and not isinstance(part, chat.ReplyText):
                    yield _event("content_block_stop", index=index)
                    is_text_open = False
                match part:
                    case chat.ReplyStart(usage):
                        begun = {"stop_reason": None, "stop_sequence": None, "usage": _usage(usage)}
                        yield _event("message_start", message={**self._head, "content": [], **begun})
                    case chat.ReplyText(text):
                        if not is_text_open:
                            is_text_open = True
                            index += 1
                            block: JsonObject = {"type": "text", "text": ""}
                            yield _event("content_block_start", index=index, content_block=block)
                        yield _event("content_block_delta", index=index, delta={"type": "text_delta", "text": text})
                    case chat.ReplyToolCall(call):
                        index += 1
                        block = {"type": "tool_use", "id": call.id, "name": call.name, "input": {}}
                        yield _event("content_block_start", index=index, content_block=block)
                        delta = {"type": "input_json_delta", "partial_json": call.arguments}
                        yield _event("content_block_delta", index=index, delta=delta)
                        yield _event("content_block_stop", index=index)
                    case chat.ReplyEnd():
                        yield _event("message_delta", delta=_stop(part), usage=_usage(part.usage))
                    case _:
                        assert_never(part)
        yield _event("message_stop")

    def format_error(self, error: ApiError) -> bytes:
        return sse_event(error.as_anthropic(), "error")


def _event(name: str, **fields: object) -> bytes:
    return sse_event({"type": name, **fields}, name)


def _stop(ended: chat.ReplyEnd) -> JsonObject:
    if ended.stopped_at is not None:
        return {"stop_reason": "stop_sequence", "stop_sequence": ended.stopped_at}
    reasons = {"length": "max_tokens", "tool_calls": "tool_use"}
    return {"stop_reason": reasons.get(ended.finish_reason, "end_turn"), "stop_sequence": None}


def _usage(usage: chat.Usage) -> JsonObject:
    return {
        "input_tokens": usage.prompt_tokens - usage.cached_tokens,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": usage.cached_tokens,
        "output_tokens": usage.generated_tokens,
    }
