"""Routes of the chat APIs, and the model list."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import aclosing
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from typing import TypeVar

from starlette.requests import Request
from starlette.responses import Response

from edgevox.config import ServerSettings
from edgevox.core.types import JsonObject, Message, Sampling
from edgevox.server.assistant import DEFAULT_NAMES
from edgevox.server.chat.anthropic import CountTokensBody, MessagesBody
from edgevox.server.chat.input import ChatBody, ChatInput, ReplyFormat
from edgevox.server.chat.ollama import (
    API_VERSION,
    OllamaChatBody,
    OllamaGenerateBody,
    ShowBody,
    described_model,
    listed_model,
)
from edgevox.server.chat.openai import ChatCompletionBody, CompletionBody
from edgevox.server.chat.responses import ResponseReply, ResponsesBody, StoredResponse
from edgevox.server.chat.service import ChatService
from edgevox.server.http.auth import ANONYMOUS, client_key_of
from edgevox.server.http.errors import ApiError, check_model
from edgevox.server.http.wire import cancel_on_disconnect, read_body, sse_response
from edgevox.server.routes import ENGINE_ERRORS, EVENTS, JSON, LINES, ApiRoute, ServerContext
from edgevox.tools.policy import Caller

_OLLAMA_TAG = ":latest"
BodyT = TypeVar("BodyT", bound=ChatBody)
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


async def _received(server: ServerContext, request: Request, caller: Caller, kind: type[BodyT]) -> BodyT:
    """Read the request, if there is room for it in the queue."""
    server.queues.model.check_capacity(client_key_of(request, caller))
    body = await read_body(request, kind)
    check_model(body.model.removesuffix(_OLLAMA_TAG), server.assistant.chat_names)
    return body


async def _answer(
    server: ServerContext, request: Request, caller: Caller, kind: type[ChatBody]
) -> Response | JsonObject:
    body = await _received(server, request, caller, kind)
    reply = body.reply_format(server.assistant.name)
    return await _reply(server, request, caller, body.question, reply, stream=body.wants_stream)


async def _respond(server: ServerContext, request: Request, caller: Caller) -> Response | JsonObject:
    body = await _received(server, request, caller, ResponsesBody)
    past: tuple[Message, ...] = ()
    if body.previous_response_id is not None:
        stored = server.responses.get(caller.name, body.previous_response_id)
        if stored is None:
            message = "there is no such response, or it is too old"
            raise ApiError(400, "previous_response_not_found", message, param="previous_response_id")
        past = stored.messages

    def keep(response: JsonObject, message: Message) -> None:
        if body.store is not False:
            server.responses.add(caller.name, StoredResponse(response, (*past, *body.messages(), message)))

    reply = ResponseReply(server.assistant.name, body, keep)
    question = partial(body.question, past=past)
    return await _reply(server, request, caller, question, reply, stream=body.wants_stream)


async def _stored_response(server: ServerContext, request: Request, caller: Caller) -> JsonObject:
    stored = server.responses.get(caller.name, request.path_params["id"])
    if stored is None:
        raise _no_response()
    return stored.response


async def _delete_response(server: ServerContext, request: Request, caller: Caller) -> JsonObject:
    response_id = request.path_params["id"]
    if not server.responses.delete(caller.name, response_id):
        raise _no_response()
    return {"id": response_id, "object": "response", "deleted": True}


def _no_response() -> ApiError:
    return ApiError(404, "response_not_found", "there is no such response, or it is too old")


async def _reply(
    server: ServerContext,
    request: Request,
    caller: Caller,
    convert: Callable[[Sampling, ServerSettings], ChatInput],
    reply: ReplyFormat,
    *,
    stream: bool,
) -> Response | JsonObject:
    """Answer the request that `convert` returns, in the form of `reply`."""
    assistant, queue = server.assistant, server.queues.model
    client_key = client_key_of(request, caller)
    # In a thread: checking large schemas takes a while, and the local speaker must be heard meanwhile.
    question = await asyncio.to_thread(convert, assistant.profile.sampling, server.settings)
    if question.mode(has_own_tools=assistant.make_agent is not None) == "own_tools":
        caller = server.access.require_token(request, "read", instead=_INSTEAD)
    parts = ChatService(assistant, queue, server.confirmations).parts(question, caller, client_key)
    if stream:
        media_type, keep_alive = reply.media_type, reply.keep_alive
        events = reply.events(parts)
        return await sse_response(request, events, reply.format_error, media_type=media_type, keep_alive=keep_alive)
    async with aclosing(parts):
        return await cancel_on_disconnect(request.receive, reply.whole(parts))


async def _count_tokens(server: ServerContext, request: Request, caller: Caller) -> JsonObject:
    body = await _received(server, request, caller, CountTokensBody)
    question = await asyncio.to_thread(body.question, server.assistant.profile.sampling, server.settings)
    service = ChatService(server.assistant, server.queues.model, server.confirmations)
    counting = service.count_tokens(question, caller, client_key_of(request, caller))
    return {"input_tokens": await cancel_on_disconnect(request.receive, counting)}


# --- Ollama


async def _ollama_answer(
    server: ServerContext, request: Request, caller: Caller, kind: type[OllamaChatBody | OllamaGenerateBody]
) -> Response | JsonObject:
    body = await _received(server, request, caller, kind)
    reply = body.reply_format(body.model)
    if body.is_load_only:
        return reply.loaded(is_unload=body.keep_alive in (0, "0", "0s"))

    def convert(base: Sampling, limits: ServerSettings) -> ChatInput:
        question = body.question(base, limits)
        # Ollama's clients have no token as a rule, and no option for plain text.
        return replace(question, tool_choice="none") if caller is ANONYMOUS and not question.tools else question

    return await _reply(server, request, caller, convert, reply, stream=body.wants_stream)


async def _ollama_models(server: ServerContext, _request: Request, _caller: Caller) -> JsonObject:
    assistant = server.assistant
    names = (assistant.name, *assistant.aliases)
    return {"models": [listed_model(name, assistant.name, assistant.started_s) for name in names]}


async def _ollama_show(server: ServerContext, request: Request, _caller: Caller) -> JsonObject:
    assistant = server.assistant
    body = await read_body(request, ShowBody)
    check_model(body.wanted.removesuffix(_OLLAMA_TAG), assistant.chat_names)
    return described_model(
        assistant.name, assistant.dashboard.settings.llm.context_tokens if assistant.dashboard else None
    )


async def _ollama_version(_server: ServerContext, _request: Request, _caller: Caller) -> JsonObject:
    return {"version": API_VERSION}


# --- the routes

_chat_route = partial(
    ApiRoute, "POST", scope="chat", allow_local=True, answers={**JSON, **EVENTS}, errors=ENGINE_ERRORS
)
_ollama_route = partial(_chat_route, answers={**JSON, **LINES})
_local_route = partial(ApiRoute, scope="chat", allow_local=True)
_stored_route = partial(_local_route, path="/v1/responses/{id}", errors=(404,))
ROUTES = (
    _local_route("GET", "/v1/models", "List of models", _models),
    _local_route("GET", "/v1/models/{name:path}", "One model", _model, errors=(404,)),
    _chat_route(
        "/v1/chat/completions",
        "Chat completions (OpenAI)",
        partial(_answer, kind=ChatCompletionBody),
        body=ChatCompletionBody,
    ),
    _chat_route(
        "/v1/completions", "Completions (OpenAI, older)", partial(_answer, kind=CompletionBody), body=CompletionBody
    ),
    _chat_route("/v1/responses", "Responses (OpenAI)", _respond, body=ResponsesBody),
    _stored_route("GET", summary="An earlier response", handler=_stored_response),
    _stored_route("DELETE", summary="Delete an earlier response", handler=_delete_response),
    _chat_route("/v1/messages", "Messages (Anthropic)", partial(_answer, kind=MessagesBody), body=MessagesBody),
    _local_route(
        "POST",
        "/v1/messages/count_tokens",
        "Length of a prompt (Anthropic)",
        _count_tokens,
        body=CountTokensBody,
        errors=ENGINE_ERRORS,
    ),
    _ollama_route("/api/chat", "Chat (Ollama)", partial(_ollama_answer, kind=OllamaChatBody), body=OllamaChatBody),
    _ollama_route(
        "/api/generate", "Generate (Ollama)", partial(_ollama_answer, kind=OllamaGenerateBody), body=OllamaGenerateBody
    ),
    _local_route("POST", "/api/show", "One model (Ollama)", _ollama_show, body=ShowBody, errors=(404,)),
    *(
        _local_route("GET", f"/api/{name}", summary, handler)
        for name, summary, handler in (
            ("tags", "List of models (Ollama)", _ollama_models),
            ("ps", "Loaded models (Ollama)", _ollama_models),
            ("version", "Version of the API (Ollama)", _ollama_version),
        )
    ),
)
