"""Defines tools: name, description and JSON Schema for the model, and the function that runs.

@tool(side_effects=True, timeout_s=5, examples=["light on in the hall"])
async def set_light(room: Literal["kitchen", "hall"], on: bool) -> str:
    \"\"\"Switch the light in one room.\"\"\"
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, TypeAlias, TypedDict, Unpack, overload

from jsonschema import Draft202012Validator
from referencing import Registry

from edgevox.core.errors import ConfigError
from edgevox.core.languages import ENGLISH
from edgevox.core.types import JsonObject
from edgevox.tools.sanitize import sanitize_tool_output
from edgevox.tools.schema import map_subschemas, read_signature, schema_fault

ConfirmLevel: TypeAlias = Literal["never", "voice", "screen"]
"""The confirmation that a call needs: none, a yes on any channel, or a yes on a screen or keyboard."""

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")
_PROSE = frozenset({"title", "description", "$comment", "examples"})
_JSON_TYPES = ("string", "integer", "number", "boolean", "array", "object", "null")


@dataclass(frozen=True, slots=True)
class Speech:
    """Returned by a tool: a sentence that is spoken and ends the turn without another model call.

    `is_failure`: the sentence says why nothing was done. `language` is that of the sentence.
    """

    text: str
    is_failure: bool = False
    language: str = ENGLISH


@dataclass(frozen=True, slots=True)
class Target:
    """An entity that a call would act on: `Target("cover", "garage", "garage door")`.

    `is_unknown` if nothing shows what the call would do to it or through it, as for a script that cannot be read.
    """

    domain: str
    device_class: str = ""
    name: str = ""
    id: str = ""
    aliases: tuple[str, ...] = ()
    is_unknown: bool = False


@dataclass(frozen=True, slots=True)
class Resolution:
    """The meaning of a call at one moment; a tool may add fields of its own in a subclass.

    `arguments` are normalised. `targets` are the entities that the policy judges, None when they are unknown.
    `question` asks for a confirmation; "" uses the generic question. `answer` is returned without running the tool.
    `summary` is what the call does ("Unlock front door"); "" uses the name and the arguments.
    """

    arguments: JsonObject
    targets: tuple[Target, ...] | None = ()
    question: str = ""
    answer: Speech | None = None
    summary: str = ""
    question_language: str = ENGLISH


@dataclass(frozen=True, kw_only=True, eq=False)
class Tool:
    """A tool for a model, made by `@tool` or `Tool.function`; without `run` and `execute` the client runs it.

    `confirm` is the author's confirmation level; None leaves it to the policy. `targets` returns the entities that a
    call would act on, and `question` the confirmation question. `scope` is the permission that a caller needs.
    `memoize_s` is how long a result is cached for the same arguments. `is_trained_on`: the home model was trained on
    the tool, so its examples are left out of the prompt. `acts_elsewhere`: the tool runs in another program, where an
    abandoned call may still take effect. `hook_parameters` are properties that only a hook fills: no model sees them.
    `called_by_rule`: a hook calls the tool, so a model that is made for the home alone is not offered it; a plugin's
    tool of that name replaces it.

    A tool with `resolve` looks up its targets there and nowhere else. Immediately before the call runs, `refresh`
    returns the same targets, found by id, in their current state, or None when one is gone; `execute` gets the
    result in place of `run`.
    """

    name: str
    description: str
    parameters: JsonObject = field(default_factory=lambda: {"type": "object", "properties": {}})
    hook_parameters: JsonObject = field(default_factory=dict)
    run: Callable[..., Any] | None = None
    side_effects: bool = False
    timeout_s: float | None = None
    confirm: ConfirmLevel | None = None
    examples: tuple[str, ...] = ()
    is_trained_on: bool = False
    acts_elsewhere: bool = False
    called_by_rule: bool = False
    scope: str = ""
    memoize_s: float | None = None
    targets: Callable[[JsonObject], Sequence[Target]] | None = None
    question: Callable[[JsonObject], str] | None = None
    resolve: Callable[[JsonObject], Resolution] | None = None
    refresh: Callable[[Any], Resolution | None] | None = None
    execute: Callable[[Any], Any] | None = None
    convert: Callable[[Mapping[str, Any]], dict[str, Any]] = dict

    def __post_init__(self) -> None:
        """Raises ConfigError for an invalid definition."""
        if _NAME.fullmatch(self.name) is None:
            raise ConfigError(f"{self.name!r} cannot be a tool's name", hint="letters, digits and _, 64 at most")
        if not self.description:
            raise ConfigError(
                f"the tool {self.name} has no description", hint="write a docstring: the model chooses by it"
            )
        if self.memoize_s is not None and self.side_effects:
            raise ConfigError(f"the tool {self.name} has side effects and cannot be memoized", hint="drop memoize_s")
        if self.timeout_s is not None and self.timeout_s <= 0:
            raise ConfigError(f"the time-out of the tool {self.name} is not above 0", hint="give seconds")
        if (fault := schema_fault(self.parameters)) is not None:
            raise ConfigError(
                f"the parameters of the tool {self.name} are no JSON Schema: {fault}",
                hint="see json-schema.org, draft 2020-12",
            )

    @staticmethod
    def function(name: str, description: str) -> ToolBuilder:
        """Start a tool whose schema is not taken from a Python function."""
        return ToolBuilder(name, description)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - what the function takes and gives
        """Call the function itself, without validation, timeout or confirmation."""
        if self.run is None:
            raise TypeError(f"the tool {self.name} has no function")
        return self.run(*args, **kwargs)

    @cached_property
    def is_async(self) -> bool:
        function = self.execute or self.run
        called = getattr(function, "__call__", None)  # noqa: B004 - an object may have an async __call__
        return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(called)

    @cached_property
    def needed_scope(self) -> str:
        return self.scope or ("act" if self.side_effects else "read")

    @cached_property
    def openai_schema(self) -> JsonObject:
        """The tool in OpenAI's form, sanitized. Cached: do not change it."""
        return {
            "type": "function",
            "function": {
                "name": self.name,
                "description": sanitize_tool_output(self.description),
                "parameters": _sanitized_schema(self.parameters),
            },
        }

    @cached_property
    def schema_with_examples(self) -> JsonObject:
        """The same with examples, unless the model was trained on the tool."""
        if not self.examples or self.is_trained_on:
            return self.openai_schema
        examples = [sanitize_tool_output(example) for example in self.examples]
        return {"type": "function", "function": {**self.openai_schema["function"], "examples": examples}}

    @cached_property
    def validator(self) -> Draft202012Validator:
        """Compiled once. Rejects arguments that are not in the schema unless it allows them."""
        properties = {**self.parameters.get("properties", {}), **self.hook_parameters}
        closed = {"additionalProperties": False, **self.parameters, "properties": properties}
        # With the default registry, a reference to a file or an address would be fetched.
        return Draft202012Validator(closed, registry=Registry(), format_checker=Draft202012Validator.FORMAT_CHECKER)


