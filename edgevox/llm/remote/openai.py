"""The OpenAI chat completions API, as OpenAI, llama.cpp, vLLM, Ollama and EdgeVox implement it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, assert_never

from pydantic import AliasChoices, BaseModel, Field, ValidationError

from edgevox.config.secrets import Secret
from edgevox.core.types import ChatDone, ChatRequest, FinishReason, Message, NamedTool
from edgevox.llm.remote.wire import Answer, BadResponse, PartialToolCall, Piece, ServerRefusal, function_of

_LAST = "[DONE]"
_FINISHES: dict[str, FinishReason] = {
    "stop": "stop",
    "length": "length",
    "tool_calls": "tool_calls",
    "function_call": "tool_calls",
}


class OpenAIWire:
    """The Wire of OpenAI. Its URL ends in /v1."""

    no_tools: object = "none"

    def chat_url(self, url: str) -> str:
        return f"{url}/chat/completions"

    def models_url(self, url: str) -> str:
        return f"{url}/models"

    def headers(self, key: Secret | None) -> dict[str, str]:
        return {"Authorization": f"Bearer {key.reveal()}"} if key else {}

    def body(self, model: str, request: ChatRequest) -> dict[str, Any]:
        sampling = request.sampling
        body: dict[str, Any] = {
            "model": model,
            "messages": _messages(request.messages),
            "temperature": min(sampling.temperature, 2.0),
            "top_p": sampling.top_p,
            "max_tokens": sampling.max_tokens,
            "stream": True,
            "stream_options": {"include_usage": True},
        }
        if sampling.seed is not None:
            body["seed"] = sampling.seed
        if request.stop:
            body["stop"] = list(request.stop)
        if request.json_schema is not None:
            schema = {"name": "answer", "schema": request.json_schema}
            body["response_format"] = {"type": "json_schema", "json_schema": schema}
        elif request.tools:
            body["tools"] = [{"type": "function", "function": function_of(tool)} for tool in request.tools]
            body["tool_choice"] = _choice(request)
            body["parallel_tool_calls"] = request.parallel_calls
        return body

    def reader(self, request: ChatRequest) -> OpenAIReader:
        return OpenAIReader(request)


def _choice(request: ChatRequest) -> object:
    match request.tool_choice:
        case NamedTool(name):
            return {"type": "function", "function": {"name": name}}
        case "auto" | "none" | "required":
            return request.tool_choice
        case _:
            assert_never(request.tool_choice)


def _messages(messages: Sequence[Message]) -> list[dict[str, Any]]:
    """Merge adjacent user messages: some templates require alternating roles."""
    written: list[dict[str, Any]] = []
    for message in messages:
        if message.role == "user" and written and written[-1]["role"] == "user":
            written[-1]["content"] += f"\n\n{message.content}"
        else:
            written.append(_message(message))
    return written


def _message(message: Message) -> dict[str, Any]:
    written: dict[str, Any] = {"role": message.role, "content": message.content}
    if message.tool_calls:
        written["tool_calls"] = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in message.tool_calls
        ]
    if message.tool_call_id is not None:
        written["tool_call_id"] = message.tool_call_id
    return written


# --- responses


class _Function(BaseModel):
    name: str | None = None
    arguments: str | dict[str, Any] | None = None


class _Call(BaseModel):
    index: int | None = None
    id: str | None = None
    function: _Function = _Function()


class _Delta(BaseModel):
    content: str | None = None
    # Servers use two names for reasoning; OpenAI sends none.
    reasoning: str | None = Field(None, validation_alias=AliasChoices("reasoning_content", "reasoning"))
    tool_calls: list[_Call] | None = None


class _Choice(BaseModel):
    delta: _Delta = Field(
        default_factory=lambda: _Delta(reasoning=None), validation_alias=AliasChoices("delta", "message")
    )
    finish_reason: str | None = None


class _Cached(BaseModel):
    cached_tokens: int | None = None


class _Usage(BaseModel):
    prompt_tokens: int = 0
    completion_tokens: int = 0
    prompt_tokens_details: _Cached | None = None


class _Error(BaseModel):
    message: str = ""
    type: str | None = None


class _Chunk(BaseModel):
    """A chunk, a complete response, or an error in its place."""

    choices: list[_Choice] | None = None
    usage: _Usage | None = None
    error: _Error | str | None = None


class OpenAIReader:
    """The AnswerReader of OpenAI."""

    def __init__(self, request: ChatRequest) -> None:
        self._answer = Answer(request)
        self._is_over = False

    @property
    def is_over(self) -> bool:
        return self._is_over

    @property
    def is_complete(self) -> bool:
        return self._is_over or self._answer.finish_reason is not None

    def feed(self, event: str) -> Iterator[Piece]:
        if event.strip() == _LAST:
            self._is_over = True
            return
        yield from self._take(event)

    def feed_whole(self, body: bytes) -> Iterator[Piece]:
        yield from self._take(body)
        self._is_over = True

    def finish(self) -> tuple[str, ChatDone]:
        return self._answer.finish()

    def _take(self, text: str | bytes) -> Iterator[Piece]:
        try:
            chunk = _Chunk.model_validate_json(text)
        except ValidationError as error:
            raise BadResponse.at(error) from None
        match chunk.error:
            case _Error(message=message, type=kind):
                raise ServerRefusal(message, kind or "")
            case str(message):
                raise ServerRefusal(message)
        if chunk.choices is None:
            raise BadResponse("no choices")
        if chunk.usage is not None:
            self._count(chunk.usage)
        for choice in chunk.choices[:1]:
            delta = choice.delta
            yield from self._answer.add_reasoning(delta.reasoning or "")
            yield from self._answer.said(delta.content or "")
            for call in delta.tool_calls or ():
                self._grow(call)
            if choice.finish_reason is not None:
                self._answer.finish_reason = _FINISHES.get(choice.finish_reason, "stop")

    def _grow(self, call: _Call) -> None:
        """Add to a call. Some servers number the calls, others give only ids; a complete call has everything."""
        calls = self._answer.calls
        index = call.index
        if index is None:
            index = len(calls) if call.function.name or not calls else max(calls)
        growing = calls.setdefault(index, PartialToolCall())
        growing.name = growing.name or call.function.name or ""
        match call.function.arguments:
            case str(text):
                growing.arguments += text
            case dict(arguments):
                growing.arguments = json.dumps(arguments, ensure_ascii=False)
            case None:
                pass

    def _count(self, usage: _Usage) -> None:
        answer, cached = self._answer, usage.prompt_tokens_details
        answer.prompt_tokens = usage.prompt_tokens
        answer.generated_tokens = usage.completion_tokens
        answer.cached_tokens = (cached.cached_tokens or 0) if cached else 0
