"""The tool loop of an agent: resolves calls, passes them through the hooks, confirms and runs them."""

from __future__ import annotations

import itertools
import json
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from edgevox.agents.instructions import SystemPrompt
from edgevox.agents.model_profile import OnPreview
from edgevox.core.events import ConfirmationDecided, ConfirmationRequired, Publish, ToolFinished, ToolStarted
from edgevox.core.hooks import Answer, Deny, Hooks, ModelReply, Run, ToolOutcome
from edgevox.core.languages import ENGLISH, LANGUAGES, replying_in
from edgevox.core.turn import CancelFlag, Turn
from edgevox.core.types import FinishReason, Message, ToolCall, ToolChoice
from edgevox.core.words import past_tense
from edgevox.llm.hooks_slm.result_text import outcome_sentence
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


Confirm: TypeAlias = Callable[[PendingConfirmation, Turn], Awaitable[Agreement]]
"""Asks a person. The host provides it; the model has no part in it."""


async def deny_confirmation(_pending: PendingConfirmation, _turn: Turn) -> Agreement:
    """Refuse every call that needs a confirmation."""
    return Agreement(granted=False, why="nobody could be asked")


async def apply_agreement(
    executor: ToolExecutor, pending: PendingConfirmation, agreement: Agreement, cancel: CancelFlag
) -> ToolResult:
    """Run the pending call if it was granted, and refuse it otherwise."""
    if not agreement.granted:
        return executor.refuse(pending, agreement.why)
    by, channel = agreement.by, agreement.channel
    return await executor.dispatch_confirmed(pending.call, pending.token, by=by, channel=channel, cancel=cancel)


@dataclass(slots=True)
class TurnState:
    """The state of one turn, filled step by step.

    `messages` are stored in the conversation; `system_prompt`, `hints` (for the next generation) and `reminders` (for
    every one) are not.
    """

    run: Run
    messages: list[Message]
    system_prompt: SystemPrompt
    offered: Sequence[str] | None
    """The names of the tools in this turn's prompt; None for all."""
    answer_in: str | None
    """The code of the language that the prompt asks for."""
    low_confidence_text: str
    """The transcript, if it may be wrong."""
    preview: OnPreview
    """Called with the probable text of the reply."""
    hints: list[str] = field(default_factory=list)
    transcript_agreement: Agreement | None = None
    """The answer to the question whether the transcript is right."""
    results: list[ToolResult] = field(default_factory=list)
    spoken: str = ""
    reply: str = ""
    part: tuple[str, int] | None = None
    """The part of the utterance that is read now, and how many messages there were before it."""
    finish: FinishReason = "stop"
    forced_choice: ToolChoice | None = None
    is_regenerated: bool = False
    call_numbers: Iterator[int] = field(init=False)

    def __post_init__(self) -> None:
        self.call_numbers = itertools.count(1 + sum(len(message.tool_calls) for message in self.messages))

    def begin_part(self, text: str) -> None:
        """Let the hooks and the model read this part of the utterance only."""
        self.run.begin_part(text)
        self.part = (text, len(self.messages))
        self.hints.clear()
        self.forced_choice, self.is_regenerated = None, False

    @property
    def prompt_messages(self) -> tuple[Message, ...]:
        if self.part is None:
            return tuple(self.messages)
        text, start = self.part
        return (Message("user", text), *self.messages[start:])

    @property
    def reminders(self) -> tuple[str, ...]:
        return (f"(system: answer in {LANGUAGES[self.answer_in]}.)",) if self.answer_in else ()

    @property
    def last_speech(self) -> str:
        """The sentence of the last tool that has one, for a model that writes no reply of its own."""
        return next((result.speech for result in reversed(self.results) if result.speech), "")

    def say(self, piece: str, *, begins_reply: bool) -> str:
        """Add a piece to the spoken text; returns it with the space that separates it from the rest."""
        if begins_reply and self.spoken and not self.spoken[-1].isspace():
            piece = f" {piece}"
        self.spoken += piece
        return piece

    @property
    def unspoken_text(self) -> str:
        """The part of the reply that is still to be spoken; nothing if the reply was shortened afterwards."""
        spoken = self.spoken.strip()
        if self.reply.startswith(spoken):
            return self.reply[len(spoken) :]
        return "" if spoken.startswith(self.reply) or spoken.endswith(self.reply) else f" {self.reply}"


