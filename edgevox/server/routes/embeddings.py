"""Embeddings: OpenAI's /v1/embeddings, Ollama's /api/embed and the older /api/embeddings."""

from __future__ import annotations

import base64
import time
from collections.abc import Sequence
from contextlib import aclosing
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BeforeValidator, Field
from starlette.requests import Request

from edgevox.core.errors import ModelMissing
from edgevox.core.turn import CancelFlag
from edgevox.core.types import Embedding, EmbedRequest, JsonObject
from edgevox.server.assistant import DEFAULT_NAMES, Embedder
from edgevox.server.engine_queues import EngineQueue
from edgevox.server.http.auth import client_key_of
from edgevox.server.http.errors import ApiError, check_model
from edgevox.server.http.wire import Ignored, RequestBody, StrictBody, cancel_on_disconnect, read_body, unsupported
from edgevox.server.routes import ENGINE_ERRORS, ApiRoute, ServerContext
from edgevox.tools.policy import Caller

# Names that programs hard-code, of OpenAI's and Ollama's models.
_NAMES = ("text-embedding-3-small", "text-embedding-ada-002", "all-minilm", *DEFAULT_NAMES)
_TAG = ":latest"
# So many texts at once; then the local speaker and other programs come in between.
_TEXTS_AT_ONCE = 4


def _texts_only(value: object) -> object:
    items = value if isinstance(value, list) else ()
    if any(isinstance(item, int | list) for item in items):
        raise unsupported("token ids are not supported: send text")
    return value


_Text: TypeAlias = Annotated[str, Field(min_length=1)]
_Input: TypeAlias = Annotated[
    _Text | Annotated[list[_Text], Field(min_length=1, max_length=2048)], BeforeValidator(_texts_only)
]


class EmbeddingsBody(StrictBody):
    """A request of OpenAI's clients."""

    model: str = DEFAULT_NAMES[0]
    input: _Input
    encoding_format: Literal["float", "base64"] = "float"
    dimensions: int | None = None
    user: Ignored = None


class EmbedBody(RequestBody):
    """A request of Ollama's clients; a text that is too long is cut by default."""

    model: str
    input: str | Annotated[list[str], Field(max_length=2048)]
    truncate: bool | None = None
    dimensions: int | None = None
    options: dict[str, Any] | None = None


class OldEmbedBody(RequestBody):
    """A request of Ollama's older route: one text."""

    model: str
    prompt: str
    options: dict[str, Any] | None = None


async def _embeddings(server: ServerContext, request: Request, caller: Caller) -> JsonObject:
    body = await read_body(request, EmbeddingsBody)
    texts = [body.input] if isinstance(body.input, str) else body.input
    found = await _embed(server, request, caller, body.model, body.dimensions, EmbedRequest(tuple(texts)))
    is_float = body.encoding_format == "float"
    data = [
        {"object": "embedding", "index": index, "embedding": _floats(one) if is_float else _base64(one)}
        for index, one in enumerate(found)
    ]
    tokens = sum(one.tokens for one in found)
    return {
        "object": "list",
        "model": body.model,
        "data": data,
        "usage": {"prompt_tokens": tokens, "total_tokens": tokens},
    }


async def _ollama_embed(server: ServerContext, request: Request, caller: Caller) -> JsonObject:
    body = await read_body(request, EmbedBody)
    started_s = time.monotonic()
    texts = [body.input] if isinstance(body.input, str) else body.input
    wanted = EmbedRequest(tuple(texts), truncate=body.truncate is not False)
    found = await _embed(server, request, caller, body.model, body.dimensions, wanted)
    return {
        "model": body.model,
        "embeddings": [_floats(one) for one in found],
        "total_duration": round((time.monotonic() - started_s) * 1e9),
        "load_duration": 0,
        "prompt_eval_count": sum(one.tokens for one in found),
    }


async def _ollama_embeddings(server: ServerContext, request: Request, caller: Caller) -> JsonObject:
    body = await read_body(request, OldEmbedBody)
    wanted = EmbedRequest((body.prompt,), truncate=True)
    (one,) = await _embed(server, request, caller, body.model, None, wanted)
    return {"embedding": _floats(one)}


async def _embed(
    server: ServerContext, request: Request, caller: Caller, model: str, dimensions: int | None, wanted: EmbedRequest
) -> list[Embedding]:
    """Raises ApiError, ContextOverflow and EngineFailed."""
    embedder = server.assistant.embedder
    if embedder is None:
        raise ApiError(404, "not_served", "this server has no embeddings")
    check_model(model.removesuffix(_TAG), (embedder.name,), aliases=_NAMES)
    if dimensions not in (None, embedder.dimensions):
        message = f"dimensions: the model has {embedder.dimensions}, and they cannot be shortened"
        raise ApiError(400, "invalid_value", message, param="dimensions")
    queue = server.queues.embedding
    with queue.place(client_key_of(request, caller)):
        work = _embed_in_turns(embedder, wanted, queue, caller.name)
        try:
            return await cancel_on_disconnect(request.receive, work)
        except ModelMissing as error:
            raise ApiError(404, "model_not_found", f"{error.message}: {error.hint}", param="model") from None


async def _embed_in_turns(
    embedder: Embedder, wanted: EmbedRequest, queue: EngineQueue, client_name: str
) -> list[Embedding]:
    """Embed a few texts at a time, releasing the queue in between. Raises as `Embedder.stream` does."""
    found: list[Embedding] = []
    cancel = CancelFlag()
    try:
        for start in range(0, len(wanted.texts), _TEXTS_AT_ONCE):
            part = EmbedRequest(wanted.texts[start : start + _TEXTS_AT_ONCE], wanted.truncate)
            async with queue.turn(client_name), aclosing(embedder.stream(part, cancel)) as replies:
                found += [reply async for reply in replies]
    finally:
        cancel.set()
    return found


def _floats(one: Embedding) -> Sequence[float]:
    values: list[float] = one.vector.tolist()
    return values


def _base64(one: Embedding) -> str:
    return base64.b64encode(one.vector.astype("<f4").tobytes()).decode()


ROUTES = tuple(
    ApiRoute("POST", path, summary, handler, "chat", allow_local=True, body=body, errors=ENGINE_ERRORS)
    for path, summary, handler, body in (
        ("/v1/embeddings", "Embeddings (OpenAI)", _embeddings, EmbeddingsBody),
        ("/api/embed", "Embeddings (Ollama)", _ollama_embed, EmbedBody),
        ("/api/embeddings", "One embedding (Ollama, older)", _ollama_embeddings, OldEmbedBody),
    )
)
