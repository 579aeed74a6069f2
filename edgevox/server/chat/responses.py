"""OpenAI's /v1/responses: request body, response, stream events, and the store of earlier responses."""

from __future__ import annotations

import itertools
import time
import uuid
from collections import OrderedDict
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal, TypeAlias, assert_never

from pydantic import Discriminator, Field, Tag

from edgevox.config import ServerSettings
from edgevox.core.types import JsonObject, Message, NamedTool, Sampling, ToolCall, ToolChoice
from edgevox.server.chat import input as chat
from edgevox.server.http.errors import ApiError, invalid
from edgevox.server.http.wire import Ignored, RequestBody, StrictBody, only, sse_event


class _Text(RequestBody):
    type: Literal["input_text", "output_text", "text", "refusal"]
    text: str = ""
    refusal: str = ""


_Content: TypeAlias = Annotated[str | list[_Text], chat.TEXT_ONLY]


class _Message(RequestBody):
    role: Literal["system", "developer", "user", "assistant"]
    content: _Content


class _FunctionCall(RequestBody):
    call_id: str
    name: chat.ToolName
    arguments: str


class _FunctionOutput(RequestBody):
    call_id: str
    output: _Content


class _Reasoning(RequestBody):
    """Reasoning of another model, which is ignored."""


def _item_type(item: object) -> str:
    kind = item.get("type", "message") if isinstance(item, dict) else None
    return kind if isinstance(kind, str) else ""


_Item: TypeAlias = Annotated[
    Annotated[_Message, Tag("message")]
    | Annotated[_FunctionCall, Tag("function_call")]
    | Annotated[_FunctionOutput, Tag("function_call_output")]
    | Annotated[_Reasoning, Tag("reasoning")],
    Discriminator(
        _item_type, custom_error_type="unsupported", custom_error_message="this server does not support such an item"
    ),
]


class _Tool(RequestBody):
    type: Annotated[Any, only("function")]
    name: chat.ToolName
    description: str | None = None
    parameters: dict[str, Any] | None = None
    strict: bool | None = None


class _NamedFunction(RequestBody):
    type: Annotated[Any, only("function")]
    name: chat.ToolName


class _Format(RequestBody):
    type: Literal["text", "json_object", "json_schema"]
    name: str | None = None
    schema_: dict[str, Any] | None = Field(None, alias="schema")


class _TextConfig(RequestBody):
    format: _Format | None = None


class ResponsesBody(chat.ChatBody, StrictBody):
    """The supported fields of a request."""

    input: str | Annotated[list[_Item], Field(min_length=1)]
    instructions: str | None = None
    previous_response_id: str | None = None
    store: bool | None = None
    metadata: dict[str, str] | None = None
    tools: list[_Tool] | None = None
    tool_choice: Literal["auto", "none", "required"] | _NamedFunction | None = None
    parallel_tool_calls: bool | None = None
    text: _TextConfig | None = None
    temperature: float | None = Field(None, ge=0, le=2)
    top_p: float | None = Field(None, ge=0, le=1)
    max_output_tokens: int | None = Field(None, ge=1)
    user: Ignored = None
    reasoning: Ignored = None
    include: Ignored = None
    truncation: Ignored = None
    max_tool_calls: Ignored = None
    stream_options: Ignored = None
    service_tier: Ignored = None
    safety_identifier: Ignored = None
    prompt_cache_key: Ignored = None
    prompt_cache_options: Ignored = None
    prompt_cache_retention: Ignored = None
    moderation: Ignored = None
    context_management: Ignored = None
    background: Annotated[Any, only(False)] = None
    conversation: Annotated[Any, only()] = None
    prompt: Annotated[Any, only()] = None
    image: Annotated[Any, only()] = None
    access_programs: Annotated[Any, only()] = None
    top_logprobs: Annotated[Any, only(0)] = None

    def sampling(self, base: Sampling) -> Sampling:
        given = super().sampling(base)
        return replace(given, max_tokens=self.max_output_tokens or given.max_tokens)

    def messages(self) -> list[Message]:
        """Return the messages of the input; calls that follow each other, and text after them, are one message."""
        if isinstance(self.input, str):
            return [Message("user", self.input)]
        messages: list[Message] = []
        for item in self.input:
            match item:
                case _Message(role="assistant") if messages and messages[-1].tool_calls:
                    text = "\n".join(filter(None, (messages[-1].content, _joined(item.content))))
                    messages[-1] = replace(messages[-1], content=text)
                case _Message(role=role):
                    messages.append(Message("system" if role == "developer" else role, _joined(item.content)))
                case _FunctionCall():
                    call = ToolCall(item.call_id, item.name, item.arguments)
                    if messages and messages[-1].role == "assistant":
                        messages[-1] = replace(messages[-1], tool_calls=(*messages[-1].tool_calls, call))
                    else:
                        messages.append(Message("assistant", "", tool_calls=(call,)))
                case _FunctionOutput():
                    messages.append(Message("tool", _joined(item.output), tool_call_id=item.call_id))
                case _Reasoning():
                    pass
                case _:
                    assert_never(item)
        return messages

    def question(self, base: Sampling, limits: ServerSettings, past: Sequence[Message] = ()) -> chat.ChatInput:
        """Convert the request, which continues the `past` messages."""
        chat.checked_count(len(self.tools or ()), limits.max_tools, "tools")
        tools = [
            chat.tool_schema(one.name, one.description, one.parameters or chat.NO_PARAMETERS)
            for one in self.tools or ()
        ]
        system = [Message("system", self.instructions)] if self.instructions else []
        messages = [*system, *past, *self.messages()]
        return chat.ChatInput(
            chat.in_order(messages, [one.name for one in self.tools or ()], limits),
            tools=None if self.tools is None else tuple(tools),
            tool_choice=self._choice(),
            parallel_calls=self.parallel_tool_calls is not False,
            sampling=self.sampling(base),
            json_schema=self._json_schema(),
        )

    def reply_format(self, model: str) -> ResponseReply:
        return ResponseReply(model, self, lambda _response, _message: None)

    def _choice(self) -> ToolChoice:
        match self.tool_choice:
            case None:
                return "auto"
            case _NamedFunction(name=name):
                return NamedTool(name)
            case "auto" | "none" | "required" as choice:
                return choice

    def _json_schema(self) -> JsonObject | None:
        match self.text.format if self.text else None:
            case None | _Format(type="text"):
                return None
            case _Format(type="json_object"):
                return {"type": "object"}
            case _Format(schema_=None):
                raise invalid("json_schema has no schema", "text.format.schema")
            case _Format(schema_=schema):
                return schema


