"""A server on loopback with a scripted model, and tools that record their calls."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

from edgevox import tool
from edgevox.agents import LLMAgent
from edgevox.agents.model_profile import ModelProfile
from edgevox.config import ServerSettings
from edgevox.core.errors import EdgevoxError
from edgevox.core.types import ChatModel, Sampling
from edgevox.server.app import create_app
from edgevox.server.assistant import Assistant
from edgevox.server.http.listener import http_listener
from edgevox.server.http.tokens import Tokens
from edgevox.testing import ScriptedModel
from edgevox.tools import Tool, ToolExecutor, ToolRegistry
from edgevox.tools.policy import Caller

OWNER = "owner-token-for-tests"
ACTOR = "actor-token-for-tests"
READER = "reader-token-for-tests"
TALKER = "talker-token-for-tests"
TOKENS = Tokens(
    {
        OWNER: Caller("owner", frozenset({"*"})),
        ACTOR: Caller("actor", frozenset({"read", "act"})),
        READER: Caller("reader", frozenset({"read"})),
        TALKER: Caller("talker", frozenset({"chat"})),
    }
)
PARSERS = ("hermes",)


def written(name: str, arguments: str = "{}") -> str:
    """A call as the model writes it."""
    return f'<tool_call>\n{{"name": "{name}", "arguments": {arguments}}}\n</tool_call>'


class Lamp:
    """The home: one lamp."""

    def __init__(self) -> None:
        self.log: list[str] = []

    def tools(self) -> tuple[Tool, ...]:
        @tool(side_effects=True)
        def switch_lamp(on: bool) -> str:
            """Switch the lamp."""
            self.log.append(f"lamp {'on' if on else 'off'}")
            return "done"

        @tool
        def get_time() -> str:
            """The time."""
            self.log.append("time")
            return "noon"

        return switch_lamp, get_time


def model(lines: Sequence[str | EdgevoxError]) -> ScriptedModel:
    return ScriptedModel(lines)


def talking(chat_model: ChatModel) -> Assistant:
    """An assistant without tools of its own."""
    return Assistant("scripted", ModelProfile(chat_model, PARSERS, sampling=Sampling(temperature=0.0)))


def acting(chat_model: ChatModel, lamp: Lamp, parsers: tuple[str, ...] = PARSERS) -> Assistant:
    """One with tools of its own."""
    executor = ToolExecutor(ToolRegistry(lamp.tools()))

    def make_agent(room: str = "", **given: Any) -> LLMAgent:
        told = "\n\n".join(filter(None, ("You run a home.", given.pop("instructions"))))
        return LLMAgent("edgevox", instructions=told, tools=executor, parsers=parsers, **given)

    asked = ModelProfile(chat_model, parsers, sampling=Sampling(temperature=0.0))
    return Assistant("scripted", asked, make_agent, executor)


@asynccontextmanager
async def served(assistant: Assistant, **settings: Any) -> AsyncIterator[str]:
    """The address of a server for that assistant."""
    app = create_app(assistant, ServerSettings(**settings), TOKENS)
    async with http_listener(app, "127.0.0.1", 0) as url:
        yield url
