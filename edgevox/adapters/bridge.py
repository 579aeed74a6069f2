"""Runs EdgeVox tools from synchronous code or another event loop, with the usual checks and confirmations.

with Bridge(ToolRegistry([set_light])) as bridge:
    bridge.call("set_light", {"room": "hall", "on": True})
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Mapping
from concurrent.futures import Future
from dataclasses import replace
from typing import Any

from pydantic import BaseModel, ConfigDict, create_model

from edgevox.agents.tool_loop import Confirm, apply_agreement, deny_confirmation
from edgevox.core.turn import Turn
from edgevox.core.types import ToolCall
from edgevox.tools import Caller, Tool, ToolExecutor, ToolRegistry
from edgevox.tools.mcp.tools import Call, Definition, as_tool, offered_name
from edgevox.tools.policy import LOCAL

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
    """Runs the tools of a registry on its own event loop; a context manager.

    `confirm` is called for tools that need a confirmation; the default denies it.
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

    def __exit__(self, *_exc_info: object) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(_STOP_S)
        if not self._thread.is_alive():
            self._loop.close()

    def call(self, name: str, arguments: Mapping[str, Any]) -> str:
        """Call a tool and return its result or error as text; must not be called from the bridge's tools."""
        return self._submit(name, arguments).result()

    async def acall(self, name: str, arguments: Mapping[str, Any]) -> str:
        """Like `call`, from any event loop."""
        return await asyncio.wrap_future(self._submit(name, arguments))

    def _submit(self, name: str, arguments: Mapping[str, Any]) -> Future[str]:
        return asyncio.run_coroutine_threadsafe(self._run(name, arguments), self._loop)

    async def _run(self, name: str, arguments: Mapping[str, Any]) -> str:
        turn = Turn()
        given = {key: value for key, value in arguments.items() if value is not None}
        call = ToolCall(turn.id, name, json.dumps(given))
        result = await self._executor.dispatch(call, caller=self._caller, turn_id=turn.id)
        if (pending := result.confirmation) is not None:
            agreement = await self._confirm(pending, turn)
            result = await apply_agreement(self._executor, pending, agreement, turn.cancel)
        return result.content


def foreign_tool(
    name: str, description: str, schema: Mapping[str, Any], call: Call, *, only_reads: bool, framework: str
) -> Tool:
    """Wrap a framework's tool; it asks for confirmation unless `only_reads`.

    Raises ConfigError for an invalid schema.
    """
    definition = Definition(name=name, description=description, input_schema=dict(schema), read_only=only_reads or None)
    tool = as_tool(definition, offered_name(name), call, server_id=framework)
    return replace(tool, acts_elsewhere=False)


def arguments_model(tool: Tool) -> type[BaseModel]:
    """Return a model with a field per parameter, for frameworks; values are validated when the tool runs."""
    required = tool.parameters.get("required", ())
    fields: dict[str, Any] = {}
    for name, schema in tool.parameters.get("properties", {}).items():
        kind = _TYPES.get(schema.get("type", ""), Any) if isinstance(schema, Mapping) else Any
        fields[name] = (kind, ...) if name in required else (kind | None, None)
    return create_model(f"{tool.name}_arguments", __config__=ConfigDict(extra="forbid"), **fields)
