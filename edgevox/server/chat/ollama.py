"""Ollama's /api/chat and /api/generate: request bodies, responses and their NDJSON streams; the model list."""

from __future__ import annotations

import hashlib
import json
import time
from abc import abstractmethod
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing
from dataclasses import replace
from datetime import UTC, datetime
from typing import Annotated, Any, Literal, assert_never

from pydantic import Field

from edgevox.config import ServerSettings
from edgevox.core.types import JsonObject, Message, Role, Sampling, ToolCall
from edgevox.server.chat import input as chat
from edgevox.server.chat.openai import FunctionTool
from edgevox.server.http.errors import ApiError, invalid
from edgevox.server.http.wire import RequestBody, json_line, only

API_VERSION = "0.12.0"
"""The version of Ollama's API that this one follows; clients compare it with the one that they need."""


class _CalledFunction(RequestBody):
    name: chat.ToolName
    arguments: dict[str, Any] = Field(default_factory=dict)


class _Call(RequestBody):
    id: str | None = None
    function: _CalledFunction


class _Message(RequestBody):
    role: Role
    content: str | None = None
    images: Annotated[Any, only([])] = None
    tool_calls: list[_Call] | None = None
    tool_name: str | None = None
    tool_call_id: str | None = None


class _Options(RequestBody):
    """Options of the generation; those of loading a model are ignored."""

    temperature: float | None = Field(None, ge=0)
    top_p: float | None = Field(None, ge=0, le=1)
    top_k: int | None = Field(None, ge=0, le=100_000)
    min_p: float | None = Field(None, ge=0, le=1)
    repeat_penalty: float | None = Field(None, gt=0)
    seed: int | None = None
    num_predict: int | None = None
    stop: chat.StopString | Annotated[list[chat.StopString], Field(max_length=16)] | None = None
    presence_penalty: Annotated[Any, only(0)] = None
    frequency_penalty: Annotated[Any, only(0)] = None


_MAX_SEED = 2**32 - 1


class _CommonBody(chat.ChatBody):
    """What both routes have in common. A stream is the default, and `keep_alive` is accepted."""

    format: Literal["", "json"] | dict[str, Any] | None = None
    options: _Options | None = None
    keep_alive: float | str | None = None
    logprobs: Annotated[Any, only(False)] = None
    top_logprobs: Annotated[Any, only(0)] = None

    @property
    def wants_stream(self) -> bool:
        return self.stream is not False

    @property
    @abstractmethod
    def is_load_only(self) -> bool:
        """Whether the request has no question, and only asks to load or unload the model."""

    def sampling(self, base: Sampling) -> Sampling:
        given = self.options
        if given is None:
            return base
        sampling = replace(base, **given.model_dump(include=set(chat.SAMPLING_OPTIONS), exclude_none=True))
        if given.seed is not None:
            sampling = replace(sampling, seed=given.seed % _MAX_SEED)
        if given.num_predict is None or given.num_predict < 1:  # negative: no limit, which here is the preset's
            return sampling
        return replace(sampling, max_tokens=given.num_predict)

    @property
    def _stop(self) -> tuple[str, ...]:
        stop = self.options.stop if self.options else None
        return (stop,) if isinstance(stop, str) else tuple(stop or ())

    def _json_schema(self) -> JsonObject | None:
        match self.format:
            case None | "":
                return None
            case "json":
                return {"type": "object"}
            case schema:
                return schema


class OllamaChatBody(_CommonBody):
    """A chat request. Clients send an empty list of tools for none."""

    messages: list[_Message] = Field(default_factory=list)
    tools: list[FunctionTool] | None = None

    @property
    def is_load_only(self) -> bool:
        return not self.messages

    def reply_format(self, model: str) -> OllamaReply:
        return OllamaChatReply(model)

    def question(self, base: Sampling, limits: ServerSettings) -> chat.ChatInput:
        functions = [tool.function for tool in self.tools or ()]
        chat.checked_count(len(functions), limits.max_tools, "tools")
        tools = [chat.tool_schema(one.name, one.description, one.parameters or chat.NO_PARAMETERS) for one in functions]
        return chat.ChatInput(
            chat.in_order(_from_first_question(self._messages()), [one.name for one in functions], limits),
            tools=tuple(tools) or None,
            sampling=self.sampling(base),
            stop=self._stop,
            json_schema=self._json_schema(),
        )

    def _messages(self) -> Iterator[Message]:
        """Yield the messages; results belong to the open calls by id, by name, or in their order."""
        number = 0
        open_calls: dict[str, str] = {}
        for message in self.messages:
            match message.role:
                case "tool":
                    named = [key for key, name in open_calls.items() if name == message.tool_name]
                    known = [message.tool_call_id] if message.tool_call_id in open_calls else named or [*open_calls]
                    call_id = known[0] if known else None
                    open_calls.pop(call_id or "", None)
                    yield Message("tool", message.content or "", tool_call_id=call_id)
                case role:
                    calls = []
                    for call in (message.tool_calls or ()) if role == "assistant" else ():
                        number += 1
                        calls.append(
                            ToolCall(
                                call.id or f"call{number}",
                                call.function.name,
                                json.dumps(call.function.arguments, ensure_ascii=False),
                            )
                        )
                        open_calls[calls[-1].id] = call.function.name
                    yield Message(role, message.content or "", tool_calls=tuple(calls))


def _from_first_question(messages: Iterator[Message]) -> list[Message]:
    """Drop what precedes the first question, except instructions: clients that trim a history cut within a turn."""
    found = list(messages)
    first = next((index for index, message in enumerate(found) if message.role == "user"), 0)
    return [message for index, message in enumerate(found) if index >= first or message.role == "system"]


