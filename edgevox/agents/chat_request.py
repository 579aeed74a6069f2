"""Chat requests in OpenAI's form, with the history the client sent, and the agent that answers them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

from pydantic import AliasChoices, AliasPath, BaseModel, Field

from edgevox.agents.conversation import Conversation, TurnRecord, complete_turn
from edgevox.agents.llm_agent import MAX_ITERATIONS, LLMAgent
from edgevox.agents.tool_loop import Confirm, deny_confirmation
from edgevox.core.events import Publish
from edgevox.core.turn import Turn
from edgevox.core.types import ChatModel, Message, NamedTool, Sampling, ToolCall, ToolChoice
from edgevox.tools import LOCAL, Caller, ToolExecutor
from edgevox.tools.results import render


def fence_results(text: str, names: Sequence[str]) -> str:
    """Fence a tool result for the model; a fenced one is returned unchanged."""
    try:
        return render(json.loads(text), names=names)
    except (ValueError, RecursionError):
        return render(text, names=names)


def group_turns(messages: Sequence[Message]) -> Iterator[tuple[Message, ...]]:
    """Split messages into turns; consecutive user messages belong to one turn."""
    group: tuple[Message, ...] = ()
    for message in messages:
        if message.role == "system":
            continue
        if message.role != "user":
            group = (*group, message)
        elif group and group[-1].role == "user":
            group = (*group[:-1], Message("user", f"{group[-1].content}\n{message.content}"))
        else:
            if group:
                yield group
            group = (message,)
    yield group


def conversation_from_messages(turns: Sequence[tuple[Message, ...]]) -> Conversation:
    """Return a conversation with these turns. Its clock stands still, so they do not expire."""
    records = [TurnRecord(str(number), "chat", 0.0, "api", "stop", turn) for number, turn in enumerate(turns)]
    return Conversation("chat", clock=lambda: 0.0, turns=records)


async def run_chat_with_tools(
    executor: ToolExecutor,
    model: ChatModel,
    chat_request_body: Mapping[str, Any],
    *,
    stream_to: Publish | None = None,
    max_iterations: int = MAX_ITERATIONS,
    parsers: tuple[str, ...] = (),
    confirm: Confirm = deny_confirmation,
    caller: Caller = LOCAL,
    turn: Turn | None = None,
) -> dict[str, Any]:
    """Answer a body with `messages`: run all tools and return the assistant's last message.

    `tools` selects tools of the executor by name; by default all are offered. `stream_to` receives the events. Raises
    ValueError for an invalid body, UnknownTool for a tool the executor does not have, EngineFailed and ModelError.
    """
    body = ChatBody.model_validate(chat_request_body)
    offered = None if body.tools is None else tuple(tool.name for tool in body.tools)
    executor.registry.openai_schemas(offered)  # raises UnknownTool
    choice = body.choice(executor.registry.names if offered is None else offered)
    *past, messages = body.turns(executor.registry.names)
    agent = LLMAgent(
        "chat",
        instructions=body.instructions,
        tools=executor,
        offered=offered,
        max_iterations=max_iterations,
        model=model,
        parsers=parsers,
        sampling=body.sampling,
        stop=(body.stop,) if isinstance(body.stop, str) else tuple(body.stop),
        conversation=conversation_from_messages(past),
        confirm=confirm,
        caller=caller,
        publish=stream_to or (lambda _event: None),
    )
    result = await agent.run(messages, turn, tool_choice=choice)
    return {"role": "assistant", "content": result.reply}


class _Part(BaseModel):
    type: Literal["text"]
    text: str


class _Call(BaseModel):
    id: str
    name: str = Field(validation_alias=AliasPath("function", "name"))
    arguments: str = Field("{}", validation_alias=AliasPath("function", "arguments"))


class _ChatMessage(BaseModel):
    role: Literal["system", "developer", "user", "assistant", "tool"]
    content: str | list[_Part] | None = None
    tool_calls: list[_Call] | None = None
    tool_call_id: str | None = None

    @property
    def text(self) -> str:
        if isinstance(self.content, list):
            return "\n".join(part.text for part in self.content)
        return self.content or ""

    def as_message(self, names: Sequence[str]) -> Message:
        match self.role:
            case "system" | "developer":
                return Message("system", self.text)
            case "tool":
                return Message("tool", fence_results(self.text, names), tool_call_id=self.tool_call_id)
            case role:
                calls = tuple(ToolCall(call.id, call.name, call.arguments) for call in self.tool_calls or ())
                return Message(role, self.text, tool_calls=calls)


class _Named(BaseModel):
    """A tool by name: its full definition, a tool_choice object, or the bare name."""

    name: str = Field(validation_alias=AliasChoices(AliasPath("function", "name"), "name"))


class ChatBody(BaseModel):
    """The supported parts of a chat request; others are ignored."""

    messages: list[_ChatMessage] = Field(min_length=1)
    tools: list[_Named] | None = None
    tool_choice: Literal["auto", "none", "required"] | _Named = "auto"
    temperature: float = Field(Sampling().temperature, ge=0)
    top_p: float = Field(Sampling().top_p, gt=0, le=1)
    max_tokens: int = Field(Sampling().max_tokens, gt=0)
    seed: int | None = None
    stop: str | list[str] = []

    @property
    def instructions(self) -> str:
        return "\n\n".join(message.text for message in self.messages if message.role in ("system", "developer"))

    @property
    def sampling(self) -> Sampling:
        return Sampling(temperature=self.temperature, top_p=self.top_p, max_tokens=self.max_tokens, seed=self.seed)

    def choice(self, offered: Sequence[str]) -> ToolChoice:
        """Raises ValueError if the chosen tool is not offered."""
        if not isinstance(self.tool_choice, _Named):
            return self.tool_choice
        if self.tool_choice.name not in offered:
            raise ValueError(f"tool_choice names {self.tool_choice.name}, which is not offered")
        return NamedTool(self.tool_choice.name)

    def turns(self, names: Sequence[str]) -> list[tuple[Message, ...]]:
        """Return the turns of the conversation; the last one is unanswered. Raises ValueError."""
        *past, last = group_turns([message.as_message(names) for message in self.messages])
        if not last or last[0].role != "user" or last[-1].role == "assistant":
            raise ValueError("the last message must be a user message or a tool result")
        # `complete_turn` adds missing results and a final reply; the added reply is not wanted here.
        return [*(complete_turn(turn) if turn[0].role == "user" else turn for turn in past), complete_turn(last)[:-1]]
