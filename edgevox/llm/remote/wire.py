"""Shared by the remote APIs: the answer so far, server-sent events, the list of models, and errors.

No API key appears in any error.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, AsyncIterable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias
from urllib.parse import urlsplit

from pydantic import BaseModel, ValidationError

from edgevox.config.secrets import Secret
from edgevox.core.errors import ConfigError, ContextOverflow, EdgevoxError, EngineFailed, ModelMissing
from edgevox.core.types import Busy, ChatDelta, ChatDone, ChatRequest, FinishReason, ToolCall
from edgevox.llm.prompt.templates import parse_object
from edgevox.llm.tool_parsers import DETECTORS

WIRE_FORMAT = "hermes"
"""The format of calls if the request names none."""

Piece: TypeAlias = ChatDelta | Busy

_THINK, _END_THINK = "<think>", "</think>\n"
# How servers report an overlong conversation: OpenAI and EdgeVox, llama.cpp, vLLM, Anthropic.
_TOO_LONG = ("context_length", "exceed_context", "context length", "context size", "prompt is too long")


class BadResponse(Exception):
    """The response is not valid in this API."""


class Refusal(Exception):
    """An error that the server reported, in its status or (status 200) within an answer; `kind` is its type."""

    def __init__(self, content: object, status: int = 200, retry_after: str = "") -> None:
        self.status = status
        self.retry_after = retry_after
        self.kind = ""
        match content:
            case {"error": {"message": str(message), **more}} | {"message": str(message), **more}:
                self.kind = " ".join(str(more[key]) for key in ("code", "type") if more.get(key))
            case str(message) | {"error": str(message)} | {"detail": str(message)}:
                pass
            case _:
                message = json.dumps(content, ensure_ascii=False)
        super().__init__(message)

    @property
    def words(self) -> str:
        return f"{self.kind} {self}".lower()

    @property
    def is_about_choice(self) -> bool:
        """Whether the server does not support a required call."""
        return self.status in (400, 422, 500, 501) and "tool_choice" in self.words

    @property
    def is_too_long(self) -> bool:
        return self.status in (400, 413, 500) and any(sign in self.words for sign in _TOO_LONG)


@dataclass
class PartialToolCall:
    """A call whose arguments are still arriving."""

    name: str = ""
    arguments: str = ""


class Answer(ABC):
    """Reads one answer, by events or whole; reasoning and calls are written in the model's raw format.

    Raises BadResponse, ValidationError, and Refusal for an error from the server.
    """

    def __init__(self, request: ChatRequest) -> None:
        self.is_over = False
        """Whether the server has sent its end marker; later events are ignored."""
        self._calls: dict[int, PartialToolCall] = {}
        self._prompt_tokens = 0
        self._cached_tokens = 0
        self._generated_tokens = 0
        self._finish_reason: FinishReason | None = None
        self._stopped_at: str | None = None
        self._request = request
        self._is_thinking = False

    @property
    def is_complete(self) -> bool:
        """Whether the whole answer was read, even without an end marker."""
        return self.is_over

    @abstractmethod
    def feed(self, event: str) -> Iterator[Piece]:
        """Read one event of a stream."""

    @abstractmethod
    def feed_whole(self, body: bytes) -> Iterator[Piece]:
        """Read the answer of a server that does not stream."""

    def finish(self) -> tuple[str, ChatDone]:
        """Return the remaining text, calls included, and the end."""
        reason = self._finish_reason or "stop"
        if self._calls and reason == "stop":
            reason = "tool_calls"
        counts = (self._prompt_tokens, self._cached_tokens, self._generated_tokens)
        text = self._end_of_reasoning() + _render_calls(self._request, tuple(self._calls.values()))
        return text, ChatDone(reason, *counts, stopped_at=self._stopped_at)

    def _add_text(self, text: str) -> Iterator[Piece]:
        if text:
            yield ChatDelta(self._end_of_reasoning() + text)

    def _add_reasoning(self, text: str) -> Iterator[Piece]:
        """Yield reasoning only if the request enabled it: otherwise no parser would remove it."""
        if not self._request.thinking or not text:
            yield Busy()
            return
        begin = "" if self._is_thinking else _THINK
        self._is_thinking = True
        yield ChatDelta(begin + text)

    def _end_of_reasoning(self) -> str:
        end = _END_THINK if self._is_thinking else ""
        self._is_thinking = False
        return end


def _render_calls(request: ChatRequest, calls: Sequence[PartialToolCall]) -> str:
    """Write structured calls in the model's raw format, for the parser chain.

    Raises BadResponse for arguments that cannot be written; JSON arguments may still be repaired by the chain.
    """
    if not calls:
        return ""
    if request.json_schema is not None:  # the call only enforced the response schema
        return calls[0].arguments
    wire_format = request.wire_format or WIRE_FORMAT
    for call in calls:
        if wire_format != WIRE_FORMAT and parse_object(call.arguments or "{}") is None:
            raise BadResponse(f"the arguments of {call.name}")
    numbered = tuple(ToolCall(str(number), call.name, call.arguments or "{}") for number, call in enumerate(calls))
    return "\n" + DETECTORS[wire_format]().render(numbered)


@dataclass(frozen=True, slots=True)
class Wire:
    """The request and response formats of one API. `no_tools` stops a server from using its own tools."""

    base_url: Callable[[str], str]
    chat_path: str
    headers: Callable[[Secret | None], dict[str, str]]
    body: Callable[[str, ChatRequest], dict[str, Any]]
    reader: Callable[[ChatRequest], Answer]
    no_tools: object


def function_of(tool: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the function of a tool with the fields that every server accepts; some reject more."""
    function = tool.get("function", tool)
    return {key: function[key] for key in ("name", "description", "parameters") if key in function}


