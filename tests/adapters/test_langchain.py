"""LangChain's own package: its agent with our tools and our server, and our agent with its tool."""

from __future__ import annotations

from pathlib import Path

import pytest
from langchain.agents import create_agent
from langchain_core.messages import ToolMessage
from langchain_core.tools import BaseTool
from langchain_core.tools import tool as langchain_tool
from langchain_openai import ChatOpenAI

from edgevox.adapters.langchain import from_langchain, to_langchain
from tests.adapters.home import TEMPERATURE, answered, bridged, check_guide, model_server
from tests.server.harness import written


def test_a_tool_of_ours_is_a_base_tool() -> None:
    log: list[str] = []
    with bridged(log) as bridge:
        tools = {tool.name: tool for tool in to_langchain(bridge)}
        assert all(isinstance(tool, BaseTool) for tool in tools.values())
        assert tools["get_temperature"].invoke({"room": "hall"}) == '"21 degrees in the hall"'
        assert "nobody could be asked" in tools["unlock_door"].invoke({})
    assert log == ["read hall"]


async def test_its_agent_calls_our_tool_through_our_server() -> None:
    log: list[str] = []
    async with model_server(TEMPERATURE, "It is 21 degrees.") as (where, model):
        with bridged(log) as bridge:
            agent = create_agent(ChatOpenAI(model="default", **where), to_langchain(bridge))
            state = await agent.ainvoke({"messages": [("user", "How warm is the kitchen?")]})
    assert state["messages"][-1].content == "It is 21 degrees."
    assert [one.content for one in state["messages"] if isinstance(one, ToolMessage)] == ['"21 degrees in the kitchen"']
    assert log == ["read kitchen"]
    assert len(model.requests) == 2


@pytest.mark.parametrize("yes", [True, False])
async def test_our_agent_calls_its_tool_and_asks_first(yes: bool) -> None:
    log: list[str] = []

    @langchain_tool
    def book_table(people: int) -> str:
        """Book a table."""
        log.append(f"booked for {people}")
        return "booked"

    ours = from_langchain(book_table)
    assert ours.confirm == "voice"
    lines = [written("book_table", '{"people": 2}'), "It is booked."]
    _reply, _model = await answered(ours, *lines, yes=yes)
    assert log == (["booked for 2"] if yes else [])


async def test_its_reading_tool_needs_no_yes() -> None:
    @langchain_tool
    async def price_of(thing: str) -> str:
        """The price of a thing."""
        return f"{thing}: 3 euros"

    reply, model = await answered(
        from_langchain(price_of, only_reads=True), written("price_of", '{"thing": "tea"}'), "Three euros."
    )
    assert reply == "Three euros."
    assert model.requests[1].messages[-1].content == '"tea: 3 euros"'


@pytest.mark.engine
def test_the_guide_works_as_it_is_written_with_the_default_model(served_home: str, tmp_path: Path) -> None:
    check_guide("LangChain", served_home, tmp_path)