def _joined(content: str | list[_Text]) -> str:
    return content if isinstance(content, str) else "\n".join(part.text or part.refusal for part in content)


# --- replies

Keep: TypeAlias = Callable[[JsonObject, Message], None]


class ResponseReply(chat.ReplyFormat):
    """Formats the answer to `body`; `keep` gets the finished response and its message."""

    def __init__(self, model: str, body: ResponsesBody, keep: Keep) -> None:
        self._keep = keep
        self._numbers = itertools.count()
        form = body.text.format if body.text else None
        self._head: JsonObject = {
            "id": f"resp_{uuid.uuid4().hex}",
            "object": "response",
            "created_at": int(time.time()),
            "model": model,
            "instructions": body.instructions,
            "previous_response_id": body.previous_response_id,
            "metadata": body.metadata or {},
            "tools": [tool.model_dump() for tool in body.tools or ()],
            "tool_choice": body.model_dump(include={"tool_choice"})["tool_choice"] or "auto",
            "parallel_tool_calls": body.parallel_tool_calls is not False,
            "text": {"format": form.model_dump(by_alias=True, exclude_none=True) if form else {"type": "text"}},
            "temperature": body.temperature,
            "top_p": body.top_p,
            "max_output_tokens": body.max_output_tokens,
            "store": body.store is not False,
            "background": False,
            "truncation": "auto",
        }

    async def whole(self, parts: AsyncGenerator[chat.ReplyPart, None]) -> JsonObject:
        pieces, ended = await chat.whole_reply(parts)
        return self._finished([_item(piece) for piece in pieces], ended)

    async def events(self, parts: AsyncGenerator[chat.ReplyPart, None]) -> AsyncGenerator[bytes, None]:
        """Add, extend and finish one output item after another; closing it closes the parts."""
        output: list[JsonObject] = []
        is_text_open, text = False, ""
        async with aclosing(parts):
            async for part in parts:
                if is_text_open and not isinstance(part, chat.ReplyText):
                    is_text_open = False
                    output[-1] = _item(chat.ReplyText(text), output[-1]["id"])
                    for event in self._end_of_text(output):
                        yield event
                match part:
                    case chat.ReplyStart():
                        for name in ("response.created", "response.in_progress"):
                            yield self._event(name, response=self._response("in_progress", []))
                    case chat.ReplyText(piece):
                        if not is_text_open:
                            is_text_open, text = True, ""
                            output.append(_item(part))
                            for event in self._beginning_of_text(output):
                                yield event
                        text += piece
                        place = _place(output, content_index=0)
                        yield self._event("response.output_text.delta", **place, delta=piece, logprobs=[])
                    case chat.ReplyToolCall():
                        output.append(_item(part))
                        for event in self._call(output):
                            yield event
                    case chat.ReplyEnd():
                        finished = self._finished(output, part)
                        yield self._event(f"response.{finished['status']}", response=finished)
                    case _:
                        assert_never(part)

    def format_error(self, error: ApiError) -> bytes:
        details = error.as_openai()["error"]
        # The official client raises an exception for `error`; the other fields are those of the documented event.
        return self._event("error", code=error.code, message=error.message, param=error.param, error=details)

    def _beginning_of_text(self, output: list[JsonObject]) -> Iterator[bytes]:
        opened = {**output[-1], "status": "in_progress", "content": []}
        yield self._event("response.output_item.added", output_index=len(output) - 1, item=opened)
        place = _place(output, content_index=0)
        yield self._event("response.content_part.added", **place, part=_text_part(""))

    def _end_of_text(self, output: list[JsonObject]) -> Iterator[bytes]:
        place, (part,) = _place(output, content_index=0), output[-1]["content"]
        yield self._event("response.output_text.done", **place, text=part["text"], logprobs=[])
        yield self._event("response.content_part.done", **place, part=part)
        yield self._event("response.output_item.done", output_index=len(output) - 1, item=output[-1])

    def _call(self, output: list[JsonObject]) -> Iterator[bytes]:
        item, place = output[-1], _place(output)
        opened = {**item, "status": "in_progress", "arguments": ""}
        yield self._event("response.output_item.added", output_index=len(output) - 1, item=opened)
        yield self._event("response.function_call_arguments.delta", **place, delta=item["arguments"])
        done = {"name": item["name"], "arguments": item["arguments"]}
        yield self._event("response.function_call_arguments.done", **place, **done)
        yield self._event("response.output_item.done", output_index=len(output) - 1, item=item)

    def _finished(self, output: list[JsonObject], ended: chat.ReplyEnd) -> JsonObject:
        is_cut = ended.finish_reason == "length"
        response = self._response("incomplete" if is_cut else "completed", output, ended.usage)
        texts = [item["content"][0]["text"] for item in output if item["type"] == "message"]
        calls = [
            ToolCall(item["call_id"], item["name"], item["arguments"])
            for item in output
            if item["type"] == "function_call"
        ]
        self._keep(response, Message("assistant", "\n".join(texts), tool_calls=tuple(calls)))
        return response

    def _response(
        self,
        status: Literal["in_progress", "completed", "incomplete"],
        output: list[JsonObject],
        usage: chat.Usage | None = None,
    ) -> JsonObject:
        return {
            **self._head,
            "status": status,
            "error": None,
            "incomplete_details": {"reason": "max_output_tokens"} if status == "incomplete" else None,
            "output": output,
            "usage": None if usage is None else _usage(usage),
        }

    def _event(self, name: str, /, **fields: object) -> bytes:
        return sse_event({"type": name, "sequence_number": next(self._numbers), **fields}, name)


