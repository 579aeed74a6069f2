"""The six hook points of a turn, and how hooks are called there.

    on_run_start  an utterance arrived               before_tool  a call is about to be made
    before_llm    a request goes to the model        after_tool   its result has arrived
    after_llm     the model has replied              on_run_end   the turn has its answer

on_run_start and before_llm may run before the endpoint. If the person goes on speaking, the turn is cancelled
silently and no further hook runs: side effects belong into the later hooks.

Hooks are called by priority, highest first. One that fails is skipped; a failing safety hook stops the action.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import ClassVar, TypeVar

from edgevox.core.turn import LOCAL, Caller
from edgevox.core.types import ChatRequest, FinishReason, Message, ToolCall

_LOG = logging.getLogger(__name__)

DecisionT = TypeVar("DecisionT")


@dataclass(frozen=True, slots=True)
class ToolOutcome:
    """The result of a call; `content` is what the model reads.

    `is_failure`: nothing was done, and the content says why, as a sentence.
    """

    content: str
    is_error: bool = False
    code: str | None = None
    is_failure: bool = False

    @property
    def sentence(self) -> str:
        """The result as it is spoken: a sentence is a JSON string in `content`."""
        try:
            text = json.loads(self.content)
        except ValueError:
            return self.content
        return text if isinstance(text, str) else self.content


@dataclass(frozen=True, slots=True)
class ModelReply:
    """One parsed reply of the model; `problems` explain calls that could not be parsed."""

    text: str
    calls: tuple[ToolCall, ...]
    problems: tuple[str, ...]
    finish_reason: FinishReason


@dataclass(slots=True)
class Run:
    """One turn of an agent, as its hooks see it. Hooks may keep state in `notes`, each under its own key.

    An utterance may be read in parts: `notes` are those of the part that is read now, `turn_notes` of the whole turn.

    `client` identifies the conversation, and `past` returns the messages of its earlier turns. The calls are made for
    `caller`. `language` is that of the utterance, "" where it is not known, and `reply_language` that of the answer.
    """

    agent: str
    turn_id: str
    text: str
    client: str = ""
    past: Callable[[], tuple[Message, ...]] = tuple
    caller: Caller = LOCAL
    language: str = ""
    reply_language: str = ""
    hop: int = 0
    calls: list[ToolCall] = field(default_factory=list)
    outcomes: list[ToolOutcome] = field(default_factory=list)
    notes: dict[str, object] = field(default_factory=dict)
    turn_notes: dict[str, object] = field(default_factory=dict)

    def begin_part(self, text: str) -> None:
        """Read this part of the utterance as if it were an utterance of its own."""
        self.text, self.hop = text, 0
        self.notes.clear()


@dataclass(frozen=True, slots=True)
class Answer:
    """End the turn with this sentence."""

    text: str


@dataclass(frozen=True, slots=True)
class Calls:
    """Make these calls as if the model had written them; their sentences are the answer.

    With `then`, their outcomes decide what comes next instead.
    """

    calls: tuple[ToolCall, ...]
    then: Callable[[tuple[ToolOutcome, ...]], Answer | Calls] | None = None


@dataclass(frozen=True, slots=True)
class Parts:
    """Read these texts one after the other, as if each were an utterance; their answers are one answer.

    A text may itself be read in parts, a few levels deep.
    """

    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Again:
    """Ask the model once more, with this message."""

    hint: str


@dataclass(frozen=True, slots=True)
class Deny:
    """Do not make the call; the model reads the reason."""

    reason: str


class Hook:
    """Base class of hooks: override the methods that are needed."""

    name: ClassVar[str] = "hook"
    priority: ClassVar[int] = 0
    is_safety: ClassVar[bool] = False

    async def on_run_start(self, run: Run) -> Answer | Calls | Parts | None:
        """Return an answer or calls to skip the model, or None. Called again for each of the parts that it returns."""

    async def before_llm(self, run: Run, request: ChatRequest) -> ChatRequest | None:
        """Return a replacement for the request, or None."""

    async def after_llm(self, run: Run, reply: ModelReply) -> Again | Answer | None:
        """Return Again or Answer to replace this reply, or None."""

    async def before_tool(self, run: Run, call: ToolCall) -> Deny | ToolCall | None:
        """Return Deny to refuse the call, another call to make instead, or None."""

    async def after_tool(self, run: Run, call: ToolCall, outcome: ToolOutcome) -> Answer | ToolOutcome | None:
        """Return another outcome, or the answer to the person, or None."""

    async def on_run_end(self, run: Run, reply: str) -> None:
        """Called when the turn has ended with this reply."""


class SafetyHookFailed(Exception):
    """A safety hook raised an exception, so the action is not allowed."""


class Hooks:
    """The hooks of one agent, in order. Every method raises SafetyHookFailed."""

    def __init__(self, hooks: Iterable[Hook] = ()) -> None:
        self._hooks = sorted(hooks, key=lambda hook: -hook.priority)

    async def run_start(self, run: Run) -> Answer | Calls | Parts | None:
        return await self._first(lambda hook: hook.on_run_start(run))

    async def before_llm(self, run: Run, request: ChatRequest) -> ChatRequest:
        for hook in self._hooks:
            request = await self._call(hook, hook.before_llm(run, request)) or request
        return request

    async def after_llm(self, run: Run, reply: ModelReply) -> Again | Answer | None:
        return await self._first(lambda hook: hook.after_llm(run, reply))

    async def before_tool(self, run: Run, call: ToolCall) -> Deny | ToolCall:
        for hook in self._hooks:
            match await self._call(hook, hook.before_tool(run, call)):
                case Deny() as denied:
                    return denied
                case ToolCall() as other:
                    # The result is returned to the model under the id of its own call.
                    call = replace(other, id=call.id)
        return call

    async def after_tool(self, run: Run, call: ToolCall, outcome: ToolOutcome) -> Answer | ToolOutcome:
        for hook in self._hooks:
            match await self._call(hook, hook.after_tool(run, call, outcome)):
                case Answer() as answer:
                    return answer
                case ToolOutcome() as other:
                    outcome = other
        return outcome

    async def run_end(self, run: Run, reply: str) -> None:
        for hook in self._hooks:
            await self._call(hook, hook.on_run_end(run, reply))

    async def _first(self, invoke: Callable[[Hook], Awaitable[DecisionT | None]]) -> DecisionT | None:
        for hook in self._hooks:
            decision = await self._call(hook, invoke(hook))
            if decision is not None:
                return decision
        return None

    async def _call(self, hook: Hook, decision: Awaitable[DecisionT | None]) -> DecisionT | None:
        try:
            return await decision
        except Exception as error:  # third-party code must not end the turn
            if hook.is_safety:
                raise SafetyHookFailed(f"{hook.name}: {type(error).__name__}: {error}") from error
            _LOG.warning("the hook %s failed and was skipped: %s: %s", hook.name, type(error).__name__, error)
            return None
