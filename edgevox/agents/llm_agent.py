"""The agent: one question in; tools called as the model wants and the rules allow; a spoken answer out.

The turn's story is `_turn`. The person always gets a sentence, and the conversation is whole however it ends.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeAlias

from edgevox.agents.conversation import Conversation, mark_truncated, summarise
from edgevox.agents.instructions import Instructions, SystemPrompt, is_self_contained
from edgevox.agents.model_profile import ModelProfile, OnPreview, Reply
from edgevox.agents.tool_loop import Confirm, Publish, ToolLoop, TurnState, deny_confirmation
from edgevox.core.events import (
    Event,
    ModelFinished,
    ModelStarted,
    ReplyDelta,
    ToolCallWritten,
    TurnsForgotten,
)
from edgevox.core.hooks import Again, Answer, Hook, Hooks, Run, SafetyHookFailed
from edgevox.core.turn import CancelFlag, Turn
from edgevox.core.types import (
    ChatModel,
    ChatRequest,
    FinishReason,
    JsonObject,
    Message,
    Sampling,
    ToolCall,
    ToolChoice,
    ToolsAs,
)
from edgevox.llm.hooks_slm import default_slm_hooks
from edgevox.llm.hooks_slm.result_text import turn_sentence
from edgevox.llm.tool_choice import RESPOND_NAME, ToolChoicePolicy
from edgevox.llm.tool_parsers import ArgumentsDelta
from edgevox.tools import Tool, ToolRegistry
from edgevox.tools.executor import ToolExecutor
from edgevox.tools.policy import LOCAL, Caller
from edgevox.tools.results import ToolResult

MAX_ITERATIONS = 6

Offer: TypeAlias = Callable[[str], Sequence[str]]
"""The names of the tools that a model is told of when it is asked this."""

_SAFETY_FAILED = "Sorry, I cannot do that safely right now."
NO_MORE_TOOLS = "(system: no more tools can be used now. Answer the person in one short sentence with what you know.)"


@dataclass(frozen=True, slots=True)
class AgentResult:
    """What came of one question."""

    reply: str
    calls: tuple[ToolCall, ...]
    finish_reason: FinishReason
    results: tuple[ToolResult, ...] = ()
    heard: str | None = None
    """What was heard of the reply, where the turn ended before it was spoken to its end."""

    def told(self) -> JsonObject:
        """As programs are told of it."""
        calls = [{"id": call.id, "name": call.name, "arguments": json.loads(call.arguments)} for call in self.calls]
        return {"reply": self.reply, "tool_calls": calls, "finish_reason": self.finish_reason}


class LLMAgent:
    """A language model with instructions, tools and a memory. One turn at a time.

    `offered` are the names of the tools that the model is told of, or gives them for a sentence ("" for what
    is told whatever is asked); without them it is all. A model that `takes_notes` can summarise what its
    prompt has no room for. `client` is as in ChatRequest.
    """

    def __init__(
        self,
        name: str,
        description: str = "",
        instructions: str | Instructions = "",
        tools: ToolExecutor | Sequence[Tool] = (),
        hooks: Sequence[Hook] | None = None,
        tool_choice_policy: ToolChoicePolicy = "auto",
        max_iterations: int = MAX_ITERATIONS,
        *,
        model: ChatModel,
        offered: Sequence[str] | Offer | None = None,
        parsers: tuple[str, ...] = (),
        sampling: Sampling | None = None,
        stop: tuple[str, ...] = (),
        thinking: bool = False,
        tools_as: ToolsAs = "template",
        takes_notes: bool = True,
        conversation: Conversation | None = None,
        confirm: Confirm = deny_confirmation,
        caller: Caller = LOCAL,
        publish: Publish = lambda _event: None,
        client: str | None = None,
    ) -> None:
        self.name = name
        self.description = description
        # Each agent's conversation has its own place in the model's memory.
        self._client = client or uuid.uuid4().hex
        self._instructions = instructions
        self._executor = tools if isinstance(tools, ToolExecutor) else ToolExecutor(ToolRegistry(tools))
        self._offered = offered
        self._hooks = Hooks(default_slm_hooks(self._executor.registry.only_reads) if hooks is None else hooks)
        self._max_iterations = max_iterations
        self._model = ModelProfile(model, parsers, tool_choice_policy, tools_as, sampling or Sampling(), stop, thinking)
        self._conversation = conversation or Conversation()
        self._takes_notes = takes_notes
        self._prepared: ChatRequest | None = None
        self._publish = publish
        self._tool_loop = ToolLoop(
            self._executor,
            self._hooks,
            names=self._names,
            confirm=confirm,
            caller=caller,
            publish=publish,
        )

    async def run(
        self,
        text: str | Sequence[Message],
        turn: Turn | None = None,
        *,
        tool_choice: ToolChoice = "auto",
        source: str = "text",
    ) -> AgentResult:
        """Answer `text` and return the whole reply. Raises EngineFailed and ModelError.

        In the place of a text, a turn that has begun elsewhere is taken up: the person's message, then the
        calls that were made for it and their results.
        """
        result: AgentResult | None = None
        async for piece in self.stream(text, turn or Turn(), tool_choice=tool_choice, source=source):
            if isinstance(piece, AgentResult):
                result = piece
        assert result is not None
        return result

    async def stream(
        self,
        text: str | Sequence[Message],
        turn: Turn,
        *,
        tool_choice: ToolChoice = "auto",
        source: str = "text",
        answer_in: str | None = None,
        preview: OnPreview = lambda _text: None,
        is_doubted: bool = False,
    ) -> AsyncGenerator[str | AgentResult, None]:
        """Answer `text` piece by piece, also while tools are still to come; the last item is the result.

        `answer_in` is the code of the language that the model is told to answer in. `preview` is told what
        will probably be said, as it grows, before that is certain. Before anything is done for a text that
        `is_doubted`, the person is asked whether they said it.

        A cancelled turn keeps what was said so far; a failed one, and one whose gate was not opened, leave no
        trace in the conversation.
        """
        begun = [Message("user", text)] if isinstance(text, str) else list(text)
        sentence = begun[0].content
        work = TurnState(Run(self.name, turn.id, sentence), begun, SystemPrompt.of(self._instructions, sentence))
        work.offered = self._names_for(sentence)
        work.answer_in = answer_in
        work.low_confidence_text = sentence if is_doubted else ""
        work.preview = preview
        self._prepared = None
        async with aclosing(self._turn(work, turn, tool_choice)) as pieces:
            async for piece in pieces:
                self._tell(ReplyDelta(turn_id=turn.id, text=piece), turn)
                yield piece
        if turn.gate.is_open:
            self._executor.stats.count_offered(self._names() if work.offered is None else work.offered)
            if work.reply or work.results:
                self._conversation.keep(
                    (*work.messages, Message("assistant", work.reply)),
                    turn_id=turn.id,
                    source=source,
                    finish_reason=work.finish,
                )
            await self._hooks.run_end(work.run, work.reply)
        yield AgentResult(work.reply, tuple(work.run.calls), work.finish, tuple(work.results))

    def was_heard(self, turn_id: str, heard: str, *, finish_reason: str = "interrupted") -> None:
        """No more than this was heard of the last reply: so it is remembered, and seen to have no end."""
        self._conversation.amend_reply(turn_id, mark_truncated(heard), finish_reason=finish_reason)

    async def warm_prefix(self, cancel: CancelFlag) -> None:
        """Summarise turns that left the prompt, then evaluate the prompt up to the next question.

        Stops when `cancel` is set; returns at once if the prompt has not changed. Raises EngineFailed and ModelError.
        """
        if self._next_prompt() == self._prepared:
            return
        if self._takes_notes:
            await summarise(self._model.model, self._conversation, cancel)
        if cancel.is_set():
            return
        request = self._next_prompt()
        async with aclosing(self._model.model.stream(request, cancel)) as replies:
            async for _reply in replies:
                pass
        if not cancel.is_set():
            self._prepared = request

    # --- the story of one turn

    async def _turn(self, work: TurnState, turn: Turn, choice: ToolChoice) -> AsyncGenerator[str, None]:
        """What is said, piece by piece; `work` is then complete."""
        try:
            answer = await self._hooks.run_start(work.run)
            while answer is None and not turn.cancel.is_set():
                reply = self._model.reply(work.numbers)
                async with aclosing(self._generate(reply, work, turn, choice)) as pieces:
                    async for piece in pieces:
                        yield piece
                if not await turn.gate.passed(turn.cancel):
                    break
                answer = await self._after(reply, work, turn)
                work.run.hop += 1
        except SafetyHookFailed:
            answer = Answer(_SAFETY_FAILED)
        if turn.cancel.is_set():
            work.finish = "cancelled"
            work.reply = work.said.strip()
            return
        assert answer is not None
        work.reply = answer.text.strip() or work.said.strip() or work.last_words or turn_sentence(work.run)
        if work.unspoken_text:
            yield work.unspoken_text

    async def _generate(
        self, reply: Reply, work: TurnState, turn: Turn, choice: ToolChoice
    ) -> AsyncGenerator[str, None]:
        """One generation; what of it may be said is said at once."""
        is_last = work.run.hop >= self._max_iterations
        if is_last:
            work.hints.append(NO_MORE_TOOLS)
        request = self._request(
            work.told,
            work.offered,
            (*work.messages, *(Message("user", hint) for hint in (*work.hints, *work.reminders))),
            # A call that is to be written again is a first hop anew.
            hop=0 if work.forced_choice else work.run.hop,
            choice="none" if is_last else work.forced_choice or choice,
        )
        request = await self._hooks.before_llm(work.run, request)
        work.hints.clear()
        work.forced_choice = None
        self._tell(ModelStarted(turn_id=turn.id), turn)
        on_call = partial(self._tell_call, turn)
        async with aclosing(reply.spoken(request, turn.cancel, work.preview, on_call)) as pieces:
            async for piece in pieces:
                yield work.say(piece, begins_reply=reply.said == piece)
        done = reply.done
        finished = ModelFinished(
            turn_id=turn.id,
            finish_reason=done.finish_reason,
            prompt_tokens=done.prompt_tokens,
            cached_tokens=done.cached_tokens,
            generated_tokens=done.generated_tokens,
        )
        self._tell(finished, turn)
        if done.dropped_turns:
            turn.gate.when_open(lambda: self._conversation.forget_oldest(done.dropped_turns))
            self._tell(TurnsForgotten(turn_id=turn.id, count=done.dropped_turns), turn)

    async def _after(self, reply: Reply, work: TurnState, turn: Turn) -> Answer | None:
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
        return await self._tool_loop.act(read, work, turn)

    def _next_prompt(self) -> ChatRequest:
        """What can be evaluated of the next turn before its sentence is known."""
        request = self._request(SystemPrompt.of(self._instructions), self._names_for(""), ())
        return replace(request, prompt_only=True)

    def _request(
        self,
        told: SystemPrompt,
        offered: Sequence[str] | None,
        messages: Sequence[Message],
        *,
        hop: int = 0,
        choice: ToolChoice = "auto",
    ) -> ChatRequest:
        system = (Message("system", told.system),) if told.system else ()
        usually = self._names_for("")
        if offered is not None and callable(self._offered):
            # A server may have taken a tool away since the turn began.
            offered = tuple(name for name in offered if name in self._executor.registry)
        is_usual = told.is_usual and offered == usually
        # Behind other instructions or tools all is evaluated anew: where the past is not needed, it is left
        # out, and what is known of the usual prompt stays in its own place in the model's memory.
        is_past_needed = is_usual or not is_self_contained(messages[0].content)
        request = self._model.request(
            (*system, *(self._conversation.messages() if is_past_needed else ()), *messages),
            self._executor.registry,
            hop=hop,
            choice=choice,
            offered=offered,
            usually=None if offered == usually else usually,
            client=self._client if is_usual else f"{self._client} aside",
        )
        return request if is_usual else replace(request, usual_system=told.usual)

    def _tell(self, event: Event, turn: Turn) -> None:
        turn.gate.when_open(lambda: self._publish(event))

    def _tell_call(self, turn: Turn, written: ArgumentsDelta) -> None:
        if written.name == RESPOND_NAME and RESPOND_NAME not in self._names():
            return  # plain talk, written as a call
        self._tell(
            ToolCallWritten(
                turn_id=turn.id,
                call_id=written.id,
                name=written.name,
                arguments_delta=written.arguments_delta,
            ),
            turn,
        )

    def _names(self) -> Sequence[str]:
        registry = self._executor.registry
        return registry.names if self._offered is None or callable(self._offered) else self._offered

    def _names_for(self, sentence: str) -> Sequence[str] | None:
        if not callable(self._offered):
            return self._offered
        names = self._offered(sentence)
        if not sentence or is_self_contained(sentence):
            return names
        # "And tomorrow?" has no word of the tool that it is about.
        again = (name for name in self._last_called() if name in self._executor.registry)
        return tuple(dict.fromkeys((*names, *again)))

    def _last_called(self) -> list[str]:
        """The names of the tools that were called in the last turn."""
        called: list[str] = []
        for message in reversed(self._conversation.messages()):
            if message.role == "user":
                break
            called = [*(call.name for call in message.tool_calls), *called]
        return called
