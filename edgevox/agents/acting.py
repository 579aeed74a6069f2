"""The acting half of an agent: calls pass the hooks, are made, and asked about where a person must agree."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeAlias

from edgevox.agents.confirm import Agreement, Confirm
from edgevox.agents.turn_work import TurnWork
from edgevox.events import ConfirmationDecided, ConfirmationRequired, Event, ToolFinished, ToolStarted
from edgevox.hooks import Answer, Deny, Hooks, ModelReply, ToolOutcome
from edgevox.llm.tool_choice import RESPOND_NAME
from edgevox.tools.confirmation import PendingConfirmation, question_for_doubt
from edgevox.tools.executor import ToolExecutor
from edgevox.tools.results import ToolResult, sentence
from edgevox.tools.scopes import Caller
from edgevox.turn import Turn
from edgevox.types import Message, ToolCall

Publish: TypeAlias = Callable[[Event], None]


class Acting:
    """Makes the calls of a model's replies on behalf of `caller`. `names` are the tools that it may call."""

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

    async def act(self, reply: ModelReply, work: TurnWork, turn: Turn) -> Answer | None:
        """Make the calls of a reply; the answer where the tools gave it themselves, in English."""
        calls = [call for call in reply.calls if call.name != RESPOND_NAME or RESPOND_NAME in self._names()]
        if not calls:  # only the built-in `respond`: plain talk, written as a call
            return Answer(" ".join(spoken_text(call) for call in reply.calls))
        made = await self._made([self._executor.understood(call) for call in calls], work, turn)
        answers: list[Answer] = []
        results: list[ToolResult] = []
        for call, first in made:
            result = await self._confirmed(first, work, turn)
            outcome = ToolOutcome(result.content, result.is_error, result.code)
            match await self._hooks.after_tool(work.run, call, outcome):
                case Answer() as answer:
                    answers.append(answer)
                case ToolOutcome() as other if other is not outcome:
                    # It may quote what it read: what was fenced already stays as it is.
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

    async def _made(
        self, calls: Sequence[ToolCall], work: TurnWork, turn: Turn
    ) -> list[tuple[ToolCall, ToolResult]]:
        """The calls as the hooks let them through, with their results; those that run do so together."""
        denied: dict[str, ToolResult] = {}
        passed: list[ToolCall] = []
        for call in calls:
            match await self._hooks.before_tool(work.run, call):
                case Deny(reason):
                    denied[call.id] = _refused(call, reason)
                    passed.append(call)
                case ToolCall() as changed:
                    passed.append(changed)
                    self._publish(
                        ToolStarted(
                            turn_id=turn.id,
                            call_id=changed.id,
                            name=changed.name,
                            arguments=changed.arguments,
                        )
                    )
        results = await self._executor.dispatch_all(
            [call for call in passed if call.id not in denied],
            caller=self._caller,
            cancel=turn.cancel,
            turn_id=turn.id,
            doubted=work.doubted,
        )
        by_id = denied | {result.tool_call_id: result for result in results}
        return [(call, by_id[call.id]) for call in passed]

    async def _confirmed(self, result: ToolResult, work: TurnWork, turn: Turn) -> ToolResult:
        """The result of a call that needs a person's yes, once the person has been asked.

        Whether words were said that may have been misheard is asked once for all calls that they led to.
        """
        pending = result.confirmation
        if pending is None:
            return result
        is_doubt = bool(work.doubted) and pending.question == question_for_doubt(work.doubted)
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
                turn_id=turn.id,
                token=pending.token,
                name=name,
                question=pending.question,
                level=pending.level,
            )
        )
        agreement = await self._confirm(pending, turn)
        self._publish(
            ConfirmationDecided(
                turn_id=turn.id, token=pending.token, granted=agreement.granted, why=agreement.why
            )
        )
        return agreement


def spoken_text(call: ToolCall) -> str:
    """What a call of the built-in `respond` says."""
    match json.loads(call.arguments):
        case {"text": str(text)}:
            return text
    return ""


def _refused(call: ToolCall, reason: str) -> ToolResult:
    """The result of a call that a hook did not let through."""
    return ToolResult(
        tool_call_id=call.id, name=call.name, content=sentence(reason), is_error=True, code="tool_denied"
    )
