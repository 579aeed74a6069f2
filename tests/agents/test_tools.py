"""Turns with tools: a scripted model, real tools. Each ends in a sentence and a consistent conversation."""

from __future__ import annotations

import asyncio
import dataclasses
import itertools
import json
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated

import pytest
from pydantic import Field

from edgevox.agents import AgentResult, LLMAgent
from edgevox.agents.conversation import Conversation
from edgevox.agents.tool_loop import Agreement
from edgevox.core.errors import ToolError
from edgevox.core.events import ConfirmationDecided, ConfirmationRequired, Event, ToolFinished, ToolStarted
from edgevox.core.hooks import Answer, Deny, Hook, Run, ToolOutcome
from edgevox.core.turn import Turn
from edgevox.core.types import Message, ToolCall
from edgevox.testing import ScriptedModel
from edgevox.tools import Resolution, Speech, Tool, tool
from edgevox.tools.policy import LOCAL, Caller, PendingConfirmation

LOG: list[str] = []


@pytest.fixture(autouse=True)
def _empty_log() -> None:
    LOG.clear()


@tool
def get_time() -> str:
    """Tell the time."""
    LOG.append("get_time")
    return "noon"


@tool(side_effects=True)
async def set_light(room: str, level: Annotated[int, Field(ge=0, le=100)]) -> str:
    """Set a light."""
    LOG.append(f"set_light {room} {level}")
    return f"{room} is at {level}"


@tool
def fails() -> str:
    """Never works."""
    raise ToolError("the hub did not answer")


@tool(timeout_s=0.05)
async def hangs() -> str:
    """Takes for ever."""
    await asyncio.sleep(60)
    return "never"


@tool(side_effects=True)
def tell_me() -> Speech:
    """Says it itself."""
    return Speech("It is done.")


@tool(side_effects=True, confirm="voice", question=lambda _arguments: "Unlock the front door?")
def unlock_door() -> str:
    """Unlock the door."""
    LOG.append("unlock_door")
    return "unlocked"


dim_light = dataclasses.replace(
    set_light, name="dim_light", resolve=lambda given: Resolution({**given, "room": given["room"].removesuffix("'s")})
)

TOOLS: tuple[Tool, ...] = (get_time, set_light, dim_light, fails, hangs, tell_me, unlock_door)


def written(name: str, **arguments: object) -> str:
    body = json.dumps({"name": name, "arguments": arguments})
    return f"<tool_call>\n{body}\n</tool_call>"


class Scene:
    """An agent with a scripted model, and everything it did."""

    def __init__(
        self, *lines: str, agrees: Agreement | None = None, hooks: Sequence[Hook] | None = None, caller: Caller = LOCAL
    ) -> None:
        self.model = ScriptedModel(lines)
        self.events: list[Event] = []
        self.asked: list[PendingConfirmation] = []
        self.conversation = Conversation()

        async def confirm(pending: PendingConfirmation, _turn: Turn) -> Agreement:
            self.asked.append(pending)
            assert agrees is not None
            return agrees

        self.agent = LLMAgent(
            "test",
            instructions="Help.",
            tools=TOOLS,
            hooks=hooks,
            model=self.model,
            parsers=("hermes",),
            conversation=self.conversation,
            confirm=confirm,
            caller=caller,
            publish=self.events.append,
        )

    async def ask(self, text: str = "Do it.", turn: Turn | None = None) -> AgentResult:
        result = await self.agent.run(text, turn)
        assert result.reply.strip(), "the person always gets a sentence"
        assert_whole(self.conversation.messages())
        return result

    def last_messages(self) -> tuple[Message, ...]:
        return self.model.requests[-1].messages


def assert_whole(messages: Sequence[Message]) -> None:
    """Every call has its result, right behind it and in order; roles alternate."""
    waiting: list[str] = []
    for message in messages:
        if message.role == "tool":
            assert waiting.pop(0) == message.tool_call_id
        else:
            assert not waiting, "a call without its result"
        waiting += [call.id for call in message.tool_calls]
    assert not waiting
    spoken = [message.role for message in messages if message.role in ("user", "assistant")]
    assert all(pair != ("user", "user") for pair in itertools.pairwise(spoken))
    assert spoken[-1:] in ([], ["assistant"])


async def test_one_call_and_then_the_answer() -> None:
    scene = Scene(written("get_time"), "It is noon.")
    result = await scene.ask("What time is it?")
    assert result.reply == "It is noon."
    assert [call.name for call in result.calls] == ["get_time"]
    assert result.results[0].content == '"noon"'
    assert LOG == ["get_time"]
    call_message, result_message = scene.last_messages()[-2:]
    assert call_message.tool_calls[0].id == result_message.tool_call_id
    kinds = [type(event) for event in scene.events]
    assert kinds.index(ToolStarted) < kinds.index(ToolFinished)


