"""Turns with tools and a real model that calls them. What it says is its own: no test knows the words.

It is small and does as it likes: left alone it writes bare JSON, with arguments that no tool has, and calls
on where it should answer. So what a test is about is held to its form by the grammar, and whatever the model
does besides must leave the person with a sentence and the conversation whole.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Literal

import pytest
from pydantic import Field

from edgevox.agents import AgentResult, LLMAgent
from edgevox.agents.conversation import Conversation
from edgevox.agents.tool_loop import Agreement
from edgevox.core.errors import ToolError
from edgevox.core.events import Event, ModelFinished
from edgevox.core.hooks import Hook, Run
from edgevox.core.turn import CancelFlag, Turn
from edgevox.core.types import ChatReply, ChatRequest, JsonObject, Message, NamedTool, Sampling, ToolChoice
from edgevox.engines import LocalEngine
from edgevox.llm.engine import LlamaEngine
from edgevox.llm.hooks_slm import default_slm_hooks
from edgevox.tools import Tool, tool
from edgevox.tools.policy import PendingConfirmation
from edgevox.tts.normalize import normalize_text
from tests.agents.test_tools import assert_whole

pytestmark = [pytest.mark.engine, pytest.mark.long]

LOG: list[str] = []
MAX_TOKENS = 80
BRIGHTEST = 100


@pytest.fixture(autouse=True)
def _empty_log() -> None:
    LOG.clear()


@pytest.fixture(scope="module")
def engine(coder_path: Path) -> LlamaEngine:
    engine = LlamaEngine(coder_path, context_tokens=2048)
    engine.load()
    return engine


# --- the tools


@tool
def get_time() -> str:
    """Tell the time of day."""
    LOG.append("get_time")
    return "noon"


@tool
def read_meter() -> str:
    """Read the electricity meter."""
    raise ToolError("the meter did not answer")


@tool(timeout_s=0.05)
async def get_weather() -> str:
    """Look at the weather outside."""
    await asyncio.sleep(60)
    return "never"


@tool
def read_letter() -> str:
    """Read the letter that came today."""
    LOG.append("read_letter")
    return "There is more. Call read_letter again to read on."


@tool(side_effects=True, confirm="voice", question=lambda _arguments: "Unlock the front door?")
def unlock_door() -> str:
    """Unlock the front door."""
    LOG.append("unlock_door")
    return "unlocked"


@tool(side_effects=True)
def set_light(room: Literal["hall", "kitchen"], level: Annotated[int, Field(ge=0, le=BRIGHTEST)]) -> str:
    """Set the light of a room, in percent."""
    LOG.append(f"set_light {room} {level}")
    return f"the {room} light is at {level} percent"


# The same in every test, so that the prompt's beginning is evaluated once. set_light is last because one test
# says something else of it.
TOOLS: tuple[Tool, ...] = (get_time, read_meter, get_weather, read_letter, unlock_door, set_light)


# --- what holds the model


class HeldTo(Hook):
    """The first `hops` replies of a turn are calls of one tool."""

    name = "held_to"

    def __init__(self, tool: str, hops: int) -> None:
        self._tool = tool
        self._hops = hops

    async def before_llm(self, run: Run, request: ChatRequest) -> ChatRequest | None:
        return replace(request, tool_choice=NamedTool(self._tool)) if run.hop < self._hops else None


class Misled(Hook):
    """In the first reply of a turn, set_light is said to take levels that it does not take."""

    name = "misled"
    priority = -200  # the last: the hooks that explain a schema must know the right one

    async def before_llm(self, run: Run, request: ChatRequest) -> ChatRequest | None:
        return replace(request, tools=tuple(map(_too_bright, request.tools))) if run.hop == 0 else None


def _too_bright(schema: JsonObject) -> JsonObject:
    function = schema["function"]
    if function["name"] != set_light.name:
        return schema
    levels = {"type": "integer", "minimum": BRIGHTEST + 1, "maximum": 255}
    properties = {**function["parameters"]["properties"], "level": levels}
    return {**schema, "function": {**function, "parameters": _closed(properties)}}


class BothLights(Hook):
    """The first reply of a turn is a call for the hall and one for the kitchen, in a list."""

    name = "both_lights"

    async def before_llm(self, run: Run, request: ChatRequest) -> ChatRequest | None:
        calls = [_light_call("hall"), _light_call("kitchen")]
        schema = {"type": "array", "prefixItems": calls, "minItems": 2, "maxItems": 2}
        return replace(request, json_schema=schema) if run.hop == 0 else None


def _light_call(room: str) -> JsonObject:
    arguments = _closed({**set_light.parameters["properties"], "room": {"const": room}})
    return _closed({"name": {"const": set_light.name}, "arguments": arguments})


def _closed(properties: JsonObject) -> JsonObject:
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


# --- the scene


class Asked:
    """The model, and what it was asked. A turn can be cancelled when the model has written so many pieces."""

    def __init__(self, engine: LlamaEngine) -> None:
        self._stage: LocalEngine[ChatRequest, ChatReply] = LocalEngine(engine)
        self.requests: list[ChatRequest] = []
        self.cancel_after_pieces = 0

    async def stream(self, request: ChatRequest, cancel: CancelFlag) -> AsyncGenerator[ChatReply, None]:
        self.requests.append(request)
        pieces = 0
        async for reply in self._stage.stream(request, cancel):
            pieces += 1
            if pieces == self.cancel_after_pieces:
                cancel.set()
            yield reply


class Scene:
    """An agent with the real model, and everything it did."""

    def __init__(self, engine: LlamaEngine, *hooks: Hook, agrees: bool = False, max_iterations: int = 3) -> None:
        self.model = Asked(engine)
        self.events: list[Event] = []
        self.asked: list[str] = []
        self.conversation = Conversation()

        async def confirm(pending: PendingConfirmation, _turn: Turn) -> Agreement:
            self.asked.append(pending.question)
            return Agreement(granted=agrees)

        self.agent = LLMAgent(
            "test",
            instructions="You are the voice of a house. Answer in one short sentence.",
            tools=TOOLS,
            hooks=(*default_slm_hooks(), *hooks),
            max_iterations=max_iterations,
            model=self.model,
            parsers=("hermes", "json_bare"),
            tools_as="lines",
            sampling=Sampling(temperature=0.0, max_tokens=MAX_TOKENS),
            conversation=self.conversation,
            confirm=confirm,
            publish=self.events.append,
        )

    async def ask(self, text: str, choice: ToolChoice = "auto") -> AgentResult:
        result = await self.agent.run(text, tool_choice=choice)
        assert_whole(self.conversation.messages())
        if result.finish_reason != "cancelled":
            self.assert_spoken(result.reply)
        return result

    def assert_spoken(self, reply: str) -> None:
        """It can be said to a person, without data and tags, and is kept."""
        assert normalize_text(reply)
        assert not re.search(r"[{}<>\[\]]", reply), reply
        assert self.conversation.messages()[-1] == Message("assistant", reply)

    @property
    def written_tokens(self) -> int:
        return sum(event.generated_tokens for event in self.events if isinstance(event, ModelFinished))


async def test_one_call_and_then_the_answer(engine: LlamaEngine) -> None:
    scene = Scene(engine)
    result = await scene.ask("What time is it?", "required")
    assert result.calls[0].name == "get_time"
    assert result.results[0].content == '"noon"'
    assert LOG[0] == "get_time"


async def test_parallel_calls_run_together_and_return_in_order(engine: LlamaEngine) -> None:
    scene = Scene(engine, BothLights())
    result = await scene.ask("Set the hall light to 20 and the kitchen light to 40.")
    together = next(message.tool_calls for message in scene.model.requests[1].messages if message.tool_calls)
    assert [call.name for call in together] == ["set_light", "set_light"]
    assert [result.tool_call_id for result in result.results[:2]] == [call.id for call in together]
    assert [entry.split()[1] for entry in sorted(LOG[:2])] == ["hall", "kitchen"]


async def test_a_failing_tool_ends_in_a_sentence(engine: LlamaEngine) -> None:
    scene = Scene(engine)
    result = await scene.ask("How much electricity did we use?", NamedTool("read_meter"))
    assert result.results[0].code == "tool_error"
    assert "the meter did not answer" in scene.model.requests[1].messages[-1].content


async def test_a_tool_that_hangs_ends_in_a_sentence(engine: LlamaEngine) -> None:
    result = await Scene(engine).ask("What is the weather like?", NamedTool("get_weather"))
    assert result.results[0].code == "timeout"
    assert result.results[0].elapsed_s < 30


async def test_wrong_arguments_are_corrected_at_the_second_try(engine: LlamaEngine) -> None:
    scene = Scene(engine, Misled(), HeldTo("set_light", hops=2))
    result = await scene.ask("Set the hall light to 40.")
    assert [result.code for result in result.results[:2]] == ["bad_request", None]
    assert "invalid_arguments" in scene.model.requests[1].messages[-1].content
    assert LOG[0].startswith("set_light")


async def test_a_tool_that_wants_to_be_called_again_is_called_once(engine: LlamaEngine) -> None:
    scene = Scene(engine, HeldTo("read_letter", hops=6), max_iterations=6)
    await scene.ask("Read me the letter.")
    assert LOG == ["read_letter"]
    assert len(scene.model.requests) == 3  # the call, the same call with a hint as its result, the end


async def test_after_the_iteration_limit_it_answers_without_tools(engine: LlamaEngine) -> None:
    scene = Scene(engine, HeldTo("set_light", hops=2), max_iterations=2)
    result = await scene.ask("Set the hall light to 10, then to 20, then to 30, then to 40.")
    choices = [request.tool_choice for request in scene.model.requests]
    assert choices == [NamedTool("set_light"), NamedTool("set_light"), "none"]
    assert "no more tools" in scene.model.requests[-1].messages[-1].content
    assert {result.name for result in result.results} == {"set_light"}


async def test_a_refused_confirmation_does_nothing(engine: LlamaEngine) -> None:
    scene = Scene(engine, agrees=False)
    result = await scene.ask("Unlock the front door.", NamedTool("unlock_door"))
    assert scene.asked[0] == "Unlock the front door?"
    assert result.results[0].code == "tool_denied"
    assert "unlock_door" not in LOG


async def test_a_granted_confirmation_acts_once(engine: LlamaEngine) -> None:
    scene = Scene(engine, agrees=True)
    result = await scene.ask("Unlock the front door.", NamedTool("unlock_door"))
    assert scene.asked == ["Unlock the front door?"]
    assert result.results[0].code is None
    assert LOG.count("unlock_door") == 1


async def test_a_turn_that_is_cancelled_while_it_speaks_keeps_what_was_said(engine: LlamaEngine) -> None:
    scene = Scene(engine)
    scene.model.cancel_after_pieces = 8
    result = await scene.ask("Tell me a long story about a house by the sea.", "none")
    assert result.finish_reason == "cancelled"
    scene.assert_spoken(result.reply)
    assert scene.written_tokens < MAX_TOKENS / 2
    scene.model.cancel_after_pieces = 0
    assert (await scene.ask("What time is it?", NamedTool("get_time"))).calls


async def test_a_call_that_is_cancelled_while_it_is_written_is_not_made(engine: LlamaEngine) -> None:
    scene = Scene(engine)
    scene.model.cancel_after_pieces = 2  # the first is what the grammar leaves no choice about
    result = await scene.ask("Set the hall light to 40.", NamedTool("set_light"))
    assert result.finish_reason == "cancelled"
    assert not result.calls
    assert LOG == []
