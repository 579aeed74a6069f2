"""Converts tools between EdgeVox and LlamaIndex."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from llama_index.core.tools import BaseTool, FunctionTool
from llama_index.core.tools.tool_spec.base import BaseToolSpec
from llama_index.core.tools.types import AsyncBaseTool, adapt_to_async_tool

from edgevox.adapters.bridge import Bridge, arguments_model, foreign_tool
from edgevox.tools import Tool


def from_llamaindex(tools: BaseToolSpec | BaseTool, *, only_reads: bool = False) -> tuple[Tool, ...]:
    """Wrap LlamaIndex tools; they ask for confirmation unless `only_reads`. Raises ConfigError."""
    listed = tools.to_tool_list() if isinstance(tools, BaseToolSpec) else [tools]
    return tuple(_from_llamaindex(adapt_to_async_tool(tool), only_reads=only_reads) for tool in listed)


class EdgevoxToolSpec(BaseToolSpec):
    """The bridge's tools for a LlamaIndex agent."""

    def __init__(self, bridge: Bridge) -> None:
        self._bridge = bridge
        self.spec_functions = list(bridge.registry.names)

    def to_tool_list(self, *_args: object, **_options: object) -> list[FunctionTool]:
        return [_to_llamaindex(tool, self._bridge) for tool in self._bridge.registry]


def _from_llamaindex(tool: AsyncBaseTool, *, only_reads: bool) -> Tool:
    async def call(_name: str, arguments: Mapping[str, Any]) -> object:
        return (await tool.acall(**arguments)).content

    metadata = tool.metadata
    return foreign_tool(
        metadata.get_name(),
        metadata.description,
        metadata.get_parameters_dict(),
        call,
        only_reads=only_reads,
        framework="LlamaIndex",
    )


def _to_llamaindex(tool: Tool, bridge: Bridge) -> FunctionTool:
    def run(**arguments: Any) -> str:  # noqa: ANN401 - arguments of any tool
        return bridge.call(tool.name, arguments)

    async def arun(**arguments: Any) -> str:  # noqa: ANN401 - as above
        return await bridge.acall(tool.name, arguments)

    return FunctionTool.from_defaults(
        fn=run,
        async_fn=arun,
        name=tool.name,
        description=tool.openai_schema["function"]["description"],
        fn_schema=arguments_model(tool),
    )