async def test_a_call_is_executed_published_and_stored_with_normalized_arguments() -> None:
    scene = Scene(written("dim_light", room="den's", level=5), "Done.")

    result = await scene.ask()

    told = [event.arguments for event in scene.events if isinstance(event, ToolStarted)]
    remembered = [call.arguments for message in scene.last_messages() for call in message.tool_calls]
    assert LOG == ["set_light den 5"]
    assert told == remembered == [call.arguments for call in result.calls] == ['{"room": "den", "level": 5}']


async def test_words_before_a_call_are_said_at_once() -> None:
    scene = Scene(f"One moment. {written('get_time')}", "It is noon.")
    pieces = [piece async for piece in scene.agent.stream("Time?", Turn()) if isinstance(piece, str)]
    assert "".join(pieces) == "One moment. It is noon."
    assert LOG == ["get_time"]


async def test_parallel_tool_calls_collected() -> None:
    both = written("set_light", room="hall", level=3) + written("get_time")
    scene = Scene(both, "Done, and it is noon.")
    result = await scene.ask()
    assert [result.name for result in result.results] == ["set_light", "get_time"]
    assert sorted(LOG) == ["get_time", "set_light hall 3"]
    assert [message.role for message in scene.last_messages()[-3:]] == ["assistant", "tool", "tool"]


async def test_a_tool_error_reaches_the_model() -> None:
    scene = Scene(written("fails"), "The hub did not answer, sorry.")
    result = await scene.ask()
    assert result.results[0].is_error
    assert "did not answer" in scene.last_messages()[-1].content


async def test_a_tool_that_hangs_ends_in_time() -> None:
    scene = Scene(written("hangs"), "That took too long.")
    started_s = time.monotonic()
    result = await scene.ask()
    assert time.monotonic() - started_s < 5
    assert result.results[0].code == "timeout"


async def test_wrong_arguments_are_corrected_at_the_second_try() -> None:
    scene = Scene(
        written("set_light", room="hall", level=900), written("set_light", room="hall", level=9), "The hall is at nine."
    )
    result = await scene.ask()
    assert [result.code for result in result.results] == ["bad_request", None]
    assert LOG == ["set_light hall 9"]


async def test_a_broken_call_is_written_again_under_the_grammar() -> None:
    scene = Scene(f"<tool_call>{json.dumps({'name': 'no_such_tool', 'arguments': {}})}</tool_call>", "I cannot.")
    result = await scene.ask()
    assert result.reply == "I cannot."
    assert scene.model.requests[1].tool_choice == "required"


async def test_a_model_that_repeats_itself_is_stopped() -> None:
    scene = Scene(*[written("set_light", room="hall", level=1)] * 5)
    result = await scene.ask()
    assert LOG == ["set_light hall 1"]
    assert "{" not in result.reply


async def test_iteration_limit_forces_finalisation() -> None:
    calls = [written("set_light", room="hall", level=level) for level in range(6)]
    scene = Scene(*calls, "I have set it six times.")
    result = await scene.ask()
    assert result.reply == "I have set it six times."
    assert len(LOG) == 6
    assert scene.model.requests[-1].tool_choice == "none"
    assert "no more tools" in scene.last_messages()[-1].content


async def test_calls_after_the_iteration_limit_are_ignored() -> None:
    scene = Scene(*(written("set_light", room="hall", level=level) for level in range(7)))
    await scene.ask()
    assert len(LOG) == 6


async def test_a_tool_that_speaks_ends_the_turn() -> None:
    scene = Scene(written("tell_me"))
    result = await scene.ask()
    assert result.reply == "It is done."
    assert len(scene.model.requests) == 1


async def test_one_of_several_calls_may_fail_and_the_answer_says_which() -> None:
    scene = Scene(written("fails") + written("tell_me") + written("hangs"))
    result = await scene.ask()
    assert result.reply == (
        "Fails: Sorry, that did not work: the hub did not answer. It is done. "
        "Hangs: Sorry, that took too long. It may still happen."
    )


async def test_the_sentence_of_a_hook_stands_beside_those_of_other_calls() -> None:
    class Teapot(Hook):
        async def after_tool(self, run: Run, call: ToolCall, outcome: ToolOutcome) -> Answer | None:
            return Answer("I am a teapot.") if call.name == "get_time" else None

    scene = Scene(written("get_time") + written("tell_me"), hooks=(Teapot(),))
    assert (await scene.ask()).reply == "I am a teapot. It is done."


