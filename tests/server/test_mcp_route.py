"""The assistant's tools over streamable HTTP, used by the SDK's own client."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx2
import pytest
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client
from mcp.types import TextContent, TextResourceContents

from edgevox.core.files import Folders
from tests.server.harness import OWNER, READER, Lamp, acting, model, served
from tests.server.websocket.harness import lobby

BOUND_S = 20
CALL = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "get_time"}}


@asynccontextmanager
async def client_of(lamp: Lamp, token: str) -> AsyncIterator[Client]:
    async with (
        served(acting(model([]), lamp), mcp=True) as url,
        httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}, timeout=BOUND_S) as http,
        Client(streamable_http_client(f"{url}/mcp", http_client=http)) as client,
    ):
        yield client


async def called(client: Client, name: str, **arguments: object) -> tuple[str, bool]:
    result = await client.call_tool(name, arguments)
    [block] = result.content
    assert isinstance(block, TextContent)
    return block.text, result.is_error


async def test_a_client_lists_the_tools_and_calls_them_again_and_again() -> None:
    lamp = Lamp()
    async with client_of(lamp, OWNER) as client:
        listed = {one.name: one for one in (await client.list_tools()).tools}
        assert (await called(client, "get_time"))[1] is False
        assert (await called(client, "switch_lamp", on=True))[1] is False
    assert sorted(listed) == ["get_time", "switch_lamp"]
    assert listed["get_time"].annotations is not None
    assert listed["get_time"].annotations.read_only_hint
    assert lamp.log == ["time", "lamp on"]


async def test_a_token_does_no_more_than_its_scopes_say() -> None:
    lamp = Lamp()
    async with client_of(lamp, READER) as client:
        assert (await called(client, "get_time"))[1] is False
        assert (await called(client, "switch_lamp", on=True))[1] is True
    assert lamp.log == ["time"]


async def test_a_client_of_the_older_protocol_is_answered_in_one_request() -> None:
    headers = {
        "Authorization": f"Bearer {READER}",
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": "2025-06-18",
    }
    async with served(acting(model([]), Lamp()), mcp=True) as url, httpx2.AsyncClient() as http:
        response = await http.post(f"{url}/mcp", json=CALL, headers=headers)
    assert response.json()["result"]["content"] == [{"type": "text", "text": '"noon"'}]


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 401),
        ({"Authorization": "Bearer wrong"}, 401),
        ({"Authorization": f"Bearer {OWNER}", "Origin": "http://evil.example"}, 403),
        ({"Authorization": f"Bearer {OWNER}", "Host": "evil.example"}, 403),
    ],
)
async def test_nobody_else_is_answered(headers: dict[str, str], status: int) -> None:
    lamp = Lamp()
    async with served(acting(model([]), lamp), mcp=True) as url, httpx2.AsyncClient() as http:
        response = await http.post(f"{url}/mcp", json=CALL, headers=headers)
    assert (response.status_code, lamp.log) == (status, [])


async def test_it_is_not_there_unless_it_is_wanted() -> None:
    async with served(acting(model([]), Lamp())) as url, httpx2.AsyncClient() as http:
        response = await http.post(f"{url}/mcp", json={}, headers={"Authorization": f"Bearer {OWNER}"})
    assert response.status_code == 404


async def test_the_home_its_rooms_and_a_prompt_are_offered(folders: Folders) -> None:
    async with (
        lobby(folders, mcp=True) as behind,
        httpx2.AsyncClient(headers={"Authorization": f"Bearer {OWNER}"}, timeout=BOUND_S) as http,
        Client(streamable_http_client(f"{behind.url}/mcp", http_client=http)) as client,
    ):
        listed = {str(one.uri) for one in (await client.list_resources()).resources}
        assert {"edgevox://home", "edgevox://home/kitchen"} <= listed
        [content] = (await client.read_resource("edgevox://home/kitchen")).contents
        assert isinstance(content, TextResourceContents)
        assert "light.kitchen" in [one["id"] for one in json.loads(content.text)["things"]]
        with pytest.raises(MCPError, match="not found"):
            await client.read_resource("edgevox://home/nowhere")
        [prompt] = (await client.list_prompts()).prompts
        told = await client.get_prompt(prompt.name, {"request": "Dim the light."})
        assert isinstance(told.messages[0].content, TextContent)
        assert told.messages[0].content.text.endswith("Dim the light.")
        result = await client.call_tool("turn_on", {"name": "kitchen light"})
        assert result.structured_content is not None
        assert behind.state("light.kitchen") == "on"
