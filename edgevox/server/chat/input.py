"""A chat request in a form that any chat template accepts, the parts of its reply, and the bases of wire formats."""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Final, Literal, LiteralString, TypeAlias

from pydantic import BeforeValidator, Field

from edgevox.agents.chat_request import fence_results
from edgevox.config import ServerSettings
from edgevox.core.errors import EngineFailed
from edgevox.core.events import ModelFinished
from edgevox.core.types import ChatDone, FinishReason, JsonObject, Message, NamedTool, Sampling, ToolCall, ToolChoice
from edgevox.llm.grammar.limits import SchemaCost, SchemaOverLimit
from edgevox.server.assistant import DEFAULT_NAMES
from edgevox.server.http.errors import ApiError, invalid
from edgevox.server.http.wire import EVENT_STREAM, SSE_COMMENT, RequestBody, unsupported
from edgevox.tools.schema import schema_fault

Mode: TypeAlias = Literal["client_tools", "own_tools", "plain"]


@dataclass(frozen=True, slots=True)
class ChatInput:
    """One chat request. `tools` is None if the request has none.

    The `messages` are in order (see `in_order`). If the last one is the assistant's, the reply continues it.
    """

    messages: tuple[Message, ...]
    tools: tuple[JsonObject, ...] | None = None
    tool_choice: ToolChoice = "auto"
    parallel_calls: bool = True
    sampling: Sampling = field(default_factory=Sampling)
    stop: tuple[str, ...] = ()
    json_schema: JsonObject | None = None

    def __post_init__(self) -> None:
        """Raises ApiError for contradictory options."""
        names = [tool["function"]["name"] for tool in self.tools or ()]
        if len(set(names)) < len(names):
            raise invalid("two tools have the same name", "tools")
        cost = SchemaCost()
        for tool in self.tools or ():
            _check_schema(tool["function"]["parameters"], "tools", cost)
        if self.json_schema is not None:
            _check_schema(self.json_schema, "response_format", cost)
        if self.tool_choice == "required" and not names:
            raise invalid("a call is required, but the request has no tools", "tool_choice")
        if isinstance(self.tool_choice, NamedTool) and self.tool_choice.name not in names:
            raise invalid(f"the request has no tool {self.tool_choice.name[:64]}", "tool_choice")
        if self.prefill and (self.json_schema is not None or self.tool_choice not in ("auto", "none")):
            raise invalid("a reply that continues a message can have neither a schema nor a forced call", "messages")

    def mode(self, *, has_own_tools: bool) -> Mode:
        """Return who executes calls: the client, the assistant, or nobody."""
        if self.tools:
            return "client_tools"
        is_constrained = self.json_schema is not None or bool(self.prefill)
        wants_none = self.tools is not None or self.tool_choice == "none" or is_constrained
        return "own_tools" if has_own_tools and not wants_none else "plain"

    @property
    def prompt(self) -> tuple[Message, ...]:
        """The messages that the reply follows."""
        return self.messages[:-1] if self.messages[-1].role == "assistant" else self.messages

    @property
    def prefill(self) -> str:
        """The beginning of the reply, as the client wrote it."""
        return self.messages[-1].content if self.messages[-1].role == "assistant" else ""

    @property
    def instructions(self) -> str:
        return self.messages[0].content if self.messages[0].role == "system" else ""

    @property
    def hop(self) -> int:
        """Number of tool rounds since the last user message."""
        last = max(index for index, message in enumerate(self.messages) if message.role == "user")
        return sum(bool(message.tool_calls) for message in self.messages[last:])


def in_order(messages: Sequence[Message], names: Sequence[str], limits: ServerSettings) -> tuple[Message, ...]:
    """Normalise a conversation for any chat template. Raises ApiError if it is invalid or too long.

    One system message comes first, adjacent messages of one role are merged, each call is followed by its
    result. Calls are renumbered, because some templates restrict ids. Instructions alone become a user message,
    which templates require. `names` are the tool names.
    """
    checked_count(sum(1 + len(message.tool_calls) for message in messages), limits.max_messages, "messages")
    system = "\n\n".join(message.content for message in messages if message.role == "system")
    ordered: list[Message] = [Message("system", system)] if system else []
    open_calls: dict[str, str] = {}
    number = 0
    for message in messages:
        if message.role == "system":
            continue
        if message.role != "tool" and open_calls:
            raise invalid(f"no result for the call {next(iter(open_calls))[:64]}", "messages")
        last = ordered[-1] if ordered else None
        if message.role == "tool":
            new_id = open_calls.pop(message.tool_call_id or "", None)
            if new_id is None:
                raise invalid(f"unknown call {str(message.tool_call_id)[:64]}", "messages")
            ordered.append(Message("tool", fence_results(message.content, names), tool_call_id=new_id))
            continue
        calls = []
        for call in message.tool_calls:
            number += 1
            calls.append(ToolCall(f"call{number:05}", call.name, call.arguments))
            open_calls[call.id] = calls[-1].id
        if len(open_calls) < len(calls):
            raise invalid("two calls have the same id", "messages")
        if message.role == "assistant" and (last is None or last.role == "system"):
            raise invalid("the first message must have the role user", "messages")
        if last is not None and last.role == message.role:
            text = "\n".join(filter(None, (last.content, message.content)))
            ordered[-1] = Message(last.role, text, tool_calls=(*last.tool_calls, *calls))
        else:
            ordered.append(dataclasses.replace(message, tool_calls=tuple(calls)))
    if open_calls:
        raise invalid(f"no result for the call {next(iter(open_calls))[:64]}", "messages")
    if not ordered:
        raise invalid("there is no message with text", "messages")
    return (Message("user", system),) if len(ordered) == bool(system) else tuple(ordered)


