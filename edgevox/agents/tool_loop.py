"""The tool loop of an agent: resolves calls, passes them through the hooks, confirms and runs them."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from edgevox.agents.instructions import SystemPrompt
from edgevox.agents.model_profile import OnPreview, call_numbers
from edgevox.core.events import ConfirmationDecided, ConfirmationRequired, Publish, ToolFinished, ToolStarted
from edgevox.core.hooks import Answer, Deny, Hooks, ModelReply, Run, ToolOutcome
from edgevox.core.languages import ENGLISH, LANGUAGES
from edgevox.core.turn import Turn
from edgevox.core.types import FinishReason, Message, ToolCall, ToolChoice
from edgevox.llm.tool_choice import RESPOND_NAME
from edgevox.tools.calls import ResolvedCall
from edgevox.tools.executor import ToolExecutor
from edgevox.tools.policy import LOCAL, USER_SAID_NO, Caller, Channel, PendingConfirmation, low_confidence_question
from edgevox.tools.results import ToolResult, sentence


@dataclass(frozen=True, slots=True)
class Agreement:
    """The answer to a confirmation question, with its origin and channel; `why` explains a refusal."""

    granted: bool
    by: Caller = LOCAL
    channel: Channel = "voice"
    why: str = USER_SAID_NO


class Confirm(Protocol):
    """Asks a person. The host provides it; the model has no part in it."""

    def __call__(self, pending: PendingConfirmation, turn: Turn, /) -> Awaitable[Agreement]: ...


async def deny_confirmation(_pending: PendingConfirmation, _turn: Turn) -> Agreement:
    """Refuse every call that needs a confirmation."""
    return Agreement(granted=False, why="nobody could be asked")


_ANSWER_IN = "(system: answer in {}.)"


class TurnState:
    """The state of one turn, filled step by step.

    `messages` are stored in the conversation; `system_prompt`, `hints` (for the next generation) and `reminders` (for
    every one) are not.
    """

    def __init__(self, run: Run, messages: list[Message], system_prompt: SystemPrompt) -> None:
        self.run = run
        self.messages = messages
        self.system_prompt = system_prompt
        self.offered: Sequence[str] | None = None
        """The names of the tools in this turn's prompt; None for all."""
        self.hints: list[str] = []
        self.low_confidence_text = ""
        """The person's words, where they may have been misheard."""
        self.words_agreed: Agreement | None = None
        """What the person said when asked whether these were their words."""
        self.answer_in: str | None = None
        """The code of the language that the prompt asks for."""
        self.preview: OnPreview = lambda _text: None
        """Called with the probable text of the reply."""
        self.results: list[ToolResult] = []
        self.said = ""
        self.reply = ""
        self.finish: FinishReason = "stop"
        self.forced_choice: ToolChoice | None = None
        self.is_regenerated = False
        self.numbers = call_numbers(after=sum(len(message.tool_calls) for message in messages))

    @property
    def reminders(self) -> tuple[str, ...]:
        return (_ANSWER_IN.format(LANGUAGES[self.answer_in]),) if self.answer_in else ()

    @property
    def is_in_english(self) -> bool:
        """Whether what a tool has to say can be the answer as it is."""
        return self.answer_in in (None, ENGLISH)

    @property
    def last_words(self) -> str:
        """What the last tool had to say, for a model that finds no words of its own."""
        for result in reversed(self.results):
            if result.speech:
                return result.speech
        return ""

    def say(self, piece: str, *, begins_reply: bool) -> str:
        """Add a piece to what was said; as it is to be spoken behind the rest."""
        if begins_reply and self.said and not self.said[-1].isspace():
            piece = f" {piece}"
        self.said += piece
        return piece

    @property
    def unspoken_text(self) -> str:
        """What of the reply is still to be said. One that was cut after it was said needs no more words."""
        spoken = self.said.strip()
        if self.reply.startswith(spoken):
            return self.reply[len(spoken) :]
        return "" if spoken.startswith(self.reply) or spoken.endswith(self.reply) else f" {self.reply}"


