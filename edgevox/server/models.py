"""The models that there are, as /v1/models tells of them: in the words of both libraries at once."""

from __future__ import annotations

from datetime import UTC, datetime

from edgevox.server.assistant import Assistant
from edgevox.server.errors import ApiError
from edgevox.types import JsonObject

DEFAULT_NAMES = ("default", "edgevox")
"""Names for the model, whichever it is."""


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
    """Raises ApiError where there is none of that name."""
    if name not in (*assistant.model_names, *DEFAULT_NAMES):
        raise _unknown(name, assistant.model_names)
    return _model(name, assistant.started_s)


def check_chat_model(assistant: Assistant, name: str) -> None:
    """Raises ApiError where the request means another model than the one that is served."""
    if name not in (assistant.name, *DEFAULT_NAMES):
        raise _unknown(name, (assistant.name, *DEFAULT_NAMES))


def _unknown(name: str, known: tuple[str, ...]) -> ApiError:
    return ApiError(
        404, "model_not_found", f"there is no model {name[:64]} here: {', '.join(known)}", param="model"
    )


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
