"""Routes for the assistant's tools, and for confirmations of calls that need a person's consent.

The caller of a tool cannot confirm its own call: that takes another token with the scope `confirm`.
Confirmations that were asked for by voice can be answered here too; the first answer counts.
"""

from __future__ import annotations

import json
import time
import uuid
from typing import Any

from pydantic import Field
from starlette.requests import Request

from edgevox.agents.tool_loop import Agreement, Confirm, apply_agreement
from edgevox.core.errors import ToolDenied
from edgevox.core.turn import Turn
from edgevox.core.types import JsonObject, ToolCall
from edgevox.dialogue.confirm import OpenQuestion
from edgevox.server.http.errors import ApiError
from edgevox.server.http.wire import RequestBody, cancel_on_disconnect, read_body
from edgevox.server.routes import ENGINE_ERRORS, ApiRoute, ServerContext
from edgevox.server.websocket.protocol import fields_of
from edgevox.tools.executor import ToolExecutor
from edgevox.tools.policy import CONFIRM, Caller
from edgevox.tools.results import ToolResult


class ConfirmationBody(RequestBody):
    """The answer to a question."""

    granted: bool


async def _list_confirmations(server: ServerContext, _request: Request, _caller: Caller) -> JsonObject:
    return {"object": "list", "data": [_question_json(one) for one in server.confirmations.open()]}


async def _answer_confirmation(server: ServerContext, request: Request, caller: Caller) -> JsonObject:
    body = await read_body(request, ConfirmationBody)
    token = request.path_params["token"]
    agreement = Agreement(body.granted, caller, "api", f"{caller.name} said {'yes' if body.granted else 'no'}")
    for question in server.confirmations.open():
        if question.pending.token == token:
            try:
                is_first = question.answer(agreement)
            except ToolDenied as error:
                raise ApiError(403, error.code, error.message) from None
            if is_first:
                return {"token": token, "granted": body.granted}
    raise ApiError(404, "confirmation_not_found", "nothing waits for this answer: it came too late, or was given")


def _question_json(question: OpenQuestion) -> JsonObject:
    pending = question.pending
    return {
        **fields_of(pending, "token", "question", "level"),
        "name": pending.call.name,
        "arguments": pending.call.arguments,
        "asked_by": pending.origin.name,
        "expires_in_s": round(max(0.0, pending.expires_s - time.monotonic()), 1),
    }


# Errors of the client; every other code is part of a 200 response.
_REFUSALS = {"bad_request": 400, "token_scope_insufficient": 403, "tool_denied": 403}


class ToolCallBody(RequestBody):
    """One call of a tool."""

    name: str = Field(min_length=1, max_length=64)
    arguments: dict[str, Any] = Field(default_factory=dict)


async def _list_tools(server: ServerContext, _request: Request, _caller: Caller) -> JsonObject:
    executor = server.assistant.executor
    return {"object": "list", "data": list(executor.registry.openai_schemas() if executor else ())}


async def _call_tool(server: ServerContext, request: Request, caller: Caller) -> JsonObject:
    """Call a tool, and wait for the confirmation if the call needs one."""
    body = await read_body(request, ToolCallBody)
    executor = server.assistant.executor
    if executor is None or body.name not in executor.registry:
        raise ApiError(404, "tool_not_found", f"there is no tool {body.name} here", param="name")
    result = await cancel_on_disconnect(request.receive, _run_call(executor, body, caller, server.confirmations))
    if (status := _REFUSALS.get(result.code or "")) is not None:
        raise ApiError(status, result.code or "", result.content, param="arguments")
    shown = fields_of(result, "name", "content", "speech", "is_error", "code", "may_still_happen")
    return {**shown, "elapsed_ms": round(result.elapsed_s * 1000, 1)}


async def _run_call(executor: ToolExecutor, body: ToolCallBody, caller: Caller, confirm: Confirm) -> ToolResult:
    call = ToolCall(f"api{uuid.uuid4().hex[:6]}", body.name, json.dumps(body.arguments))
    turn = Turn()
    try:
        result = await executor.dispatch(call, caller=caller, cancel=turn.cancel)
        if (pending := result.confirmation) is None:
            return result
        agreement = await confirm(pending, turn)
        result = await apply_agreement(executor, pending, agreement, turn.cancel)
    finally:
        turn.cancel.set()
    if agreement.granted:
        return result
    raise ApiError(409, "requires_confirmation", f"another client must confirm: {pending.question} ({agreement.why})")


ROUTES = (
    ApiRoute("GET", "/v1/tools", "List of tools", _list_tools, "read"),
    ApiRoute(
        "POST", "/v1/tools/call", "Call a tool", _call_tool, "read", body=ToolCallBody, errors=(*ENGINE_ERRORS, 409)
    ),
    ApiRoute("GET", "/v1/confirmations", "Pending confirmations", _list_confirmations, CONFIRM),
    ApiRoute(
        "POST",
        "/v1/confirmations/{token}",
        "Answer a confirmation",
        _answer_confirmation,
        CONFIRM,
        body=ConfirmationBody,
        errors=(404,),
    ),
)
