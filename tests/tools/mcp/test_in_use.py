"""MCP tools in conversations and in the API server's streams, with scripted models."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from edgevox.agents import LLMAgent
from edgevox.agents.model_profile import ModelProfile
from edgevox.agents.tool_loop import Agreement
from edgevox.app.toolbox import Toolbox
from edgevox.config import Settings
from edgevox.core.files import Folders
from edgevox.core.turn import Turn
from edgevox.core.types import ChatRequest, Sampling
from edgevox.server.assistant import Assistant
from edgevox.testing import ScriptedModel
from edgevox.tools.mcp.approvals import APPROVALS_FILE, Approvals
from edgevox.tools.mcp.config import StdioServer, add_server
from edgevox.tools.policy import PendingConfirmation
from tests.server.harness import PARSERS, written
from tests.server.openai_chat import client, streamed
from tests.tools.mcp.running import logged, raw


@asynccontextmanager
async def toolbox_with(folders: Folders, *specs: StdioServer, max_offered: int = 12) -> AsyncIterator[Toolbox]:
    approvals = Approvals(folders.state / APPROVALS_FILE)
    for spec in specs:
        add_server(folders.config / "mcp.json", spec)
        approvals.approve(spec)
    settings = Settings.model_validate({"mcp": {"max_offered": max_offered}})
    async with Toolbox(settings, folders, sources=[]) as toolbox:
        await toolbox.mcp.answered(20.0)
        yield toolbox


def agent(toolbox: Toolbox, model: ScriptedModel, **options: Any) -> LLMAgent:
    return LLMAgent(
        "edgevox",
        tools=toolbox.executor,
        offered=toolbox.mcp.offered,
        hooks=(),
        model=model,
        parsers=PARSERS,
        **options,
    )


def tools_of(request: ChatRequest) -> list[str]:
    return [tool["function"]["name"] for tool in request.tools]


async def test_a_conversation_uses_a_servers_tool(folders: Folders, tmp_path: Path) -> None:
    log = tmp_path / "log"
    async with toolbox_with(folders, raw("none", log)) as toolbox:
        model = ScriptedModel([written("echo_back", '{"text": "hello there"}'), "It says hello there."])
        result = await agent(toolbox, model).run("echo hello there")
    assert result.reply == "It says hello there."
    assert [call.name for call in result.calls] == ["echo_back"]
    assert result.results[0].content == '"hello there"'
    assert logged(log) == ['echo-back {"text": "hello there"}']
    assert {"light_set", "echo_back"} <= set(tools_of(model.requests[0]))


@pytest.mark.parametrize("granted", [True, False])
async def test_a_tool_with_side_effects_runs_only_after_a_yes(folders: Folders, tmp_path: Path, granted: bool) -> None:
    log = tmp_path / "log"
    asked: list[str] = []

    async def confirm(pending: PendingConfirmation, _turn: Turn) -> Agreement:
        asked.append(pending.question)
        return Agreement(granted=granted)

    async with toolbox_with(folders, raw("none", log)) as toolbox:
        model = ScriptedModel([written("act", '{"what": "the bins"}'), "Well."])
        await agent(toolbox, model, confirm=confirm).run("do the bins")
    assert asked == ["Shall I act: the bins?"]
    assert logged(log) == (['act {"what": "the bins"}'] if granted else [])


async def test_only_relevant_tools_are_in_the_prompt_and_the_usual_prompt_is_known(folders: Folders) -> None:
    servers = [raw("none", None, name) for name in ("alpha", "beta", "gamma")]
    async with toolbox_with(folders, *servers, max_offered=4) as toolbox:
        model = ScriptedModel(["Fine.", "Yes.", ""])
        one = agent(toolbox, model)
        await one.run("How are you?")
        await one.run("Look around with beta, please.")
    talk, look = model.requests
    home = [name for name in toolbox.registry.names if toolbox.registry.owner(name) == "edgevox"]
    assert tools_of(talk) == home
    assert "beta_look" in tools_of(look)
    assert len(tools_of(look)) <= len(home) + 4
    assert look.default_tools is not None
    assert [tool["function"]["name"] for tool in look.default_tools] == home
    assert (talk.default_tools, talk.client == look.client) == (None, False)


async def test_a_follow_up_finds_the_tool_of_the_previous_turn(folders: Folders) -> None:
    servers = [raw("none", None, name) for name in ("alpha", "beta", "gamma")]
    async with toolbox_with(folders, *servers, max_offered=4) as toolbox:
        model = ScriptedModel([written("beta_look"), "All is well.", "Yes."])
        one = agent(toolbox, model)
        await one.run("Look around with beta, please.")
        await one.run("And tomorrow?")
    assert "beta_look" in tools_of(model.requests[2])


async def test_tools_of_a_server_that_is_away_are_not_offered(folders: Folders) -> None:
    async with toolbox_with(folders, raw("none", None, "good"), raw("crashing", None, "bad")) as toolbox:
        [good, bad] = toolbox.mcp.reports()
        assert (good.status, bad.status) == ("ready", "away")
        offered = toolbox.mcp.offered("look around")
    assert "good_look" in offered
    assert not [name for name in offered if name.startswith("bad_")]


async def test_an_invalid_file_only_disables_the_servers(folders: Folders) -> None:
    folders.config.mkdir(parents=True)
    (folders.config / "mcp.json").write_text("{", encoding="utf-8")
    async with Toolbox(Settings(), folders, sources=[]) as toolbox:
        assert toolbox.mcp.reports() == ()
        assert "light_set" in toolbox.registry


# --- in the server's internal mode


def assistant(toolbox: Toolbox, model: ScriptedModel) -> Assistant:
    def make_agent(room: str = "", **given: Any) -> LLMAgent:
        return LLMAgent(
            "edgevox", tools=toolbox.executor, offered=toolbox.mcp.offered, hooks=(), parsers=PARSERS, **given
        )

    asked = ModelProfile(model, PARSERS, sampling=Sampling(temperature=0.0))
    return Assistant("scripted", asked, make_agent, toolbox.executor)


async def test_an_api_client_gets_one_stream_with_a_servers_tool_call(folders: Folders, tmp_path: Path) -> None:
    log = tmp_path / "log"
    async with toolbox_with(folders, raw("none", log)) as toolbox:
        model = ScriptedModel([written("look"), "All is well."])
        async with client(assistant(toolbox, model)) as chat:
            answer = await streamed(chat, {"role": "user", "content": "look around"})
    assert (answer.text, answer.calls, answer.finish_reason) == ("All is well.", (), "stop")
    assert logged(log) == ["look {}"]


async def test_an_api_client_cannot_cause_side_effects_without_confirmation(folders: Folders, tmp_path: Path) -> None:
    log = tmp_path / "log"
    async with toolbox_with(folders, raw("none", log)) as toolbox:
        model = ScriptedModel([written("act", '{"what": "x"}')])
        async with client(assistant(toolbox, model)) as chat:
            answer = await streamed(chat, {"role": "user", "content": "act"})
    assert (answer.text, answer.calls) == ("I did not do it: nobody could be asked.", ())
    assert logged(log) == []
