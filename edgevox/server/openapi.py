"""The OpenAPI document: made from the models that read the requests, so that both say the same."""

from __future__ import annotations

from typing import Any, get_args

from pydantic.json_schema import models_json_schema

from edgevox import __version__
from edgevox.server.anthropic.messages_body import MessagesBody
from edgevox.server.audio.bodies import SpeechBody, TextFormat
from edgevox.server.audio.sound_writer import MEDIA_TYPES
from edgevox.server.confirmations import ConfirmationBody
from edgevox.server.openai.chat_body import ChatCompletionBody
from edgevox.server.settings_routes import SettingsBody
from edgevox.server.tool_routes import ToolCallBody
from edgevox.server.voice.one_turn import VoiceTurnBody
from edgevox.types import JsonObject

_REF = "#/components/schemas/{model}"
_OBJECT = {"application/json": {"schema": {"type": "object"}}}
_EVENTS = {"text/event-stream": {"schema": {"type": "string"}}}
_MEANINGS = {
    400: "the request cannot be understood or done",
    401: "a token is missing or unknown",
    403: "not with this token, host or page",
    404: "there is no such thing",
    405: "not with this method",
    408: "the request did not arrive in time",
    409: "a person has to agree first",
    413: "too large",
    415: "not this kind of body",
    429: "too many requests wait; Retry-After says when to try again",
    500: "a fault of the assistant's",
    503: "an engine is being restarted",
}
_ALWAYS = (401, 403, 405, 408, 413, 500)
_BODY = (*_ALWAYS, 400, 404, 415, 429, 503)
_SHOWN = (*_ALWAYS, 404)


def document() -> JsonObject:
    """What can be asked of the server, and how it answers."""
    bodies = (
        ChatCompletionBody,
        ConfirmationBody,
        MessagesBody,
        SettingsBody,
        SpeechBody,
        ToolCallBody,
        VoiceTurnBody,
    )
    _keys, definitions = models_json_schema([(body, "validation") for body in bodies], ref_template=_REF)
    sounds = {kind: {"schema": {"type": "string", "format": "binary"}} for kind in MEDIA_TYPES.values()}
    transcripts = {**_OBJECT, "text/plain": {"schema": {"type": "string"}}}
    return {
        "openapi": "3.1.0",
        "info": {"title": "EdgeVox", "version": __version__},
        "paths": {
            "/healthz": {"get": _operation("How the engines are", _OBJECT, (*_ALWAYS, 503))},
            "/metrics": {"get": _operation("Figures", {"text/plain": {}}, _ALWAYS)},
            "/openapi.json": {"get": _operation("This document", _OBJECT, _ALWAYS)},
            "/v1/models": {"get": _operation("The models", _OBJECT, _ALWAYS)},
            "/v1/models/{name}": {
                "get": {**_operation("One model", _OBJECT, (*_ALWAYS, 404)), "parameters": [_in_path("name")]}
            },
            "/v1/chat/completions": {
                "post": _posted("Talk, as with OpenAI", ChatCompletionBody, {**_OBJECT, **_EVENTS})
            },
            "/v1/messages": {
                "post": _posted("Talk, as with Anthropic", MessagesBody, {**_OBJECT, **_EVENTS})
            },
            "/v1/audio/speech": {"post": _posted("Speak", SpeechBody, sounds)},
            "/v1/audio/transcriptions": {
                "post": {**_operation("Write down what is said", transcripts, _BODY), "requestBody": _FORM}
            },
            "/v1/tools": {"get": _operation("The assistant's tools", _OBJECT, _ALWAYS)},
            "/v1/tools/call": {"post": _posted("One call of a tool", ToolCallBody, _OBJECT, (*_BODY, 409))},
            "/v1/confirmations": {"get": _operation("Questions that wait for a yes", _OBJECT, _ALWAYS)},
            "/v1/confirmations/{token}": {
                "post": {
                    **_posted("The answer to one", ConfirmationBody, _OBJECT, (*_ALWAYS, 400, 404, 415)),
                    "parameters": [_in_path("token")],
                }
            },
            "/v1/voice": {
                "post": {
                    **_posted("One turn, as events", VoiceTurnBody, _EVENTS),
                    "parameters": [_in_query("speak", {"enum": ["true", "false"]})],
                }
            },
            "/v1/events": {"get": _operation("What happens in the room", _EVENTS, (*_SHOWN, 429))},
            "/v1/status": {"get": _operation("How the assistant is", _OBJECT, _SHOWN)},
            "/v1/home": {"get": _operation("The home as it is now", _OBJECT, _SHOWN)},
            "/v1/tools/stats": {"get": _operation("How tools are used", _OBJECT, _SHOWN)},
            "/v1/turns": {
                "get": {
                    **_operation("The turns of a day", _OBJECT, (*_SHOWN, 400)),
                    "parameters": [_in_query("day", {"type": "string", "format": "date"})],
                }
            },
            "/v1/settings": {
                "get": _operation("Settings that may be changed", _OBJECT, _SHOWN),
                "patch": _posted("Change some", SettingsBody, _OBJECT, (*_SHOWN, 400, 415)),
            },
        },
        "components": {
            "schemas": {**definitions["$defs"], "Error": _ERROR},
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{"token": []}, {}],
    }


_FORM = {
    "required": True,
    "content": {
        "multipart/form-data": {
            "schema": {
                "type": "object",
                "properties": {
                    "file": {"type": "string", "format": "binary"},
                    "model": {"type": "string"},
                    "language": {"type": "string", "pattern": "^[a-z]{2,3}$"},
                    "response_format": {"enum": list(get_args(TextFormat))},
                },
                "required": ["file", "model"],
            }
        }
    },
}
_ERROR = {
    "type": "object",
    "properties": {"error": {"type": "object", "required": ["message", "type"]}},
    "required": ["error"],
}


def _in_path(name: str) -> JsonObject:
    return {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}


def _in_query(name: str, schema: JsonObject) -> JsonObject:
    return {"name": name, "in": "query", "required": False, "schema": schema}


def _posted(
    summary: str, body: type[Any], answers: JsonObject, errors: tuple[int, ...] = _BODY
) -> dict[str, Any]:
    content = {"application/json": {"schema": {"$ref": _REF.format(model=body.__name__)}}}
    return {**_operation(summary, answers, errors), "requestBody": {"required": True, "content": content}}


def _operation(summary: str, answers: JsonObject, errors: tuple[int, ...]) -> dict[str, Any]:
    told = {"application/json": {"schema": {"$ref": _REF.format(model="Error")}}}
    responses: dict[str, Any] = {"200": {"description": "the answer", "content": answers}}
    for status in sorted(errors):
        responses[str(status)] = {"description": _MEANINGS[status], "content": told}
    return {"summary": summary, "responses": responses}
