"""Pydantic AI, unmodified: its agent with tools, typed output and streams, through both of OpenAI's APIs."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from pydantic import BaseModel
from pydantic_ai import Agent
from pydantic_ai.models import Model
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
from pydantic_ai.output import NativeOutput
from pydantic_ai.providers.openai import OpenAIProvider

from tests.server.harness import OWNER, model, served, talking, written

TEMPERATURE = written("get_temperature", '{"room": "kitchen"}')


def _openai(url: str) -> OpenAIProvider:
    return OpenAIProvider(base_url=f"{url}/v1", api_key=OWNER)


MODELS: dict[str, Callable[[str], Model]] = {
    "chat": lambda url: OpenAIChatModel("scripted", provider=_openai(url)),
    "responses": lambda url: OpenAIResponsesModel("scripted", provider=_openai(url)),
}


class Weather(BaseModel):
    """The weather of a room."""

    room: str
    degrees: int


def agent_with_tool(url: str, api: str, log: list[str]) -> Agent:
    agent = Agent(MODELS[api](url), instructions="Be brief.")

    @agent.tool_plain
    def get_temperature(room: str) -> str:
        """The temperature of a room."""
        log.append(room)
        return "21 degrees"

    return agent


@pytest.mark.parametrize("api", MODELS)
async def test_its_agent_calls_a_tool_and_answers(api: str) -> None:
    log: list[str] = []
    said = model([TEMPERATURE, "It is 21 degrees."])
    async with served(talking(said)) as url:
        done = await agent_with_tool(url, api, log).run("How warm is the kitchen?")
    assert (done.output, log) == ("It is 21 degrees.", ["kitchen"])
    assert [one.role for one in said.requests[1].messages] == ["system", "user", "assistant", "tool"]
    assert done.usage.requests == 2


@pytest.mark.parametrize("api", MODELS)
async def test_a_streamed_run_calls_the_tool_too(api: str) -> None:
    log: list[str] = []
    async with (
        served(talking(model([TEMPERATURE, "It is 21 degrees."]))) as url,
        agent_with_tool(url, api, log).run_stream("How warm is the kitchen?") as stream,
    ):
        pieces = [piece async for piece in stream.stream_text(delta=True)]
    assert ("".join(pieces), log) == ("It is 21 degrees.", ["kitchen"])


@pytest.mark.parametrize("api", MODELS)
async def test_a_typed_answer_by_call_and_by_schema(api: str) -> None:
    weather = '{"room": "kitchen", "degrees": 21}'
    said = model([written("final_result", weather), weather])
    async with served(talking(said)) as url:
        by_call = await Agent(MODELS[api](url), output_type=Weather).run("How warm is the kitchen?")
        by_schema = await Agent(MODELS[api](url), output_type=NativeOutput(Weather)).run("How warm is the kitchen?")
    assert by_call.output == by_schema.output == Weather(room="kitchen", degrees=21)
    assert said.requests[0].tool_choice == "required"
    assert said.requests[1].json_schema is not None