def checked_count(count: int, limit: int, what: str) -> None:
    """Raises ApiError if the limit is exceeded."""
    if count > limit:
        raise ApiError(400, f"too_many_{what}", f"at most {limit:,} {what} are allowed", param=what)


def _check_schema(schema: JsonObject, param: str, cost: SchemaCost) -> None:
    """Raises ApiError for a JSON Schema that is invalid or costs too much, so that later code can rely on it."""
    try:
        cost.add(schema)
    except SchemaOverLimit as error:
        raise ApiError(400, "schema_too_large", str(error), param=param) from None
    try:
        fault = schema_fault(schema)
    except RecursionError:
        raise invalid("this JSON Schema is too deep", param) from None
    if fault is not None:
        raise invalid(f"invalid JSON Schema: {fault[:200]}", param)


@dataclass(frozen=True, slots=True)
class Usage:
    """Token counts over all generations of the answer."""

    prompt_tokens: int = 0
    cached_tokens: int = 0
    generated_tokens: int = 0

    def plus(self, done: ChatDone | ModelFinished | Usage) -> Usage:
        return Usage(
            self.prompt_tokens + done.prompt_tokens,
            self.cached_tokens + done.cached_tokens,
            self.generated_tokens + done.generated_tokens,
        )


@dataclass(frozen=True, slots=True)
class ReplyStart:
    """The first part; until then the request can still fail. `usage` is what is known by now."""

    usage: Usage


@dataclass(frozen=True, slots=True)
class ReplyText:
    """A piece of the text."""

    text: str


@dataclass(frozen=True, slots=True)
class ReplyToolCall:
    """A complete call for the client to execute."""

    call: ToolCall


@dataclass(frozen=True, slots=True)
class ReplyEnd:
    """The last part. `stopped_at` is the stop string that ended the text, if any."""

    finish_reason: FinishReason
    usage: Usage
    stopped_at: str | None = None


ReplyPart: TypeAlias = ReplyStart | ReplyText | ReplyToolCall | ReplyEnd


_IMAGES: Final = "images are not supported: the model reads text only"
_FILES: Final = "files are not supported: the model reads text only"
_MEDIA: dict[str, LiteralString] = {
    **dict.fromkeys(("image", "image_url", "input_image"), _IMAGES),
    **dict.fromkeys(("document", "file", "input_file"), _FILES),
    "input_audio": "recordings are not supported: the model reads text only",
}


def _check_media(content: object) -> object:
    for part in content if isinstance(content, list) else ():
        kind = part.get("type") if isinstance(part, dict) else None
        if isinstance(kind, str) and kind in _MEDIA:
            raise unsupported(_MEDIA[kind])
    return content


TEXT_ONLY = BeforeValidator(_check_media)
"""Rejects the media of a content list in words."""

ToolName: TypeAlias = Annotated[str, Field(pattern=r"^[a-zA-Z0-9_-]{1,64}$")]
StopString: TypeAlias = Annotated[str, Field(min_length=1, max_length=200)]


class ReplyFormat(ABC):
    """Formats one answer for the clients of one API. `keep_alive` is sent while a stream waits."""

    media_type = EVENT_STREAM

    @property
    def keep_alive(self) -> bytes:
        return SSE_COMMENT

    @abstractmethod
    async def whole(self, parts: AsyncGenerator[ReplyPart, None]) -> JsonObject: ...

    @abstractmethod
    def events(self, parts: AsyncGenerator[ReplyPart, None]) -> AsyncGenerator[bytes, None]:
        """Format as a stream; closing it closes the parts."""

    @abstractmethod
    def format_error(self, error: ApiError) -> bytes:
        """Format an error in the middle of the stream."""


SAMPLING_OPTIONS = frozenset({"temperature", "top_p", "top_k", "min_p", "repeat_penalty"})
"""The options of a request that have the name of their field in Sampling."""


class ChatBody(RequestBody, ABC):
    """A chat request in the format of one API."""

    model: str = DEFAULT_NAMES[0]
    stream: bool | None = None

    @property
    def wants_stream(self) -> bool:
        return bool(self.stream)

    def sampling(self, base: Sampling) -> Sampling:
        """Return `base` with the options that the request gives."""
        named = {*SAMPLING_OPTIONS, "max_tokens", "seed"}
        return dataclasses.replace(base, **self.model_dump(include=named, exclude_none=True))

    @abstractmethod
    def question(self, base: Sampling, limits: ServerSettings) -> ChatInput:
        """Convert the request; `base` has the defaults. Raises ApiError."""

    @abstractmethod
    def reply_format(self, model: str) -> ReplyFormat: ...


NO_PARAMETERS: JsonObject = {"type": "object", "properties": {}}


def tool_schema(name: str, description: str | None, parameters: JsonObject) -> JsonObject:
    described = {"description": description} if description else {}
    return {"type": "function", "function": {"name": name, "parameters": parameters, **described}}


async def whole_reply(parts: AsyncGenerator[ReplyPart, None]) -> tuple[list[ReplyText | ReplyToolCall], ReplyEnd]:
    """Collect the parts, with adjacent pieces of text joined. Raises as `ChatService.parts` does."""
    pieces: list[ReplyText | ReplyToolCall] = []
    ended: ReplyEnd | None = None
    async for part in parts:  # to the end, which records the turn
        match part, pieces:
            case ReplyEnd(), _:
                ended = part
            case ReplyText(text), [*_, ReplyText(before)]:
                pieces[-1] = ReplyText(before + text)
            case ReplyText() | ReplyToolCall(), _:
                pieces.append(part)
    assert ended is not None
    return pieces, ended


def unfinished() -> EngineFailed:
    """The error for a model whose reply has no end."""
    return EngineFailed("the model stopped before its reply was complete", hint="try again")
