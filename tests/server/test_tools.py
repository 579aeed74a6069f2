"""Tools without the model, figures and the document: by plain HTTP."""

from __future__ import annotations

import dataclasses
from typing import Any

import aiohttp
import pytest

from edgevox import tool
from edgevox.core.errors import ToolError
from edgevox.server.assistant import Assistant
from edgevox.tools import ToolExecutor, ToolRegistry
from tests.server.harness import OWNER, READER, TALKER, Lamp, acting, model, served, talking
from tests.server.test_auth import asked

LOG: list[str] = []


@tool(side_effects=True, confirm="voice")
def unlock_door() -> str:
    """Unlock the door."""
    LOG.append("door")
    return "unlocked"


@tool
def get_weather() -> str:
    """The weather."""
    raise ToolError("the weather service does not answer")


def housed(lamp: Lamp) -> Assistant:
    executor = ToolExecutor(ToolRegistry([*lamp.tools(), unlock_door, get_weather]))
    return dataclasses.replace(acting(model([]), lamp), executor=executor)


async def call(lamp: Lamp, name: Any, arguments: Any = None, token: str | None = OWNER) -> tuple[int, dict[str, Any]]:
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    body = {"name": name} if arguments is None else {"name": name, "arguments": arguments}
    async with served(housed(lamp)) as url:
        status, answer, _headers = await asked(url, "/v1/tools/call", method="POST", headers=headers, json=body)
    return status, answer


async def test_a_tool_is_called_without_the_model() -> None:
    lamp = Lamp()
    status, answer = await call(lamp, "switch_lamp", {"on": True})
    assert (status, answer["content"], answer["is_error"], lamp.log) == (200, '"done"', False, ["lamp on"])


@pytest.mark.parametrize(
    ("name", "arguments", "token", "expected"),
    [
        ("switch_lamp", {"on": True}, None, (401, "missing_api_key")),
        ("switch_lamp", {"on": True}, "nonsense", (401, "invalid_api_key")),
        ("switch_lamp", {"on": True}, TALKER, (403, "token_scope_insufficient")),
        ("switch_lamp", {"on": True}, READER, (403, "token_scope_insufficient")),
        ("switch_lamp", {"on": "perhaps"}, OWNER, (400, "bad_request")),
        ("switch_lamp", [], OWNER, (400, "invalid_value")),
        ("no_such_tool", {}, OWNER, (404, "tool_not_found")),
        (7, {}, OWNER, (400, "invalid_value")),
        ("unlock_door", {}, OWNER, (409, "requires_confirmation")),
    ],
)
async def test_a_call_that_may_not_be_made_is_refused(
    name: Any, arguments: Any, token: str | None, expected: tuple[int, str]
) -> None:
    lamp = Lamp()
    status, answer = await call(lamp, name, arguments, token)
    assert ((status, answer["error"]["code"]), lamp.log, LOG) == (expected, [], [])


async def test_a_tool_that_fails_says_so_in_its_result() -> None:
    status, answer = await call(Lamp(), "get_weather", token=READER)
    assert (status, answer["is_error"], answer["code"]) == (200, True, "tool_error")


async def test_the_tools_are_listed_for_who_has_a_token() -> None:
    async with served(housed(Lamp())) as url:
        status, body, _headers = await asked(url, "/v1/tools", headers={"Authorization": f"Bearer {READER}"})
        refused, _body, _headers = await asked(url, "/v1/tools")
    names = [one["function"]["name"] for one in body["data"]]
    assert (status, names, refused) == (200, ["switch_lamp", "get_time", "unlock_door", "get_weather"], 401)


async def test_figures_are_counted_by_path_and_unknown_paths_are_one() -> None:
    async with served(talking(model([]))) as url:
        for path in ("/healthz", "/nowhere", "/elsewhere"):
            await asked(url, path)
        figures = await asked_text(url, "/metrics")
    assert 'edgevox_requests_total{path="/healthz",status="200"} 1' in figures
    assert 'edgevox_requests_total{path="other",status="404"} 2' in figures
    assert 'edgevox_queue_requests{queue="model"} 0' in figures


async def asked_text(url: str, path: str) -> str:
    async with aiohttp.ClientSession() as session, session.get(url + path) as response:
        assert response.content_type == "text/plain"
        return await response.text()


async def test_the_document_names_every_route() -> None:
    async with served(talking(model([]))) as url:
        _status, document, _headers = await asked(url, "/openapi.json")
    assert {"/v1/chat/completions", "/v1/messages", "/v1/tools/call", "/metrics"} <= document["paths"].keys()
    assert "ChatCompletionBody" in document["components"]["schemas"]
