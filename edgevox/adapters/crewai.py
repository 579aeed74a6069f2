"""Converts tools between EdgeVox and CrewAI."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from crewai.tools import BaseTool

from edgevox.adapters.bridge import Bridge, arguments_model, foreign_tool
from edgevox.tools import Tool


def from_crewai(tool: BaseTool, *, only_reads: bool = False) -> Tool:
    """Wrap a CrewAI tool; it asks for confirmation unless `only_reads`. Raises ConfigError."""

    async def call(_name: str, arguments: Mapping[str, Any]) -> object:
        # CrewAI tools may block and are meant to run in threads.
        return await asyncio.to_thread(tool.run, **arguments)

    # CrewAI prepends name and arguments to the description; the author's text follows this label.
    description = tool.description.rpartition("Tool Description:")[2].strip()
    return foreign_tool(
        tool.name, description, tool.args_schema.model_json_schema(), call, only_reads=only_reads, framework="CrewAI"
    )


def to_crewai(bridge: Bridge) -> list[BaseTool]:
    """Return the bridge's tools for a CrewAI agent."""
    return [_to_crewai(tool, bridge) for tool in bridge.registry]


def _to_crewai(tool: Tool, bridge: Bridge) -> BaseTool:
    class EdgevoxTool(BaseTool):
        def _run(self, **arguments: Any) -> str:  # noqa: ANN401 - arguments of any tool
            return bridge.call(tool.name, arguments)

    return EdgevoxTool(
        name=tool.name, description=tool.openai_schema["function"]["description"], args_schema=arguments_model(tool)
    )
