"""Converts tools between EdgeVox and LangChain."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from langchain_core.tools import BaseTool, StructuredTool

from edgevox.adapters.bridge import Bridge, foreign_tool
from edgevox.tools import Tool


def from_langchain(tool: BaseTool, *, only_reads: bool = False) -> Tool:
    """Wrap a LangChain tool; it asks for confirmation unless `only_reads`. Raises ConfigError."""

    async def call(_name: str, arguments: Mapping[str, Any]) -> object:
        return await tool.ainvoke(dict(arguments))

    described = tool.tool_call_schema
    schema = described if isinstance(described, dict) else described.model_json_schema()
    return foreign_tool(tool.name, tool.description, schema, call, only_reads=only_reads, framework="LangChain")


def to_langchain(bridge: Bridge) -> list[BaseTool]:
    """Return the bridge's tools for a LangChain agent."""
    return [_structured(tool, bridge) for tool in bridge.registry]


def _structured(tool: Tool, bridge: Bridge) -> BaseTool:
    def run(**arguments: object) -> str:
        return bridge.call(tool.name, arguments)

    async def arun(**arguments: object) -> str:
        return await bridge.acall(tool.name, arguments)

    function = tool.openai_schema["function"]
    return StructuredTool(
        name=tool.name,
        description=function["description"],
        args_schema=dict(function["parameters"]),
        func=run,
        coroutine=arun,
    )