def _item(piece: chat.ReplyText | chat.ReplyToolCall, item_id: str = "") -> JsonObject:
    match piece:
        case chat.ReplyText(text):
            content = [_text_part(text)]
            kind = {"id": item_id or f"msg_{uuid.uuid4().hex}", "type": "message", "role": "assistant"}
            return {**kind, "status": "completed", "content": content}
        case chat.ReplyToolCall(call):
            kind = {"id": f"fc_{uuid.uuid4().hex}", "type": "function_call", "status": "completed"}
            return {**kind, "call_id": call.id, "name": call.name, "arguments": call.arguments}


def _text_part(text: str) -> JsonObject:
    return {"type": "output_text", "text": text, "annotations": [], "logprobs": []}


def _place(output: list[JsonObject], **more: int) -> dict[str, Any]:
    return {"item_id": output[-1]["id"], "output_index": len(output) - 1, **more}


def _usage(usage: chat.Usage) -> JsonObject:
    return {
        "input_tokens": usage.prompt_tokens,
        "input_tokens_details": {"cached_tokens": usage.cached_tokens, "cache_write_tokens": 0},
        "output_tokens": usage.generated_tokens,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": usage.prompt_tokens + usage.generated_tokens,
    }


# --- earlier responses


@dataclass(frozen=True, slots=True)
class StoredResponse:
    """A response, and the conversation up to it, without instructions."""

    response: JsonObject
    messages: tuple[Message, ...]

    @property
    def size_bytes(self) -> int:
        """About what it takes: the texts, and the objects that hold them."""
        texts = (len(one.content) + sum(len(call.arguments) for call in one.tool_calls) for one in self.messages)
        return 4 * sum(texts) + 500 * (len(self.messages) + len(self.response["tools"]) + 4)


class ResponseStore:
    """Keeps the responses of each caller in memory, the oldest of all only as long as there is room."""

    def __init__(self, *, max_count: int = 500, max_bytes: int = 16_000_000) -> None:
        self._max_count = max_count
        self._max_bytes = max_bytes
        self._stored: OrderedDict[tuple[str, str], StoredResponse] = OrderedDict()
        self._size_bytes = 0

    def add(self, owner: str, stored: StoredResponse) -> None:
        self._stored[owner, stored.response["id"]] = stored
        self._size_bytes += stored.size_bytes
        while len(self._stored) > self._max_count or self._size_bytes > self._max_bytes:
            _key, dropped = self._stored.popitem(last=False)
            self._size_bytes -= dropped.size_bytes

    def get(self, owner: str, response_id: str) -> StoredResponse | None:
        stored = self._stored.get((owner, response_id))
        if stored is not None:
            self._stored.move_to_end((owner, response_id))
        return stored

    def delete(self, owner: str, response_id: str) -> bool:
        """Return whether there was such a response."""
        stored = self._stored.pop((owner, response_id), None)
        self._size_bytes -= stored.size_bytes if stored is not None else 0
        return stored is not None
