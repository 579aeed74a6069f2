"""CrewAI: its tools as ours, and ours as its."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from crewai.tools import BaseTool

from edgevox.adapters.bridge import Bridge, arguments_model, foreign_tool
from edgevox.tools import Tool


def from_crewai(tool: BaseTool, *, only_reads: bool = False) -> Tool:
    """A CrewAI tool for EdgeVox; it asks before it runs unless it `only_reads`. Raises ConfigError."""

    async def call(_name: str, arguments: Mapping[str, Any]) -> object:
        # It may block, and CrewAI's tools are made to run on threads.
        return await asyncio.to_thread(tool.run, **arguments)

    # CrewAI writes name and arguments into the description: what the author wrote stands behind its label.
    description = tool.description.rpartition("Tool Description:")[2].strip()
    return foreign_tool(
        tool.name,
        description,
        tool.args_schema.model_json_schema(),
        call,
        only_reads=only_reads,
        framework="CrewAI",
    )


def to_crewai(bridge: Bridge) -> list[BaseTool]:
    """The bridge's tools for a CrewAI agent."""
    return [_theirs(tool, bridge) for tool in bridge.registry]


def _theirs(tool: Tool, bridge: Bridge) -> BaseTool:
    class EdgevoxTool(BaseTool):
        def _run(self, **arguments: Any) -> str:  # noqa: ANN401 - whatever the tool takes
            return bridge.call(tool.name, arguments)

    return EdgevoxTool(
        name=tool.name,
        description=tool.openai_schema["function"]["description"],
        args_schema=arguments_model(tool),
    )
