"""CrewAI's own package: its agent with our tools and our server, and our agent with its tool."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from crewai import LLM, Agent
from crewai.tools import BaseTool
from crewai.tools import tool as crewai_tool

from edgevox.adapters.crewai import from_crewai, to_crewai
from tests.adapters.home import answered, bridged, check_guide, model_server
from tests.server.harness import written

# What the framework itself does that its own libraries have given up.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


def test_a_tool_of_ours_is_a_base_tool() -> None:
    log: list[str] = []
    with bridged(log) as bridge:
        tools = {tool.name: tool for tool in to_crewai(bridge)}
        assert all(isinstance(tool, BaseTool) for tool in tools.values())
        assert tools["get_temperature"].run(room="hall") == '"21 degrees in the hall"'
        assert "nobody could be asked" in tools["unlock_door"].run()
    assert log == ["read hall"]


async def test_its_agent_calls_our_tool_through_our_server() -> None:
    log: list[str] = []
    # CrewAI's schemas are strict: what may be left out is required, and null.
    call = written("get_temperature", '{"room": "kitchen", "unit": null}')
    async with model_server(call, "It is 21 degrees.") as (where, model):
        with bridged(log) as bridge:
            agent = Agent(
                role="host",
                goal="answer questions about the home",
                backstory="You live here.",
                llm=LLM(model="default", provider="openai", **where),
                tools=to_crewai(bridge),
            )
            answer = await asyncio.to_thread(agent.kickoff, "How warm is the kitchen?")
    assert answer.raw == "It is 21 degrees."
    assert log == ["read kitchen"]
    assert len(model.requests) == 2


@pytest.mark.parametrize("yes", [True, False])
async def test_our_agent_calls_its_tool_and_asks_first(yes: bool) -> None:
    log: list[str] = []

    @crewai_tool("book_table")
    def book_table(people: int) -> str:
        """Book a table."""
        log.append(f"booked for {people}")
        return "booked"

    ours = from_crewai(book_table)
    assert (ours.confirm, ours.description) == ("voice", "Book a table.")
    await answered(ours, written("book_table", '{"people": 2}'), "It is booked.", yes=yes)
    assert log == (["booked for 2"] if yes else [])


@pytest.mark.engine
def test_the_guide_works_as_it_is_written_with_the_default_model(served_home: str, tmp_path: Path) -> None:
    check_guide("CrewAI", served_home, tmp_path)
