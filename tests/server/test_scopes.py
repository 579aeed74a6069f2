"""Every scope of the guide is checked: a token that has all others is refused, and the error names the missing one."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from edgevox import tool
from edgevox.agents import LLMAgent
from edgevox.agents.model_profile import ModelProfile
from edgevox.config import ServerSettings
from edgevox.core.types import Sampling
from edgevox.server.app import create_app
from edgevox.server.assistant import Assistant
from edgevox.server.http.listener import http_listener
from edgevox.server.http.tokens import SCOPES, Tokens
from edgevox.testing import ScriptedModel
from edgevox.tools import Target, Tool, ToolExecutor, ToolRegistry
from edgevox.tools.policy import Caller
from tests.server.harness import PARSERS, written

GUIDE = Path(__file__).parents[2] / "docs" / "guide" / "server.md"
WILDCARDS = {"home.*", "*"}
TOKEN = "a-token-of-the-tests"


def documented_scopes() -> set[str]:
    """The first column of the table of scopes."""
    table = GUIDE.read_text().partition("| scope |")[2].partition("\n\n")[0]
    return {scope for line in table.splitlines()[2:] for scope in re.findall(r"`([^`]+)`", line.split("|")[1])}


def home_tools() -> tuple[Tool, ...]:
    @tool
    def is_locked() -> str:
        """Whether the door is locked."""
        return "yes"

    @tool(side_effects=True)
    def switch_lamp() -> str:
        """Switch the lamp."""
        return "done"

    @tool(side_effects=True, targets=lambda _arguments: [Target("lock", name="front door")])
    def turn() -> str:
        """Turn a thing of the house."""
        return "done"

    return is_locked, switch_lamp, turn


def assistant(*lines: str) -> Assistant:
    executor = ToolExecutor(ToolRegistry(home_tools()))
    profile = ModelProfile(ScriptedModel(lines), PARSERS, sampling=Sampling(temperature=0.0))

    def make_agent(room: str = "", **given: Any) -> LLMAgent:
        return LLMAgent("edgevox", tools=executor, parsers=PARSERS, **{**given, "instructions": "You run a home."})

    return Assistant("scripted", profile, make_agent, executor)


@asynccontextmanager
async def asking(scopes: frozenset[str], *lines: str) -> AsyncIterator[Callable[..., Any]]:
    tokens = Tokens({TOKEN: Caller("panel", scopes)})
    app = create_app(assistant(*lines), ServerSettings(always_token=True), tokens)
    async with (
        http_listener(app, "127.0.0.1", 0) as url,
        aiohttp.ClientSession(headers={"Authorization": f"Bearer {TOKEN}"}) as session,
    ):

        async def ask(method: str, path: str, body: Any = None) -> tuple[int, str]:
            async with session.request(method, url + path, json=body) as response:
                return response.status, await response.text()

        yield ask


def calling(name: str) -> tuple[str, str, dict[str, Any]]:
    return "POST", "/v1/tools/call", {"name": name}


REQUESTS: dict[str, tuple[str, str, Any]] = {
    "chat": ("GET", "/v1/models", None),
    "audio": ("POST", "/v1/audio/speech", {"model": "default", "input": "Hello."}),
    "status": ("GET", "/healthz", None),
    "read": ("GET", "/v1/tools", None),
    "act": calling("switch_lamp"),
    "home.locks": calling("turn"),
    "confirm": ("GET", "/v1/confirmations", None),
    "voice": ("POST", "/v1/voice", {"text": "Hello."}),
    "history": ("GET", "/v1/turns", None),
    "settings": ("GET", "/v1/settings", None),
    "people": ("GET", "/v1/people", None),
}


def test_the_guide_and_the_server_know_the_same_scopes() -> None:
    assert documented_scopes() - WILDCARDS == set(SCOPES) == set(REQUESTS)


@pytest.mark.parametrize("scope", sorted(documented_scopes() - WILDCARDS))
async def test_a_scope_of_the_guide_is_required_and_its_lack_is_named(scope: str) -> None:
    async with asking(frozenset(SCOPES) - {scope}) as ask:
        status, text = await ask(*REQUESTS[scope])
    assert status == 403
    assert f"scope {scope}" in text
    async with asking(frozenset({scope, "read", "act"})) as ask:
        assert (await ask(*REQUESTS[scope]))[0] != 403


async def test_an_answer_names_the_scope_that_is_missing() -> None:
    body = {"model": "default", "messages": [{"role": "user", "content": "Turn the lock."}]}
    async with asking(frozenset({"chat", "read", "act"}), written("turn")) as ask:
        status, text = await ask("POST", "/v1/chat/completions", body)
    assert status == 200
    assert "its token lacks the scope home.locks" in text
