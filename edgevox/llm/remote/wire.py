"""Shared by the remote APIs: the reader protocol, server-sent events, the list of models, and errors.

No API key appears in any error.
"""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, AsyncIterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

from pydantic import BaseModel, ValidationError

from edgevox.config.secrets import Secret
from edgevox.core.errors import ConfigError, ContextOverflow, EdgevoxError, EngineFailed, ModelMissing
from edgevox.core.types import Busy, ChatDelta, ChatDone, ChatRequest, FinishReason, ToolCall
from edgevox.llm.tool_parsers import DETECTORS

WIRE_FORMAT = "hermes"
"""The format of calls if the request names none."""

Piece: TypeAlias = ChatDelta | Busy

_THINK, _END_THINK = "<think>", "</think>\n"


class BadResponse(Exception):
    """The response is not valid in this API."""

    @classmethod
    def at(cls, error: ValidationError) -> BadResponse:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        return cls(f"{'.'.join(map(str, first['loc']))} {first['msg']}".strip())


class ServerRefusal(Exception):
    """The server reported an error within an answer. `kind` is its error type."""

    def __init__(self, message: str, kind: str = "") -> None:
        super().__init__(message)
        self.kind = kind


class AnswerReader(Protocol):
    """Reads one answer, by events or whole. Raises BadResponse, and ServerRefusal for an error from the server."""

    @property
    def is_over(self) -> bool:
        """Whether the server has sent its end marker; later events are ignored."""

    @property
    def is_complete(self) -> bool:
        """Whether the whole answer was read, even without an end marker."""

    def feed(self, event: str) -> Iterator[Piece]:
        """Read one event of a stream."""

    def feed_whole(self, body: bytes) -> Iterator[Piece]:
        """Read the answer of a server that does not stream."""

    def finish(self) -> tuple[str, ChatDone]:
        """Return the remaining text, calls included, and the end."""


class Wire(Protocol):
    """The request and response formats of one API."""

    @property
    def no_tools(self) -> object:
        """Return the tool choice that stops a server from using its own tools."""

    def chat_url(self, url: str) -> str: ...

    def models_url(self, url: str) -> str: ...

    def headers(self, key: Secret | None) -> dict[str, str]: ...

    def body(self, model: str, request: ChatRequest) -> dict[str, Any]: ...

    def reader(self, request: ChatRequest) -> AnswerReader: ...


@dataclass
class PartialToolCall:
    """A call whose arguments are still arriving."""

    name: str = ""
    arguments: str = ""


class Answer:
    """The answer so far; reasoning and calls are written in the model's raw format."""

    def __init__(self, request: ChatRequest) -> None:
        self.calls: dict[int, PartialToolCall] = {}
        self.prompt_tokens = 0
        self.cached_tokens = 0
        self.generated_tokens = 0
        self.finish_reason: FinishReason | None = None
        self.stopped_at: str | None = None
        self._request = request
        self._is_thinking = False

    def said(self, text: str) -> Iterator[Piece]:
        if text:
            yield ChatDelta(self._end_of_reasoning() + text)

    def add_reasoning(self, text: str) -> Iterator[Piece]:
        """Yield reasoning only if the request enabled it: otherwise no parser would remove it."""
        if not self._request.thinking or not text:
            yield Busy()
            return
        begin = "" if self._is_thinking else _THINK
        self._is_thinking = True
        yield ChatDelta(begin + text)

    def finish(self) -> tuple[str, ChatDone]:
        text = self._end_of_reasoning() + render_calls(self._request, tuple(self.calls.values()))
        reason = self.finish_reason or "stop"
        if self.calls and reason == "stop":
            reason = "tool_calls"
        done = ChatDone(
            reason, self.prompt_tokens, self.cached_tokens, self.generated_tokens, stopped_at=self.stopped_at
        )
        return text, done

    def _end_of_reasoning(self) -> str:
        end = _END_THINK if self._is_thinking else ""
        self._is_thinking = False
        return end