def _sanitized_schema(schema: Any) -> Any:  # noqa: ANN401 - JSON
    """The schema with sanitized prose: a device name in it must not act as a system message."""
    if not isinstance(schema, Mapping):
        return schema
    mapped = map_subschemas(schema, _sanitized_schema)
    return {key: _sanitized_text(value) if key in _PROSE else value for key, value in mapped.items()}


def _sanitized_text(value: Any) -> Any:  # noqa: ANN401 - JSON
    match value:
        case str():
            return sanitize_tool_output(value)
        case list():
            return [_sanitized_text(member) for member in value]
        case Mapping():
            return {key: _sanitized_text(member) for key, member in value.items()}
        case _:
            return value


class ToolBuilder:
    """Describes a tool step by step; `build` returns it."""

    def __init__(self, name: str, description: str) -> None:
        self._name = name
        self._description = description
        self._properties: dict[str, JsonObject] = {}
        self._required: list[str] = []

    def param(
        self,
        name: str,
        kind: str = "string",
        description: str = "",
        required: bool = False,
        **keywords: Any,  # noqa: ANN401 - JSON Schema's keywords: enum, minimum, items
    ) -> ToolBuilder:
        """Add a parameter of a JSON type. Raises ConfigError for a type that JSON does not have."""
        if kind not in _JSON_TYPES:
            raise ConfigError(
                f"{kind!r} is no type of JSON ({self._name}, {name})", hint=f"one of {', '.join(_JSON_TYPES)}"
            )
        words = {"description": description} if description else {}
        self._properties[name] = {"type": kind, **words, **keywords}
        if required:
            self._required.append(name)
        return self

    def build(self, run: Callable[..., Any] | None = None, **options: Any) -> Tool:  # noqa: ANN401 - Tool's own
        """The tool; `run` gets the arguments by name, `options` are Tool's. Raises ConfigError."""
        parameters: dict[str, Any] = {"type": "object", "properties": self._properties}
        if self._required:
            parameters["required"] = self._required
        return Tool(name=self._name, description=self._description, parameters=parameters, run=run, **options)


class ToolOptions(TypedDict, total=False):
    """The options of `@tool`, which are fields of Tool; the function gives the default name and description."""

    name: str
    description: str
    side_effects: bool
    timeout_s: float | None
    confirm: ConfirmLevel | None
    examples: Sequence[str]
    scope: str
    memoize_s: float | None
    targets: Callable[[JsonObject], Sequence[Target]] | None
    question: Callable[[JsonObject], str] | None


@overload
def tool(function: Callable[..., Any], /) -> Tool: ...


@overload
def tool(**options: Unpack[ToolOptions]) -> Callable[[Callable[..., Any]], Tool]: ...


def tool(
    function: Callable[..., Any] | None = None, /, **options: Unpack[ToolOptions]
) -> Tool | Callable[[Callable[..., Any]], Tool]:
    """Make a tool of a function, sync or async. Raises ConfigError when its types cannot be described."""

    def make(function: Callable[..., Any]) -> Tool:
        signature = read_signature(function)
        fields: dict[str, Any] = {
            "name": getattr(function, "__name__", ""),
            "description": signature.description,
            **options,
            "examples": tuple(options.get("examples", ())),
        }
        return Tool(**fields, parameters=signature.parameters, run=function, convert=signature.convert)

    return make if function is None else make(function)