async def server_events(pieces: AsyncIterable[bytes]) -> AsyncGenerator[str | Busy, None]:
    """Yield the data of each event, and Busy for keep-alives. Raises BadResponse."""
    rest, data = b"", []
    async for piece in pieces:
        *lines, rest = (rest + piece).split(b"\n")
        for line in lines:
            field, _, value = line.rstrip(b"\r").partition(b":")
            if field == b"data":
                data.append(value.removeprefix(b" "))
            elif not line.strip() and data:
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
        """Raises ValidationError."""
        models = _Models.model_validate_json(body).data or []
        return cls(tuple(model.id for model in models), any(model.owned_by == "edgevox" for model in models))

    def only_one(self, url: str) -> str:
        """Return the only model. Raises ConfigError if there are several."""
        if self.is_edgevox or len(self.names) == 1:
            return self.names[0]
        if not self.names and not _is_complete(url):
            raise ConfigError(f"{url} does not list its models", hint=_ADDRESS_HINT)
        problem = f"{url} has several models" if self.names else f"{url} does not list its models"
        raise ConfigError(problem, hint=self.hint)

    @property
    def hint(self) -> str:
        return "set llm.remote_model" + (f" to one of {', '.join(self.names[:12])}" if self.names else "")


_MAX_QUOTED_CHARS = 300


def _is_complete(url: str) -> bool:
    """Whether the URL probably has the path that its server needs."""
    return bool(urlsplit(url).path.strip("/")) or "anthropic" in url


_ADDRESS_HINT = "llm.remote_url should end in /v1, and llm.remote_kind name the server's API"


@dataclass(frozen=True, slots=True)
class RemoteErrors:
    """The errors of one server."""

    url: str
    key: Secret | None

    def unreachable(self, error: Exception) -> EngineFailed:
        return EngineFailed(
            f"{self.url} does not answer: {self._quoted(str(error) or type(error).__name__)}",
            hint="is it running, and is llm.remote_url right?"
            if _is_complete(self.url)
            else f"is it running? {_ADDRESS_HINT}",
        )

    def disconnected(self) -> EngineFailed:
        return EngineFailed(f"{self.url} closed the connection before its answer was complete", hint="see its log")

    def invalid(self, error: BadResponse | ValidationError) -> EngineFailed:
        reason = str(error)
        if isinstance(error, ValidationError):
            first = error.errors(include_url=False, include_input=False, include_context=False)[0]
            reason = f"{'.'.join(map(str, first['loc']))} {first['msg']}".strip()
        return EngineFailed(f"{self.url} sent an invalid chat completion: {self._quoted(reason)}", hint=_ADDRESS_HINT)

    def refused(self, refusal: Refusal, model: str, known: ModelList) -> EdgevoxError:
        url, message = self.url, self._quoted(str(refusal))
        match refusal.status:
            case 200:
                reason = self._quoted(f"{refusal} ({refusal.kind})") if refusal.kind else message
                return EngineFailed(f"{url} failed during its answer: {reason}", hint="try again, or see its log")
            case 401 | 403 if self.key is None:
                return ConfigError(
                    f"{url} requires a key: {message}",
                    hint="write it to a file (chmod 600) and name that in llm.remote_key_file",
                )
            case 401 | 403:
                return ConfigError(
                    f"{url} rejected the key: {message}",
                    hint="llm.remote_key_file, or the variable of llm.remote_key_variable, must contain a valid key",
                )
            case 404 if "model" in refusal.words:
                return ModelMissing(f"{url} has no model {model}: {message}", hint=known.hint)
            case 404 | 405:
                return ConfigError(f"{url} has no chat API: {message}", hint=_ADDRESS_HINT)
            case 429:
                later = f"in {refusal.retry_after} s" if refusal.retry_after.isdigit() else "later"
                return EngineFailed(f"{url} is overloaded: {message}", hint=f"try again {later}, or raise its limits")
            case 503 | 529 as status:
                return EngineFailed(
                    f"{url} answered {status} and is not ready: {message}", hint="try again in a moment"
                )
            case status if 300 <= status < 400:
                return ConfigError(f"{url} redirects ({status})", hint=_ADDRESS_HINT)
        if refusal.is_too_long:
            return ContextOverflow(
                f"the conversation is too long for {model}: {message}", hint="send a shorter question"
            )
        return EngineFailed(
            f"{url} answered {refusal.status}: {message}",
            hint="see its log; tools need server support (llama.cpp: --jinja)",
        )

    def _quoted(self, text: str) -> str:
        """Quote a message without the key: a server may repeat what it received."""
        if self.key is not None:
            text = text.replace(self.key.reveal(), "…")
        return " ".join(text.split())[:_MAX_QUOTED_CHARS]
