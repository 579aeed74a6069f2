"""LlamaIndex's own package: its agent with our tools and our server, and our agent with its tools."""

from __future__ import annotations

from pathlib import Path

import pytest
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.tools import FunctionTool
from llama_index.core.tools.tool_spec.base import BaseToolSpec
from llama_index.llms.openai_like import OpenAILike

from edgevox.adapters.llamaindex import EdgevoxToolSpec, from_llamaindex
from tests.adapters.home import TEMPERATURE, answered, bridged, check_guide, model_server
from tests.server.harness import written

# What the framework itself does that its own libraries have given up.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


class Shop(BaseToolSpec):
    """A spec as its authors write one."""

    spec_functions = ["price_of", "buy"]  # noqa: RUF012 - as LlamaIndex wants it

    def __init__(self) -> None:
        self.log: list[str] = []

    def price_of(self, thing: str) -> str:
        """The price of a thing."""
        return f"{thing}: 3 euros"

    async def buy(self, thing: str, count: int = 1) -> str:
        """Buy something."""
        self.log.append(f"{count} {thing}")
        return "bought"


def test_a_tool_of_ours_is_in_a_spec() -> None:
    log: list[str] = []
    with bridged(log) as bridge:
        spec = EdgevoxToolSpec(bridge)
        assert isinstance(spec, BaseToolSpec)
        tools = {tool.metadata.get_name(): tool for tool in spec.to_tool_list()}
        assert all(isinstance(tool, FunctionTool) for tool in tools.values())
        assert tools["get_temperature"].call(room="hall").content == '"21 degrees in the hall"'
        assert "nobody could be asked" in tools["unlock_door"].call().content
    assert log == ["read hall"]


async def test_its_agent_calls_our_tool_through_our_server() -> None:
    log: list[str] = []
    async with model_server(TEMPERATURE, "It is 21 degrees.") as (where, model):
        llm = OpenAILike(
            model="default",
            api_base=where["base_url"],
            api_key=where["api_key"],
            is_chat_model=True,
            is_function_calling_model=True,
        )
        with bridged(log) as bridge:
            agent = FunctionAgent(tools=EdgevoxToolSpec(bridge).to_tool_list(), llm=llm)
            answer = await agent.run("How warm is the kitchen?")
    assert str(answer) == "It is 21 degrees."
    assert log == ["read kitchen"]
    assert len(model.requests) == 2


@pytest.mark.parametrize("yes", [True, False])
async def test_our_agent_calls_its_tool_and_asks_first(yes: bool) -> None:
    shop = Shop()
    ours = {tool.name: tool for tool in from_llamaindex(shop)}
    assert ours["buy"].confirm == "voice"
    lines = [written("buy", '{"thing": "tea", "count": 2}'), "It is bought."]
    await answered(ours["buy"], *lines, yes=yes)
    assert shop.log == (["2 tea"] if yes else [])


async def test_its_reading_tool_needs_no_yes() -> None:
    [price_of] = from_llamaindex(FunctionTool.from_defaults(Shop().price_of), only_reads=True)
    reply, model = await answered(price_of, written("price_of", '{"thing": "tea"}'), "Three euros.")
    assert reply == "Three euros."
    assert model.requests[1].messages[-1].content == '"tea: 3 euros"'


@pytest.mark.engine
def test_the_guide_works_as_it_is_written_with_the_default_model(served_home: str, tmp_path: Path) -> None:
    check_guide("LlamaIndex", served_home, tmp_path)