@dataclass(frozen=True, slots=True)
class ToolLoop:
    """Runs the calls of a model's replies for the caller of the turn, by default `caller`.

    `names` returns the tools that may be called.
    """

    executor: ToolExecutor
    hooks: Hooks
    names: Callable[[], Sequence[str]]
    confirm: Confirm
    caller: Caller
    publish: Publish

    async def run(self, reply: ModelReply, state: TurnState, turn: Turn) -> Answer | None:
        """Run the calls of a reply; returns the answer if the tools gave one in English."""
        calls = [call for call in reply.calls if call.name != RESPOND_NAME or RESPOND_NAME in self.names()]
        if not calls:  # only the built-in `respond`: text written as a call
            return Answer(" ".join(spoken_text(call) for call in reply.calls))
        with replying_in(state.run.reply_language, state.run.language):
            return await self._run(reply.text, calls, state, turn)

    async def _run(self, text: str, calls: Sequence[ToolCall], state: TurnState, turn: Turn) -> Answer | None:
        dispatched = await self._dispatch(calls, state, turn)
        sentences: list[str | None] = []
        has_answer = False
        results: list[ToolResult] = []
        for call, first in dispatched:
            result = await self._confirm_call(first, state, turn)
            outcome = ToolOutcome(result.content, result.is_error, result.code, result.is_failure)
            said = result.speech
            match await self.hooks.after_tool(state.run, call, outcome):
                case Answer(said):
                    has_answer = True
                case ToolOutcome() as other if other is not outcome:
                    # A hook may quote tool output: sanitize it again; sanitized text stays the same.
                    outcome = replace(other, content=sentence(other.content))
                    result = replace(result, content=outcome.content, is_error=outcome.is_error)
            sentences.append(said)
            results.append(result)
            state.run.calls.append(call)
            state.run.outcomes.append(outcome)
            self.publish(
                ToolFinished(
                    turn_id=turn.id,
                    call_id=call.id,
                    name=call.name,
                    code=result.code,
                    elapsed_s=result.elapsed_s,
                    content=result.content,
                    summary=call.summary if result.is_error else past_tense(call.summary),
                )
            )
        state.results += results
        state.messages.append(Message("assistant", text, tool_calls=tuple(call for call, _ in dispatched)))
        state.messages += [result.as_message() for result in results]
        if any(sentences):
            failures = (_failure_sentence(call, result) for (call, _), result in zip(dispatched, results, strict=True))
            sentences = [said or failure for said, failure in zip(sentences, failures, strict=True)]
        # The sentences of most tools are English.
        is_in_language = {result.speech_language for result in results} <= {state.answer_in or ENGLISH}
        if has_answer or (is_in_language and all(sentences)):
            return Answer(" ".join(dict.fromkeys(filter(None, sentences))))
        return None

    async def _dispatch(
        self, calls: Sequence[ToolCall], state: TurnState, turn: Turn
    ) -> list[tuple[ToolCall, ToolResult]]:
        """Resolve each call, pass it through the hooks, and run those that pass together."""
        results: dict[str, ToolResult] = {}
        resolved_calls: list[ToolCall] = []
        passed: list[ResolvedCall] = []
        for call in calls:
            resolved = self.executor.resolve(call)
            match await self.hooks.before_tool(state.run, resolved.call):
                case Deny(reason):
                    results[call.id] = ToolResult(
                        tool_call_id=call.id,
                        name=resolved.call.name,
                        content=sentence(reason),
                        is_error=True,
                        code="tool_denied",
                    )
                case ToolCall() as changed:
                    if changed is not resolved.call:
                        resolved = self.executor.resolve(changed)
                    passed.append(resolved)
                    call = resolved.call
                    self.publish(
                        ToolStarted(
                            turn_id=turn.id,
                            call_id=call.id,
                            name=call.name,
                            arguments=call.arguments,
                            summary=call.summary,
                        )
                    )
            resolved_calls.append(resolved.call)
        for result in await self.executor.dispatch_all(
            passed,
            caller=state.run.caller,
            cancel=turn.cancel,
            turn_id=turn.id,
            low_confidence_text=state.low_confidence_text,
        ):
            results[result.tool_call_id] = result
        return [(call, results[call.id]) for call in resolved_calls]

    async def _confirm_call(self, result: ToolResult, state: TurnState, turn: Turn) -> ToolResult:
        """Ask for the confirmation that a result needs, then run or refuse the call.

        Whether a low-confidence transcript is right is asked once for all calls of the turn.
        """
        pending = result.confirmation
        if pending is None:
            return result
        text = state.low_confidence_text
        is_about_transcript = bool(text) and pending.question == low_confidence_question(text)
        agreement = state.transcript_agreement if is_about_transcript else None
        if agreement is None:
            agreement = await self._ask(pending, result.name, turn)
        if is_about_transcript:
            state.transcript_agreement = agreement
        return await apply_agreement(self.executor, pending, agreement, turn.cancel)

    async def _ask(self, pending: PendingConfirmation, name: str, turn: Turn) -> Agreement:
        self.publish(
            ConfirmationRequired(
                turn_id=turn.id,
                token=pending.token,
                name=name,
                question=pending.question,
                level=pending.level,
                expires_in_s=max(0.0, round(pending.expires_s - time.monotonic(), 1)),
            )
        )
        agreement = await self.confirm(pending, turn)
        self.publish(
            ConfirmationDecided(turn_id=turn.id, token=pending.token, granted=agreement.granted, why=agreement.why)
        )
        return agreement


# Failures that the model cannot correct.
_FINAL_CODES = ("timeout", "internal_error", "tool_error", "token_scope_insufficient")


def _failure_sentence(call: ToolCall, result: ToolResult) -> str | None:
    """What failed and why, for one of several calls; None if the model may correct the call."""
    if result.code not in _FINAL_CODES:
        return None
    try:
        arguments = json.loads(call.arguments)
    except ValueError:
        arguments = None
    match arguments:
        case {"name": str(what)} | {"item": str(what)} | {"area": str(what)}:
            pass
        case _:
            what = ""
    outcome = ToolOutcome(result.content, result.is_error, result.code)
    words = f"{call.name.replace('_', ' ')} {what}".strip().capitalize()
    return f"{words}: {outcome_sentence(outcome)}"


def spoken_text(call: ToolCall) -> str:
    """Return the text of a call of the built-in `respond`."""
    match json.loads(call.arguments):
        case {"text": str(text)}:
            return text
    return ""
