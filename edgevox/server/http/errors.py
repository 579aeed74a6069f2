"""API errors and exception handlers, in the formats of OpenAI, Anthropic and Ollama; for a browser, a page."""

from __future__ import annotations

import html
import logging
from collections.abc import Mapping
from typing import Any

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, JSONResponse, Response

from edgevox.core.errors import (
    AudioError,
    ContextOverflow,
    EdgevoxError,
    EngineFailed,
    GrammarRejected,
    InvalidArguments,
    StateError,
    UnknownTool,
)
from edgevox.core.types import JsonObject
from edgevox.server.http.connections import current_request_id

_log = logging.getLogger(__name__)

ANTHROPIC_PATH = "/v1/messages"
OLLAMA_PATH = "/api/"

# Error types of the OpenAI and Anthropic clients.
_OPENAI_KINDS: Mapping[int, str] = {
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    429: "rate_limit_error",
}
_ANTHROPIC_KINDS: Mapping[int, str] = {**_OPENAI_KINDS, 413: "request_too_large", 503: "overloaded_error"}


# What a person does about an error that a browser shows; the name of the server is filled in.
_WHAT_TO_DO_FIRST = (
    "The page of the assistant is at <a href='/'>its start address</a>. On the machine of the assistant, "
    "<code>edgevox open</code> opens it with a token."
)
_WHAT_TO_DO = {
    "host_not_allowed": (
        "The assistant does not answer under this name yet. On its machine, add the name to the settings file and "
        "start the assistant again: <code>[server] allowed_hosts = [&quot;{host}&quot;]</code>"
    ),
    "origin_not_allowed": 'A link on another site led here. The page of the assistant is <a href="/">here</a>.',
}
_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>EdgeVox</title>
<meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark"></head>
<body><h1>EdgeVox</h1><p>{what_to_do}</p><p><small>{message}</small></p></body></html>
"""


class ApiError(Exception):
    """An error response. `param` is the invalid field of the request."""

    def __init__(
        self,
        status: int,
        code: str,
        message: str,
        *,
        param: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message
        self.param = param
        self.headers = dict(headers or {})

    def as_openai(self) -> JsonObject:
        kind = "server_error" if self.status >= 500 else _OPENAI_KINDS.get(self.status)
        return {
            "error": {
                "message": self.message,
                "type": kind or "invalid_request_error",
                "param": self.param,
                "code": self.code,
            }
        }

    def as_anthropic(self) -> JsonObject:
        kind = _ANTHROPIC_KINDS.get(self.status)
        kind = kind or ("api_error" if self.status >= 500 else "invalid_request_error")
        return {"type": "error", "error": {"type": kind, "message": self.message}}

    def as_ollama(self) -> JsonObject:
        return {"error": self.message}

    def response(self, path: str, headers: Headers | None = None) -> Response:
        """Return the response: a page if the `headers` of the request are those of a browser that opens a URL.

        Otherwise it has the format of the API that `path` belongs to.
        """
        if headers is not None and "text/html" in headers.get("accept", ""):
            return self._page(headers.get("host", ""))
        if path.startswith(OLLAMA_PATH):
            body = self.as_ollama()
        else:
            body = self.as_anthropic() if path.startswith(ANTHROPIC_PATH) else self.as_openai()
        return JSONResponse(body, self.status, headers=self.headers)

    def _page(self, host: str) -> Response:
        what_to_do = _WHAT_TO_DO.get(self.code, _WHAT_TO_DO_FIRST).format(
            host=html.escape(host.rpartition(":")[0] or host)
        )
        page = _PAGE.format(message=html.escape(self.message), what_to_do=what_to_do)
        return HTMLResponse(
            page, self.status, headers={**self.headers, "Content-Security-Policy": "default-src 'none'"}
        )


_LATER = {"Retry-After": "5"}


def invalid(message: str, param: str | None = None) -> ApiError:
    return ApiError(400, "invalid_value", message, param=param)


def check_model(name: str, known: tuple[str, ...], *, aliases: tuple[str, ...] = ()) -> None:
    """Raises ApiError if a request names another model than the known ones."""
    if name not in (*known, *aliases):
        raise ApiError(404, "model_not_found", f"unknown model {name[:64]}; known: {', '.join(known)}", param="model")


# OpenAI's voices, which many programs hard-code: each stands for the voice of the assistant.
_THEIR_VOICES = frozenset(
    ("alloy", "ash", "ballad", "cedar", "coral", "echo", "fable", "marin", "nova", "onyx", "sage", "shimmer", "verse")
)
_OWN_VOICE = frozenset(("default", "edgevox"))


def check_voice(voice: str | Mapping[str, str], own: str, param: str) -> None:
    """Raises ApiError if a request wants another voice than that of the assistant, which is `own`."""
    name = voice if isinstance(voice, str) else voice.get("id", "")
    if name.casefold() not in {*_THEIR_VOICES, *_OWN_VOICE, own.casefold()}:
        message = (
            f"{param}: this server speaks with {own or 'one voice'}, not with {name[:64]}: change it at /v1/voices"
        )
        raise invalid(message, param)


def as_api_error(error: ApiError | EdgevoxError | OSError) -> ApiError:
    """Map an error of the assistant or of its machine to a response without local details; log it if it has some."""
    match error:
        case ApiError():
            return error
        case ContextOverflow():
            return ApiError(400, "context_length_exceeded", error.message, param="messages")
        case GrammarRejected() | InvalidArguments():
            return ApiError(400, error.code, error.message)
        case AudioError():
            return ApiError(400, error.code, error.message, param="file")
        case UnknownTool():
            return ApiError(404, "tool_not_found", error.message)
        case EngineFailed():
            return ApiError(503, error.code, error.message, headers=_LATER)
        # The messages of the others may contain local paths.
        case StateError():
            _log.error("%s (%s), request %s", error.message, error.hint, current_request_id())
            return ApiError(503, error.code, "the assistant cannot use its files now: see its log", headers=_LATER)
        case OSError():
            _log.error("%s: %s, request %s", type(error).__name__, error, current_request_id())
            what = error.strerror or "a time limit was exceeded"
            return ApiError(503, "machine_fault", f"the machine of the assistant has a problem: {what}", headers=_LATER)
        case _:
            _log.error("%s: %s (request %s)", error.code, error.message, current_request_id())
            return ApiError(500, error.code, "the assistant could not answer: see its log")


async def _handle(request: Request, error: Exception) -> Response:
    path = request.url.path
    match error:
        case ApiError() | EdgevoxError() | OSError():
            return as_api_error(error).response(path, request.headers)
        case ClientDisconnect():
            return Response(status_code=499)
        case HTTPException(status_code=404):
            shown = ApiError(404, "unknown_url", f"unknown URL {path}", headers=error.headers)
        case HTTPException(status_code=405):
            message = f"{request.method} is not allowed at {path}"
            shown = ApiError(405, "method_not_allowed", message, headers=error.headers)
        case HTTPException():
            shown = ApiError(error.status_code, "invalid_request", error.detail, headers=error.headers)
        case _:
            shown = ApiError(500, "internal_error", "this is a bug in EdgeVox")
    return shown.response(path, request.headers)


HANDLERS: Mapping[Any, Any] = dict.fromkeys(
    (ApiError, ClientDisconnect, EdgevoxError, HTTPException, OSError, Exception), _handle
)


def shutdown_error() -> ApiError:
    """Return the error for requests that are cut off by a shutdown."""
    return ApiError(503, "server_ends", "the server is shutting down", headers=_LATER)