async def test_a_refused_confirmation_does_nothing() -> None:
    scene = Scene(written("unlock_door"), "All right, it stays locked.", agrees=Agreement(granted=False))
    result = await scene.ask("Unlock the door.")
    assert LOG == []
    assert [pending.question for pending in scene.asked] == ["Unlock the front door?"]
    assert result.results[0].code == "tool_denied"
    assert [event.granted for event in scene.events if isinstance(event, ConfirmationDecided)] == [False]


async def test_a_granted_confirmation_acts_once() -> None:
    scene = Scene(written("unlock_door"), "It is unlocked.", agrees=Agreement(granted=True))
    result = await scene.ask("Unlock the door.")
    assert LOG == ["unlock_door"]
    assert result.results[0].code is None
    assert any(isinstance(event, ConfirmationRequired) for event in scene.events)


async def test_a_client_cannot_confirm_its_own_call() -> None:
    itself = Caller("page", frozenset({"act", "confirm"}))
    agrees = Agreement(granted=True, by=itself, channel="api")
    scene = Scene(written("unlock_door"), "No.", agrees=agrees, caller=itself)
    await scene.ask("Unlock the door.")
    assert LOG == []


async def test_without_a_confirmation_channel_the_answer_is_no() -> None:
    model = ScriptedModel([written("unlock_door")])
    agent = LLMAgent("test", tools=TOOLS, model=model, parsers=("hermes",))
    assert (await agent.run("Unlock.")).reply == "I did not do it: nobody could be asked."
    assert LOG == []


async def test_a_turn_that_is_cancelled_while_a_tool_runs_ends_at_once() -> None:
    scene = Scene(f"Wait. {written('hangs')}", "never said")
    turn = Turn()
    asyncio.get_running_loop().call_later(0.01, turn.cancel.set)
    result = await scene.agent.run("Do it.", turn)
    assert result.finish_reason == "cancelled"
    assert_whole(scene.conversation.messages())


async def test_a_hook_can_refuse_a_call_and_the_model_reads_why() -> None:
    class NoLights(Hook):
        async def before_tool(self, run: Run, call: ToolCall) -> Deny | None:
            return Deny("not at night") if call.name == "set_light" else None

    scene = Scene(written("set_light", room="hall", level=1), "Not at night.", hooks=[NoLights()])
    await scene.ask()
    assert LOG == []
    assert "not at night" in scene.last_messages()[-1].content


async def test_a_safety_hook_that_fails_stops_the_action() -> None:
    class Broken(Hook):
        is_safety = True

        async def before_tool(self, run: Run, call: ToolCall) -> Deny | None:
            raise RuntimeError("no idea")

    scene = Scene(written("set_light", room="hall", level=1), hooks=[Broken()])
    result = await scene.ask()
    assert LOG == []
    assert "safely" in result.reply


async def test_respond_under_a_required_policy_is_an_answer() -> None:
    model = ScriptedModel([written("respond", text="Hello there.")])
    agent = LLMAgent("test", tools=TOOLS, tool_choice_policy="required_first_hop", model=model, parsers=("hermes",))
    assert (await agent.run("Hi!")).reply == "Hello there."
    assert model.requests[0].tool_choice == "required"


async def test_json_is_not_read_aloud() -> None:
    scene = Scene(written("get_time"), '{"time": "noon"}', "It is noon.")
    result = await scene.ask()
    assert "{" not in result.reply


async def test_the_next_turn_knows_what_was_done() -> None:
    scene = Scene(written("get_time"), "It is noon.", "As I said, noon.")
    await scene.ask("Time?")
    await scene.ask("Again?")
    roles = [message.role for message in scene.last_messages()]
    assert roles == ["system", "user", "assistant", "tool", "assistant", "user"]


async def test_a_call_changed_by_a_hook_is_executed_and_stored_as_changed() -> None:
    class Louder(Hook):
        name = "louder"

        async def before_tool(self, run: Run, call: ToolCall) -> ToolCall:
            return replace(call, arguments=json.dumps({"room": "hall", "level": 7}))

    scene = Scene(written("set_light", room="hall", level=70), "Done.", hooks=(Louder(),))
    result = await scene.ask()
    assert [json.loads(call.arguments) for call in result.calls] == [{"room": "hall", "level": 7}]
    (kept,) = (message for message in scene.conversation.messages() if message.tool_calls)
    assert json.loads(kept.tool_calls[0].arguments) == {"room": "hall", "level": 7}
