"""Requests for MCP servers become calls where the model cannot make them; what names the home stays the home's."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import cast

import pytest

from edgevox.agents import LLMAgent
from edgevox.app.server_requests import AddressedServers, NamedServers, asked_part
from edgevox.core.hooks import Answer, Calls, Run, ToolOutcome
from edgevox.testing import ScriptedModel
from edgevox.tools.mcp.filling import Lookup, Request
from edgevox.tools.mcp.servers import McpServers
from edgevox.tools.mcp.tools import Definition, as_tool


class OneRequest:
    """Servers that take every sentence for the same request."""

    lookup: Lookup | None = None

    def __init__(self, request: Request) -> None:
        self._request = request

    def meant(self, sentence: str) -> Request:
        return self._request

    def looked_up(self, sentence: str) -> Request | Lookup:
        return self.lookup or self._request

    def forget_tables(self) -> None:
        """Has none."""


def servers(*missing: str) -> McpServers:
    return cast("McpServers", OneRequest(Request("files_move", {"source": "/a"}, missing)))


def said(text: str) -> Run:
    return Run("edgevox", "turn", text)


async def test_a_sentence_with_a_path_becomes_a_call_whose_result_is_the_answer() -> None:
    hook, run = AddressedServers(servers()), said("move /a")
    decision = await hook.on_run_start(run)

    assert isinstance(decision, Calls)
    (call,) = decision.calls
    assert (call.name, json.loads(call.arguments)) == ("files_move", {"source": "/a"})
    assert await hook.after_tool(run, call, ToolOutcome('"moved to /b"')) == Answer("Moved to /b.")
    refused = await hook.after_tool(run, call, ToolOutcome('"no such file"', True, "invalid_arguments"))
    assert refused == Answer("Sorry, that did not work: no such file.")


def test_an_answer_has_the_part_of_a_result_that_was_asked_for() -> None:
    info = "size: 20\ncreated: Monday\nmodified: Tuesday\npermissions: 644"
    tree = json.dumps([{"name": "a.txt", "type": "file"}, {"name": "b", "children": [{"name": "c.txt"}]}])

    assert asked_part(info, "what permissions does /a.txt have") == '"permissions: 644"'
    assert asked_part(info, "how big is /a.txt") == '"size: 20"'
    assert asked_part(json.dumps(info), "tell me about /a.txt") == json.dumps(info)
    assert asked_part(json.dumps("[FILE] a.txt"), "list /") == '"[FILE] a.txt"'
    assert asked_part(json.dumps(tree), "show the tree of /") == '"a.txt, b with c.txt"'
    assert asked_part(json.dumps("[{'title': 'Emma'}, {'title': 'Dracula'}]"), "books") == '["Emma", "Dracula"]'
    assert asked_part(json.dumps("[('name': 'Emma', 'pages': 474}]"), "books") == '[{"name": "Emma", "pages": 474}]'


async def test_what_is_missing_is_named() -> None:
    decision = await AddressedServers(servers("new_name")).on_run_start(said("move /a"))

    assert decision == Answer("For that I also need the new name.")


async def test_what_names_a_thing_of_the_home_is_left_to_it() -> None:
    named = NamedServers(servers(), lambda: ("Desk Lamp",), lambda text: text == "two and two")

    assert await AddressedServers(servers()).on_run_start(said("move it")) is None
    assert await named.on_run_start(said("move the desk lamp")) is None
    assert await named.on_run_start(said("two and two")) is None
    assert isinstance(await named.on_run_start(said("move it")), Calls)
    vault = cast("McpServers", OneRequest(Request("read_note", {"vault": "garden"}, named=("garden",))))
    of_vault = NamedServers(vault, lambda: ("Garden", "Desk Lamp"), lambda _text: False)
    assert isinstance(await of_vault.on_run_start(said("open the note in the vault garden")), Calls)
    assert await of_vault.on_run_start(said("put the desk lamp in the vault garden")) is None


@pytest.mark.parametrize(("known", "expected"), [("Rosa", ["find", "add"]), ("nobody", ["find"])])
async def test_what_is_looked_up_decides_what_is_called_next(known: str, expected: list[str]) -> None:
    fake = OneRequest(Request("other", {}))
    added = Request("add", {"name": "Rosa"})
    fake.lookup = Lookup((Request("find", {"query": "Rosa"}),), lambda found: added if "Rosa" in found[0] else "Who?")
    called: list[str] = []

    async def call(name: str, _arguments: Mapping[str, object]) -> object:
        called.append(name)
        return known if name == "find" else "added"

    slots = {"type": "object", "properties": {"query": {"type": "string"}, "name": {"type": "string"}}}
    tools = [
        as_tool(Definition(name=name, input_schema=slots, read_only=True), name, call, server_id="book")
        for name in ("find", "add")
    ]
    hook = NamedServers(cast("McpServers", fake), lambda: (), lambda _text: False)
    agent = LLMAgent("edgevox", tools=tools, hooks=[hook], model=ScriptedModel([]))
    result = await agent.run("remember that Rosa needs water")

    assert called == expected
    assert result.reply == ("Added." if "add" in expected else "Who?")
