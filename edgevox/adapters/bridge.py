"""Runs EdgeVox tools for synchronous code and for code on another event loop, with the same checks.

with Bridge(ToolRegistry([set_light])) as bridge:
    bridge.call("set_light", {"room": "hall", "on": True})
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Coroutine, Iterator, Mapping
from concurrent.futures import Future
from dataclasses import replace
from types import TracebackType
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, create_model

from edgevox.agents.tool_loop import Confirm, deny_confirmation
from edgevox.core.turn import Turn
from edgevox.core.types import ToolCall
from edgevox.tools import Caller, Tool, ToolExecutor, ToolRegistry
from edgevox.tools.mcp.tools import Call, Definition, as_tool, offered_name
from edgevox.tools.policy import LOCAL

_T = TypeVar("_T")
_STOP_S = 5.0
_TYPES: Mapping[str, Any] = {
    "string": str,
    "integer": int,
    "number": float,
    "boolean": bool,
    "array": list[Any],
    "object": dict[str, Any],
}


class Bridge:
    """Runs a registry's tools on its own event loop. A context manager.

    `confirm` asks for confirmations; without it, calls that need one are refused.
    """

    def __init__(self, registry: ToolRegistry, *, confirm: Confirm = deny_confirmation, caller: Caller = LOCAL) -> None:
        self.registry = registry
        self._executor = ToolExecutor(registry)
        self._confirm = confirm
        self._caller = caller
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="edgevox bridge", daemon=True)

    def __enter__(self) -> Bridge:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(_STOP_S)
        if not self._thread.is_alive():
            self._loop.close()

    def call(self, name: str, arguments: Mapping[str, Any]) -> str:
        """The text result of one call, also of a failed one. Must not be called by a tool of the bridge."""
        return self._submitted(self._run(name, arguments)).result()

    async def acall(self, name: str, arguments: Mapping[str, Any]) -> str:
        """`call` for any event loop."""
        return await asyncio.wrap_future(self._submitted(self._run(name, arguments)))

    def _submitted(self, work: Coroutine[Any, Any, _T]) -> Future[_T]:
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    async def _run(self, name: str, arguments: Mapping[str, Any]) -> str:
        turn = Turn()
        given = {key: value for key, value in arguments.items() if value is not None}
        call = ToolCall(turn.id, name, json.dumps(given))
        result = await self._executor.dispatch(call, caller=self._caller, turn_id=turn.id)
        if (pending := result.confirmation) is not None:
            agreement = await self._confirm(pending, turn)
            if not agreement.granted:
                result = self._executor.refuse(pending, agreement.why)
            else:
                result = await self._executor.dispatch_confirmed(
                    pending.call, pending.token, by=agreement.by, channel=agreement.channel
                )
        return result.content


def foreign_tool(
    name: str, description: str, schema: Mapping[str, Any], call: Call, *, only_reads: bool, framework: str
) -> Tool:
    """Wrap a framework's tool. Unless `only_reads` is set, it asks before it runs.

    Raises ConfigError for an invalid schema.
    """
    definition = Definition(name=name, description=description, input_schema=dict(schema), read_only=only_reads or None)
    tool = as_tool(definition, offered_name(name), call, server_id=framework)
    return replace(tool, acts_elsewhere=False)


class _Arguments(BaseModel):
    """Base of the argument classes that some frameworks need."""

    model_config = ConfigDict(extra="forbid")


def arguments_model(tool: Tool) -> type[BaseModel]:
    """A class with a field for each parameter; the values are validated when the tool runs."""
    fields: dict[str, Any] = dict(_fields(tool))
    return create_model(f"{tool.name}_arguments", __base__=_Arguments, **fields)


def _fields(tool: Tool) -> Iterator[tuple[str, Any]]:
    required = tool.parameters.get("required", ())
    for name, schema in tool.parameters.get("properties", {}).items():
        kind = _TYPES.get(schema.get("type", ""), Any) if isinstance(schema, Mapping) else Any
        yield name, (kind, ...) if name in required else (kind | None, None)
