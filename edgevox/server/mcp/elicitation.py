"""Elicitation: asks the user of an MCP client for a confirmation, through that client.

A client of a protocol version up to 2025-11-25 is sent a request while its call waits. In later versions the call
returns the question, and the client repeats the call with the answer and the state that came with the question.
"""

from __future__ import annotations

import asyncio
import time
from typing import Any

from mcp import MCPError
from mcp.server import ServerRequestContext
from mcp.server.session import ServerSession
from mcp.types import (
    INVALID_PARAMS,
    CallToolRequestParams,
    ElicitRequest,
    ElicitRequestFormParams,
    ElicitResult,
    InputRequiredResult,
)
from mcp.types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

from edgevox.agents.tool_loop import Agreement, Confirm
from edgevox.core.turn import Turn
from edgevox.core.types import JsonObject
from edgevox.dialogue.confirm import NO_ANSWER
from edgevox.tools.policy import CONFIRM, USER_SAID_NO, VOICE, Caller, PendingConfirmation

_YES = "confirm"
_FORM: JsonObject = {
    "type": "object",
    "properties": {_YES: {"type": "boolean", "title": "Yes, do it"}},
    "required": [_YES],
}


def may_elicit(session: ServerSession, caller: Caller) -> bool:
    """Whether the client shows forms to its user, and the caller's scopes say that it stands for a person."""
    declared = session.client_capabilities
    modes = declared.elicitation if declared else None
    has_forms = modes is not None and (modes.form is not None or modes.url is None)
    is_reachable = session.can_send_request or returns_questions(session)
    return has_forms and is_reachable and caller.may(CONFIRM) and caller.may(VOICE)


def returns_questions(session: ServerSession) -> bool:
    """Whether the question is the result of the call, which the client repeats with the answer."""
    return session.protocol_version in MODERN_PROTOCOL_VERSIONS


def question_result(pending: PendingConfirmation) -> InputRequiredResult:
    return InputRequiredResult(input_requests={_YES: ElicitRequest(params=_form(pending))}, request_state=pending.token)


def returned_answer(params: CallToolRequestParams, caller: Caller) -> Agreement:
    """Return the answer in a repeated call. Raises MCPError if there is none."""
    answer = (params.input_responses or {}).get(_YES)
    if not isinstance(answer, ElicitResult):
        raise MCPError(INVALID_PARAMS, f"inputResponses lacks the answer to {_YES}")
    return _agreement(answer, caller)


def ask_during_call(context: ServerRequestContext[Any], caller: Caller) -> Confirm:
    """Return what asks the client while its call waits."""

    async def confirm(pending: PendingConfirmation, _turn: Turn) -> Agreement:
        form, session = _form(pending), context.session
        try:
            async with asyncio.timeout(pending.expires_s - time.monotonic()):
                answer = await session.elicit_form(
                    form.message, form.requested_schema, related_request_id=context.request_id
                )
        except TimeoutError:
            return Agreement(granted=False, why=NO_ANSWER)
        except (MCPError, ValidationError):
            return Agreement(granted=False, why="the client could not ask")
        return _agreement(answer, caller)

    return confirm


def _form(pending: PendingConfirmation) -> ElicitRequestFormParams:
    return ElicitRequestFormParams(message=pending.question, requested_schema=dict(_FORM))


def _agreement(answer: ElicitResult, caller: Caller) -> Agreement:
    """Only an accepted form with a yes grants the call."""
    granted = answer.action == "accept" and (answer.content or {}).get(_YES) is True
    why = f"{caller.name} said yes" if granted else USER_SAID_NO if answer.action != "cancel" else NO_ANSWER
    return Agreement(granted, caller, "keyboard", why)
