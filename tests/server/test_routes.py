"""A new route is one new file: its access rule, body limit, metrics and OpenAPI entry follow from its table."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from edgevox.server import routes
from tests.server.harness import OWNER, READER, TALKER, model, served, talking

MODULE = """
from edgevox.server.http.wire import RequestBody, read_body
from edgevox.server.routes import ApiRoute


class ToyBody(RequestBody):
    text: str


async def _toy(server, request, caller):
    body = await read_body(request, ToyBody)
    return {"text": body.text.upper(), "caller": caller.name, "name": request.path_params["name"]}


async def _size(server, request, caller):
    return {"bytes": len(await request.body()), "caller": caller.name}


ROUTES = (
    ApiRoute("POST", "/v1/toys/{name}", "A toy", _toy, "read", body=ToyBody, errors=(404,)),
    ApiRoute("POST", "/v1/toy_size", "Its size", _size, "audio", allow_local=True, takes_audio=True),
)
"""


@asynccontextmanager
async def toys(folder: Path, monkeypatch: pytest.MonkeyPatch, **settings: Any) -> AsyncIterator[aiohttp.ClientSession]:
    """A client of a server with one more module of routes."""
    (folder / "toys.py").write_text(MODULE)
    monkeypatch.setattr(routes, "__path__", [*routes.__path__, str(folder)])
    async with served(talking(model([])), **settings) as url, aiohttp.ClientSession(url) as session:
        yield session


async def posted(session: aiohttp.ClientSession, path: str, token: str = "", **more: Any) -> tuple[int, Any]:
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    async with session.post(path, headers=headers, **more) as response:
        return response.status, await response.json()


async def test_a_new_module_of_routes_is_served_with_its_access_rule(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with toys(tmp_path, monkeypatch) as session:
        status, answer = await posted(session, "/v1/toys/bear", READER, json={"text": "hi"})
        assert (status, answer) == (200, {"text": "HI", "caller": "reader", "name": "bear"})
        for token, expected in (("", 401), (TALKER, 403)):
            assert (await posted(session, "/v1/toys/bear", token, json={"text": "hi"}))[0] == expected
        assert (await posted(session, "/v1/toys/bear", OWNER, json={"text": 7}))[0] == 400
        assert (await posted(session, "/v1/toys/bear", OWNER, data=b"x"))[0] == 415
        assert (await posted(session, "/v1/toy_size", data=b"xyz"))[1]["bytes"] == 3


async def test_a_new_route_has_the_body_limit_of_its_kind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with toys(tmp_path, monkeypatch, max_body_bytes=1_000, max_audio_bytes=3_000) as session:
        assert (await posted(session, "/v1/toys/bear", OWNER, json={"text": "x" * 2_000}))[0] == 413
        assert (await posted(session, "/v1/toy_size", data=b"x" * 2_000))[0] == 200
        assert (await posted(session, "/v1/toy_size", data=b"x" * 4_000))[0] == 413


async def test_a_new_route_is_described_and_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with toys(tmp_path, monkeypatch) as session:
        await posted(session, "/v1/toy_size", data=b"")
        async with session.get("/openapi.json") as response:
            document = await response.json()
        async with session.get("/metrics") as response:
            figures = await response.text()
    operation = document["paths"]["/v1/toys/{name}"]["post"]
    assert operation["summary"] == "A toy"
    assert [parameter["name"] for parameter in operation["parameters"]] == ["name"]
    assert {"200", "400", "401", "404", "415"} <= operation["responses"].keys()
    assert "ToyBody" in document["components"]["schemas"]
    assert 'edgevox_requests_total{path="/v1/toy_size",status="200"} 1' in figures
