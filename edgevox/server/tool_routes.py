"""The routes for the assistant's own tools: what there is, and one call without the model."""

from __future__ import annotations

import json
import uuid
from typing import Any

from pydantic import Field
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from edgevox.server.access import Access
from edgevox.server.assistant import Assistant
from edgevox.server.confirmations import Confirmations
from edgevox.server.errors import ApiError
from edgevox.server.gone import unless_gone
from edgevox.server.wire import Wire, read_body
from edgevox.tools.executor import ToolExecutor
from edgevox.tools.results import ToolResult
from edgevox.tools.scopes import Caller
from edgevox.turn import Turn
from edgevox.types import ToolCall

# What is the program's own fault; all else is what came of the call.
_REFUSALS = {"bad_request": 400, "token_scope_insufficient": 403, "tool_denied": 403}


class ToolCallBody(Wire):
    """One call of a tool."""

    name: str = Field(min_length=1, max_length=64)
    arguments: dict[str, Any] = Field(default_factory=dict)


class ToolRoutes:
    """Tools of one assistant. Every route needs a token."""

    def __init__(self, assistant: Assistant, confirmations: Confirmations, access: Access) -> None:
        self._executor = assistant.executor
        self._confirmations = confirmations
        self._access = access

    async def list(self, request: Request) -> Response:
        """GET /v1/tools."""
        self._access.actor(request, "read")
        tools = self._executor.native_definitions if self._executor else ()
        return JSONResponse({"object": "list", "data": list(tools)})

    async def call(self, request: Request) -> Response:
        """POST /v1/tools/call. What needs a yes waits for it."""
        caller = self._access.actor(request, "read")
        body = await read_body(request, ToolCallBody)
        executor = self._executor
        if executor is None or body.name not in executor.registry:
            raise ApiError(404, "tool_not_found", f"there is no tool {body.name} here", param="name")
        result = await unless_gone(request.receive, self._called(executor, body, caller))
        if (status := _REFUSALS.get(result.code or "")) is not None:
            raise ApiError(status, result.code or "", result.content, param="arguments")
        return JSONResponse(
            {
                "name": result.name,
                "content": result.content,
                "speech": result.speech,
                "is_error": result.is_error,
                "code": result.code,
                "may_still_happen": result.may_still_happen,
                "elapsed_ms": round(result.elapsed_s * 1000, 1),
            }
        )

    async def _called(self, executor: ToolExecutor, body: ToolCallBody, caller: Caller) -> ToolResult:
        call = ToolCall(f"api{uuid.uuid4().hex[:6]}", body.name, json.dumps(body.arguments))
        turn = Turn()
        try:
            result = await executor.dispatch(call, caller=caller, cancel=turn.cancel)
            pending = result.confirmation
            if pending is None:
                return result
            agreement = await self._confirmations(pending, turn)
            if agreement.granted:
                return await executor.dispatch_confirmed(
                    call, pending.token, by=agreement.by, channel=agreement.channel, cancel=turn.cancel
                )
        finally:
            turn.cancel.set()
        executor.refuse(pending, agreement.why)
        raise ApiError(
            409, "requires_confirmation", f"somebody else has to agree: {pending.question} ({agreement.why})"
        )
