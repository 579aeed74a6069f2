"""Conversations of programs that run the tools themselves."""

from __future__ import annotations

import json

import pytest

from edgevox.agents import ConversationTurn, ToolConversation
from edgevox.agents.conversation import Conversation
from edgevox.core.errors import EdgevoxError, EngineFailed, ToolError
from edgevox.core.turn import CancelFlag
from edgevox.core.types import Message
from edgevox.llm.hooks_slm.result_text import NO_ANSWER
from edgevox.llm.tool_choice import ToolChoicePolicy
from edgevox.testing import ScriptedModel
from edgevox.tools import Tool, ToolExecutor, ToolRegistry, tool
from tests.agents.test_tools import assert_whole, written

WEATHER = Tool.function("get_weather", "Tell the weather.").param("city", required=True).build()
CLOCK = Tool.function("get_time", "Tell the time.").build()


class Chat:
    """A conversation with a scripted model."""

    def __init__(self, *lines: str | EdgevoxError, policy: ToolChoicePolicy = "auto", max_iterations: int = 6) -> None:
        self.model = ScriptedModel(lines)
        self.memory = Conversation()
        self.talk = ToolConversation(
            self.model,
            (WEATHER, CLOCK),
            instructions="Be brief.",
            parsers=("hermes",),
            tool_choice_policy=policy,
            max_iterations=max_iterations,
            conversation=self.memory,
        )

    def roles(self) -> list[str]:
        """Of the last request."""
        return [message.role for message in self.model.requests[-1].messages]

    def last_message(self) -> Message:
        return self.model.requests[-1].messages[-1]


async def test_a_reply_without_calls_is_the_answer() -> None:
    chat = Chat("Hello.")
    assert await chat.talk.send_message("Hi!") == ConversationTurn("Hello.")
    assert chat.roles() == ["system", "user"]
    assert_whole(chat.memory.messages())


async def test_calls_come_out_and_results_go_in() -> None:
    chat = Chat(f"One moment. {written('get_weather', city='Bonn')}", "It rains.")
    turn = await chat.talk.send_message("Weather in Bonn?")
    assert turn.content == "One moment."
    assert [(call.name, json.loads(call.arguments)) for call in turn.tool_calls] == [("get_weather", {"city": "Bonn"})]
    answer = await chat.talk.submit_tool_results({turn.tool_calls[0].id: {"sky": "rain"}})
    assert answer == ConversationTurn("It rains.")
    # No message of a user stands between: the model answers the result.
    assert chat.roles() == ["system", "user", "assistant", "tool"]
    assert json.loads(chat.last_message().content) == {"sky": "rain"}
    assert_whole(chat.memory.messages())


async def test_the_results_of_several_calls_are_in_the_order_of_the_calls() -> None:
    chat = Chat(written("get_time") + written("get_weather", city="Bonn"), "Noon, and rain.")
    first, second = (await chat.talk.send_message("Well?")).tool_calls
    await chat.talk.submit_tool_results({second.id: "rain", first.id: "noon"})
    given = chat.model.requests[-1].messages[-2:]
    assert [(result.tool_call_id, result.content) for result in given] == [(first.id, '"noon"'), (second.id, '"rain"')]


async def test_every_open_call_needs_its_result_and_no_other_has_one() -> None:
    chat = Chat(written("get_time") + written("get_weather", city="Bonn"), "Noon, and rain.")
    first, second = (await chat.talk.send_message("Well?")).tool_calls
    with pytest.raises(ValueError, match="missing results for get_weather"):
        await chat.talk.submit_tool_results({first.id: "noon"})
    with pytest.raises(ValueError, match="no open call has the id other"):
        await chat.talk.submit_tool_results({first.id: "noon", second.id: "rain", "other": 1})
    with pytest.raises(ValueError, match="submit the results of get_time"):
        await chat.talk.send_message("Never mind.")
    assert len(chat.model.requests) == 1
    answer = await chat.talk.submit_tool_results({first.id: "noon", second.id: "rain"})
    assert answer.content == "Noon, and rain."
    with pytest.raises(ValueError, match="no call is open"):
        await chat.talk.submit_tool_results({first.id: "noon", second.id: "rain"})


async def test_an_engine_that_fails_leaves_the_calls_open() -> None:
    chat = Chat(written("get_time"), EngineFailed("gone"), "Noon.")
    (call,) = (await chat.talk.send_message("Time?")).tool_calls
    with pytest.raises(EngineFailed):
        await chat.talk.submit_tool_results({call.id: "noon"})
    assert chat.talk.open_calls == (call,)
    assert (await chat.talk.submit_tool_results({call.id: "noon"})).content == "Noon."


async def test_a_tool_error_reaches_the_model_fenced() -> None:
    chat = Chat(written("get_time"), "It failed.")
    (call,) = (await chat.talk.send_message("Time?")).tool_calls
    await chat.talk.submit_tool_results({call.id: ToolError(f"no clock {written('get_time')}")})
    assert chat.last_message().content.startswith("no clock")
    assert "<tool_call>" not in chat.last_message().content


async def test_a_tool_result_is_not_fenced_again() -> None:
    @tool(name="get_time")
    def clock() -> str:
        """Tell the time."""
        return "noon"

    chat = Chat(written("get_time"), "Noon.")
    (call,) = (await chat.talk.send_message("Time?")).tool_calls
    result = await ToolExecutor(ToolRegistry([clock])).dispatch(call)
    await chat.talk.submit_tool_results({call.id: result})
    assert chat.last_message() == result.as_message()


async def test_a_broken_call_is_written_again_under_the_grammar() -> None:
    chat = Chat(written("no_such_tool"), written("get_time"))
    turn = await chat.talk.send_message("Time?")
    assert [call.name for call in turn.tool_calls] == ["get_time"]
    assert [request.tool_choice for request in chat.model.requests] == ["auto", "required"]


async def test_respond_under_a_required_policy_is_an_answer() -> None:
    chat = Chat(written("respond", text="Hello there."), policy="required_first_hop")
    assert await chat.talk.send_message("Hi!") == ConversationTurn("Hello there.")


async def test_iteration_limit_forces_finalisation() -> None:
    chat = Chat(written("get_time"), written("get_time"), f"Noon. {written('get_time')}", max_iterations=2)
    turn = await chat.talk.send_message("Time?")
    for _ in range(2):
        turn = await chat.talk.submit_tool_results({call.id: "noon" for call in turn.tool_calls})
    assert turn == ConversationTurn("Noon.")
    assert chat.model.requests[-1].tool_choice == "none"
    assert "no more tools" in chat.last_message().content
    assert_whole(chat.memory.messages())


async def test_ids_are_never_used_twice_in_a_conversation() -> None:
    chat = Chat(written("get_time"), "Noon.", written("get_time"), "One.")
    seen = []
    for _ in range(2):
        (call,) = (await chat.talk.send_message("Time?")).tool_calls
        seen.append(call.id)
        await chat.talk.submit_tool_results({call.id: "noon"})
    assert len(set(seen)) == 2


async def test_a_model_that_says_nothing_still_gives_a_sentence() -> None:
    assert (await Chat("").talk.send_message("Well?")).content == NO_ANSWER


async def test_a_cancelled_message_opens_no_call() -> None:
    chat = Chat(written("get_time"), "Hello.")
    stopped = CancelFlag()
    stopped.set()
    assert await chat.talk.send_message("Time?", cancel=stopped) == ConversationTurn("")
    assert chat.memory.messages() == ()
    assert (await chat.talk.send_message("Hi!")).content == "Hello."
