"""The tools and the home that a case offers to the model; the tools have no effect."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property, partial
from typing import Any

from pydantic import BaseModel, Field, ValidationError

from edgevox.core.errors import ConfigError
from edgevox.core.hooks import Hook
from edgevox.core.types import JsonObject
from edgevox.home import Alarms, DemoHome, Entity, HomeError, HomePrompt, House, Timers, home_tools
from edgevox.home.alarms.watches import Watches
from edgevox.home.entities import Action, Calendar, Forecast, ForecastKind, ListItem, StateChange
from edgevox.home.intents.resolution import ResolvedIntent, resolve_intent
from edgevox.home.prompt import MAX_ENTITIES
from edgevox.home.references.effects import EffectLog
from edgevox.home.resolve.target_resolver import has_targets
from edgevox.home.rules.hooks import assistant_hooks
from edgevox.home.rules.languages.hook import HomeLanguages
from edgevox.home.rules.languages.reader import likeliest_request
from edgevox.home.rules.languages.templates import LANGUAGES, Names, names_of
from edgevox.llm.hooks_slm import default_slm_hooks
from edgevox.tools import Speech, Tool, ToolExecutor, ToolRegistry

DONE = Speech("Done.")
"""The result of every tool, which ends the turn after its calls."""

TALK = frozenset({"respond", "nevermind"})
"""Tools without an effect: where no call is expected, these are allowed."""


@dataclass(frozen=True, eq=False)
class OfferedTools:
    """Tools and a home that several cases share; each offer is one prompt, evaluated once."""

    own_tools: tuple[Tool, ...]
    has_home_tools: bool
    house: House | None

    def home_prompt(self, *, max_things: int = MAX_ENTITIES, before: str = "") -> HomePrompt:
        """Return the assistant's prompt for this home."""
        return HomePrompt(self._house, max_things=max_things, before=before)

    def _house(self) -> House:
        if self.house is None:
            raise HomeError("the suite defines no home")
        return self.house

    @cached_property
    def registry(self) -> ToolRegistry:
        """The offered tools. Raises ConfigError for a duplicate name."""
        home = map(self._without_effect, bound_home_tools(DemoHome())) if self.has_home_tools else ()
        return ToolRegistry((*home, *self.own_tools))

    def _without_effect(self, tool: Tool) -> Tool:
        if tool.name in TALK:  # returns the text of the model
            return tool
        house = self.house
        return dataclasses.replace(
            tool,
            run=_constant_tool(DONE),
            confirm="never",
            targets=lambda _arguments: (),
            resolve=None if house is None else partial(_intent, tool.name, house),
            refresh=None,
            execute=None,
        )

    def likeliest(self, texts: Sequence[str], language: str) -> tuple[str, float]:
        """Return the hypothesis of an utterance that the assistant would choose in this home."""
        if self.house is None or language not in LANGUAGES:
            return texts[0], 1.0
        return likeliest_request(texts, language, self._names, self.registry.names)

    @cached_property
    def _names(self) -> Names:
        return names_of(self.house or House(()))

    def hooks(self, executor: ToolExecutor, languages: Collection[str] | None = None) -> tuple[Hook, ...]:
        """Return the assistant's hooks for these tools; `languages` are those of the model."""
        if not self.has_home_tools or self.house is None:
            return default_slm_hooks(executor.registry.only_reads)
        home = _UnchangedHome(self.house)
        timers, alarms, watches = Timers(time.time), Alarms(time.time), Watches(time.time)
        known = HomeLanguages(languages)
        return assistant_hooks(executor, home, timers, alarms, watches, EffectLog(time.time), known)

    def executor(self, results: Mapping[str, Any]) -> ToolExecutor:
        """Return an executor; tools in `results` return that value, which the model then phrases."""
        if not results:
            return ToolExecutor(self.registry)
        tools = (
            dataclasses.replace(tool, run=_constant_tool(results[tool.name])) if tool.name in results else tool
            for tool in self.registry
        )
        return ToolExecutor(ToolRegistry(tools))


class _UnchangedHome:
    """A home that can only be read, for tools without an effect."""

    def __init__(self, house: House) -> None:
        self._house = house

    def house(self) -> House:
        return self._house

    async def apply(self, action: Action) -> tuple[Entity, ...]:
        return action.targets

    async def items(self, list_id: str) -> tuple[ListItem, ...]:
        return ()

    async def announce(self, message: str) -> None:
        """Announces nothing."""

    async def forecast(self, weather_id: str, kind: ForecastKind) -> tuple[Forecast, ...]:
        return ()

    async def changes(self, entity_id: str, since: datetime) -> tuple[StateChange, ...]:
        return ()

    def calendars(self) -> tuple[Calendar, ...]:
        return ()


def _intent(tool: str, house: House, given: JsonObject) -> ResolvedIntent:
    if not has_targets(tool):
        return ResolvedIntent(given)
    # The model is scored by its calls, so a call that would end in a question is run too.
    return dataclasses.replace(resolve_intent(tool, given, house), answer=None, targets=(), question="")


def bound_home_tools(home: DemoHome) -> tuple[Tool, ...]:
    """Return the home tools for `home`, with separate timers and alarms."""
    alarms = Alarms(time.time)
    return home_tools(home, Timers(time.time), alarms, now=alarms.now)


def tool_of_schema(schema: JsonObject, *, with_examples: bool = True) -> Tool:
    """Build a tool from OpenAI's format, extended by `examples`. Raises ConfigError."""
    try:
        function = _Function.model_validate(schema.get("function", schema))
    except ValidationError as error:
        raise ConfigError("a tool is not in OpenAI format", hint="it needs name and description") from error
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
