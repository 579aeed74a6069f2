from __future__ import annotations

import asyncio

import pytest

from edgevox import tool
from edgevox.agents import LLMAgent
from edgevox.core.errors import EngineFailed
from edgevox.core.hooks import Answer, Calls, Hook, Parts, Run
from edgevox.core.turn import Gate, Turn
from edgevox.core.types import Message, ToolCall
from edgevox.llm.hooks_slm.result_text import NO_ANSWER
from edgevox.testing import ScriptedModel
from edgevox.tools import Speech, ToolExecutor, ToolRegistry


def agent(model: ScriptedModel) -> LLMAgent:
    return LLMAgent("test", model=model, instructions="Be brief.", parsers=("hermes",))


async def test_a_conversation_is_remembered() -> None:
    model = ScriptedModel(["Paris.", "Rome."])
    assistant = agent(model)
    assert (await assistant.run("Capital of France?")).reply == "Paris."
    assert (await assistant.run("And of Italy?")).reply == "Rome."
    assert model.requests[1].messages == (
        Message("system", "Be brief."),
        Message("user", "Capital of France?"),
        Message("assistant", "Paris."),
        Message("user", "And of Italy?"),
    )


async def test_reasoning_is_never_spoken() -> None:
    result = await agent(ScriptedModel(["<think>The user wants a city.</think>\n\nParis."])).run("Where?")
    assert result.reply == "Paris."


async def test_reasoning_with_only_an_end_tag_is_not_part_of_the_answer() -> None:
    model = ScriptedModel(["The user wants a city.</think>Paris.", "Yes."])
    assistant = agent(model)
    assert (await assistant.run("Where?")).reply == "Paris."
    await assistant.run("Sure?")
    assert model.requests[1].messages[2] == Message("assistant", "Paris.")


async def test_a_model_that_says_nothing_still_gives_a_sentence() -> None:
    assert (await agent(ScriptedModel(["<think>hm</think>", "", ""])).run("Well?")).reply == NO_ANSWER


async def test_a_failed_turn_leaves_no_trace_in_the_conversation() -> None:
    model = ScriptedModel([EngineFailed("gone"), "Here."])
    assistant = agent(model)
    with pytest.raises(EngineFailed):
        await assistant.run("Are you there?")
    await assistant.run("Still there?")
    assert [m.content for m in model.requests[1].messages] == ["Be brief.", "Still there?"]


async def test_a_cancelled_turn_keeps_only_what_was_said() -> None:
    model = ScriptedModel(["One two three four five.", "Next."])
    assistant = agent(model)
    turn = Turn()
    said = ""
    async for piece in assistant.stream("Count.", turn):
        if isinstance(piece, str):
            said += piece
            if len(said) > 6:
                turn.cancel.set()
        else:
            assert piece.finish_reason == "cancelled"
    await assistant.run("Go on.")
    assert model.requests[1].messages[2] == Message("assistant", said.rstrip())
    assert len(said) < len("One two three four five.")


async def test_every_turn_counts_the_tools_that_it_was_offered() -> None:
    @tool
    def get_time() -> str:
        """The time."""
        return "noon"

    executor = ToolExecutor(ToolRegistry((get_time,)))
    assistant = LLMAgent("test", model=ScriptedModel(["Hello.", "Bye."]), tools=executor, parsers=("hermes",))
    await assistant.run("Hello?")
    await assistant.run("Bye?")
    assert executor.stats.summary()["get_time"].offered == 2


class _CallsLamp(Hook):
    async def on_run_start(self, run: Run) -> Calls | None:
        return Calls((ToolCall("", "lamp", '{"on": true}'),)) if run.text == "Lamp!" else None


@pytest.mark.parametrize("is_cancelled", [False, True])
async def test_a_hook_can_make_calls_without_the_model_once_the_turn_is_certain(is_cancelled: bool) -> None:
    made = []

    @tool(side_effects=True, confirm="never")
    async def lamp(on: bool) -> Speech:
        """Switch the lamp."""
        made.append(on)
        return Speech("The lamp is on.")

    turn = Turn(gate=Gate(is_open=False))
    assistant = LLMAgent("test", model=ScriptedModel([]), tools=[lamp], hooks=[_CallsLamp()])
    pending = asyncio.create_task(assistant.run("Lamp!", turn))
    async with asyncio.timeout(5):
        while not turn.gate.is_waited_at:  # noqa: ASYNC110 - the gate has no event for it
            await asyncio.sleep(0)
    assert made == []
    if is_cancelled:
        turn.cancel.set()
    else:
        turn.gate.open()
    result = await pending
    assert (made, result.reply) == (([], "") if is_cancelled else ([True], "The lamp is on."))


class Splitting(Hook):
    """Splits a text at its commas, then at its semicolons; notes each part, and answers it with the notes it finds."""

    name = "splitting"

    async def on_run_start(self, run: Run) -> Answer | Parts | None:
        for mark in ", ", "; ":
            if mark in run.text:
                return Parts(tuple(run.text.split(mark)))
        earlier = list(run.notes)
        run.notes[run.text] = True
        return Answer(f"{run.text} {earlier}.")


async def test_parts_of_parts_are_read_in_order_and_each_without_the_notes_of_the_one_before() -> None:
    model = ScriptedModel([])
    assistant = LLMAgent("test", model=model, hooks=(Splitting(),), parsers=("hermes",))
    assert (await assistant.run("a, b; c, d")).reply == "a []. b []. c []. d []."
    assert model.requests == []


async def test_a_part_that_splits_into_itself_ends_with_the_model() -> None:
    class Endless(Hook):
        async def on_run_start(self, run: Run) -> Parts:
            return Parts((run.text,))

    assistant = LLMAgent("test", model=ScriptedModel(["Here."]), hooks=(Endless(),), parsers=("hermes",))
    assert (await assistant.run("again")).reply == "Here."
