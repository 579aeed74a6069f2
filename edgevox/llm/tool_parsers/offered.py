"""The allow-list: which tools a reply may call, and the schema of their arguments. Nothing else says so."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

_NAMESPACES = ("functions.", "function.", "tools.", "default_api.")


class OfferedTools:
    """The tools of one request, in OpenAI's form. Made of None, it allows every name and knows no schema."""

    __slots__ = ("_schemas", "names", "unlimited")

    def __init__(self, tools: Iterable[Mapping[str, Any]] | None) -> None:
        self.unlimited = tools is None
        self._schemas: dict[str, Mapping[str, Any]] = {}
        for tool in tools or ():
            function = tool.get("function", tool)
            if type(function) is not dict and not isinstance(function, Mapping):
                continue
            name = function.get("name")
            if isinstance(name, str) and name:
                schema = function.get("parameters") or function.get("input_schema")
                self._schemas[name] = schema if isinstance(schema, dict | Mapping) else {}
        self.names = tuple(self._schemas)

    def __contains__(self, name: str) -> bool:
        return name in self._schemas

    def resolve(self, written: str) -> str | None:
        """The offered name that `written` stands for, or None."""
        if written in self._schemas:
            return written
        if self.unlimited:
            return written or None
        for namespace in _NAMESPACES:
            if written.startswith(namespace) and written[len(namespace) :] in self._schemas:
                return written[len(namespace) :]
        return None

    def schema(self, name: str) -> Mapping[str, Any] | None:
        """The JSON Schema of a tool's arguments; None when nothing is known of it."""
        return self._schemas.get(name)
