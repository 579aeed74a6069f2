"""OpenAI's /v1/chat/completions and the older /v1/completions: request bodies, responses and stream chunks."""

from __future__ import annotations

import time
import uuid
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace
from typing import Annotated, Any, Literal, assert_never

from pydantic import AfterValidator, Field

from edgevox.config import ServerSettings
from edgevox.core.types import JsonObject, Message, NamedTool, Role, Sampling, ToolCall, ToolChoice
from edgevox.server.chat import input as chat
from edgevox.server.http.errors import ApiError, invalid
from edgevox.server.http.wire import Ignored, RequestBody, StrictBody, only, sse_event

_MAX_SEED = 2**32 - 1
_FUNCTION_ID = "function"


class _Part(RequestBody):
    type: Literal["text", "refusal"]
    text: str = ""
    refusal: str = ""


class _CalledFunction(RequestBody):
    name: chat.ToolName
    arguments: str = "{}"


class _Call(RequestBody):
    id: str
    type: Literal["function"] = "function"
    function: _CalledFunction


class _Message(RequestBody):
    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: Annotated[str | list[_Part] | None, chat.TEXT_ONLY] = None
    tool_calls: list[_Call] | None = None
    function_call: _CalledFunction | None = None
    tool_call_id: str | None = None

    def message(self) -> Message:
        if self.role == "function":
            return Message("tool", self._text, tool_call_id=_FUNCTION_ID)
        role: Role = "system" if self.role == "developer" else self.role
        return Message(role, self._text, tool_calls=self._calls(), tool_call_id=self.tool_call_id)

    def _calls(self) -> tuple[ToolCall, ...]:
        if self.role != "assistant":
            return ()
        if self.function_call is not None:
            return (ToolCall(_FUNCTION_ID, self.function_call.name, self.function_call.arguments),)
        return tuple(ToolCall(call.id, call.function.name, call.function.arguments) for call in self.tool_calls or ())

    @property
    def _text(self) -> str:
        if isinstance(self.content, list):
            return "\n".join(part.text or part.refusal for part in self.content)
        return self.content or ""


class FunctionSchema(RequestBody):
    """A function of the client, and the schema of its arguments."""

    name: chat.ToolName
    description: str | None = None
    parameters: dict[str, Any] | None = None


class FunctionTool(RequestBody):
    """A tool of the client."""

    type: Literal["function"]
    function: FunctionSchema


class _Named(RequestBody):
    name: chat.ToolName


class _NamedFunction(RequestBody):
    type: Literal["function"]
    function: _Named


class _Schema(RequestBody):
    name: str | None = None
    schema_: dict[str, Any] = Field(default_factory=dict, alias="schema")


class _Format(RequestBody):
    type: Literal["text", "json_object", "json_schema"]
    json_schema: _Schema | None = None
    schema_: dict[str, Any] | None = Field(None, alias="schema")


class _StreamOptions(RequestBody):
    include_usage: bool | None = None


class _CommonBody(chat.ChatBody, StrictBody):
    """What both APIs have in common; unsupported options that would change the answer are rejected."""

    user: Ignored = None
    cache_prompt: Ignored = None
    id_slot: Ignored = None
    timings_per_token: Ignored = None
    return_progress: Ignored = None
    samplers: Ignored = None
    backend_sampling: Ignored = None
    dynatemp_range: Ignored = None
    dynatemp_exponent: Ignored = None
    xtc_probability: Ignored = None
    xtc_threshold: Ignored = None
    typ_p: Ignored = None
    typical_p: Ignored = None
    repeat_last_n: Ignored = None
    repetition_penalty: Ignored = None
    dry_multiplier: Ignored = None
    dry_base: Ignored = None
    dry_allowed_length: Ignored = None
    dry_penalty_last_n: Ignored = None

    stop: chat.StopString | Annotated[list[chat.StopString], Field(max_length=16)] | None = None
    seed: Annotated[int, AfterValidator(lambda seed: seed % _MAX_SEED)] | None = None
    temperature: float | None = Field(None, ge=0, le=2)
    top_p: float | None = Field(None, ge=0, le=1)
    top_k: int | None = Field(None, ge=0, le=100_000)
    min_p: float | None = Field(None, ge=0, le=1)
    repeat_penalty: float | None = Field(None, gt=0)
    max_tokens: int | None = Field(None, ge=1)
    stream_options: _StreamOptions | None = None
    n: Annotated[Any, only(1)] = None
    logprobs: Annotated[Any, only(False)] = None
    logit_bias: Annotated[Any, only({})] = None
    frequency_penalty: Annotated[Any, only(0)] = None
    presence_penalty: Annotated[Any, only(0)] = None

    @property
    def _stop(self) -> tuple[str, ...]:
        return (self.stop,) if isinstance(self.stop, str) else tuple(self.stop or ())

    @property
    def _with_usage(self) -> bool:
        return self.stream_options is not None and bool(self.stream_options.include_usage)


