"""Routes about models: which are installed, and downloading one."""

from __future__ import annotations

import asyncio

from starlette.requests import Request
from starlette.responses import Response

from edgevox.core.types import JsonObject
from edgevox.models import ModelEntry, open_store
from edgevox.server.http.errors import ApiError
from edgevox.server.routes import ApiRoute, ServerContext
from edgevox.tools.policy import Caller

_SCOPE = "settings"


async def _list_models(server: ServerContext, _request: Request, _caller: Caller) -> JsonObject:
    store = open_store(server.dashboard.folders)
    installed = await asyncio.to_thread(store.installed)
    return {"object": "list", "data": [_model_json(server, entry, installed) for entry in store.manifest.models]}


async def _download(server: ServerContext, request: Request, _caller: Caller) -> Response | JsonObject:
    store, model_id = open_store(server.dashboard.folders), request.path_params["id"]
    if model_id not in {entry.id for entry in store.manifest.models}:
        raise ApiError(404, "model_not_found", "no model has this id")
    server.downloads.start(store, model_id)
    return {"id": model_id, "is_running": True}


def _model_json(server: ServerContext, entry: ModelEntry, installed: tuple[str, ...]) -> JsonObject:
    download = server.downloads.get(entry.id)
    return {
        "id": entry.id,
        "kind": entry.kind,
        "bytes": entry.size_bytes,
        "is_installed": entry.id in installed,
        "is_running": download.is_running,
        "bytes_done": sum(download.received.values()),
        "error": download.error,
    }


ROUTES = (
    ApiRoute("GET", "/v1/downloads", "Models and their downloads", _list_models, _SCOPE, errors=(404,)),
    ApiRoute("POST", "/v1/downloads/{id}", "Download a model", _download, _SCOPE, errors=(404,)),
)
