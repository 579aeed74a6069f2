"""The agent: runs one turn of a conversation with a model and its tools.

Start at `LLMAgent._turn`. Every turn ends with a spoken sentence and leaves a consistent conversation.
"""

from __future__ import annotations

import itertools
import json
import uuid
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from functools import partial
from typing import Protocol, TypeAlias

from edgevox.agents.conversation import Conversation, mark_truncated, summarise
from edgevox.agents.instructions import Instructions, SystemPrompt, is_self_contained
from edgevox.agents.model_profile import ModelProfile, OnPreview, Reply
from edgevox.agents.tool_loop import Confirm, ToolLoop, TurnState, deny_confirmation
from edgevox.core.events import Event, ModelFinished, ModelStarted, Publish, ReplyDelta, ToolCallWritten, TurnsForgotten
from edgevox.core.hooks import Again, Answer, Calls, Hook, Hooks, ModelReply, Parts, Run, SafetyHookFailed
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
_MAX_NESTING = 3

Offer: TypeAlias = Callable[[str], Sequence[str]]
"""Selects the tools offered for an utterance, by name; "" selects the default ones."""

_SAFETY_FAILED = "Sorry, I cannot do that safely right now."
NO_MORE_TOOLS = "(system: no more tools can be used now. Answer the person in one short sentence with what you know.)"


@dataclass(frozen=True, slots=True)
class AgentResult:
    """The result of one turn."""

    reply: str
    calls: tuple[ToolCall, ...]
    finish_reason: FinishReason
    results: tuple[ToolResult, ...] = ()
    spoken_prefix: str | None = None
    """The spoken part of the reply, if playback ended early."""

    def as_json(self) -> JsonObject:
        """The JSON form for the CLI and the control socket."""
        calls = [
            {"id": call.id, "name": call.name, "arguments": json.loads(call.arguments), "summary": call.summary}
            for call in self.calls
        ]
        return {"reply": self.reply, "tool_calls": calls, "finish_reason": self.finish_reason}


class ReplyAgent(Protocol):
    """What a pipeline needs of an agent: `LLMAgent` is one."""

    def stream(
        self,
        text: str,
        turn: Turn,
        *,
        source: str,
        spoken: str,
        answer_in: str | None,
        preview: OnPreview,
        is_doubted: bool,
    ) -> AsyncGenerator[str | AgentResult, None]:
        """Answer `text` in pieces; the last item is the result."""

    def truncate_reply(self, turn_id: str, spoken_prefix: str, *, finish_reason: str) -> None:
        """Replace the reply in the history by its spoken part."""

    def describe(self, calls: Sequence[ToolCall]) -> str:
        """Return what these calls do, in words."""

    async def perform(
        self, text: str, calls: tuple[ToolCall, ...], turn: Turn, answer_in: str | None = None
    ) -> AgentResult:
        """Make calls that were chosen on a screen; `text` says what they do."""

    async def warm_prefix(self, cancel: CancelFlag, *, again: bool = False) -> None:
        """Evaluate the prompt up to the next question; `again` also if it was, since others share the cache."""


