"""A turn whose gate is closed: the agent works ahead without side effects."""

from __future__ import annotations

import asyncio
import json

from edgevox.agents import AgentResult, LLMAgent
from edgevox.agents.conversation import Conversation
from edgevox.core.events import Event
from edgevox.core.hooks import Hook, Run
from edgevox.core.turn import Gate, Turn
from edgevox.testing import ScriptedModel
from edgevox.tools import tool

BOUND_S = 5
CALL = f"<tool_call>{json.dumps({'name': 'switch', 'arguments': {}})}</tool_call>"


class Ending(Hook):
    """Notes how turns end."""

    def __init__(self) -> None:
        self.replies: list[str] = []

    async def on_run_end(self, run: Run, reply: str) -> None:
        self.replies.append(reply)


class Scene:
    """An agent with a switch, at work on a turn that may not come about."""

    def __init__(self, *lines: str) -> None:
        self.turn = Turn(gate=Gate(is_open=False))
        self.conversation = Conversation()
        self.events: list[Event] = []
        self.ending = Ending()
        self.switched = 0

        @tool(side_effects=True)
        def switch() -> str:
            """Switch it."""
            self.switched += 1
            return "switched"

        self.agent = LLMAgent(
            "test",
            tools=[switch],
            hooks=[self.ending],
            model=ScriptedModel(lines),
            parsers=("hermes",),
            conversation=self.conversation,
            publish=self.events.append,
        )

    async def until_it_waits(self) -> asyncio.Task[AgentResult]:
        working = asyncio.create_task(self.agent.run("do it", self.turn))
        for _ in range(1000):
            await asyncio.sleep(0)
            if self.turn.gate.is_waited_at:
                break
        assert not working.done()
        return working


async def finished(working: asyncio.Task[AgentResult]) -> AgentResult:
    async with asyncio.timeout(BOUND_S):
        return await working


async def test_a_reply_waits_for_the_gate_and_is_then_unchanged() -> None:
    scene = Scene("It is done.")
    working = await scene.until_it_waits()
    assert scene.events == []
    assert scene.conversation.messages() == ()
    scene.turn.gate.open()
    assert (await finished(working)).reply == "It is done."
    assert len(scene.conversation.messages()) == 2
    assert scene.ending.replies == ["It is done."]
    assert scene.events


async def test_a_call_waits_for_the_gate() -> None:
    scene = Scene(CALL, "It is on.")
    working = await scene.until_it_waits()
    assert scene.switched == 0
    scene.turn.gate.open()
    assert (await finished(working)).reply == "It is on."
    assert scene.switched == 1


async def test_a_turn_cancelled_before_the_gate_opens_leaves_no_trace() -> None:
    for line in ("It is done.", CALL):
        scene = Scene(line)
        working = await scene.until_it_waits()
        scene.turn.cancel.set()
        assert (await finished(working)).finish_reason == "cancelled"
        assert scene.switched == 0
        assert scene.conversation.messages() == ()
        assert scene.events == []
        assert scene.ending.replies == []
