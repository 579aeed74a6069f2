"""The body of /v1/messages, as Anthropic's clients write it, and the question in it."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import Field

from edgevox.server.question import Question, checked_count, in_order
from edgevox.server.wire import Wire
from edgevox.settings import ServerSettings
from edgevox.types import JsonObject, Message, NamedTool, Sampling, ToolCall, ToolChoice

_Name: TypeAlias = Annotated[str, Field(pattern=r"^[a-zA-Z0-9_-]{1,64}$")]
_Stop: TypeAlias = Annotated[str, Field(min_length=1, max_length=200)]


class _Text(Wire):
    type: Literal["text"]
    text: str


class _ToolUse(Wire):
    type: Literal["tool_use"]
    id: str
    name: _Name
    input: dict[str, Any]


class _ToolResult(Wire):
    type: Literal["tool_result"]
    tool_use_id: str
    content: str | list[_Text] | None = None
    is_error: bool | None = None


class _Thought(Wire):
    """What another model thought: nothing for this one."""

    type: Literal["thinking", "redacted_thinking"]


_Block: TypeAlias = Annotated[_Text | _ToolUse | _ToolResult | _Thought, Field(discriminator="type")]


class _Said(Wire):
    role: Literal["user", "assistant"]
    content: str | list[_Block]

    def messages(self) -> Iterator[Message]:
        """The results in it, then what is said, with the calls that are made."""
        blocks = [_Text(type="text", text=self.content)] if isinstance(self.content, str) else self.content
        texts, calls = [], []
        for block in blocks:
            match block:
                case _Text(text=text):
                    texts.append(text)
                case _ToolUse() if self.role == "assistant":
                    calls.append(ToolCall(block.id, block.name, json.dumps(block.input, ensure_ascii=False)))
                case _ToolResult() if self.role == "user":
                    yield Message("tool", _result_text(block), tool_call_id=block.tool_use_id)
                case _:
                    pass
        is_only_results = self.role == "user" and bool(blocks) and not texts
        if not is_only_results:
            yield Message(self.role, "\n".join(texts), tool_calls=tuple(calls))


class _Tool(Wire):
    name: _Name
    description: str | None = None
    input_schema: dict[str, Any]
    type: Literal["custom"] | None = None

    def schema_of_tool(self) -> JsonObject:
        function: dict[str, Any] = {"name": self.name, "parameters": self.input_schema}
        if self.description:
            function["description"] = self.description
        return {"type": "function", "function": function}


class _Choice(Wire):
    type: Literal["auto", "any", "none"]
    disable_parallel_tool_use: bool | None = None


class _NamedChoice(Wire):
    type: Literal["tool"]
    name: _Name
    disable_parallel_tool_use: bool | None = None


class MessagesBody(Wire):
    """What is understood of a request."""

    model: str
    max_tokens: int = Field(ge=1)
    messages: list[_Said] = Field(min_length=1)
    system: str | list[_Text] | None = None
    tools: list[_Tool] | None = None
    tool_choice: Annotated[_Choice | _NamedChoice, Field(discriminator="type")] | None = None
    stop_sequences: Annotated[list[_Stop], Field(max_length=16)] | None = None
    stream: bool | None = None
    temperature: float | None = Field(None, ge=0, le=1)
    top_p: float | None = Field(None, gt=0, le=1)
    top_k: int | None = Field(None, ge=0, le=100_000)

    def question(self, base: Sampling, limits: ServerSettings) -> Question:
        """Raises ApiError. What the request leaves open is as in `base`."""
        checked_count(len(self.messages), limits.max_messages, "messages")
        checked_count(len(self.tools or ()), limits.max_tools, "tools")
        names = [tool.name for tool in self.tools or ()]
        said = [message for one in self.messages for message in one.messages()]
        system = [Message("system", _joined(self.system))] if self.system else []
        return Question(
            in_order([*system, *said], names),
            tools=None if self.tools is None else tuple(tool.schema_of_tool() for tool in self.tools),
            tool_choice=self._choice(),
            parallel_calls=self.tool_choice is None or not self.tool_choice.disable_parallel_tool_use,
            sampling=dataclasses.replace(
                base,
                max_tokens=self.max_tokens,
                temperature=base.temperature if self.temperature is None else self.temperature,
                top_p=self.top_p or base.top_p,
                top_k=base.top_k if self.top_k is None else self.top_k,
            ),
            stop=tuple(self.stop_sequences or ()),
        )

    def _choice(self) -> ToolChoice:
        match self.tool_choice:
            case _NamedChoice(name=name):
                return NamedTool(name)
            case _Choice(type="any"):
                return "required"
            case _Choice(type="none"):
                return "none"
            case _:
                return "auto"


def _result_text(result: _ToolResult) -> str:
    text = _joined(result.content or "")
    return f"error: {text}" if result.is_error else text


def _joined(content: str | list[_Text]) -> str:
    return content if isinstance(content, str) else "\n".join(block.text for block in content)