class LLMAgent:
    """A language model with instructions, tools and a memory. Runs one turn at a time.

    `offered` limits the tools in the prompt: a list of names, or a function from the utterance to names. By default all
    tools are offered. `takes_notes` lets the model summarise turns that no longer fit the prompt. `client` is as in
    ChatRequest.
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
        # Each agent's conversation has its own prefix cache.
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
        self._tool_loop = ToolLoop(self._executor, self._hooks, self._names, confirm, caller, publish)

    async def run(
        self,
        text: str | Sequence[Message],
        turn: Turn | None = None,
        *,
        tool_choice: ToolChoice = "auto",
        source: str = "text",
    ) -> AgentResult:
        """Answer `text` and return the complete reply. Raises EngineFailed and ModelError.

        A sequence of messages continues a turn that began elsewhere: the user message, then its calls and results.
        """
        pieces = self.stream(text, turn or Turn(), tool_choice=tool_choice, source=source)
        *_text, result = [piece async for piece in pieces]
        assert isinstance(result, AgentResult)
        return result

    async def stream(
        self,
        text: str | Sequence[Message],
        turn: Turn,
        *,
        tool_choice: ToolChoice = "auto",
        source: str = "text",
        spoken: str = "",
        answer_in: str | None = None,
        preview: OnPreview = lambda _text: None,
        is_doubted: bool = False,
        calls: tuple[ToolCall, ...] = (),
    ) -> AsyncGenerator[str | AgentResult, None]:
        """Answer `text` in pieces, also between tool calls; the last item is the result.

        `spoken` is the language code of the text, "" if unknown, and `answer_in` that of the reply. `preview` receives
        the probable beginning of the reply before it is certain. A text that `is_doubted` is confirmed with the person
        before any tool runs. `calls` were chosen on a screen: they are made as they are, without the model, and `text`
        only says what they do.

        A cancelled turn keeps the text spoken so far; a failed turn, or one whose gate never opened, is not kept.
        """
        messages = [Message("user", text)] if isinstance(text, str) else list(text)
        sentence = messages[0].content
        state = TurnState(
            Run(
                self.name,
                turn.id,
                "" if calls else sentence,  # the hooks would compare the calls with the words
                self._client,
                lambda: tuple(self._conversation.messages()),
                turn.caller or self._tool_loop.caller,
                spoken,
                answer_in or "",
            ),
            messages,
            SystemPrompt.of(self._instructions, sentence),
            self._names_for(sentence),
            answer_in,
            sentence if is_doubted else "",
            preview,
        )
        self._prepared = None
        async with aclosing(self._turn(state, turn, tool_choice, calls)) as pieces:
            async for piece in pieces:
                self._publish_event(ReplyDelta(turn_id=turn.id, text=piece), turn)
                yield piece
        if turn.gate.is_open:
            self._executor.stats.count_offered(self._names() if state.offered is None else state.offered)
            if state.reply or state.results:
                self._conversation.keep(
                    (*state.messages, Message("assistant", state.reply)),
                    turn_id=turn.id,
                    source=source,
                    finish_reason=state.finish,
                )
            await self._hooks.run_end(state.run, state.reply)
        yield AgentResult(state.reply, tuple(state.run.calls), state.finish, tuple(state.results))

    async def perform(
        self, text: str, calls: tuple[ToolCall, ...], turn: Turn, answer_in: str | None = None
    ) -> AgentResult:
        """Make calls that were chosen on a screen, without the model; `text` only says what they do."""
        async with aclosing(self.stream(text, turn, source="screen", calls=calls, answer_in=answer_in)) as pieces:
            *_text, result = [piece async for piece in pieces]
        assert isinstance(result, AgentResult), "a stream ends with its result"
        return result

    def describe(self, calls: Sequence[ToolCall]) -> str:
        """What these calls do, in words: "Turn on kitchen light"."""
        return ", ".join(self._executor.resolve(call).call.summary or call.name for call in calls)

    def truncate_reply(self, turn_id: str, spoken_prefix: str, *, finish_reason: str = "interrupted") -> None:
        """Replace the last reply in the history by its spoken part, marked as incomplete."""
        self._conversation.amend_reply(turn_id, mark_truncated(spoken_prefix), finish_reason=finish_reason)

    async def warm_prefix(self, cancel: CancelFlag, *, again: bool = False) -> None:
        """Summarise turns that left the prompt, then evaluate the prompt up to the next question.

        Stops when `cancel` is set; returns at once if the prompt has not changed. With `again` it is only evaluated,
        changed or not: other conversations may have taken its place in the cache. Raises EngineFailed and ModelError.
        """
        if self._next_prompt() == self._prepared and not again:
            return
        if self._takes_notes and not again:
            await summarise(self._model.model, self._conversation, cancel)
        if cancel.is_set():
            return
        request = self._next_prompt()
        async with aclosing(self._model.model.stream(request, cancel)) as replies:
            async for _reply in replies:
                pass
        if not cancel.is_set():
            self._prepared = request

    # --- one turn

    async def _turn(
        self, state: TurnState, turn: Turn, choice: ToolChoice, chosen: tuple[ToolCall, ...]
    ) -> AsyncGenerator[str, None]:
        """Yield the spoken text; complete `state` when done."""
        answers: list[str] = []
        unread: list[tuple[str | None, int]] = [(None, 0)]  # texts and how deep they are nested; None: the utterance
        try:
            while unread:
                part, depth = unread.pop(0)
                if part is not None:
                    state.begin_part(part)
                decision = Calls(chosen) if chosen else await self._hooks.run_start(state.run)
                if isinstance(decision, Parts) and depth < _MAX_NESTING:
                    unread[:0] = [(text, depth + 1) for text in decision.texts]
                    continue
                answer = await self._start(decision, state, turn)
                if chosen and answer is None:
                    answer = Answer("")
                while answer is None and not turn.cancel.is_set():
                    reply = Reply(self._model, state.call_numbers)
                    async with aclosing(self._generate(reply, state, turn, choice)) as pieces:
                        async for piece in pieces:
                            yield piece
                    if not await turn.gate.passed(turn.cancel):
                        break
                    answer = await self._handle_reply(reply, state, turn)
                    state.run.hop += 1
                if turn.cancel.is_set() or answer is None:
                    break
                answers.append(answer.text.strip())
        except SafetyHookFailed:
            answers.append(_SAFETY_FAILED)
        if turn.cancel.is_set():
            state.finish = "cancelled"
            state.reply = state.spoken.strip()
            return
        said = " ".join(dict.fromkeys(filter(None, answers)))
        state.reply = said or state.spoken.strip() or state.last_speech or turn_sentence(state.run)
        if state.unspoken_text:
            yield state.unspoken_text

    async def _start(self, decision: Answer | Calls | Parts | None, state: TurnState, turn: Turn) -> Answer | None:
        """Return the answer of a hook, or of the calls that a hook asks for."""
        match decision:
            case Calls(calls, then) if await turn.gate.passed(turn.cancel):
                state.run.hop += 1
                numbered = (replace(call, id=f"call_{next(state.call_numbers)}") for call in calls)
                before = len(state.run.outcomes)
                answer = await self._tool_loop.run(ModelReply("", tuple(numbered), (), "tool_calls"), state, turn)
                if then is None or turn.cancel.is_set() or state.run.hop >= self._max_iterations:
                    return answer
                return await self._start(then(tuple(state.run.outcomes[before:])), state, turn)
            case Answer() as answer:
                return answer
        return None

    async def _generate(
        self, reply: Reply, state: TurnState, turn: Turn, choice: ToolChoice
    ) -> AsyncGenerator[str, None]:
        """Run one generation and yield the text that may be spoken at once."""
        is_last = state.run.hop >= self._max_iterations
        if is_last:
            state.hints.append(NO_MORE_TOOLS)
        request = self._request(
            state.system_prompt,
            state.offered,
            (*state.prompt_messages, *(Message("user", hint) for hint in (*state.hints, *state.reminders))),
            # A regenerated call follows the rules of a first hop.
            hop=0 if state.forced_choice else state.run.hop,
            choice="none" if is_last else state.forced_choice or choice,
        )
        request = await self._hooks.before_llm(state.run, request)
        state.hints.clear()
        state.forced_choice = None
        self._publish_event(ModelStarted(turn_id=turn.id), turn)
        on_call = partial(self._publish_call, turn)
        async with aclosing(reply.stream(request, turn.cancel, state.preview, on_call)) as pieces:
            async for piece in pieces:
                yield state.say(piece, begins_reply=reply.spoken_text == piece)
        done = reply.done
        finished = ModelFinished(
            turn_id=turn.id,
            finish_reason=done.finish_reason,
            prompt_tokens=done.prompt_tokens,
            cached_tokens=done.cached_tokens,
            generated_tokens=done.generated_tokens,
        )
        self._publish_event(finished, turn)
        if done.dropped_turns:
            turn.gate.when_open(lambda: self._conversation.forget_oldest(done.dropped_turns))
            self._publish_event(TurnsForgotten(turn_id=turn.id, count=done.dropped_turns), turn)

    async def _handle_reply(self, reply: Reply, state: TurnState, turn: Turn) -> Answer | None:
        """Return the answer, or None if the model has to be asked again."""
        read = reply.read()
        is_last = state.run.hop >= self._max_iterations
        state.finish = read.finish_reason
        if turn.cancel.is_set():
            return None
        if read.problems and not read.calls and not state.is_regenerated and not is_last:
            # A malformed call: the grammar turns the next attempt into a call or into plain words.
            state.is_regenerated = True
            state.forced_choice = "required"
            return None
        match await self._hooks.after_llm(state.run, read):
            case Answer() as answer:
                return answer
            case Again(hint) if not is_last:
                state.hints.append(hint)
                return None
        if not read.calls or is_last:
            return Answer(read.text)
        return await self._tool_loop.run(read, state, turn)

    def _next_prompt(self) -> ChatRequest:
        """Return the part of the next prompt that does not depend on the utterance."""
        request = self._request(SystemPrompt.of(self._instructions), self._names_for(""), ())
        return replace(request, prompt_only=True)

    def _request(
        self,
        system_prompt: SystemPrompt,
        offered: Sequence[str] | None,
        messages: Sequence[Message],
        *,
        hop: int = 0,
        choice: ToolChoice = "auto",
    ) -> ChatRequest:
        system = (Message("system", system_prompt.system),) if system_prompt.system else ()
        default_tools = self._names_for("")
        if offered is not None and callable(self._offered):
            # An MCP server may have removed a tool since the turn began.
            offered = tuple(name for name in offered if name in self._executor.registry)
        is_default = system_prompt.is_default and offered == default_tools
        # With other instructions or tools the whole prompt is evaluated again. So the history is left out if it is not
        # needed, and the default prompt keeps its own cached sequence.
        is_past_needed = is_default or not is_self_contained(messages[0].content)
        request = self._model.request(
            (*system, *(self._conversation.messages() if is_past_needed else ()), *messages),
            self._executor.registry,
            hop=hop,
            choice=choice,
            offered=offered,
            default_tools=None if offered == default_tools else default_tools,
            client=self._client if is_default else f"{self._client} aside",
        )
        return request if is_default else replace(request, default_system=system_prompt.default)

    def _publish_event(self, event: Event, turn: Turn) -> None:
        turn.gate.when_open(lambda: self._publish(event))

    def _publish_call(self, turn: Turn, written: ArgumentsDelta) -> None:
        if written.name == RESPOND_NAME and RESPOND_NAME not in self._names():
            return  # `respond` is plain text written as a call
        event = ToolCallWritten(
            turn_id=turn.id, call_id=written.id, name=written.name, arguments_delta=written.arguments_delta
        )
        self._publish_event(event, turn)

    def _names(self) -> Sequence[str]:
        registry = self._executor.registry
        return registry.names if self._offered is None or callable(self._offered) else self._offered

    def _names_for(self, sentence: str) -> Sequence[str] | None:
        if not callable(self._offered):
            return self._offered
        names = self._offered(sentence)
        if not sentence or is_self_contained(sentence):
            return names
        # "And tomorrow?" does not name the tool it refers to: offer those of the last turn.
        last_turn = itertools.takewhile(lambda message: message.role != "user", reversed(self._conversation.messages()))
        called = [call.name for message in reversed(tuple(last_turn)) for call in message.tool_calls]
        registry = self._executor.registry
        known = (name for name in called if name in registry and not registry.get(name).called_by_rule)
        return tuple(dict.fromkeys((*names, *known)))
