"""Loads, starts and stops plugins; one that fails is disabled without affecting the others.

    def register(host):
        host.add_tool(set_light)

Exceptions of plugin code are caught here and nowhere else; the reason is stored for `edgevox doctor`, also
for a start that failed in another process.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
import time
import traceback
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from types import MappingProxyType
from typing import Literal, TypeAlias, assert_never

from pydantic import RootModel

from edgevox.config import PluginTables
from edgevox.core.errors import ConfigError, EdgevoxError, StateError
from edgevox.core.hooks import Hook
from edgevox.core.state_file import StateFile
from edgevox.tools.plugins import API_VERSION, Contribution, PluginHost, Step
from edgevox.tools.plugins.sources import PluginSource, check_name
from edgevox.tools.registry import ToolRegistry
from edgevox.tools.runner import Raised, Returned, Runner, Stopped
from edgevox.tools.tool import Tool

__all__ = ["API_VERSION", "PluginHost", "PluginReport", "PluginSource", "PluginStartErrors", "PluginStatus", "Plugins"]


START_ERRORS_FILE = "plugins.json"

_log = logging.getLogger(__name__)


class _StartErrors(RootModel[dict[str, str]]):
    root: dict[str, str] = {}


class PluginStartErrors:
    """The reason for each plugin whose last start failed, in a small file; without a path nothing is stored."""

    def __init__(self, path: Path | None = None) -> None:
        self._file = StateFile(path, _StartErrors)

    def read(self) -> Mapping[str, str]:
        """The reasons by plugin name; empty if the file cannot be read."""
        try:
            return self._file.read().root
        except StateError:
            return {}

    def note(self, starts: Mapping[str, str]) -> None:
        """Store the results of these starts; an empty reason means success."""
        at = f"{datetime.now().astimezone():%Y-%m-%d %H:%M}"
        failed = {name: f"{reason} ({at})" for name, reason in starts.items() if reason}
        if not failed and starts.keys().isdisjoint(self.read()):
            return
        try:
            with self._file.changing() as errors:
                errors.root = {name: text for name, text in errors.root.items() if name not in starts} | failed
        except StateError as error:
            _log.warning("%s", error.message)


PluginStatus: TypeAlias = Literal["on", "off", "disabled"]
"""Running, switched off by the user, or disabled after a failure."""

START_TIMEOUT_S = 10.0
STOP_TIMEOUT_S = 5.0
_MAX_REASON_CHARS = 300


@dataclass(frozen=True, slots=True)
class PluginReport:
    """The status of one plugin. `trouble` is the reason of its last failed start."""

    name: str
    place: str
    status: PluginStatus
    tools: tuple[str, ...] = ()
    hooks: tuple[str, ...] = ()
    reason: str = ""
    fix: str = ""
    trouble: str = ""


@dataclass(slots=True)
class _Plugin:
    source: PluginSource
    status: PluginStatus = "on"
    reason: str = ""
    fix: str = ""
    given: Contribution = field(default_factory=Contribution)
    has_begun: bool = False

    @property
    def name(self) -> str:
        return self.source.name

    @property
    def owner(self) -> str:
        """The owner of its tools in the registry; can never equal `edgevox`."""
        return f"plugin {self.name}"


class Plugins:
    """The plugins of `sources`, loaded in order; their tools are added to `registry`.

    `adjust` applies the user's settings to a tool, and returns None if the tool is disabled.
    """

    def __init__(
        self,
        registry: ToolRegistry,
        sources: Iterable[PluginSource],
        settings: PluginTables | None = None,
        *,
        adjust: Callable[[Tool], Tool | None] = lambda tool: tool,
        start_timeout_s: float = START_TIMEOUT_S,
        stop_timeout_s: float = STOP_TIMEOUT_S,
        troubles: PluginStartErrors | None = None,
    ) -> None:
        self._registry = registry
        self._settings = settings or PluginTables()
        self._adjust = adjust
        self._start_timeout_s = start_timeout_s
        self._stop_timeout_s = stop_timeout_s
        self._troubles = troubles or PluginStartErrors()
        self._runner = Runner()
        self._plugins: list[_Plugin] = []
        for source in sources:
            self._load(source)

    @property
    def hooks(self) -> tuple[Hook, ...]:
        """The hooks of the running plugins."""
        return tuple(hook for plugin in self._plugins for hook in plugin.given.hooks)

    def reports(self) -> tuple[PluginReport, ...]:
        troubles = self._troubles.read()
        return tuple(self._report(plugin, troubles.get(plugin.name, "")) for plugin in self._plugins)

    def _report(self, plugin: _Plugin, trouble: str) -> PluginReport:
        is_on, names = plugin.status == "on", self._registry.names
        trouble = trouble if is_on else ""
        return PluginReport(
            plugin.name,
            plugin.source.place,
            plugin.status,
            tools=tuple(name for name in names if is_on and self._registry.owner(name) == plugin.owner),
            hooks=tuple(hook.name for hook in plugin.given.hooks),
            reason=plugin.reason,
            fix=plugin.fix or (_switch_off(plugin.name) if trouble else ""),
            trouble=trouble,
        )

    def unknown_tables(self) -> tuple[str, ...]:
        """The names in [plugins.NAME] without a plugin."""
        names = {plugin.name for plugin in self._plugins}
        return tuple(name for name in self._settings.names() if name not in names)

    # --- loading

    def _load(self, source: PluginSource) -> None:
        plugin = _Plugin(source)
        namesake = next((other for other in self._plugins if other.name == source.name), None)
        self._plugins.append(plugin)
        if namesake is not None:
            # Not with `_disable`: the tools under this name belong to the other plugin.
            plugin.status = "disabled"
            plugin.reason = f"another plugin has the same name: {namesake.source.place}"
            plugin.fix = "remove one of them, or rename the file"
            return
        if not self._settings.is_enabled(source.name):
            plugin.status = "off"
            return
        try:
            self._register(plugin)
        except EdgevoxError as error:
            self._disable(plugin, error.message, error.hint)
        except (Exception, SystemExit) as error:  # noqa: BLE001 - a plugin fails alone, even by sys.exit()
            _log.debug("the plugin %s failed", source.name, exc_info=error)
            self._disable(plugin, _reason(error), _fix(error, source.name))

    def _register(self, plugin: _Plugin) -> None:
        check_name(plugin.name)
        loaded = plugin.source.load()
        if loaded.api_version != API_VERSION:
            raise ConfigError(
                f"it was written for version {loaded.api_version!r} of the plugin API; this is version {API_VERSION}",
                hint="update the plugin, or EdgeVox",
            )
        settings = {key: value for key, value in self._settings.table(plugin.name).items() if key != "enabled"}
        host = PluginHost(plugin.name, MappingProxyType(settings), plugin.given, lambda tool: self._offer(plugin, tool))
        returned = loaded.register(host)
        if inspect.iscoroutine(returned):
            returned.close()
            raise ConfigError(
                "its register function is async",
                hint="write `def register(host):`, and await things in host.on_start(...)",
            )

    def _offer(self, plugin: _Plugin, tool: Tool) -> None:
        adjusted = self._adjust(tool)
        if adjusted is not None:
            self._registry.add(adjusted, owner=plugin.owner)

    def _disable(self, plugin: _Plugin, reason: str, fix: str = "") -> None:
        plugin.status = "disabled"
        plugin.reason = reason
        plugin.fix = fix or _switch_off(plugin.name)
        self._close(plugin)

    def _close(self, plugin: _Plugin) -> None:
        plugin.given.is_open = False
        plugin.given.hooks.clear()
        self._registry.remove_owner(plugin.owner)

    # --- starting and stopping

    async def start(self, names: Collection[str] | None = None) -> None:
        """Start all plugins, or those in `names`, concurrently. One that fails is disabled."""
        wanted = [plugin for plugin in self._plugins if names is None or plugin.name in names]
        chosen = [plugin for plugin in wanted if plugin.status == "on" and not plugin.has_begun]
        async with asyncio.TaskGroup() as group:
            for plugin in chosen:
                plugin.has_begun = True
                group.create_task(self._start(plugin))
        for plugin in wanted:
            if plugin.status == "disabled":
                _log.warning("the plugin %s is disabled: %s", plugin.name, plugin.reason)
        self._troubles.note({plugin.name: plugin.reason for plugin in chosen})

    async def stop(self) -> None:
        """Stop the plugins concurrently, with a timeout, and remove their tools and hooks."""
        async with asyncio.TaskGroup() as group:
            for plugin in self._plugins:
                if plugin.has_begun and plugin.given.is_open:
                    group.create_task(self._stop(plugin))

    async def _start(self, plugin: _Plugin) -> None:
        problem = await self._run_all(plugin, plugin.given.starts, self._start_timeout_s)
        if problem:
            self._disable(plugin, f"its start {problem}")
            await self._stop(plugin)

    async def _stop(self, plugin: _Plugin) -> None:
        self._close(plugin)
        problem = await self._run_all(plugin, plugin.given.stops, self._stop_timeout_s)
        if problem:
            _log.warning("the plugin %s did not stop cleanly: its stop %s", plugin.name, problem)

    async def _run_all(self, plugin: _Plugin, steps: Iterable[Step], timeout_s: float) -> str:
        """Call the steps in order, all within the timeout; returns the error, or ""."""
        end_s = time.monotonic() + timeout_s
        for step in tuple(steps):
            outcome = await self._runner.run(
                plugin.owner,
                step,
                is_async=inspect.iscoroutinefunction(step),
                timeout_s=max(0.0, end_s - time.monotonic()),
                cancel=None,
            )
            match outcome:
                case Returned():
                    pass
                case Raised(kind, message, is_tool_error):
                    return f"failed: {message if is_tool_error else f'{kind}: {message}'}"
                case Stopped():
                    return f"took longer than {timeout_s:g} s"
                case _:
                    assert_never(outcome)
        return ""


def _reason(error: BaseException) -> str:
    """The exception, with file and line."""
    if isinstance(error, SyntaxError):
        return f"SyntaxError: {error}"
    # str() of an exception may raise.
    words = " ".join(traceback.format_exception_only(error)[0].split())[:_MAX_REASON_CHARS]
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if not frame.filename.startswith("<"):
            return f"{words} ({Path(frame.filename).name}, line {frame.lineno})"
    return words


def _fix(error: BaseException, name: str) -> str:
    if isinstance(error, ModuleNotFoundError) and error.name:
        return f"install {error.name.partition('.')[0]} into the Python environment of EdgeVox"
    return _switch_off(name)


def _switch_off(name: str) -> str:
    return f"fix it, or disable it: enabled = false under [plugins.{name}]"
