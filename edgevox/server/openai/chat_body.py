"""The body of /v1/chat/completions, as OpenAI's clients write it, and the question in it."""

from __future__ import annotations

import dataclasses
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import Field

from edgevox.server.errors import invalid
from edgevox.server.question import Question, checked_count, in_order
from edgevox.server.wire import Wire
from edgevox.settings import ServerSettings
from edgevox.types import JsonObject, Message, NamedTool, Role, Sampling, ToolCall, ToolChoice

_Name: TypeAlias = Annotated[str, Field(pattern=r"^[a-zA-Z0-9_-]{1,64}$")]
_Stop: TypeAlias = Annotated[str, Field(min_length=1, max_length=200)]
_MAX_SEED = 2**32 - 1
_FUNCTION_ID = "function"
_NO_PARAMETERS: JsonObject = {"type": "object", "properties": {}}


class _Part(Wire):
    type: Literal["text", "refusal"]
    text: str = ""


class _CalledFunction(Wire):
    name: _Name
    arguments: str = "{}"


class _Call(Wire):
    id: str
    type: Literal["function"] = "function"
    function: _CalledFunction


class _Said(Wire):
    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: str | list[_Part] | None = None
    tool_calls: list[_Call] | None = None
    function_call: _CalledFunction | None = None
    tool_call_id: str | None = None

    def message(self) -> Message:
        role: Role
        match self.role:
            case "system" | "developer":
                role = "system"
            case "function":
                return Message("tool", self._text, tool_call_id=_FUNCTION_ID)
            case _:
                role = self.role
        return Message(role, self._text, tool_calls=self._calls(), tool_call_id=self.tool_call_id)

    def _calls(self) -> tuple[ToolCall, ...]:
        if self.role != "assistant":
            return ()
        if self.function_call is not None:
            return (ToolCall(_FUNCTION_ID, self.function_call.name, self.function_call.arguments),)
        return tuple(
            ToolCall(call.id, call.function.name, call.function.arguments) for call in self.tool_calls or ()
        )

    @property
    def _text(self) -> str:
        if isinstance(self.content, list):
            return "\n".join(part.text for part in self.content)
        return self.content or ""


class _Function(Wire):
    name: _Name
    description: str | None = None
    parameters: dict[str, Any] | None = None

    def schema_of_tool(self) -> JsonObject:
        function = {"name": self.name, "parameters": self.parameters or _NO_PARAMETERS}
        if self.description:
            function["description"] = self.description
        return {"type": "function", "function": function}


class _Tool(Wire):
    type: Literal["function"]
    function: _Function


class _Named(Wire):
    name: _Name


class _NamedFunction(Wire):
    type: Literal["function"]
    function: _Named


class _Schema(Wire):
    name: str | None = None
    schema_: dict[str, Any] = Field(default_factory=dict, alias="schema")


class _Format(Wire):
    type: Literal["text", "json_object", "json_schema"]
    json_schema: _Schema | None = None


class _StreamOptions(Wire):
    include_usage: bool | None = None


class ChatCompletionBody(Wire):
    """What is understood of a request; what would change the answer and is not possible here is refused."""

    model: str
    messages: list[_Said] = Field(min_length=1)
    tools: list[_Tool] | None = None
    tool_choice: Literal["auto", "none", "required"] | _NamedFunction | None = None
    parallel_tool_calls: bool | None = None
    functions: list[_Function] | None = None
    function_call: Literal["auto", "none"] | _Named | None = None
    response_format: _Format | None = None
    guided_json_schema: dict[str, Any] | None = None
    stop: _Stop | Annotated[list[_Stop], Field(max_length=16)] | None = None
    seed: int | None = None
    temperature: float | None = Field(None, ge=0, le=2)
    top_p: float | None = Field(None, gt=0, le=1)
    max_tokens: int | None = Field(None, ge=1)
    max_completion_tokens: int | None = Field(None, ge=1)
    stream: bool | None = None
    stream_options: _StreamOptions | None = None
    n: int | None = Field(None, ge=1, le=1)
    logprobs: Literal[False] | None = None
    frequency_penalty: float | None = Field(None, ge=0, le=0)
    presence_penalty: float | None = Field(None, ge=0, le=0)

    @property
    def uses_functions(self) -> bool:
        """Whether the program speaks the older form, in which there is one call at most."""
        return self.functions is not None

    @property
    def wants_usage(self) -> bool:
        return self.stream_options is not None and bool(self.stream_options.include_usage)

    def question(self, base: Sampling, limits: ServerSettings) -> Question:
        """Raises ApiError. What the request leaves open is as in `base`."""
        if self.uses_functions and self.tools is not None:
            raise invalid("functions are the older form of tools: use one of them", "functions")
        functions = self.functions if self.uses_functions else _functions(self.tools)
        tools = None if functions is None else tuple(one.schema_of_tool() for one in functions)
        checked_count(len(self.messages), limits.max_messages, "messages")
        checked_count(len(tools or ()), limits.max_tools, "tools")
        names = [tool["function"]["name"] for tool in tools or ()]
        return Question(
            in_order([said.message() for said in self.messages], names),
            tools=tools,
            tool_choice=self._choice(),
            parallel_calls=self.parallel_tool_calls is not False and not self.uses_functions,
            sampling=self._sampling(base),
            stop=(self.stop,) if isinstance(self.stop, str) else tuple(self.stop or ()),
            json_schema=self._json_schema(),
        )

    def _choice(self) -> ToolChoice:
        match self.function_call if self.uses_functions else self.tool_choice:
            case None:
                return "auto"
            case _NamedFunction(function=_Named(name=name)) | _Named(name=name):
                return NamedTool(name)
            case "auto" | "none" | "required" as choice:
                return choice

    def _sampling(self, base: Sampling) -> Sampling:
        return dataclasses.replace(
            base,
            temperature=base.temperature if self.temperature is None else self.temperature,
            top_p=self.top_p or base.top_p,
            max_tokens=self.max_completion_tokens or self.max_tokens or base.max_tokens,
            seed=base.seed if self.seed is None else self.seed % _MAX_SEED,
        )

    def _json_schema(self) -> JsonObject | None:
        if self.guided_json_schema is not None:
            return self.guided_json_schema
        match self.response_format:
            case None | _Format(type="text"):
                return None
            case _Format(type="json_schema", json_schema=_Schema() as given):
                return given.schema_
            case _Format(type="json_schema"):
                raise invalid("the format has no schema", "response_format.json_schema")
            case _Format():
                return {"type": "object"}


def _functions(tools: list[_Tool] | None) -> list[_Function] | None:
    return None if tools is None else [tool.function for tool in tools]
