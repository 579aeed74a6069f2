"""The agent: one question in; tools called as the model wants and the rules allow; a spoken answer out.

The turn's story is `_turn`. The person always gets a sentence, and the conversation is whole however it ends.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import Protocol, TypeAlias

from edgevox.agents.conversation import Conversation
from edgevox.agents.reply import Reply, call_numbers
from edgevox.events import (
    ConfirmationDecided,
    ConfirmationRequired,
    Event,
    ModelFinished,
    ModelStarted,
    ReplyDelta,
    ToolFinished,
    ToolStarted,
    TurnsForgotten,
)
from edgevox.hooks import Again, Answer, Deny, Hook, Hooks, ModelReply, Run, SafetyHookFailed, ToolOutcome
from edgevox.llm.hooks_slm import default_slm_hooks
from edgevox.llm.hooks_slm.result_words import NO_ANSWER
from edgevox.llm.tool_choice import RESPOND_NAME, ToolChoicePolicy, plan_hop
from edgevox.tools import Tool, ToolRegistry
from edgevox.tools.confirmation import Channel, PendingConfirmation
from edgevox.tools.executor import ToolExecutor
from edgevox.tools.results import ToolResult, sentence
from edgevox.tools.scopes import LOCAL, Caller
from edgevox.turn import Turn
from edgevox.types import ChatModel, ChatRequest, FinishReason, Message, Sampling, ToolCall, ToolChoice

Publish: TypeAlias = Callable[[Event], None]

MAX_ITERATIONS = 6

_SAFETY_FAILED = "Sorry, I cannot do that safely right now."
NO_MORE_TOOLS = (
    "(system: no more tools can be used now. Answer the person in one short sentence with what you know.)"
)


@dataclass(frozen=True, slots=True)
class Agreement:
    """The answer to a request for confirmation: who gave it, how, and why where it is no."""

    granted: bool
    by: Caller = LOCAL
    channel: Channel = "voice"
    why: str = "the user said no"


class Confirm(Protocol):
    """Asks a person. The host provides it; the model has no part in it."""

    def __call__(self, pending: PendingConfirmation, turn: Turn, /) -> Awaitable[Agreement]: ...


async def nobody_to_ask(_pending: PendingConfirmation, _turn: Turn) -> Agreement:
    """Where no person can be asked, the answer is no."""
    return Agreement(granted=False, why="nobody could be asked")


@dataclass(frozen=True, slots=True)
class AgentResult:
    """What came of one question."""

    reply: str
    calls: tuple[ToolCall, ...]
    finish_reason: FinishReason
    results: tuple[ToolResult, ...] = ()


class LLMAgent:
    """A language model with instructions, tools and a memory. One turn at a time.

    `offered` are the names of the tools that the model is told of; without them it is all.
    """

    def __init__(
        self,
        name: str,
        description: str = "",
        instructions: str = "",
        tools: ToolExecutor | Sequence[Tool] = (),
        hooks: Sequence[Hook] | None = None,
        tool_choice_policy: ToolChoicePolicy = "auto",
        max_iterations: int = MAX_ITERATIONS,
        *,
        model: ChatModel,
        offered: Sequence[str] | None = None,
        parsers: tuple[str, ...] = (),
        sampling: Sampling | None = None,
        stop: tuple[str, ...] = (),
        thinking: bool = False,
        conversation: Conversation | None = None,
        confirm: Confirm = nobody_to_ask,
        caller: Caller = LOCAL,
        publish: Publish = lambda _event: None,
    ) -> None:
        self.name = name
        self.description = description
        self._client = uuid.uuid4().hex  # each agent's conversation has its own place in the model's memory
        self._system = (Message("system", instructions),) if instructions else ()
        self._executor = tools if isinstance(tools, ToolExecutor) else ToolExecutor(ToolRegistry(tools))
        self._offered = offered
        self._hooks = Hooks(default_slm_hooks(self._only_reads) if hooks is None else hooks)
        self._policy = tool_choice_policy
        self._max_iterations = max_iterations
        self._model = model
        self._parsers = parsers
        self._sampling = sampling or Sampling()
        self._stop = stop
        self._thinking = thinking
        self._conversation = conversation or Conversation()
        self._confirm = confirm
        self._caller = caller
        self._publish = publish

    async def run(
        self, text: str | Sequence[Message], turn: Turn | None = None, *, tool_choice: ToolChoice = "auto"
    ) -> AgentResult:
        """Answer `text` and return the whole reply. Raises EngineFailed and ModelError.

        In the place of a text, a turn that has begun elsewhere is taken up: the person's message, then the
        calls that were made for it and their results.
        """
        result: AgentResult | None = None
        async for piece in self.stream(text, turn or Turn(), tool_choice=tool_choice):
            if isinstance(piece, AgentResult):
                result = piece
        assert result is not None
        return result

    async def stream(
        self, text: str | Sequence[Message], turn: Turn, *, tool_choice: ToolChoice = "auto"
    ) -> AsyncGenerator[str | AgentResult, None]:
        """Answer `text` piece by piece, also while tools are still to come; the last item is the result.

        A cancelled turn keeps what was said so far, a failed one leaves no trace in the conversation.
        """
        begun = [Message("user", text)] if isinstance(text, str) else list(text)
        work = _Work(Run(self.name, turn.id, begun[0].content), begun)
        async with aclosing(self._turn(work, turn, tool_choice)) as pieces:
            async for piece in pieces:
                self._publish(ReplyDelta(turn_id=turn.id, text=piece))
                yield piece
        if work.reply or work.results:
            self._conversation.keep(
                (*work.messages, Message("assistant", work.reply)),
                turn_id=turn.id,
                finish_reason=work.finish,
            )
        await self._hooks.run_end(work.run, work.reply)
        yield AgentResult(work.reply, tuple(work.run.calls), work.finish, tuple(work.results))

    # --- the story of one turn

    async def _turn(self, work: _Work, turn: Turn, choice: ToolChoice) -> AsyncGenerator[str, None]:
        """What is said, piece by piece; `work` is then complete."""
        try:
            answer = await self._hooks.run_start(work.run)
            while answer is None and not turn.cancel.is_set():
                reply = Reply(self._model, self._parsers, work.numbers)
                async with aclosing(self._generate(reply, work, turn, choice)) as pieces:
                    async for piece in pieces:
                        yield piece
                answer = await self._after(reply, work, turn)
                work.run.hop += 1
        except SafetyHookFailed:
            answer = Answer(_SAFETY_FAILED)
        if turn.cancel.is_set():
            work.finish = "cancelled"
            work.reply = work.said.strip()
            return
        assert answer is not None
        work.reply = answer.text.strip() or work.said.strip() or work.last_words or NO_ANSWER
        if rest := _unsaid(work.reply, work.said):
            yield rest

    async def _generate(
        self, reply: Reply, work: _Work, turn: Turn, choice: ToolChoice
    ) -> AsyncGenerator[str, None]:
        """One generation; what of it may be said is said at once."""
        is_last = work.run.hop >= self._max_iterations
        if is_last:
            work.hints.append(NO_MORE_TOOLS)
        # A call that is to be written again is a first hop anew.
        plan = plan_hop(
            self._executor.registry.openai_schemas(self._offered),
            policy=self._policy,
            hop=0 if work.forced_choice else work.run.hop,
            choice="none" if is_last else work.forced_choice or choice,
        )
        request = ChatRequest(
            (
                *self._system,
                *self._conversation.messages(),
                *work.messages,
                *(Message("user", hint) for hint in work.hints),
            ),
            tools=plan.tools,
            sampling=self._sampling,
            stop=self._stop,
            thinking=self._thinking,
            tool_choice=plan.tool_choice,
            wire_format=self._parsers[0] if self._parsers else None,
            parallel_calls=True,
            client=self._client,
        )
        request = await self._hooks.before_llm(work.run, request)
        work.hints.clear()
        work.forced_choice = None
        self._publish(ModelStarted(turn_id=turn.id))
        async with aclosing(reply.spoken(request, turn.cancel)) as pieces:
            async for piece in pieces:
                said = piece if not work.said or work.said[-1].isspace() else _joined(work.said, piece, reply)
                work.said += said
                yield said
        done = reply.done
        self._publish(
            ModelFinished(
                turn_id=turn.id,
                finish_reason=done.finish_reason,
                prompt_tokens=done.prompt_tokens,
                cached_tokens=done.cached_tokens,
                generated_tokens=done.generated_tokens,
            )
        )
        if done.dropped_turns:
            self._conversation.forget_oldest(done.dropped_turns)
            self._publish(TurnsForgotten(turn_id=turn.id, count=done.dropped_turns))

    async def _after(self, reply: Reply, work: _Work, turn: Turn) -> Answer | None:
        """What follows from a reply: the answer to the person, or None, and then the model is asked again."""
        read = reply.read()
        is_last = work.run.hop >= self._max_iterations
        work.finish = read.finish_reason
        if turn.cancel.is_set():
            return None
        if read.problems and not read.calls and not work.is_regenerated and not is_last:
            # Something was meant to be a call: the grammar makes it one, or lets the model say it in words.
            work.is_regenerated = True
            work.forced_choice = "required"
            return None
        match await self._hooks.after_llm(work.run, read):
            case Answer() as answer:
                return answer
            case Again(hint) if not is_last:
                work.hints.append(hint)
                return None
        if not read.calls or is_last:
            return Answer(read.text)
        return await self._act(read, work, turn)

    # --- tools

    async def _act(self, reply: ModelReply, work: _Work, turn: Turn) -> Answer | None:
        """Make the calls of a reply; the answer where the tools gave it themselves."""
        calls = [call for call in reply.calls if call.name != RESPOND_NAME or RESPOND_NAME in self._names]
        if not calls:  # only the built-in `respond`: plain talk, written as a call
            return Answer(" ".join(spoken_text(call) for call in reply.calls))
        answers: list[Answer] = []
        results: list[ToolResult] = []
        denied: dict[str, ToolResult] = {}
        allowed: list[ToolCall] = []
        for call in calls:
            match await self._hooks.before_tool(work.run, call):
                case Deny(reason):
                    denied[call.id] = refused(call, reason)
                case ToolCall() as made:
                    allowed.append(made)
                    self._publish(
                        ToolStarted(
                            turn_id=turn.id, call_id=made.id, name=made.name, arguments=made.arguments
                        )
                    )
        made_results = await self._executor.dispatch_all(
            allowed, caller=self._caller, cancel=turn.cancel, turn_id=turn.id
        )
        by_id = denied | {result.tool_call_id: result for result in made_results}
        for call in calls:
            result = await self._confirmed(by_id[call.id], turn)
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
                )
            )
        work.results += results
        work.messages.append(Message("assistant", reply.text, tool_calls=tuple(calls)))
        work.messages += [result.as_message() for result in results]
        if answers:
            return answers[-1]
        if all(result.speech for result in results):
            return Answer(" ".join(result.speech or "" for result in results))
        return None

    async def _confirmed(self, result: ToolResult, turn: Turn) -> ToolResult:
        """The result of a call that needs a person's yes, once the person has been asked."""
        pending = result.confirmation
        if pending is None:
            return result
        self._publish(
            ConfirmationRequired(
                turn_id=turn.id,
                token=pending.token,
                name=result.name,
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
        if not agreement.granted:
            return self._executor.refuse(pending, agreement.why)
        return await self._executor.dispatch_confirmed(
            pending.call, pending.token, by=agreement.by, channel=agreement.channel, cancel=turn.cancel
        )

    def _only_reads(self, name: str) -> bool:
        return name in self._names and not self._executor.registry.get(name).side_effects

    @property
    def _names(self) -> Sequence[str]:
        return self._executor.registry.names if self._offered is None else self._offered


class _Work:
    """What a turn has come to so far. `messages` are kept in the conversation, `hints` are not."""

    def __init__(self, run: Run, messages: list[Message]) -> None:
        self.run = run
        self.messages = messages
        self.hints: list[str] = []
        self.results: list[ToolResult] = []
        self.said = ""
        self.reply = ""
        self.finish: FinishReason = "stop"
        self.forced_choice: ToolChoice | None = None
        self.is_regenerated = False
        self.numbers = call_numbers(after=sum(len(message.tool_calls) for message in messages))

    @property
    def last_words(self) -> str:
        """What the last tool had to say, for a model that finds no words of its own."""
        for result in reversed(self.results):
            if result.speech:
                return result.speech
        return ""


def _joined(said: str, piece: str, reply: Reply) -> str:
    """A piece that begins a further reply of the same turn needs a space before it."""
    return f" {piece}" if reply.said == piece and not said[-1].isspace() else piece


def _unsaid(reply: str, said: str) -> str:
    """What of the reply is still to be said. One that was cut after it was said needs no more words."""
    spoken = said.strip()
    if reply.startswith(spoken):
        return reply[len(spoken) :]
    return "" if spoken.startswith(reply) or spoken.endswith(reply) else f" {reply}"


def refused(call: ToolCall, reason: str) -> ToolResult:
    """The result of a call that a hook did not let through."""
    return ToolResult(
        tool_call_id=call.id, name=call.name, content=sentence(reason), is_error=True, code="tool_denied"
    )


def spoken_text(call: ToolCall) -> str:
    """What a call of the built-in `respond` says."""
    match json.loads(call.arguments):
        case {"text": str(text)}:
            return text
    return ""