class ToolLoop:
    """Runs the calls of a model's replies for `caller`. `names` returns the tools that it may call."""

    def __init__(
        self,
        executor: ToolExecutor,
        hooks: Hooks,
        *,
        names: Callable[[], Sequence[str]],
        confirm: Confirm,
        caller: Caller,
        publish: Publish,
    ) -> None:
        self._executor = executor
        self._hooks = hooks
        self._names = names
        self._confirm = confirm
        self._caller = caller
        self._publish = publish

    async def act(self, reply: ModelReply, work: TurnState, turn: Turn) -> Answer | None:
        """Run the calls of a reply; returns the answer if the tools gave one in English."""
        calls = [call for call in reply.calls if call.name != RESPOND_NAME or RESPOND_NAME in self._names()]
        if not calls:  # only the built-in `respond`: text written as a call
            return Answer(" ".join(spoken_text(call) for call in reply.calls))
        made = await self._run_calls(calls, work, turn)
        answers: list[Answer] = []
        results: list[ToolResult] = []
        for call, first in made:
            result = await self._confirmed(first, work, turn)
            outcome = ToolOutcome(result.content, result.is_error, result.code)
            match await self._hooks.after_tool(work.run, call, outcome):
                case Answer() as answer:
                    answers.append(answer)
                case ToolOutcome() as other if other is not outcome:
                    # A hook may quote tool output: sanitize it again; sanitized text stays the same.
                    outcome = replace(other, content=sentence(other.content))
                    result = replace(result, content=outcome.content, is_error=outcome.is_error)
            results.append(result)
            work.run.calls.append(call)
            work.run.outcomes.append(outcome)
            self._publish(
                ToolFinished(
                    turn_id=turn.id,
                    call_id=call.id,
                    name=call.name,
                    code=result.code,
                    elapsed_s=result.elapsed_s,
                    content=result.content,
                )
            )
        work.results += results
        work.messages.append(Message("assistant", reply.text, tool_calls=tuple(call for call, _ in made)))
        work.messages += [result.as_message() for result in results]
        if answers:
            return answers[-1]
        if work.is_in_english and all(result.speech for result in results):
            return Answer(" ".join(result.speech or "" for result in results))
        return None

    async def _run_calls(
        self, calls: Sequence[ToolCall], work: TurnState, turn: Turn
    ) -> list[tuple[ToolCall, ToolResult]]:
        """Resolve each call, pass it through the hooks, and run those that pass together."""
        denied: dict[str, ToolResult] = {}
        shown: list[ToolCall] = []
        passed: list[ResolvedCall] = []
        for call in calls:
            resolved = self._executor.resolve(call)
            match await self._hooks.before_tool(work.run, resolved.call):
                case Deny(reason):
                    denied[call.id] = _refused(resolved.call, reason)
                case ToolCall() as changed:
                    if changed is not resolved.call:
                        resolved = self._executor.resolve(changed)
                    passed.append(resolved)
                    made = resolved.call
                    self._publish(
                        ToolStarted(turn_id=turn.id, call_id=made.id, name=made.name, arguments=made.arguments)
                    )
            shown.append(resolved.call)
        results = await self._executor.dispatch_all(
            passed,
            caller=self._caller,
            cancel=turn.cancel,
            turn_id=turn.id,
            low_confidence_text=work.low_confidence_text,
        )
        by_id = denied | {result.tool_call_id: result for result in results}
        return [(call, by_id[call.id]) for call in shown]

    async def _confirmed(self, result: ToolResult, work: TurnState, turn: Turn) -> ToolResult:
        """Ask for the confirmation that a result needs, then run or refuse the call.

        Whether low-confidence words were heard right is asked once for all calls of the turn.
        """
        pending = result.confirmation
        if pending is None:
            return result
        is_doubt = bool(work.low_confidence_text) and pending.question == low_confidence_question(
            work.low_confidence_text
        )
        agreement = work.words_agreed if is_doubt else None
        if agreement is None:
            agreement = await self._asked(pending, result.name, turn)
        if is_doubt:
            work.words_agreed = agreement
        if not agreement.granted:
            return self._executor.refuse(pending, agreement.why)
        return await self._executor.dispatch_confirmed(
            pending.call, pending.token, by=agreement.by, channel=agreement.channel, cancel=turn.cancel
        )

    async def _asked(self, pending: PendingConfirmation, name: str, turn: Turn) -> Agreement:
        self._publish(
            ConfirmationRequired(
                turn_id=turn.id, token=pending.token, name=name, question=pending.question, level=pending.level
            )
        )
        agreement = await self._confirm(pending, turn)
        self._publish(
            ConfirmationDecided(turn_id=turn.id, token=pending.token, granted=agreement.granted, why=agreement.why)
        )
        return agreement


def spoken_text(call: ToolCall) -> str:
    """The text of a call of the built-in `respond`."""
    match json.loads(call.arguments):
        case {"text": str(text)}:
            return text
    return ""


def _refused(call: ToolCall, reason: str) -> ToolResult:
    """The result of a call that a hook denied."""
    return ToolResult(tool_call_id=call.id, name=call.name, content=sentence(reason), is_error=True, code="tool_denied")
