"""The OpenAI chat completions API, as OpenAI, llama.cpp, vLLM, Ollama and EdgeVox implement it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from pydantic import AliasChoices, AliasPath, BaseModel, Field

from edgevox.core.types import ChatRequest, FinishReason, Message, NamedTool
from edgevox.llm.remote.wire import Answer, BadResponse, PartialToolCall, Piece, Refusal, Wire, function_of

_FINISHES: dict[str, FinishReason] = {
    "stop": "stop",
    "length": "length",
    "tool_calls": "tool_calls",
    "function_call": "tool_calls",
}


def _body(model: str, request: ChatRequest) -> dict[str, Any]:
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
        match request.tool_choice:
            case NamedTool(name):
                body["tool_choice"] = {"type": "function", "function": {"name": name}}
            case choice:
                body["tool_choice"] = choice
        body["parallel_tool_calls"] = request.parallel_calls
    return body


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


def _in_message(*names: str) -> AliasChoices:
    """A field of a streamed delta, or of a complete message."""
    return AliasChoices(*(AliasPath(part, name) for part in ("delta", "message") for name in names))


class _Call(BaseModel):
    index: int | None = None
    name: str | None = Field(None, validation_alias=AliasPath("function", "name"))
    arguments: str | dict[str, Any] | None = Field(None, validation_alias=AliasPath("function", "arguments"))


class _Choice(BaseModel):
    content: str | None = Field(None, validation_alias=_in_message("content"))
    # Servers use two names for reasoning; OpenAI sends none.
    reasoning: str | None = Field(None, validation_alias=_in_message("reasoning_content", "reasoning"))
    tool_calls: list[_Call] | None = Field(None, validation_alias=_in_message("tool_calls"))
    finish_reason: str | None = None


class _Usage(BaseModel):
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int | None = Field(None, validation_alias=AliasPath("prompt_tokens_details", "cached_tokens"))


class _Chunk(BaseModel):
    """A chunk, a complete response, or an error in its place."""

    choices: list[_Choice] | None = None
    usage: _Usage | None = None
    error: object = None


class OpenAIAnswer(Answer):
    """An answer in OpenAI's form."""

    @property
    def is_complete(self) -> bool:
        return self.is_over or self._finish_reason is not None

    def feed(self, event: str) -> Iterator[Piece]:
        if event.strip() == "[DONE]":
            self.is_over = True
        else:
            yield from self.feed_whole(event)

    def feed_whole(self, body: str | bytes) -> Iterator[Piece]:
        chunk = _Chunk.model_validate_json(body)
        if chunk.error is not None:
            raise Refusal({"error": chunk.error})
        if chunk.choices is None:
            raise BadResponse("no choices")
        if usage := chunk.usage:
            self._prompt_tokens = usage.prompt_tokens
            self._cached_tokens = usage.cached_tokens or 0
            self._generated_tokens = usage.completion_tokens
        for choice in chunk.choices[:1]:
            yield from self._add_reasoning(choice.reasoning or "")
            yield from self._add_text(choice.content or "")
            for call in choice.tool_calls or ():
                self._extend_call(call)
            if choice.finish_reason is not None:
                self._finish_reason = _FINISHES.get(choice.finish_reason, "stop")

    def _extend_call(self, call: _Call) -> None:
        """Add to a call. Some servers number the calls, others give only ids; a complete call has everything."""
        index = call.index
        if index is None:
            index = len(self._calls) if call.name or not self._calls else max(self._calls)
        partial = self._calls.setdefault(index, PartialToolCall())
        partial.name = partial.name or call.name or ""
        match call.arguments:
            case str(text):
                partial.arguments += text
            case dict(arguments):
                partial.arguments = json.dumps(arguments, ensure_ascii=False)
            case None:
                pass


OPENAI = Wire(
    base_url=str,  # it ends in /v1
    chat_path="/chat/completions",
    headers=lambda key: {"Authorization": f"Bearer {key.reveal()}"} if key else {},
    body=_body,
    reader=OpenAIAnswer,
    no_tools="none",
)