class ChatCompletionBody(_CommonBody):
    """A chat request."""

    messages: list[_Message] = Field(min_length=1)
    tools: list[FunctionTool] | None = None
    tool_choice: Literal["auto", "none", "required"] | _NamedFunction | None = None
    parallel_tool_calls: bool | None = None
    functions: list[FunctionSchema] | None = None
    function_call: Literal["auto", "none"] | _Named | None = None
    response_format: _Format | None = None
    guided_json_schema: dict[str, Any] | None = None
    json_schema: dict[str, Any] | None = None
    grammar: Annotated[Any, only("")] = None
    add_generation_prompt: bool | None = None
    continue_final_message: bool | None = None
    max_completion_tokens: int | None = Field(None, ge=1)
    top_logprobs: Annotated[Any, only(0)] = None
    modalities: Annotated[Any, only(["text"])] = None
    audio: Annotated[Any, only()] = None
    metadata: Ignored = None
    store: Ignored = None
    service_tier: Ignored = None
    safety_identifier: Ignored = None
    prompt_cache_key: Ignored = None
    prompt_cache_options: Ignored = None
    prompt_cache_retention: Ignored = None
    prediction: Ignored = None
    moderation: Ignored = None
    verbosity: Ignored = None
    reasoning_effort: Ignored = None
    reasoning_format: Ignored = None
    chat_template_kwargs: Ignored = None
    enable_thinking: Ignored = None
    web_search_options: Annotated[Any, only()] = None

    def sampling(self, base: Sampling) -> Sampling:
        given = super().sampling(base)
        return replace(given, max_tokens=self.max_completion_tokens or given.max_tokens)

    @property
    def uses_functions(self) -> bool:
        """Whether the request uses the deprecated `functions`, which allow at most one call."""
        return self.functions is not None

    def reply_format(self, model: str) -> Completion:
        return Completion(model, as_functions=self.uses_functions, with_usage=self._with_usage)

    def question(self, base: Sampling, limits: ServerSettings) -> chat.ChatInput:
        if self.uses_functions and self.tools is not None:
            raise invalid("use either tools or the deprecated functions", "functions")
        if self.add_generation_prompt and self.continue_final_message:
            raise invalid("a reply continues the last message or begins a new one, not both", "continue_final_message")
        functions = self.functions if self.tools is None else [tool.function for tool in self.tools]
        chat.checked_count(len(functions or ()), limits.max_tools, "tools")
        tools = [
            chat.tool_schema(one.name, one.description, one.parameters or chat.NO_PARAMETERS) for one in functions or ()
        ]
        return chat.ChatInput(
            chat.in_order([one.message() for one in self.messages], [one.name for one in functions or ()], limits),
            tools=None if functions is None else tuple(tools),
            tool_choice=self._choice(),
            parallel_calls=self.parallel_tool_calls is not False and not self.uses_functions,
            sampling=self.sampling(base),
            stop=self._stop,
            json_schema=self._json_schema(),
        )

    def _choice(self) -> ToolChoice:
        match self.function_call if self.uses_functions else self.tool_choice:
            case None:
                return "auto"
            case _NamedFunction(function=_Named(name=name)) | _Named(name=name):
                return NamedTool(name)
            case "auto" | "none" | "required" as choice:
                return choice

    def _json_schema(self) -> JsonObject | None:
        if self.guided_json_schema is not None:
            return self.guided_json_schema
        if self.json_schema is not None:
            return self.json_schema
        match self.response_format:
            case None | _Format(type="text"):
                return None
            case _Format(type="json_schema", json_schema=_Schema() as given):
                return given.schema_
            case _Format(type="json_schema"):
                raise invalid("json_schema has no schema", "response_format.json_schema")
            case _Format() as form:  # llama.cpp's clients give an object a schema
                return {"type": "object"} if form.schema_ is None else form.schema_


