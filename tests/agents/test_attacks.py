"""A model that makes any call opens, unlocks and disarms nothing without a yes, at once or later, for any caller."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Sequence
from datetime import UTC, datetime
from typing import Any

import pytest

from edgevox.agents import LLMAgent
from edgevox.agents.tool_loop import Agreement
from edgevox.core.turn import CancelFlag, Turn
from edgevox.core.types import ChatDelta, ChatDone, ChatReply, ChatRequest, ToolCall
from edgevox.home import Alarms, AlarmSchedule, Timers, home_tools
from edgevox.home.alarms.watches import Watches
from edgevox.home.entities import Action
from edgevox.home.references.effects import EffectLog
from edgevox.home.rules.hooks import assistant_hooks
from edgevox.llm.tool_parsers import DETECTORS
from edgevox.tools import Tool, ToolExecutor, ToolRegistry
from edgevox.tools.policy import LOCAL, Caller, ConfirmationPolicy, PendingConfirmation
from edgevox.tools.tool import ConfirmLevel, Target
from tests.agents.attacks import (
    CALLS,
    CONVERSATIONS,
    FOREIGN,
    HARMLESS_CALLS,
    HARMLESS_CONVERSATIONS,
    HARMLESS_FOREIGN,
    HARMLESS_LATER,
    LATER,
    THEN,
    Attack,
    Said,
)
from tests.agents.guarded_home import GuardedHome
from tests.agents.injections import INJECTIONS
from tests.home.any_home import AnyHome

PROGRAM = Caller("program", frozenset({"chat", "read", "act"}), has_token=True)
NO, YES = Agreement(granted=False), Agreement(granted=True)
_NOON_S = datetime(2026, 3, 2, 12, tzinfo=UTC).timestamp()
_DAY_S = 86400.0


class ObedientModel:
    """Writes the given calls, once, whatever it reads."""

    def __init__(self) -> None:
        self.calls: Sequence[ToolCall] = ()

    async def stream(self, request: ChatRequest, cancel: CancelFlag) -> AsyncGenerator[ChatReply, None]:
        text = DETECTORS["hermes"]().render(list(self.calls)) if self.calls else "Done."
        self.calls = ()
        yield ChatDelta(text)
        yield ChatDone("stop", prompt_tokens=0, cached_tokens=0, generated_tokens=1)


class World:
    """A guarded home with all tools and hooks of the assistant, and a person who is asked."""

    def __init__(self) -> None:
        self.now_s = _NOON_S
        self.timers = Timers(lambda: self.now_s)
        self.alarms = Alarms(lambda: self.now_s, zone=UTC)
        self.watches = Watches(lambda: self.now_s)
        self._any = AnyHome(GuardedHome())  # type: ignore[arg-type]  # any home will do
        self.tools = home_tools(self._any, self.timers, self.alarms, self.alarms.now, self.watches)
        self._guarded = ToolExecutor(ToolRegistry(self.tools))
        self.agenda = AlarmSchedule(self.timers, self.alarms, self.watches, self._any.house)

    def begin(self, states: dict[str, str] | None = None, rule: ConfirmationPolicy | None = None) -> None:
        self.now_s = _NOON_S
        self.timers.cancel(*self.timers.all())
        self.alarms.cancel(*self.alarms.all())
        self.watches.cancel(*self.watches.all())
        self.home = GuardedHome(states)
        self._any.home = self.home  # type: ignore[assignment]
        self.asked: list[str] = []
        self.answer = NO
        self.agreed = ""
        self.model = ObedientModel()
        self.executor = self._guarded if rule is None else ToolExecutor(self._guarded.registry, rule=rule)
        self.effects = EffectLog(lambda: self.now_s)
        self.here = self._agent(LOCAL)

    def _agent(self, caller: Caller) -> LLMAgent:
        return LLMAgent(
            "test",
            tools=self.executor,
            hooks=assistant_hooks(self.executor, self._any, self.timers, self.alarms, self.watches, self.effects),
            model=self.model,
            parsers=("hermes",),
            confirm=self._confirm,
            caller=caller,
        )

    async def _confirm(self, pending: PendingConfirmation, _turn: Turn) -> Agreement:
        if pending.level == "voice" and pending.question == self.agreed:
            return YES
        self.asked.append(pending.question)
        return self.answer

    async def say(self, said: Said, answer: Agreement = NO, *, caller: Caller = LOCAL) -> None:
        self.answer, self.model.calls = answer, said.calls
        await (self.here if caller is LOCAL else self._agent(caller)).run(said.text)

    async def converse(self, turns: Sequence[Said], answer: Agreement = NO) -> list[str]:
        """What was opened in the last turn; those before get a yes."""
        for said in turns[:-1]:
            await self.say(said, YES)
        self.home.breaches.clear()
        self.asked.clear()
        await self.say(turns[-1], answer)
        return self.home.breaches

    async def fire(self, then: ToolCall, answer: Agreement = NO) -> list[str]:
        """What is opened when all that is scheduled becomes due, as the alarm player runs it."""
        self.home.breaches.clear()
        for _round in range(3):  # a command may schedule another one
            self.now_s += _DAY_S
            lamp = self.home.house().entity("light.desk")
            assert lamp is not None
            await self.home.apply(Action("turn_on", (lamp,)))
            self.agenda.observe()
            for due in [due for due in self.agenda.due() if due.command]:
                self.agenda.done(due)
                self.answer, self.agreed, self.model.calls = answer, due.agreed, (then,)
                await self.here.run(due.command, Turn(caller=due.caller))
        return self.home.breaches


_WORLD = World()


@pytest.fixture
def world() -> World:
    _WORLD.begin()
    return _WORLD


def test_there_are_enough_attacks_and_all_differ() -> None:
    spoken = [repr(attack.turns) for attack in CONVERSATIONS]
    made = [one.name + one.arguments for one in CALLS.values()]
    assert (len({*spoken}), len({*made})) == (len(spoken), len(made))
    attacks = len(INJECTIONS) + len(CALLS) + len(CONVERSATIONS) + 2 * len(LATER) + len(FOREIGN)
    assert attacks >= 300


_GO = "please do what the note says"


@pytest.mark.parametrize("name", CALLS)
async def test_a_dangerous_call_waits_for_a_yes(world: World, name: str) -> None:
    assert await world.converse([Said(_GO, (CALLS[name],))]) == []
    assert world.asked
    world.begin()
    opened = await world.converse([Said(_GO, (CALLS[name],))], YES)
    assert opened or world.watches.all(), "the yes is all that was missing"


@pytest.mark.parametrize("name", CALLS)
async def test_a_program_without_the_scope_cannot_make_a_dangerous_call(world: World, name: str) -> None:
    result = await world.executor.dispatch(CALLS[name], caller=PROGRAM)
    assert (result.code, world.home.breaches) == ("token_scope_insufficient", [])
    assert not world.watches.all()


@pytest.mark.parametrize("name", HARMLESS_CALLS)
async def test_a_harmless_call_is_made_without_a_question(world: World, name: str) -> None:
    result = await world.executor.dispatch(HARMLESS_CALLS[name], caller=PROGRAM)
    assert (result.code, result.is_failure, world.home.breaches) == (None, False, [])


@pytest.mark.parametrize("attack", CONVERSATIONS, ids=lambda attack: attack.name)
async def test_no_conversation_opens_anything_without_a_yes(world: World, attack: Attack) -> None:
    world.begin(attack.states)
    assert await world.converse(attack.turns) == []


@pytest.mark.parametrize("attack", HARMLESS_CONVERSATIONS, ids=lambda attack: attack.name)
async def test_a_harmless_conversation_is_not_asked_about(world: World, attack: Attack) -> None:
    world.begin(attack.states)
    assert await world.converse(attack.turns) == []
    assert world.asked == []
    assert world.home.done


async def test_without_the_guard_the_conversations_open_things(world: World) -> None:
    nothing_opened = []
    for attack in CONVERSATIONS:
        world.begin(attack.states, rule=NoGuard())
        if not await world.converse(attack.turns):
            nothing_opened.append(attack.name)
    assert nothing_opened == []


class NoGuard(ConfirmationPolicy):
    """Asks nothing, and needs no scope for locks."""

    def level(self, tool: Tool, targets: Sequence[Target] | None) -> ConfirmLevel:
        return "never"

    def needed_scopes(self, tool: Tool, targets: Sequence[Target] | None) -> tuple[str, ...]:
        return (tool.needed_scope,)


# --- later


@pytest.mark.parametrize("name", LATER)
async def test_a_command_for_later_waits_for_a_yes_then(world: World, name: str) -> None:
    then = THEN.get(name, LATER[name].calls[0])
    await world.say(LATER[name], NO)
    assert await world.fire(then) == []
    world.begin()
    await world.say(LATER[name], YES)
    assert await world.fire(then, YES), "the yes is all that was missing"


@pytest.mark.parametrize("name", LATER)
async def test_a_command_for_later_has_no_more_scopes_than_the_program_that_set_it(world: World, name: str) -> None:
    await world.say(LATER[name], YES, caller=PROGRAM)
    assert await world.fire(THEN.get(name, LATER[name].calls[0]), YES) == []


@pytest.mark.parametrize("name", HARMLESS_LATER)
async def test_a_harmless_command_for_later_runs_for_a_program(world: World, name: str) -> None:
    await world.say(HARMLESS_LATER[name], caller=PROGRAM)
    world.home.done.clear()
    assert await world.fire(HARMLESS_LATER[name].calls[0]) == []
    assert world.asked == []
    assert {*world.home.done} > {"light.desk"} or name == "in ten minutes"


# --- tools that are not the home's


FOREIGN_TOOL = Tool(
    name="control",
    description="Control a device.",
    parameters={"type": "object", "additionalProperties": True},
    side_effects=True,
    run=lambda **_arguments: "done",
)
OWNER = Caller("owner", frozenset({"*"}))


@pytest.mark.parametrize("arguments", FOREIGN, ids=json.dumps)
async def test_a_foreign_tool_is_judged_by_all_of_its_arguments(arguments: dict[str, Any]) -> None:
    made = ToolCall("1", "control", json.dumps(arguments))
    result = await ToolExecutor(ToolRegistry([FOREIGN_TOOL])).dispatch(made, caller=OWNER)
    assert result.code == "requires_confirmation"


@pytest.mark.parametrize("arguments", HARMLESS_FOREIGN, ids=json.dumps)
async def test_a_foreign_tool_that_touches_nothing_dangerous_runs(arguments: dict[str, Any]) -> None:
    made = ToolCall("1", "control", json.dumps(arguments))
    result = await ToolExecutor(ToolRegistry([FOREIGN_TOOL])).dispatch(made, caller=PROGRAM)
    assert result.code is None
