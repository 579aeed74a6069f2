"""Routes of the chat APIs, and the model list."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from datetime import UTC, datetime
from functools import partial

from starlette.requests import Request
from starlette.responses import Response

from edgevox.core.types import JsonObject
from edgevox.server.assistant import DEFAULT_NAMES
from edgevox.server.chat.anthropic import CountTokensBody, MessagesBody
from edgevox.server.chat.input import ChatBody
from edgevox.server.chat.openai import ChatCompletionBody, CompletionBody
from edgevox.server.chat.service import ChatService
from edgevox.server.http.auth import client_key_of
from edgevox.server.http.errors import check_model
from edgevox.server.http.wire import cancel_on_disconnect, read_body, sse_response
from edgevox.server.routes import ENGINE_ERRORS, EVENTS, JSON, ApiRoute, ServerContext
from edgevox.tools.policy import Caller

_INSTEAD = (
    ": there are no tools in the request, so the assistant would use its own. "
    'With "tool_choice": "none" it only talks, and on its own machine it then needs none'
)


async def _models(server: ServerContext, _request: Request, _caller: Caller) -> JsonObject:
    names = server.assistant.model_names
    return {
        "object": "list",
        "data": [_model_json(name, server.assistant.started_s) for name in names],
        "has_more": False,
        "first_id": names[0],
        "last_id": names[-1],
    }


async def _model(server: ServerContext, request: Request, _caller: Caller) -> JsonObject:
    name = request.path_params["name"]
    check_model(name, server.assistant.model_names, aliases=DEFAULT_NAMES)
    return _model_json(name, server.assistant.started_s)


def _model_json(name: str, started_s: float) -> JsonObject:
    return {
        "id": name,
        "object": "model",
        "created": int(started_s),
        "owned_by": "edgevox",
        "type": "model",
        "display_name": name,
        "created_at": datetime.fromtimestamp(started_s, UTC).isoformat(),
    }


async def _answer(
    server: ServerContext, request: Request, caller: Caller, kind: type[ChatBody]
) -> Response | JsonObject:
    assistant, queue = server.assistant, server.queues.model
    client_key = client_key_of(request, caller)
    queue.check_capacity(client_key)
    body = await read_body(request, kind)
    check_model(body.model, assistant.chat_names)
    # In a thread: checking large schemas takes a while, and the local speaker must be heard meanwhile.
    question = await asyncio.to_thread(body.question, assistant.profile.sampling, server.settings)
    if question.mode(has_own_tools=assistant.make_agent is not None) == "own_tools":
        caller = server.access.require_token(request, "read", instead=_INSTEAD)
    parts = ChatService(assistant, queue, server.confirmations).parts(question, caller, client_key)
    reply = body.reply_format(assistant.name)
    if body.stream:
        return await sse_response(request, reply.events(parts), reply.format_error)
    async with aclosing(parts):
        return await cancel_on_disconnect(request.receive, reply.whole(parts))


async def _count_tokens(server: ServerContext, request: Request, caller: Caller) -> JsonObject:
    assistant, queue = server.assistant, server.queues.model
    client_key = client_key_of(request, caller)
    queue.check_capacity(client_key)
    body = await read_body(request, CountTokensBody)
    check_model(body.model, assistant.chat_names)
    question = await asyncio.to_thread(body.question, assistant.profile.sampling, server.settings)
    counting = ChatService(assistant, queue, server.confirmations).count_tokens(question, caller, client_key)
    return {"input_tokens": await cancel_on_disconnect(request.receive, counting)}


_chat_route = partial(
    ApiRoute, "POST", scope="chat", allow_local=True, answers={**JSON, **EVENTS}, errors=ENGINE_ERRORS
)
ROUTES = (
    ApiRoute("GET", "/v1/models", "List of models", _models, "chat", allow_local=True),
    ApiRoute("GET", "/v1/models/{name:path}", "One model", _model, "chat", allow_local=True, errors=(404,)),
    _chat_route(
        "/v1/chat/completions",
        "Chat completions (OpenAI)",
        partial(_answer, kind=ChatCompletionBody),
        body=ChatCompletionBody,
    ),
    _chat_route(
        "/v1/completions", "Completions (OpenAI, older)", partial(_answer, kind=CompletionBody), body=CompletionBody
    ),
    _chat_route("/v1/messages", "Messages (Anthropic)", partial(_answer, kind=MessagesBody), body=MessagesBody),
    ApiRoute(
        "POST",
        "/v1/messages/count_tokens",
        "Length of a prompt (Anthropic)",
        _count_tokens,
        "chat",
        allow_local=True,
        body=CountTokensBody,
        errors=ENGINE_ERRORS,
    ),
)