class CompletionBody(_CommonBody):
    """A request of the older API: the model answers the prompt as it answers a message."""

    prompt: str | Annotated[list[str], Field(min_length=1, max_length=1)]
    suffix: Annotated[Any, only("")] = None
    echo: Annotated[Any, only(False)] = None
    best_of: Annotated[Any, only(1)] = None

    def reply_format(self, model: str) -> TextCompletion:
        return TextCompletion(model, with_usage=self._with_usage)

    def question(self, base: Sampling, _limits: ServerSettings) -> chat.ChatInput:
        prompt = self.prompt if isinstance(self.prompt, str) else self.prompt[0]
        message = Message("user", prompt)
        return chat.ChatInput((message,), tool_choice="none", sampling=self.sampling(base), stop=self._stop)


class Completion(chat.ReplyFormat):
    """Formats one answer of `model`; `as_functions` uses the deprecated function calls."""

    id_prefix = "chatcmpl"
    chunk_object = "chat.completion.chunk"

    def __init__(self, model: str, *, as_functions: bool = False, with_usage: bool = False) -> None:
        self._head = {"id": f"{self.id_prefix}-{uuid.uuid4().hex}", "created": int(time.time()), "model": model}
        self._as_functions = as_functions
        self._with_usage = with_usage

    async def whole(self, parts: AsyncGenerator[chat.ReplyPart, None]) -> JsonObject:
        pieces, ended = await chat.whole_reply(parts)
        text = "".join(piece.text for piece in pieces if isinstance(piece, chat.ReplyText))
        calls = [piece.call for piece in pieces if isinstance(piece, chat.ReplyToolCall)]
        message: dict[str, Any] = {"role": "assistant", "content": text if text or not calls else None}
        if calls and self._as_functions:
            message["function_call"] = _function(calls[0])
        elif calls:
            message["tool_calls"] = [_call(call) for call in calls]
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": self._reason(ended)}
        return {**self._head, "object": "chat.completion", "choices": [choice], "usage": _usage(ended.usage)}

    async def events(self, parts: AsyncGenerator[chat.ReplyPart, None]) -> AsyncGenerator[bytes, None]:
        calls = 0
        async with aclosing(parts):
            async for part in parts:
                match part:
                    case chat.ReplyStart():
                        yield self._chunk({"role": "assistant", "content": ""})
                    case chat.ReplyText(piece):
                        yield self._chunk({"content": piece})
                    case chat.ReplyToolCall(call) if self._as_functions:
                        yield self._chunk({"function_call": _function(call)})
                    case chat.ReplyToolCall(call):
                        # The name comes first, as in OpenAI's stream; clients append the arguments.
                        opening = {**_call(call), "function": {"name": call.name, "arguments": ""}, "index": calls}
                        yield self._chunk({"tool_calls": [opening]})
                        rest = {"index": calls, "function": {"arguments": call.arguments}}
                        yield self._chunk({"tool_calls": [rest]})
                        calls += 1
                    case chat.ReplyEnd():
                        yield self._chunk({}, self._reason(part))
                        if self._with_usage:
                            yield self._event([], _usage(part.usage))
                    case _:
                        assert_never(part)
        yield sse_event("[DONE]")

    def format_error(self, error: ApiError) -> bytes:
        return sse_event(error.as_openai())

    def _reason(self, ended: chat.ReplyEnd) -> str:
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
        data = {**self._head, "object": self.chunk_object, "choices": choices}
        return sse_event({**data, "usage": usage} if self._with_usage else data)


class TextCompletion(Completion):
    """Formats one answer in the older form."""

    id_prefix = "cmpl"
    chunk_object = "text_completion"

    async def whole(self, parts: AsyncGenerator[chat.ReplyPart, None]) -> JsonObject:
        pieces, ended = await chat.whole_reply(parts)
        text = "".join(piece.text for piece in pieces if isinstance(piece, chat.ReplyText))
        choice = {"index": 0, "text": text, "logprobs": None, "finish_reason": self._reason(ended)}
        return {**self._head, "object": self.chunk_object, "choices": [choice], "usage": _usage(ended.usage)}

    def _chunk(self, delta: JsonObject, reason: str | None = None) -> bytes:
        choice = {"index": 0, "text": delta.get("content", ""), "logprobs": None, "finish_reason": reason}
        return self._event([choice], None)


def _function(call: ToolCall) -> JsonObject:
    return {"name": call.name, "arguments": call.arguments}


def _call(call: ToolCall) -> JsonObject:
    return {"id": call.id, "type": "function", "function": _function(call)}


def _usage(usage: chat.Usage) -> JsonObject:
    return {
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.generated_tokens,
        "total_tokens": usage.prompt_tokens + usage.generated_tokens,
        "prompt_tokens_details": {"cached_tokens": usage.cached_tokens},
    }
