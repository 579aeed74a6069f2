"""Routes for the assistant's tools, and for confirmations of calls that need a person's consent.

The caller of a tool cannot confirm its own call: that takes another token with the scope `confirm`.
Confirmations that were asked for by voice can be answered here too; the first answer counts.
"""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Callable, Sequence
from typing import Any

from pydantic import Field
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from edgevox.agents.tool_loop import Agreement
from edgevox.core.errors import ToolDenied
from edgevox.core.turn import Turn
from edgevox.core.types import JsonObject, ToolCall
from edgevox.dialogue.confirm import ConfirmationDialog, OpenQuestion
from edgevox.server.assistant import Assistant
from edgevox.server.http.auth import Access, Tokens
from edgevox.server.http.errors import ApiError
from edgevox.server.http.wire import RequestBody, cancel_on_disconnect, read_body
from edgevox.tools.executor import ToolExecutor
from edgevox.tools.policy import CONFIRM, Caller, Channel, PendingConfirmation
from edgevox.tools.results import ToolResult

_API: frozenset[Channel] = frozenset({"api"})


class ConfirmationBody(RequestBody):
    """The answer to a question."""

    granted: bool


class Confirmations:
    """Asks API clients for confirmations. `of_room` returns the dialogs of the local voice loop."""

    def __init__(self, tokens: Tokens, of_room: Callable[[], Sequence[ConfirmationDialog]] = tuple) -> None:
        self._tokens = tokens
        self._of_room = of_room
        self._confirmation: list[ConfirmationDialog] = []

    async def __call__(self, pending: PendingConfirmation, turn: Turn) -> Agreement:
        """Wait for an answer until the question expires; refuse at once if no token may answer it."""
        is_answerable = self._tokens.has_other(pending.origin, CONFIRM)
        confirmation = ConfirmationDialog(channels=_API if is_answerable else frozenset())
        self._confirmation.append(confirmation)
        try:
            return await confirmation(pending, turn)
        finally:
            self._confirmation.remove(confirmation)

    def open(self) -> list[OpenQuestion]:
        """The open questions."""
        return [
            confirmation.open
            for confirmation in (*self._confirmation, *self._of_room())
            if confirmation.open is not None
        ]


class ConfirmationRoutes:
    """Lists and answers open questions. Every route needs a token with the scope `confirm`."""

    def __init__(self, confirmations: Confirmations, access: Access) -> None:
        self._confirmations = confirmations
        self._access = access

    async def list(self, request: Request) -> Response:
        """GET /v1/confirmations."""
        self._access.require_token(request, CONFIRM)
        return JSONResponse({"object": "list", "data": [_question_json(one) for one in self._confirmations.open()]})

    async def answer(self, request: Request) -> Response:
        """POST /v1/confirmations/{token}."""
        caller = self._access.require_token(request, CONFIRM)
        body = await read_body(request, ConfirmationBody)
        token = request.path_params["token"]
        said = "yes" if body.granted else "no"
        agreement = Agreement(body.granted, caller, "api", f"{caller.name} said {said}")
        for question in self._confirmations.open():
            if question.pending.token == token:
                try:
                    is_first = question.answer(agreement)
                except ToolDenied as error:
                    raise ApiError(403, error.code, error.message) from None
                if is_first:
                    return JSONResponse({"token": token, "granted": body.granted})
        raise ApiError(404, "confirmation_not_found", "nothing waits for this answer: it came too late, or was given")


def _question_json(question: OpenQuestion) -> JsonObject:
    pending = question.pending
    return {
        "token": pending.token,
        "question": pending.question,
        "level": pending.level,
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


class ToolRoutes:
    """Tools of one assistant. Every route needs a token."""

    def __init__(self, assistant: Assistant, confirmations: Confirmations, access: Access) -> None:
        self._executor = assistant.executor
        self._confirmations = confirmations
        self._access = access

    async def list(self, request: Request) -> Response:
        """GET /v1/tools."""
        self._access.require_token(request, "read")
        tools = self._executor.native_definitions if self._executor else ()
        return JSONResponse({"object": "list", "data": list(tools)})

    async def call(self, request: Request) -> Response:
        """POST /v1/tools/call. Waits for the confirmation if the call needs one."""
        caller = self._access.require_token(request, "read")
        body = await read_body(request, ToolCallBody)
        executor = self._executor
        if executor is None or body.name not in executor.registry:
            raise ApiError(404, "tool_not_found", f"there is no tool {body.name} here", param="name")
        result = await cancel_on_disconnect(request.receive, self._called(executor, body, caller))
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
            409, "requires_confirmation", f"another client must confirm: {pending.question} ({agreement.why})"
        )