def render_calls(request: ChatRequest, calls: Sequence[PartialToolCall]) -> str:
    """Write structured calls in the model's raw format, for the parser chain.

    Raises BadResponse for arguments that cannot be written; JSON arguments may still be repaired by the chain.
    """
    if not calls:
        return ""
    if request.json_schema is not None:  # the call only enforced the response schema
        return calls[0].arguments
    wire_format = request.wire_format or WIRE_FORMAT
    for call in calls:
        if wire_format != WIRE_FORMAT and not _is_object(call.arguments or "{}"):
            raise BadResponse(f"the arguments of {call.name}")
    made = tuple(ToolCall(str(number), call.name, call.arguments or "{}") for number, call in enumerate(calls))
    return "\n" + DETECTORS[wire_format]().render(made)


def _is_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except ValueError:
        return False


def function_of(tool: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the function of a tool with the fields that every server accepts; some reject more."""
    function = tool.get("function", tool)
    return {key: function[key] for key in ("name", "description", "parameters") if key in function}


MAX_BYTES = 8_000_000
"""The maximum size of a response."""


async def server_events(pieces: AsyncIterable[bytes]) -> AsyncGenerator[str | Busy, None]:
    """Yield the data of each event, and Busy for keep-alives. Raises BadResponse."""
    rest, data, total = b"", [], 0
    async for piece in pieces:
        total += len(piece)
        if total > MAX_BYTES:
            raise BadResponse(f"it is longer than {MAX_BYTES:,} bytes")
        *lines, rest = (rest + piece).split(b"\n")
        for line in lines:
            field, _, value = line.rstrip(b"\r").partition(b":")
            if field == b"data":
                data.append(value.removeprefix(b" "))
            elif field == b"" and not line.strip() and data:
                yield _text(data)
                data = []
            else:
                yield Busy()
    if rest.startswith(b"data:"):  # the last line may lack a line break
        data.append(rest.removeprefix(b"data:").strip())
    if data:
        yield _text(data)


def _text(data: list[bytes]) -> str:
    try:
        return b"\n".join(data).decode()
    except UnicodeDecodeError:
        raise BadResponse("it is not UTF-8") from None


_EDGEVOX = "edgevox"


class _Model(BaseModel):
    id: str
    owned_by: str | None = None


class _Models(BaseModel):
    data: list[_Model] | None


@dataclass(frozen=True, slots=True)
class ModelList:
    """The model names that the server lists. Another EdgeVox has one chat model, whatever its name."""

    names: tuple[str, ...] = ()
    is_edgevox: bool = False

    @classmethod
    def read(cls, body: bytes) -> ModelList:
        """Raises BadResponse."""
        try:
            models = _Models.model_validate_json(body).data or []
        except ValidationError as error:
            raise BadResponse.at(error) from None
        return cls(tuple(model.id for model in models), any(model.owned_by == _EDGEVOX for model in models))

    def only_one(self, url: str) -> str:
        """Return the only model. Raises ConfigError if there are several."""
        if self.is_edgevox:
            return self.names[0]
        if len(self.names) == 1:
            return self.names[0]
        if not self.names:
            raise ConfigError(f"{url} does not list its models", hint="set llm.remote_model")
        raise ConfigError(
            f"{url} has several models", hint=f"set llm.remote_model to one of {', '.join(self.names[:12])}"
        )


_MAX_QUOTED_CHARS = 300
# How servers report an overlong conversation: OpenAI and EdgeVox, llama.cpp, vLLM, Anthropic.
_TOO_LONG = ("context_length", "exceed_context", "context length", "context size", "prompt is too long")
_BUSY = (503, 529)


@dataclass(frozen=True, slots=True)
class HttpRefusal:
    """An error response: its status and message."""

    status: int
    kind: str
    said: str
    retry_after: str = ""

    @classmethod
    def read(cls, status: int, body: bytes, retry_after: str) -> HttpRefusal:
        """Parse an error body; one in an unknown format is used as text."""
        text = body.decode(errors="replace")
        try:
            content = json.loads(text)
        except ValueError:
            return cls(status, "", " ".join(text.split()), retry_after)
        match content:
            case {"error": {"message": str(said), **more}} | {"message": str(said), **more}:
                kind = f"{more.get('code', '')} {more.get('type', '')}"
                return cls(status, kind, said, retry_after)
            case {"error": str(said)} | {"detail": str(said)}:
                return cls(status, "", said, retry_after)
        return cls(status, "", text, retry_after)

    @property
    def is_about_choice(self) -> bool:
        """Whether the server does not support a required call."""
        return self.status in (400, 422, 500, 501) and "tool_choice" in f"{self.kind} {self.said}"

    @property
    def is_too_long(self) -> bool:
        words = f"{self.kind} {self.said}".lower()
        return self.status in (400, 413, 500) and any(sign in words for sign in _TOO_LONG)


class RemoteErrors:
    """The errors of one server."""

    def __init__(self, url: str, key: Secret | None) -> None:
        self._url = url
        self._key = key

    def unreachable(self, error: Exception) -> EngineFailed:
        return EngineFailed(
            f"{self._url} does not answer: {self._quoted(str(error) or type(error).__name__)}",
            hint="is it running, and is llm.remote_url right?",
        )

    def disconnected(self) -> EngineFailed:
        return EngineFailed(f"{self._url} closed the connection before its answer was complete", hint="see its log")

    def not_readable(self, error: BadResponse) -> EngineFailed:
        return EngineFailed(
            f"{self._url} sent an invalid chat completion: {self._quoted(str(error))}",
            hint="llm.remote_url should end in /v1, and llm.remote_kind name the server's API",
        )

    def refused_mid_stream(self, error: ServerRefusal) -> EngineFailed:
        said = self._quoted(f"{error} {f'({error.kind})' if error.kind else ''}".strip())
        return EngineFailed(f"{self._url} failed during its answer: {said}", hint="try again, or see its log")

    def refused(self, request: HttpRefusal, model: str, known: Sequence[str]) -> EdgevoxError:
        said = self._quoted(request.said)
        words = f"{request.kind} {request.said}".lower()
        match request.status:
            case 401 | 403:
                return self._wrong_key(said)
            case 404 if "model" in words:
                return ModelMissing(f"{self._url} has no model {model}: {said}", hint=_models_hint(known))
            case 404 | 405:
                return ConfigError(f"{self._url} has no chat API: {said}", hint=_ADDRESS_HINT)
            case 429:
                later = f"in {request.retry_after} s" if request.retry_after.isdigit() else "later"
                return EngineFailed(
                    f"{self._url} is overloaded: {said}", hint=f"try again {later}, or raise its limits"
                )
            case status if status in _BUSY:
                return EngineFailed(
                    f"{self._url} answered {status} and is not ready: {said}", hint="try again in a moment"
                )
            case status if 300 <= status < 400:
                return ConfigError(f"{self._url} redirects ({status})", hint=_ADDRESS_HINT)
        if request.is_too_long:
            return ContextOverflow(f"the conversation is too long for {model}: {said}", hint="send a shorter question")
        return EngineFailed(
            f"{self._url} answered {request.status}: {said}",
            hint="see its log; tools need server support (llama.cpp: --jinja)",
        )

    def _wrong_key(self, said: str) -> ConfigError:
        if self._key is None:
            return ConfigError(
                f"{self._url} requires a key: {said}",
                hint="write it to a file (chmod 600) and name that in llm.remote_key_file",
            )
        return ConfigError(
            f"{self._url} rejected the key: {said}",
            hint="llm.remote_key_file, or the variable named in llm.remote_key_variable, must contain a valid key",
        )

    def _quoted(self, text: str) -> str:
        """Quote a message without the key: a server may repeat what it received."""
        if self._key is not None:
            text = text.replace(self._key.reveal(), "…")
        return " ".join(text.split())[:_MAX_QUOTED_CHARS]


_ADDRESS_HINT = "llm.remote_url should end in /v1, and llm.remote_kind name the server's API"


def _models_hint(known: Sequence[str]) -> str:
    return f"set llm.remote_model to one of {', '.join(known[:12])}" if known else "set llm.remote_model"
