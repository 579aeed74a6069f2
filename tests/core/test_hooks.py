from __future__ import annotations

import asyncio
import logging

import pytest

from edgevox.core.hooks import Again, Answer, Deny, Hook, Hooks, ModelReply, Run, SafetyHookFailed, ToolOutcome
from edgevox.core.types import ChatRequest, Message, ToolCall

CALL = ToolCall("call-1", "turn_on", '{"name": "lamp"}')
OUTCOME = ToolOutcome("done")
REPLY = ModelReply("Hello.", (), (), "stop")


def a_run() -> Run:
    return Run("test", "turn-1", "lamp on")


class Spy(Hook):
    """Records its calls, and decides as configured."""

    def __init__(self, seen: list[str], label: str = "spy", decision: object = None) -> None:
        self._seen = seen
        self._label = label
        self._decision = decision

    def _asked(self, point: str) -> object:
        self._seen.append(f"{self._label} {point}")
        return self._decision

    async def on_run_start(self, run: Run) -> Answer | None:
        decision = self._asked("on_run_start")
        return decision if isinstance(decision, Answer) else None

    async def after_llm(self, run: Run, reply: ModelReply) -> Again | Answer | None:
        decision = self._asked("after_llm")
        return decision if isinstance(decision, Again | Answer) else None

    async def before_tool(self, run: Run, call: ToolCall) -> Deny | ToolCall | None:
        decision = self._asked(f"before_tool {call.name}")
        return decision if isinstance(decision, Deny | ToolCall) else None

    async def after_tool(self, run: Run, call: ToolCall, outcome: ToolOutcome) -> Answer | ToolOutcome | None:
        decision = self._asked(f"after_tool {outcome.content}")
        return decision if isinstance(decision, Answer | ToolOutcome) else None

    async def on_run_end(self, run: Run, reply: str) -> None:
        self._asked(f"on_run_end {reply}")


class EarlySpy(Spy):
    priority = 10


class LateSpy(Spy):
    priority = -10


class Broken(Hook):
    """Fails wherever it is asked."""

    name = "broken"
    priority = 5

    async def on_run_start(self, run: Run) -> Answer | None:
        raise ValueError("no start")

    async def before_llm(self, run: Run, request: ChatRequest) -> ChatRequest | None:
        raise ValueError("no request")

    async def after_llm(self, run: Run, reply: ModelReply) -> Again | Answer | None:
        raise ValueError("no reply")

    async def before_tool(self, run: Run, call: ToolCall) -> Deny | ToolCall | None:
        raise ValueError("no call")

    async def after_tool(self, run: Run, call: ToolCall, outcome: ToolOutcome) -> Answer | ToolOutcome | None:
        raise ValueError("no outcome")

    async def on_run_end(self, run: Run, reply: str) -> None:
        raise ValueError("no end")


class BrokenGuard(Broken):
    name = "guard"
    is_safety = True


class Asking(Hook):
    """Puts a message behind the request."""

    def __init__(self, text: str) -> None:
        self._text = text

    async def before_llm(self, run: Run, request: ChatRequest) -> ChatRequest | None:
        return ChatRequest((*request.messages, Message("user", self._text)))


async def test_no_hooks_change_nothing() -> None:
    hooks = Hooks()
    request = ChatRequest((Message("user", "hello"),))
    assert await hooks.run_start(a_run()) is None
    assert await hooks.before_llm(a_run(), request) is request
    assert await hooks.after_llm(a_run(), REPLY) is None
    assert await hooks.before_tool(a_run(), CALL) is CALL
    assert await hooks.after_tool(a_run(), CALL, OUTCOME) is OUTCOME
    await hooks.run_end(a_run(), "Hello.")


async def test_hooks_run_by_priority_and_then_in_the_given_order() -> None:
    seen: list[str] = []
    hooks = Hooks((LateSpy(seen, "late"), Spy(seen, "one"), Spy(seen, "two"), EarlySpy(seen, "early")))
    await hooks.run_end(a_run(), "bye")
    assert seen == [f"{label} on_run_end bye" for label in ("early", "one", "two", "late")]


async def test_the_first_answer_wins_and_later_hooks_are_not_called() -> None:
    seen: list[str] = []
    hooks = Hooks((LateSpy(seen, "late", Answer("No.")), EarlySpy(seen, "early", Answer("Yes."))))
    assert await hooks.run_start(a_run()) == Answer("Yes.")
    assert await hooks.after_llm(a_run(), REPLY) == Answer("Yes.")
    assert seen == ["early on_run_start", "early after_llm"]


