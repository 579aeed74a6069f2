"""Loads and starts a plugin in a test, calls one of its tools, and stops it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from edgevox.config import PluginTables
from edgevox.core.errors import ConfigError
from edgevox.core.types import ToolCall
from edgevox.tools.executor import ToolExecutor
from edgevox.tools.plugins.manager import Plugins
from edgevox.tools.plugins.sources import PluginSource, load_file, load_module
from edgevox.tools.registry import ToolRegistry
from edgevox.tools.results import ToolResult


def try_plugin(plugin: Path | ModuleType, tool: str, arguments: Mapping[str, Any], **settings: object) -> ToolResult:
    """Return the result of one call as the model would get it, with `settings` as the table [plugins.NAME].

    Raises ConfigError if the plugin would be disabled.
    """
    return asyncio.run(_call_tool(_source(plugin), tool, arguments, settings))


def _source(plugin: Path | ModuleType) -> PluginSource:
    if isinstance(plugin, Path):
        return PluginSource(plugin.stem, str(plugin), lambda: load_file(plugin))
    return PluginSource(plugin.__name__.rpartition(".")[2], str(plugin.__file__), lambda: load_module(plugin))


async def _call_tool(
    source: PluginSource, tool: str, arguments: Mapping[str, Any], settings: Mapping[str, object]
) -> ToolResult:
    registry = ToolRegistry()
    tables = PluginTables.model_validate({source.name: dict(settings)})
    plugins = Plugins(registry, [source], tables)
    await plugins.start()
    try:
        (report,) = plugins.reports()
        if report.status == "disabled":
            raise ConfigError(f"the plugin {report.name} is disabled: {report.reason}", hint=report.fix)
        return await ToolExecutor(registry).dispatch(ToolCall("trial", tool, json.dumps(arguments)))
    finally:
        await plugins.stop()
