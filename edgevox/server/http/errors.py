"""API errors and exception handlers, in the formats of OpenAI, Anthropic and Ollama."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response

from edgevox.core.errors import (
    AudioError,
    ContextOverflow,
    EdgevoxError,
    EngineFailed,
    GrammarRejected,
    InvalidArguments,
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

    def response(self, path: str) -> JSONResponse:
        """Return the response, in the format of the API that `path` belongs to."""
        if path.startswith(OLLAMA_PATH):
            body = self.as_ollama()
        else:
            body = self.as_anthropic() if path.startswith(ANTHROPIC_PATH) else self.as_openai()
        return JSONResponse(body, self.status, headers=self.headers)


def invalid(message: str, param: str | None = None) -> ApiError:
    return ApiError(400, "invalid_value", message, param=param)


def check_model(name: str, known: tuple[str, ...], *, aliases: tuple[str, ...] = ()) -> None:
    """Raises ApiError if a request names another model than the known ones."""
    if name not in (*known, *aliases):
        raise ApiError(404, "model_not_found", f"unknown model {name[:64]}; known: {', '.join(known)}", param="model")


def as_api_error(error: ApiError | EdgevoxError) -> ApiError:
    """Map an error of the assistant to a response without local details."""
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
            return ApiError(503, error.code, error.message, headers={"Retry-After": "5"})
        case _:
            # The message may contain local paths.
            _log.error("%s: %s (request %s)", error.code, error.message, current_request_id())
            return ApiError(500, error.code, "the assistant could not answer: see its log")


async def _handle(request: Request, error: Exception) -> Response:
    path = request.url.path
    match error:
        case ApiError() | EdgevoxError():
            return as_api_error(error).response(path)
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
    return shown.response(path)


HANDLERS: Mapping[Any, Any] = dict.fromkeys(
    (ApiError, ClientDisconnect, EdgevoxError, HTTPException, Exception), _handle
)


def shutdown_error() -> ApiError:
    """Return the error for requests that are cut off by a shutdown."""
    return ApiError(503, "server_ends", "the server is shutting down", headers={"Retry-After": "5"})
