"""A small home, and a model on a server, for agents of other frameworks."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

from edgevox import tool
from edgevox.adapters.bridge import Bridge
from edgevox.agents import LLMAgent
from edgevox.agents.tool_loop import Agreement
from edgevox.app.toolbox import Toolbox
from edgevox.config import load_settings
from edgevox.core.files import Folders
from edgevox.core.turn import Turn
from edgevox.testing import ScriptedModel
from edgevox.tools import Tool, ToolRegistry
from edgevox.tools.policy import PendingConfirmation
from tests.guide import play
from tests.server.harness import OWNER, PARSERS, served, talking, written

TEMPERATURE = written("get_temperature", '{"room": "kitchen"}')


@contextmanager
def bridged(log: list[str]) -> Iterator[Bridge]:
    """Two tools: one reads, one needs a confirmation that no user gives."""

    @tool
    async def get_temperature(room: str, unit: str | None = None) -> str:
        """The temperature of a room.

        Args:
            room: its name
        """
        log.append(f"read {room}")
        return f"21 degrees in the {room}"

    @tool(side_effects=True, confirm="voice")
    def unlock_door() -> str:
        """Unlock the door."""
        log.append("unlocked")
        return "done"

    with Bridge(ToolRegistry([get_temperature, unlock_door])) as bridge:
        yield bridge


@asynccontextmanager
async def model_server(*lines: str) -> AsyncIterator[tuple[dict[str, Any], ScriptedModel]]:
    """Where an OpenAI client finds the server, and the model behind it."""
    model = ScriptedModel(list(lines))
    async with served(talking(model)) as url:
        yield {"base_url": f"{url}/v1", "api_key": OWNER}, model


async def answered(theirs: Tool, *lines: str, yes: bool = False) -> tuple[str, ScriptedModel]:
    """What EdgeVox says when its model uses a framework's tool; the person says yes, or is not there."""

    async def confirm(_pending: PendingConfirmation, _turn: Turn) -> Agreement:
        return Agreement(granted=yes)

    model = ScriptedModel(list(lines))
    agent = LLMAgent("edgevox", tools=[theirs], hooks=(), model=model, parsers=PARSERS, confirm=confirm)
    return (await agent.run("How much is it?")).reply, model


def check_guide(framework: str, url: str, home: Path) -> None:
    """The guide's part about a framework as it stands, with the default model that is served at `url`."""
    folders = Folders(home / "config", home / "state", home / "models")
    own = Toolbox(load_settings(folders, environ={}), folders).registry.names
    seen = play(
        "frameworks.md",
        home,
        part=framework,
        bound_s=240.0,
        EDGEVOX_PRESET="home",
        EDGEVOX_LLM__REMOTE_URL=url,
        EDGEVOX_ENGINES__FIRST_TOKEN_TIMEOUT_S="200",
        # Only the framework's tool is offered: forty others are a prompt of 3,000 tokens, ten seconds of CI.
        EDGEVOX_TOOLS__DISABLED=",".join(own),
        OPENAI_BASE_URL=url,
        OPENAI_API_BASE=url,
        OPENAI_API_KEY="any",
    )
    assert "price of" in seen.casefold()  # called in a conversation
    assert "21" in seen.splitlines()[-1]  # which the model knows from our tool alone
