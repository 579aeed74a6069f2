"""The assistant's tools over streamable HTTP, used by the SDK's own client."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Literal

import httpx2
import pytest
from mcp import Client, MCPError
from mcp.client.session import ClientRequestContext
from mcp.client.streamable_http import streamable_http_client
from mcp.types import ElicitRequestParams, ElicitResult, TextContent, TextResourceContents

from edgevox import tool
from edgevox.core.files import Folders
from edgevox.core.turn import cancel_tasks
from edgevox.tools import Tool
from tests.server.harness import ACTOR, OWNER, READER, Lamp, acting, model, served
from tests.server.websocket.harness import voice_server

BOUND_S = 20
CALL = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "get_time"}}
Mode = Literal["legacy", "auto"]
# With a session and requests to the client (2025), and without both (2026).
BOTH_PROTOCOLS = pytest.mark.parametrize("mode", ["legacy", "auto"])


class Door(Lamp):
    """A lamp, a door that is unlocked after a yes, and a gate that takes for ever."""

    def __init__(self) -> None:
        super().__init__()
        self.url = ""
        self.moves, self.stopped = asyncio.Event(), asyncio.Event()

    def tools(self) -> tuple[Tool, ...]:
        @tool(side_effects=True, confirm="screen")
        def unlock_door(door: str) -> str:
            """Unlock a door."""
            self.log.append(f"unlocked {door}")
            return "unlocked"

        @tool(side_effects=True, confirm="never")
        async def move_gate() -> None:
            """Move the gate."""
            self.moves.set()
            try:
                await asyncio.Event().wait()
            finally:
                self.stopped.set()

        return (*super().tools(), unlock_door, move_gate)


class Person:
    """The user of a client, who answers its questions one after the other."""

    def __init__(self, *answers: ElicitResult) -> None:
        self._answers = iter(answers)
        self.asked: list[str] = []

    async def __call__(self, context: ClientRequestContext, params: ElicitRequestParams) -> ElicitResult:
        self.asked.append(params.message)
        return next(self._answers)


YES = ElicitResult(action="accept", content={"confirm": True})
NOES = (
    ElicitResult(action="accept", content={"confirm": False}),
    ElicitResult(action="accept"),
    ElicitResult(action="decline"),
    ElicitResult(action="cancel", content={"confirm": True}),
)


@asynccontextmanager
async def client_of(lamp: Lamp, token: str, person: Person | None = None, mode: Mode = "auto") -> AsyncIterator[Client]:
    async with (
        served(acting(model([]), lamp), mcp=True) as url,
        httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}, timeout=BOUND_S) as http,
        Client(
            streamable_http_client(f"{url}/mcp", http_client=http), elicitation_callback=person, mode=mode
        ) as client,
    ):
        if isinstance(lamp, Door):
            lamp.url = url
        yield client


async def called(client: Client, name: str, **arguments: object) -> tuple[str, bool]:
    result = await client.call_tool(name, arguments)
    [block] = result.content
    assert isinstance(block, TextContent)
    return block.text, result.is_error


@BOTH_PROTOCOLS
async def test_a_client_lists_the_tools_and_calls_them_again_and_again(mode: Mode) -> None:
    lamp = Lamp()
    async with client_of(lamp, OWNER, mode=mode) as client:
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


@BOTH_PROTOCOLS
async def test_only_an_accepted_form_with_a_yes_unlocks(mode: Mode) -> None:
    door, person = Door(), Person(*NOES, YES)
    async with client_of(door, OWNER, person, mode) as client:
        refused = [(await called(client, "unlock_door", door="front door"))[1] for _no in NOES]
        assert (refused, door.log) == ([True] * len(NOES), [])
        assert await called(client, "unlock_door", door="back door") == ('"unlocked"', False)
    assert door.log == ["unlocked back door"]
    assert (person.asked[0], person.asked[-1]) == (
        "Shall I unlock door: front door?",
        "Shall I unlock door: back door?",
    )


@BOTH_PROTOCOLS
async def test_a_client_whose_token_stands_for_no_person_waits_for_another_tokens_yes(mode: Mode) -> None:
    door, person = Door(), Person(YES)

    async def answer_elsewhere(progress: float, total: float | None, message: str | None) -> None:
        if message:
            async with httpx2.AsyncClient(headers={"Authorization": f"Bearer {OWNER}"}) as owner:
                [question] = (await owner.get(f"{door.url}/v1/confirmations")).json()["data"]
                await owner.post(f"{door.url}/v1/confirmations/{question['token']}", json={"granted": True})

    async with client_of(door, ACTOR, person, mode) as client:
        await client.call_tool("unlock_door", {"door": "front door"}, progress_callback=answer_elsewhere)
    assert (person.asked, door.log) == ([], ["unlocked front door"])


@BOTH_PROTOCOLS
async def test_progress_arrives_while_the_call_runs_and_a_client_that_cancels_it_stops_the_tool(mode: Mode) -> None:
    door, moving = Door(), asyncio.Event()
    seconds: list[float] = []

    async def note(progress: float, total: float | None, message: str | None) -> None:
        assert door.moves.is_set() or not seconds
        seconds.append(progress)
        if len(seconds) == 2:
            moving.set()

    async with client_of(door, OWNER, mode=mode) as client, asyncio.timeout(BOUND_S):
        call = asyncio.create_task(client.call_tool("move_gate", {}, progress_callback=note))
        await moving.wait()
        assert not call.done()
        await cancel_tasks(call)
        await door.stopped.wait()
    assert seconds == sorted(seconds)


async def test_a_session_of_the_older_protocol_belongs_to_its_token() -> None:
    begin = {
        "jsonrpc": "2.0",
        "id": 0,
        "method": "initialize",
        "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "one", "version": "1"}},
    }
    both = {"Accept": "application/json, text/event-stream"}
    async with served(acting(model([]), Lamp()), mcp=True) as url, httpx2.AsyncClient(headers=both) as http:

        async def post(body: dict[str, Any], token: str, **headers: str) -> httpx2.Response:
            return await http.post(f"{url}/mcp", json=body, headers={"Authorization": f"Bearer {token}", **headers})

        session = {"Mcp-Session-Id": (await post(begin, OWNER)).headers["Mcp-Session-Id"]}
        statuses = [(await post(CALL, token, **session)).status_code for token in (READER, OWNER)]
    assert statuses == [404, 200]


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 401),
        ({"Authorization": "Bearer wrong"}, 401),
        ({"Authorization": f"Bearer {OWNER}", "Origin": "http://evil.example"}, 403),
        ({"Authorization": f"Bearer {OWNER}", "Host": "evil.example"}, 403),
    ],
)
async def test_requests_without_a_valid_token_are_refused(headers: dict[str, str], status: int) -> None:
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
        voice_server(folders, mcp=True) as behind,
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
