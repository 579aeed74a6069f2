"""Strict JSON request bodies, server-sent event streams, and cancellation when the client disconnects."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import aclosing
from typing import Any, Literal, LiteralString, TypeAlias, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError
from pydantic_core import PydanticCustomError, from_json
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from edgevox.core.errors import EdgevoxError
from edgevox.core.turn import background_task, cancel_tasks
from edgevox.core.types import JsonObject
from edgevox.server.http.errors import OLLAMA_PATH, ApiError, as_api_error, shutdown_error

BodyT = TypeVar("BodyT", bound="RequestBody")


class RequestBody(BaseModel):
    """Base of request bodies; unknown fields of newer clients are ignored."""

    model_config = ConfigDict(strict=True, allow_inf_nan=False, frozen=True)


class StrictBody(RequestBody):
    """Base of bodies whose unknown fields are refused, as the original APIs do: a misspelt option has no effect."""

    model_config = ConfigDict(extra="forbid")


Ignored: TypeAlias = Any
"""The type of an option that clients send, and that changes nothing here."""


_UNSUPPORTED: Literal["unsupported"] = "unsupported"
# Which member of a union an error is about, in the location of pydantic's errors.
_UNION_STEP = re.compile(r"(constrained-)?str|[\w-]+\[.+\]")


def unsupported(message: LiteralString) -> PydanticCustomError:
    """Return the error of a validator for something that this server does not support."""
    return PydanticCustomError(_UNSUPPORTED, message)


def only(*values: object) -> BeforeValidator:
    """Return the validator of an option that is not supported: it accepts the values that change nothing."""

    def check(value: object) -> object:
        if value is None or value in values:
            return value
        raise unsupported("this server does not support it")

    return BeforeValidator(check)


async def read_body(request: Request, kind: type[BodyT]) -> BodyT:
    """Read and validate the body. Raises ApiError and ClientDisconnect."""
    return validated(kind, await read_json(request))


_CODES = {"extra_forbidden": "unknown_parameter", "missing": "missing_required_parameter"}


def validated(kind: type[BodyT], content: object, within: str = "") -> BodyT:
    """Raises ApiError that names an invalid field: an option that is not supported, or the innermost one.

    `within` is the field that the content is the value of.
    """
    try:
        return kind.model_validate(content)
    except ValidationError as error:
        errors = error.errors(include_url=False, include_input=False, include_context=False)
        shown = max(errors, key=lambda one: (one["type"] == _UNSUPPORTED, len(one["loc"])))
        steps = [str(step) for step in shown["loc"] if not _UNION_STEP.fullmatch(str(step))]
        place = ".".join(filter(None, (within, *steps)))
        code = _CODES.get(shown["type"], "invalid_value")
        raise ApiError(400, code, f"{place or 'the body'}: {shown['msg']}", param=place or None) from None


async def read_json(request: Request) -> Any:  # noqa: ANN401 - JSON
    """Read a JSON body. Raises ApiError and ClientDisconnect."""
    if content_type(request) != "application/json" and not _is_untyped(request):
        raise ApiError(415, "unsupported_media_type", "the body must be application/json")
    try:
        return from_json(await request.body(), allow_inf_nan=False)
    except ValueError as error:
        raise ApiError(400, "invalid_json", f"the body is not JSON: {error}") from None


def _is_untyped(request: Request) -> bool:
    """Whether it is a request for Ollama, which ignores media types, so that LiteLLM sends none.

    Those of web pages have an Origin: a page could send an untyped blob to any server without a preflight.
    """
    is_untyped = content_type(request) in ("", "application/octet-stream")
    return is_untyped and request.url.path.startswith(OLLAMA_PATH) and "origin" not in request.headers


def content_type(request: Request) -> str:
    """Return the media type of the body without its parameters."""
    return request.headers.get("content-type", "").partition(";")[0].strip().casefold()


EVENT_STREAM = "text/event-stream"
SSE_COMMENT = b": waiting\n\n"

FormatError: TypeAlias = Callable[[ApiError], bytes]


# Clients in Python read streams with `str.splitlines`, which splits at these too. JSON has them in strings only.
_LINE_ENDS = str.maketrans({end: f"\\u{ord(end):04x}" for end in "\x85\u2028\u2029"})


def json_line(content: JsonObject) -> str:
    """Return compact JSON without a character that any client takes for the end of a line."""
    return json.dumps(content, ensure_ascii=False, separators=(",", ":")).translate(_LINE_ENDS)


def sse_event(data: JsonObject | str, name: str | None = None) -> bytes:
    text = data if isinstance(data, str) else json_line(data)
    head = f"event: {name}\n" if name else ""
    return f"{head}data: {text}\n\n".encode()


_KEEP_ALIVE_S = 10.0


async def kept_alive(
    pieces: AsyncGenerator[bytes, None], keep_alive: bytes = SSE_COMMENT, every_s: float = _KEEP_ALIVE_S
) -> AsyncGenerator[bytes, None]:
    """Yield the pieces, and `keep_alive` whenever none came for a while: clients and proxies close silent streams."""
    waiting: asyncio.Task[bytes | None] | None = None

    async def following() -> bytes | None:
        return await anext(pieces, None)

    async with aclosing(pieces):
        try:
            while True:
                waiting = waiting or asyncio.create_task(following())
                done, _ = await asyncio.wait((waiting,), timeout=every_s)
                if not done:
                    yield keep_alive
                    continue
                piece, waiting = waiting.result(), None
                if piece is None:
                    return
                yield piece
        finally:
            await cancel_tasks(waiting)


async def sse_response(
    request: Request,
    pieces: AsyncGenerator[bytes, None],
    format_error: FormatError,
    *,
    media_type: str = EVENT_STREAM,
    keep_alive: bytes | None = SSE_COMMENT,
) -> Response:
    """Stream the pieces. Errors before the first piece are raised; later ones are sent with `format_error`.

    Where it returns b"", the format has no place for errors, and the connection is closed within the body.
    A stream that has to wait longer begins with `keep_alive`, unless it is None, and then its errors are sent, too.
    """
    if keep_alive is not None:
        pieces = kept_alive(pieces, keep_alive)
    try:
        first = await cancel_on_disconnect(request.receive, anext(pieces))
    except BaseException:
        await pieces.aclose()
        raise
    return _Stream(first, pieces, format_error, media_type)


class _Stream(Response):
    def __init__(
        self, first: bytes, pieces: AsyncGenerator[bytes, None], format_error: FormatError, media_type: str
    ) -> None:
        super().__init__(media_type=media_type, headers={"Cache-Control": "no-store"})
        del self.headers["content-length"]
        self._first = first
        self._pieces = pieces
        self._format_error = format_error

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async with aclosing(self._pieces):
            try:
                await cancel_on_disconnect(receive, self._send(send))
            except (ClientDisconnect, OSError):
                return
            except asyncio.CancelledError:
                await send(
                    {"type": "http.response.body", "body": self._format_error(shutdown_error()), "more_body": True}
                )
                raise

    async def _send(self, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
        await send({"type": "http.response.body", "body": self._first, "more_body": True})
        try:
            async for piece in self._pieces:
                await send({"type": "http.response.body", "body": piece, "more_body": True})
        except ConnectionError:
            raise
        except (ApiError, EdgevoxError, OSError) as error:
            if not (body := self._format_error(as_api_error(error))):
                return  # without the end of the body, the client sees that it is cut
            await send({"type": "http.response.body", "body": body, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})


ResultT = TypeVar("ResultT")


async def _disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def cancel_on_disconnect(receive: Receive, work: Coroutine[Any, Any, ResultT]) -> ResultT:
    """Run `work`; cancel it and raise ClientDisconnect if the client disconnects first.

    The body of the request must have been read.
    """
    async with background_task(work) as working, background_task(_disconnected(receive)) as watching:
        await asyncio.wait((working, watching), return_when=asyncio.FIRST_COMPLETED)
        if working.done():
            return working.result()
        raise ClientDisconnect
