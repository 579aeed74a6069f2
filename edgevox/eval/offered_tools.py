"""The tools and the home that a case offers to the model; the tools do nothing."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from pydantic import BaseModel, Field, ValidationError

from edgevox.core.errors import ConfigError
from edgevox.core.types import JsonObject
from edgevox.home import Alarms, DemoHome, HomeError, HomePrompt, House, Timers, home_tools
from edgevox.home.intents.resolution import normalize_arguments
from edgevox.home.prompt import MAX_ENTITIES
from edgevox.tools import Resolution, Speech, Tool, ToolExecutor, ToolRegistry

DONE = Speech("Done.")
"""What every tool answers, so that the turn ends where its calls are known."""

TALK = frozenset({"respond", "nevermind"})
"""Tools whose call does nothing: where no call is wanted, they are none."""


@dataclass(frozen=True, eq=False)
class OfferedTools:
    """Tools and a home that several cases share: each offer is one prompt, and is evaluated once."""

    own_tools: tuple[Tool, ...]
    has_home_tools: bool
    house: House | None

    def told_home(self, *, max_things: int = MAX_ENTITIES, before: str = "") -> HomePrompt:
        """What the assistant would tell its models in this home."""
        return HomePrompt(self._house, max_things=max_things, before=before)

    def _house(self) -> House:
        if self.house is None:
            raise HomeError("the suite tells of no home")
        return self.house

    @cached_property
    def registry(self) -> ToolRegistry:
        """Every tool that is offered. Raises ConfigError when two of them have one name."""
        home = map(self._idle, bound_home_tools(DemoHome())) if self.has_home_tools else ()
        return ToolRegistry((*home, *self.own_tools))

    def _idle(self, tool: Tool) -> Tool:
        """The tool as the model sees it, but it does nothing."""
        if tool.name in TALK:  # it says what the model wants said
            return tool
        house = self.house
        return dataclasses.replace(
            tool,
            run=_constant_tool(DONE),
            confirm="never",
            targets=lambda _arguments: (),
            resolve=None if house is None else lambda given: Resolution(normalize_arguments(tool.name, given, house)),
            refresh=None,
            execute=None,
        )

    def executor(self, results: Mapping[str, Any]) -> ToolExecutor:
        """Runs calls of the tools; those that `results` names answer with that, and the model words it."""
        if not results:
            return ToolExecutor(self.registry)
        tools = (
            dataclasses.replace(tool, run=_constant_tool(results[tool.name])) if tool.name in results else tool
            for tool in self.registry
        )
        return ToolExecutor(ToolRegistry(tools))


def bound_home_tools(home: DemoHome) -> tuple[Tool, ...]:
    """The home's tools, working on `home`, with timers and alarms of their own."""
    alarms = Alarms(time.time)
    return home_tools(home, Timers(time.time), alarms, now=alarms.now)


def tool_of_schema(schema: JsonObject, *, with_examples: bool = True) -> Tool:
    """A tool in OpenAI's form, with `examples` beside its description. Raises ConfigError."""
    try:
        function = _Function.model_validate(schema.get("function", schema))
    except ValidationError as error:
        raise ConfigError("a tool is not in OpenAI's form", hint="it needs name, description") from error
    return Tool(
        name=function.name,
        description=function.description,
        parameters=function.parameters,
        run=_constant_tool(DONE),
        side_effects=True,
        confirm="never",
        targets=lambda _arguments: (),
        examples=function.examples if with_examples else (),
    )


class _Function(BaseModel):
    name: str
    description: str
    parameters: dict[str, Any] = Field(default_factory=lambda: {"type": "object", "properties": {}})
    examples: tuple[str, ...] = ()


def _constant_tool(value: object) -> Callable[..., Any]:
    async def run(**_arguments: object) -> object:
        return value

    return run
