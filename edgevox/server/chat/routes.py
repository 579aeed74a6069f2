"""Routes for chat completions, messages and the model list."""

from __future__ import annotations

from contextlib import aclosing
from datetime import UTC, datetime

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from edgevox.agents.tool_loop import Confirm
from edgevox.config import ServerSettings
from edgevox.core.types import JsonObject
from edgevox.server.anthropic import MessageReply, MessagesBody
from edgevox.server.assistant import DEFAULT_NAMES, Assistant
from edgevox.server.chat.input import ChatInput
from edgevox.server.chat.service import ChatService
from edgevox.server.engine_queues import ModelQueue
from edgevox.server.http.auth import Access, client_key_of
from edgevox.server.http.errors import ApiError
from edgevox.server.http.wire import cancel_on_disconnect, read_body, sse_response
from edgevox.server.openai import ChatCompletionBody, Completion
from edgevox.tools.policy import Caller

"""Aliases of the served model."""


def model_list(assistant: Assistant) -> JsonObject:
    names = assistant.model_names
    return {
        "object": "list",
        "data": [_model(name, assistant.started_s) for name in names],
        "has_more": False,
        "first_id": names[0],
        "last_id": names[-1],
    }


def one_model(assistant: Assistant, name: str) -> JsonObject:
    """Describe one model. Raises ApiError for an unknown name."""
    if name not in (*assistant.model_names, *DEFAULT_NAMES):
        raise _unknown(name, assistant.model_names)
    return _model(name, assistant.started_s)


def check_chat_model(assistant: Assistant, name: str) -> None:
    """Raises ApiError if the request names another model than the served one."""
    if name not in (assistant.name, *DEFAULT_NAMES):
        raise _unknown(name, (assistant.name, *DEFAULT_NAMES))


def _unknown(name: str, known: tuple[str, ...]) -> ApiError:
    return ApiError(404, "model_not_found", f"unknown model {name[:64]}; known: {', '.join(known)}", param="model")


def _model(name: str, started_s: float) -> JsonObject:
    return {
        "id": name,
        "object": "model",
        "created": int(started_s),
        "owned_by": "edgevox",
        "type": "model",
        "display_name": name,
        "created_at": datetime.fromtimestamp(started_s, UTC).isoformat(),
    }


_INSTEAD = (
    ": there are no tools in the request, so the assistant would use its own. "
    'With "tool_choice": "none" it only talks, and on its own machine it then needs none'
)


class ChatRoutes:
    """Chat routes of one assistant."""

    def __init__(
        self, assistant: Assistant, queue: ModelQueue, access: Access, settings: ServerSettings, confirm: Confirm
    ) -> None:
        self._assistant = assistant
        self._queue = queue
        self._answering = ChatService(assistant, queue, confirm)
        self._access = access
        self._settings = settings

    async def completions(self, request: Request) -> Response:
        """POST /v1/chat/completions."""
        client_key = client_key_of(request, self._access.allow_local(request, "chat"))
        self._queue.check_capacity(client_key)
        body = await read_body(request, ChatCompletionBody)
        check_chat_model(self._assistant, body.model)
        question = body.question(self._assistant.profile.sampling, self._settings)
        parts = self._answering.parts(question, self._caller(request, question), client_key)
        completion = Completion(self._assistant.name, as_functions=body.uses_functions, with_usage=body.wants_usage)
        if body.stream:
            return await sse_response(request, completion.chunks(parts), completion.format_error)
        async with aclosing(parts):
            return JSONResponse(await cancel_on_disconnect(request.receive, completion.whole(parts)))

    async def messages(self, request: Request) -> Response:
        """POST /v1/messages."""
        client_key = client_key_of(request, self._access.allow_local(request, "chat"))
        self._queue.check_capacity(client_key)
        body = await read_body(request, MessagesBody)
        check_chat_model(self._assistant, body.model)
        question = body.question(self._assistant.profile.sampling, self._settings)
        parts = self._answering.parts(question, self._caller(request, question), client_key)
        reply = MessageReply(self._assistant.name)
        if body.stream:
            return await sse_response(request, reply.events(parts), reply.format_error)
        async with aclosing(parts):
            return JSONResponse(await cancel_on_disconnect(request.receive, reply.whole(parts)))

    def _caller(self, request: Request, question: ChatInput) -> Caller:
        has_own_tools = self._assistant.make_agent is not None
        if question.mode(has_own_tools=has_own_tools) == "own_tools":
            return self._access.require_token(request, "read", instead=_INSTEAD)
        return self._access.allow_local(request, "chat")