class OllamaGenerateBody(_CommonBody):
    """A request with one prompt, which is answered like a message, in plain text."""

    prompt: str = ""
    system: str | None = None
    suffix: Annotated[Any, only("")] = None
    template: Annotated[Any, only("")] = None
    raw: Annotated[Any, only(False)] = None
    images: Annotated[Any, only([])] = None

    @property
    def is_load_only(self) -> bool:
        return not self.prompt

    def reply_format(self, model: str) -> OllamaReply:
        return OllamaGenerateReply(model)

    def question(self, base: Sampling, _limits: ServerSettings) -> chat.ChatInput:
        system = (Message("system", self.system),) if self.system else ()
        return chat.ChatInput(
            (*system, Message("user", self.prompt)),
            tool_choice="none",
            sampling=self.sampling(base),
            stop=self._stop,
            json_schema=self._json_schema(),
        )


class OllamaReply(chat.ReplyFormat):
    """Formats one answer of `model` as lines of JSON."""

    media_type = "application/x-ndjson"

    def __init__(self, model: str) -> None:
        self._model = model
        self._started_s = self._first_s = time.monotonic()

    @abstractmethod
    def _content(self, text: str, calls: list[ToolCall]) -> JsonObject: ...

    @property
    def keep_alive(self) -> bytes:
        return self._line("", [])

    async def whole(self, parts: AsyncGenerator[chat.ReplyPart, None]) -> JsonObject:
        pieces, ended = await chat.whole_reply(parts)
        text = "".join(piece.text for piece in pieces if isinstance(piece, chat.ReplyText))
        calls = [piece.call for piece in pieces if isinstance(piece, chat.ReplyToolCall)]
        return {**self._head(), **self._content(text, calls), **self._end(ended)}

    async def events(self, parts: AsyncGenerator[chat.ReplyPart, None]) -> AsyncGenerator[bytes, None]:
        async with aclosing(parts):
            async for part in parts:
                match part:
                    case chat.ReplyStart():
                        self._first_s = time.monotonic()
                    case chat.ReplyText(text):
                        yield self._line(text, [])
                    case chat.ReplyToolCall(call):
                        yield self._line("", [call])
                    case chat.ReplyEnd():
                        yield _json_line({**self._head(), **self._content("", []), **self._end(part)})
                    case _:
                        assert_never(part)

    def loaded(self, *, is_unload: bool) -> JsonObject:
        """Return the answer to a request without a question."""
        reason = "unload" if is_unload else "load"
        return {**self._head(), **self._content("", []), "done": True, "done_reason": reason}

    def format_error(self, error: ApiError) -> bytes:
        return _json_line(error.as_ollama())

    def _line(self, text: str, calls: list[ToolCall]) -> bytes:
        return _json_line({**self._head(), **self._content(text, calls), "done": False})

    def _head(self) -> JsonObject:
        return {"model": self._model, "created_at": datetime.now(UTC).isoformat()}

    def _end(self, ended: chat.ReplyEnd) -> JsonObject:
        now_s = time.monotonic()
        return {
            "done": True,
            "done_reason": "length" if ended.finish_reason == "length" else "stop",
            "total_duration": _ns(now_s - self._started_s),
            "load_duration": 0,
            "prompt_eval_count": ended.usage.prompt_tokens,
            "prompt_eval_duration": _ns(self._first_s - self._started_s),
            "eval_count": ended.usage.generated_tokens,
            "eval_duration": _ns(now_s - self._first_s),
        }


class OllamaChatReply(OllamaReply):
    """Formats the answer to a chat request."""

    def _content(self, text: str, calls: list[ToolCall]) -> JsonObject:
        message: dict[str, Any] = {"role": "assistant", "content": text}
        if calls:
            message["tool_calls"] = [
                {"id": call.id, "function": {"name": call.name, "arguments": json.loads(call.arguments)}}
                for call in calls
            ]
        return {"message": message}


class OllamaGenerateReply(OllamaReply):
    """Formats the answer to a prompt."""

    def _content(self, text: str, _calls: list[ToolCall]) -> JsonObject:
        return {"response": text}


def _json_line(content: JsonObject) -> bytes:
    return json_line(content).encode() + b"\n"


def _ns(seconds: float) -> int:
    return round(seconds * 1e9)


# --- models


class ShowBody(RequestBody):
    """A request for one model's description; `name` is the older field."""

    model: str | None = None
    name: str | None = None

    @property
    def wanted(self) -> str:
        """The name. Raises ApiError if there is none."""
        if found := self.model or self.name:
            return found
        raise invalid("model: a name is required", "model")


_DETAILS = {"parent_model": "", "format": "gguf", "families": None, "parameter_size": "", "quantization_level": ""}


def listed_model(name: str, family: str, started_s: float) -> JsonObject:
    """Return the entry of the model list. The digest only tells names apart."""
    return {
        "name": name,
        "model": name,
        "modified_at": datetime.fromtimestamp(started_s, UTC).isoformat(),
        "size": 0,
        "digest": hashlib.sha256(name.encode()).hexdigest(),
        "details": {**_DETAILS, "family": family},
    }


def described_model(family: str, context_tokens: int | None) -> JsonObject:
    """Return the description of the model that is served."""
    size = {} if context_tokens is None else {"edgevox.context_length": context_tokens}
    return {
        "modelfile": "",
        "parameters": "",
        "template": "",
        "details": {**_DETAILS, "family": family},
        "model_info": {"general.architecture": "edgevox", **size},
        "capabilities": ["completion", "tools"],
    }
