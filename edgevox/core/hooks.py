"""The six points of a turn at which a program may look on or step in, and how hooks are called there.

    on_run_start  a person has said something        before_tool  a call is about to be made
    before_llm    a request goes to the model        after_tool   its result is there
    after_llm     the model has replied              on_run_end   the turn has its answer

At on_run_start and before_llm it may not be certain yet that the person has finished. If they go on, the turn
ends there without a word, and no other point of it comes: what is to have an effect belongs behind them.

Hooks are called in the order of their priority, highest first. One that fails is skipped; a safety hook that
fails stops what was about to happen.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import ClassVar, TypeVar

from edgevox.core.types import ChatRequest, FinishReason, ToolCall

_LOG = logging.getLogger(__name__)

DecisionT = TypeVar("DecisionT")


@dataclass(frozen=True, slots=True)
class ToolOutcome:
    """What a call came to: `content` is what the model reads."""

    content: str
    is_error: bool = False
    code: str | None = None


@dataclass(frozen=True, slots=True)
class ModelReply:
    """One reply of the model, read: `problems` say why something written as a call is none."""

    text: str
    calls: tuple[ToolCall, ...]
    problems: tuple[str, ...]
    finish_reason: FinishReason


@dataclass(slots=True)
class Run:
    """One turn of an agent, as its hooks see it. `notes` are for the hooks: each has its own key."""

    agent: str
    turn_id: str
    text: str
    hop: int = 0
    calls: list[ToolCall] = field(default_factory=list)
    outcomes: list[ToolOutcome] = field(default_factory=list)
    notes: dict[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Answer:
    """End the turn with this sentence."""

    text: str


@dataclass(frozen=True, slots=True)
class Again:
    """Ask the model once more, and tell it this."""

    hint: str


@dataclass(frozen=True, slots=True)
class Deny:
    """Do not make the call; the model reads why."""

    reason: str


class Hook:
    """What a program does at the points of a turn: override those that matter."""

    name: ClassVar[str] = "hook"
    priority: ClassVar[int] = 0
    is_safety: ClassVar[bool] = False

    async def on_run_start(self, run: Run) -> Answer | None:
        """Answer without the model, or None."""

    async def before_llm(self, run: Run, request: ChatRequest) -> ChatRequest | None:
        """Another request instead of this one, or None."""

    async def after_llm(self, run: Run, reply: ModelReply) -> Again | Answer | None:
        """What to do instead of going on with this reply, or None."""

    async def before_tool(self, run: Run, call: ToolCall) -> Deny | ToolCall | None:
        """Refuse the call, or make another one instead, or None."""

    async def after_tool(self, run: Run, call: ToolCall, outcome: ToolOutcome) -> Answer | ToolOutcome | None:
        """Another outcome instead of this one, or the answer to the person, or None."""

    async def on_run_end(self, run: Run, reply: str) -> None:
        """The turn has ended with this reply."""


class SafetyHookFailed(Exception):
    """A safety hook could not decide, so nothing may happen."""


class Hooks:
    """The hooks of one agent, in order. Every method raises SafetyHookFailed."""

    def __init__(self, hooks: Iterable[Hook] = ()) -> None:
        self._hooks = sorted(hooks, key=lambda hook: -hook.priority)

    async def run_start(self, run: Run) -> Answer | None:
        return await self._first(lambda hook: hook.on_run_start(run))

    async def before_llm(self, run: Run, request: ChatRequest) -> ChatRequest:
        for hook in self._hooks:
            request = await self._asked(hook, hook.before_llm(run, request)) or request
        return request

    async def after_llm(self, run: Run, reply: ModelReply) -> Again | Answer | None:
        return await self._first(lambda hook: hook.after_llm(run, reply))

    async def before_tool(self, run: Run, call: ToolCall) -> Deny | ToolCall:
        for hook in self._hooks:
            match await self._asked(hook, hook.before_tool(run, call)):
                case Deny() as denied:
                    return denied
                case ToolCall() as other:
                    # The id belongs to the model's call: its result goes back under it.
                    call = replace(other, id=call.id)
        return call

    async def after_tool(self, run: Run, call: ToolCall, outcome: ToolOutcome) -> Answer | ToolOutcome:
        for hook in self._hooks:
            match await self._asked(hook, hook.after_tool(run, call, outcome)):
                case Answer() as answer:
                    return answer
                case ToolOutcome() as other:
                    outcome = other
        return outcome

    async def run_end(self, run: Run, reply: str) -> None:
        for hook in self._hooks:
            await self._asked(hook, hook.on_run_end(run, reply))

    async def _first(self, asked: Callable[[Hook], Awaitable[DecisionT | None]]) -> DecisionT | None:
        for hook in self._hooks:
            decision = await self._asked(hook, asked(hook))
            if decision is not None:
                return decision
        return None

    async def _asked(self, hook: Hook, asked: Awaitable[DecisionT | None]) -> DecisionT | None:
        try:
            return await asked
        except Exception as error:  # a hook is somebody else's code: it must not end the turn
            if hook.is_safety:
                raise SafetyHookFailed(f"{hook.name}: {type(error).__name__}: {error}") from error
            _LOG.warning("the hook %s failed and was skipped: %s: %s", hook.name, type(error).__name__, error)
            return None
