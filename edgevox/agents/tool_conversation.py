"""A conversation for programs that run the tools themselves: the model's calls out, their results in.

chat = ToolConversation(model, tools, parsers=("hermes",))
turn = await chat.send_message("Is it raining?")
while turn.tool_calls:
    turn = await chat.submit_tool_results({call.id: run(call) for call in turn.tool_calls})
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass

from edgevox.agents.conversation import Conversation
from edgevox.agents.llm_agent import MAX_ITERATIONS, NO_MORE_TOOLS
from edgevox.agents.model_profile import ModelProfile, Reply
from edgevox.agents.tool_loop import spoken_text
from edgevox.core.errors import ToolError
from edgevox.core.hooks import ModelReply
from edgevox.core.turn import CancelFlag
from edgevox.core.types import ChatModel, Message, Sampling, ToolCall, ToolChoice, ToolsAs
from edgevox.llm.hooks_slm.result_text import NO_ANSWER
from edgevox.llm.tool_choice import RESPOND_NAME, ToolChoicePolicy
from edgevox.tools import Tool, ToolRegistry, ToolResult
from edgevox.tools.results import render, sentence


@dataclass(frozen=True, slots=True)
class ConversationTurn:
    """The model's reply. Calls in `tool_calls` await their results."""

    content: str
    tool_calls: tuple[ToolCall, ...] = ()


class ToolConversation:
    """A model with tools that the calling program runs. One message at a time.

    The program handles permissions and confirmation. After `max_iterations` rounds of calls the model must answer in
    words.
    """

    def __init__(
        self,
        model: ChatModel,
        tools: ToolRegistry | Sequence[Tool],
        *,
        instructions: str = "",
        parsers: tuple[str, ...] = (),
        tool_choice_policy: ToolChoicePolicy = "auto",
        max_iterations: int = MAX_ITERATIONS,
        sampling: Sampling | None = None,
        stop: tuple[str, ...] = (),
        thinking: bool = False,
        tools_as: ToolsAs = "template",
        conversation: Conversation | None = None,
    ) -> None:
        self._tools = tools if isinstance(tools, ToolRegistry) else ToolRegistry(tools)
        self._system = (Message("system", instructions),) if instructions else ()
        self._model = ModelProfile(model, parsers, tool_choice_policy, tools_as, sampling or Sampling(), stop, thinking)
        self._max_iterations = max_iterations
        self._conversation = conversation or Conversation()
        self._numbers = itertools.count(1)
        self._choice: ToolChoice = "auto"
        self._turn: tuple[Message, ...] = ()

    @property
    def open_calls(self) -> tuple[ToolCall, ...]:
        """Return the calls that await results."""
        return self._turn[-1].tool_calls if self._turn else ()

    async def send_message(
        self, text: str, *, tool_choice: ToolChoice = "auto", cancel: CancelFlag | None = None
    ) -> ConversationTurn:
        """Send a user message. Raises ValueError while calls are open, EngineFailed and ModelError."""
        if self.open_calls:
            raise ValueError(f"submit the results of {_named(self.open_calls)} first")
        self._choice = tool_choice
        return await self._answer((Message("user", text),), cancel or CancelFlag())

    async def submit_tool_results(
        self, results: Mapping[str, object], *, cancel: CancelFlag | None = None
    ) -> ConversationTurn:
        """Submit the results of all open calls by id: the return value, or the ToolError that was raised.

        A result is fenced for the model unless it is a ToolResult. Raises ValueError if a result is missing or matches
        no open call, and EngineFailed and ModelError, after which the calls are still open.
        """
        calls = self.open_calls
        if not calls:
            raise ValueError("no call is open: send a message first")
        if unknown := results.keys() - {call.id for call in calls}:
            raise ValueError(f"no open call has the id {', '.join(sorted(unknown))}")
        if missing := [call for call in calls if call.id not in results]:
            raise ValueError(f"missing results for {_named(missing)}")
        messages = tuple(self._result(call, results[call.id]) for call in calls)
        return await self._answer((*self._turn, *messages), cancel or CancelFlag())

    # --- one reply

    async def _answer(self, messages: tuple[Message, ...], cancel: CancelFlag) -> ConversationTurn:
        hop = sum(bool(message.tool_calls) for message in messages)
        is_last = hop >= self._max_iterations
        if is_last:
            read = await self._generate((*messages, Message("user", NO_MORE_TOOLS)), cancel, hop, "none")
        else:
            read = await self._generate(messages, cancel, hop, self._choice)
            if read.problems and not read.calls and not cancel.is_set():
                # A malformed call: regenerated like a first hop, so the grammar turns it into a call.
                read = await self._generate(messages, cancel, 0, "required")
        if cancel.is_set():
            return self._end(messages, read.text)
        spoken = [spoken_text(call) for call in read.calls if self._is_respond(call)]
        calls = tuple(call for call in read.calls if not self._is_respond(call))
        if not calls or is_last:
            return self._end(messages, " ".join(filter(None, (read.text, *spoken))) or NO_ANSWER)
        self._turn = (*messages, Message("assistant", read.text, tool_calls=calls))
        return ConversationTurn(read.text, calls)

    async def _generate(
        self, messages: tuple[Message, ...], cancel: CancelFlag, hop: int, choice: ToolChoice
    ) -> ModelReply:
        prompt = (*self._system, *self._conversation.messages(), *messages)
        request = self._model.request(prompt, self._tools, hop=hop, choice=choice)
        reply = Reply(self._model, self._numbers)
        async with aclosing(reply.stream(request, cancel)) as pieces:
            async for _piece in pieces:
                pass
        if reply.done.dropped_turns:
            self._conversation.forget_oldest(reply.done.dropped_turns)
        return reply.read()

    def _end(self, messages: tuple[Message, ...], reply: str) -> ConversationTurn:
        self._turn = ()
        if reply or len(messages) > 1:  # a message cancelled before the first word is not kept
            self._conversation.keep((*messages, Message("assistant", reply)))
        return ConversationTurn(reply)

    def _is_respond(self, call: ToolCall) -> bool:
        """True for the built-in `respond`: plain text written as a call."""
        return call.name == RESPOND_NAME and RESPOND_NAME not in self._tools

    def _result(self, call: ToolCall, value: object) -> Message:
        match value:
            case ToolResult():
                content = value.content
            case ToolError():
                content = sentence(value.message)
            case _:
                content = render(value, names=self._tools.names)
        return Message("tool", content, tool_call_id=call.id)


def _named(calls: Sequence[ToolCall]) -> str:
    return ", ".join(f"{call.name} ({call.id})" for call in calls)
