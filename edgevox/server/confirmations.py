"""Questions that wait for a person's yes, and the routes on which it is given.

Who asked for a call cannot agree to it: that takes another token, with the scope `confirm`. The questions of
the room are answerable here too; the first answer counts.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from edgevox.agents.confirm import Agreement
from edgevox.errors import ToolDenied
from edgevox.server.access import Access
from edgevox.server.errors import ApiError
from edgevox.server.tokens import Tokens
from edgevox.server.wire import Wire, read_body
from edgevox.tools.confirmation import Channel, PendingConfirmation
from edgevox.tools.scopes import CONFIRM
from edgevox.turn import Turn
from edgevox.types import JsonObject
from edgevox.voice.asking import Asking, OpenQuestion

_API: frozenset[Channel] = frozenset({"api"})


class ConfirmationBody(Wire):
    """The answer to a question."""

    granted: bool


class Confirmations:
    """The `confirm` of agents that work for programs. `of_room` are those who ask in the room."""

    def __init__(self, tokens: Tokens, of_room: Callable[[], Sequence[Asking]] = tuple) -> None:
        self._tokens = tokens
        self._of_room = of_room
        self._asking: list[Asking] = []

    async def __call__(self, pending: PendingConfirmation, turn: Turn) -> Agreement:
        """Wait for an answer until the question expires; where nobody can give one, it is no at once."""
        is_answerable = self._tokens.has_other(pending.origin, CONFIRM)
        asking = Asking(ways=_API if is_answerable else frozenset())
        self._asking.append(asking)
        try:
            return await asking(pending, turn)
        finally:
            self._asking.remove(asking)

    def open(self) -> list[OpenQuestion]:
        """Those that wait now."""
        return [asking.open for asking in (*self._asking, *self._of_room()) if asking.open is not None]


class ConfirmationRoutes:
    """What waits, and the answers to it. Every route needs a token with the scope `confirm`."""

    def __init__(self, confirmations: Confirmations, access: Access) -> None:
        self._confirmations = confirmations
        self._access = access

    async def list(self, request: Request) -> Response:
        """GET /v1/confirmations."""
        self._access.actor(request, CONFIRM)
        return JSONResponse({"object": "list", "data": [_told(one) for one in self._confirmations.open()]})

    async def answer(self, request: Request) -> Response:
        """POST /v1/confirmations/{token}."""
        caller = self._access.actor(request, CONFIRM)
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
        raise ApiError(
            404, "confirmation_not_found", "nothing waits for this answer: it came too late, or was given"
        )


def _told(question: OpenQuestion) -> JsonObject:
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
