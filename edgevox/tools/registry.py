"""The registered tools by name, and the owner of each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from edgevox.core.errors import ConfigError, UnknownTool
from edgevox.core.types import JsonObject
from edgevox.tools.tool import Tool

BUILT_IN = "edgevox"
# With tools selected per sentence, every selection is another entry.
_MAX_CACHED_SCHEMAS = 64


class ToolRegistry:
    """Tools in the order they were added. Names are unique, also when letter case is ignored."""

    def __init__(self, tools: Iterable[Tool] = (), *, owner: str = BUILT_IN) -> None:
        self._tools: dict[str, Tool] = {}
        self._owners: dict[str, str] = {}
        self._replaced: dict[str, Tool] = {}
        """Built-in tools in whose place a tool of that name was added."""
        self._schemas: dict[tuple[bool, tuple[str, ...] | None], tuple[JsonObject, ...]] = {}
        for tool in tools:
            self.add(tool, owner=owner)

    def __len__(self) -> int:
        return len(self._tools)

    def __iter__(self) -> Iterator[Tool]:
        return iter(tuple(self._tools.values()))

    def __contains__(self, name: object) -> bool:
        return name in self._tools

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._tools)

    def add(self, tool: Tool, *, owner: str = BUILT_IN) -> None:
        """Raises ConfigError, naming both owners, when the name is taken; a built-in tool of a rule gives way."""
        for taken in self.names:
            if taken.casefold() == tool.name.casefold() and self._gives_way(taken, owner):
                self._replaced[taken] = self._tools.pop(taken)
                del self._owners[taken]
            elif taken.casefold() == tool.name.casefold():
                raise ConfigError(
                    f"two tools are called {tool.name}: one of {self._owners[taken]}, one of {owner}",
                    hint="rename one of them, or switch off the plugin that brings it",
                )
        self._tools[tool.name] = tool
        self._owners[tool.name] = owner
        self._schemas.clear()

    def remove_owner(self, owner: str) -> None:
        """Remove every tool of `owner`, whose plugin has stopped."""
        for name in [name for name, its in self._owners.items() if its == owner]:
            del self._tools[name], self._owners[name]
        for name in [name for name in self._replaced if name not in self._tools]:
            self.add(self._replaced.pop(name))
        self._schemas.clear()

    def _gives_way(self, name: str, owner: str) -> bool:
        return self._tools[name].called_by_rule and self._owners[name] == BUILT_IN and owner != BUILT_IN

    def get(self, name: str) -> Tool:
        """Raises UnknownTool."""
        try:
            return self._tools[name]
        except KeyError:
            raise UnknownTool(
                f"there is no tool called {name}", hint="edgevox tools list shows what there is"
            ) from None

    def owner(self, name: str) -> str:
        """The owner of a tool. Raises UnknownTool."""
        return self._owners[self.get(name).name]

    def openai_schemas(
        self, names: Iterable[str] | None = None, *, with_examples: bool = False
    ) -> tuple[JsonObject, ...]:
        """The tools, or those of `names`, in OpenAI's form. Raises UnknownTool.

        The result is cached and shared: do not change it. `with_examples` adds the field `examples`, which OpenAI's
        form does not have.
        """
        wanted = None if names is None else tuple(names)
        key = (with_examples, wanted)
        if key not in self._schemas:
            if len(self._schemas) >= _MAX_CACHED_SCHEMAS:
                self._schemas.clear()
            tools = self._tools.values() if wanted is None else map(self.get, wanted)
            self._schemas[key] = tuple(
                tool.schema_with_examples if with_examples else tool.openai_schema for tool in tools
            )
        return self._schemas[key]

    def only_reads(self, name: str) -> bool:
        """Whether the tool has no side effects; False for an unknown tool."""
        return name in self._tools and not self._tools[name].side_effects