async def test_each_hook_gets_the_request_of_the_previous_one() -> None:
    hooks = Hooks((Asking("first"), Asking("second")))
    request = await hooks.before_llm(a_run(), ChatRequest(()))
    assert [message.content for message in request.messages] == ["first", "second"]


async def test_a_denied_call_is_not_passed_to_later_hooks() -> None:
    seen: list[str] = []
    hooks = Hooks((EarlySpy(seen, "early", Deny("not at night")), LateSpy(seen, "late")))
    assert await hooks.before_tool(a_run(), CALL) == Deny("not at night")
    assert seen == ["early before_tool turn_on"]


async def test_a_replacement_call_keeps_the_models_id() -> None:
    seen: list[str] = []
    other = ToolCall("an id of the hook's own", "turn_off", "{}")
    hooks = Hooks((EarlySpy(seen, "early", other), LateSpy(seen, "late")))
    assert await hooks.before_tool(a_run(), CALL) == ToolCall("call-1", "turn_off", "{}")
    assert seen == ["early before_tool turn_on", "late before_tool turn_off"]


async def test_each_hook_gets_the_outcome_of_the_previous_one_until_one_answers() -> None:
    seen: list[str] = []
    hooks = Hooks(
        (
            EarlySpy(seen, "early", ToolOutcome("better")),
            Spy(seen, "middle", Answer("It is on.")),
            LateSpy(seen, "late"),
        )
    )
    assert await hooks.after_tool(a_run(), CALL, OUTCOME) == Answer("It is on.")
    assert seen == ["early after_tool done", "middle after_tool better"]


async def test_a_hook_that_fails_is_skipped_at_every_point(caplog: pytest.LogCaptureFixture) -> None:
    seen: list[str] = []
    hooks = Hooks((Broken(), Spy(seen, decision=Answer("Still here."))))
    request = ChatRequest(())
    with caplog.at_level(logging.WARNING):
        assert await hooks.run_start(a_run()) == Answer("Still here.")
        assert await hooks.before_llm(a_run(), request) is request
        assert await hooks.after_llm(a_run(), REPLY) == Answer("Still here.")
        assert await hooks.before_tool(a_run(), CALL) == CALL
        assert await hooks.after_tool(a_run(), CALL, OUTCOME) == Answer("Still here.")
        await hooks.run_end(a_run(), "bye")
    assert seen[-1] == "spy on_run_end bye"
    assert len(caplog.records) == 6
    assert "broken" in caplog.text
    assert "ValueError: no call" in caplog.text


async def test_a_failing_safety_hook_stops_the_action() -> None:
    seen: list[str] = []
    hooks = Hooks((BrokenGuard(), Spy(seen)))
    with pytest.raises(SafetyHookFailed, match="guard: ValueError: no call"):
        await hooks.before_tool(a_run(), CALL)
    with pytest.raises(SafetyHookFailed, match="no start"):
        await hooks.run_start(a_run())
    with pytest.raises(SafetyHookFailed, match="no request"):
        await hooks.before_llm(a_run(), ChatRequest(()))
    with pytest.raises(SafetyHookFailed, match="no reply"):
        await hooks.after_llm(a_run(), REPLY)
    with pytest.raises(SafetyHookFailed, match="no outcome"):
        await hooks.after_tool(a_run(), CALL, OUTCOME)
    with pytest.raises(SafetyHookFailed, match="no end"):
        await hooks.run_end(a_run(), "bye")
    assert seen == []


async def test_a_cancelled_hook_cancels_the_turn() -> None:
    class Cancelled(Hook):
        async def on_run_start(self, run: Run) -> Answer | None:
            raise asyncio.CancelledError

    with pytest.raises(asyncio.CancelledError):
        await Hooks((Cancelled(),)).run_start(a_run())


async def test_a_hook_that_overrides_nothing_decides_nothing() -> None:
    hooks = Hooks((Hook(),))
    assert await hooks.run_start(a_run()) is None
    assert await hooks.after_llm(a_run(), REPLY) is None
    assert await hooks.before_tool(a_run(), CALL) is CALL
    assert await hooks.after_tool(a_run(), CALL, OUTCOME) is OUTCOME


def test_runs_do_not_share_their_notes() -> None:
    one, other = a_run(), a_run()
    one.notes["spy"] = 1
    one.calls.append(CALL)
    assert other.notes == {}
    assert other.calls == []
