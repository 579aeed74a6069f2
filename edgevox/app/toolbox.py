"""Assembles the tools of one installation from its settings: home, documents, plugins and MCP servers."""

from __future__ import annotations

import asyncio
import dataclasses
import logging
import time
from collections.abc import Callable, Collection, Iterable

from edgevox.config import McpSettings, Settings
from edgevox.core.errors import ConfigError, StateError
from edgevox.core.files import Folders
from edgevox.core.hooks import Hook
from edgevox.home import Alarms, AlarmSchedule, ConnectedHome, Timers, home_tools
from edgevox.home.alarms.alarms import ALARMS_FILE
from edgevox.home.alarms.scheduled_commands import ScheduledCommands
from edgevox.home.alarms.sun import SunTimes
from edgevox.home.alarms.timers import TIMERS_FILE, BootClock
from edgevox.home.alarms.watches import WATCHES_FILE, Watches
from edgevox.home.backends.factory import open_home
from edgevox.home.backends.wrapped import HomeWithSatellites
from edgevox.home.entities import Location
from edgevox.home.references.effects import EffectLog
from edgevox.home.rules.hooks import assistant_hooks
from edgevox.home.rules.languages.hook import HomeLanguages
from edgevox.home.rules.speaker_room import SpeakerRoom
from edgevox.tools.builtin.documents import DOCUMENTS_FILE, corpus_tools
from edgevox.tools.builtin.documents import TOOL_NAMES as CORPUS_TOOLS
from edgevox.tools.builtin.knowledge import knowledge_tools
from edgevox.tools.builtin.transcribe import TOOL_NAME as TRANSCRIBE_TOOL
from edgevox.tools.builtin.transcribe import Transcribe, transcribe_tool
from edgevox.tools.executor import ToolExecutor
from edgevox.tools.mcp.approvals import APPROVALS_FILE, Approvals
from edgevox.tools.mcp.config import ServerSpec, configured_servers
from edgevox.tools.mcp.servers import McpServers
from edgevox.tools.plugins.manager import START_ERRORS_FILE as TROUBLES_FILE
from edgevox.tools.plugins.manager import Plugins, PluginStartErrors
from edgevox.tools.plugins.sources import PluginSource, plugin_sources
from edgevox.tools.policy import ConfirmationPolicy
from edgevox.tools.registry import ToolRegistry
from edgevox.tools.results import ToolStats
from edgevox.tools.tool import Tool

MCP_WAIT_S = 3.0

_log = logging.getLogger(__name__)


class Toolbox:
    """The offered tools and their executor; an async context manager that starts and stops them.

    Construction takes a quarter of a second and runs the code of the plugins. `home` defaults to that of the
    settings; without `transcribe`, audio files cannot be transcribed. `forgettings` is that of the memory, and
    `announce_there` speaks in other rooms. Nothing is raised: plugin errors are in `plugins.reports()`, and tools that
    are not offered, with the reason, in `not_offered`.
    """

    def __init__(
        self,
        settings: Settings,
        folders: Folders,
        *,
        home: ConnectedHome | None = None,
        transcribe: Transcribe | None = None,
        stats: ToolStats | None = None,
        sources: Iterable[PluginSource] | None = None,
        forgettings: Callable[[], int] = lambda: 0,
        announce_there: Callable[[str], int] = lambda _message: 0,
    ) -> None:
        self.home: ConnectedHome = home or open_home(settings, folders)
        self.timers = Timers(time.time, folders.state / TIMERS_FILE)
        self.alarms = Alarms(time.time, folders.state / ALARMS_FILE, sun_times=SunTimes(self._location))
        self.watches = Watches(time.time, folders.state / WATCHES_FILE)
        self.scheduled = ScheduledCommands(self.timers, self.alarms, self.watches)
        self.effects = EffectLog(time.time, forgettings)
        self.agenda = AlarmSchedule(
            self.timers, self.alarms, self.watches, self.home.house, steady=BootClock.of_machine()
        )
        self.stats = stats or ToolStats(folders.state)
        self.registry = ToolRegistry()
        self.not_offered: dict[str, str] = {}
        self._settings = settings.tools
        self._home_settings = settings.home
        self._announce_there = announce_there
        self._add_built_in(folders, transcribe)
        self.plugins = Plugins(
            self.registry,
            plugin_sources(folders) if sources is None else sources,
            settings.plugins,
            adjust=self._adjusted,
            start_timeout_s=self._settings.plugin_timeout_s,
            troubles=PluginStartErrors(folders.state / TROUBLES_FILE),
        )
        self.mcp = McpServers(
            self._mcp_servers(settings.mcp, folders),
            Approvals(folders.state / APPROVALS_FILE),
            self.registry,
            settings.mcp,
            adjust=self._adjusted,
        )
        self.executor = ToolExecutor(
            self.registry,
            rule=ConfirmationPolicy(
                tools=self._settings.confirm_tools,
                domains=self._settings.confirm_domains,
                otherwise=self._settings.confirm_otherwise,
            ),
            timeout_s=self._settings.timeout_s,
            confirm_within_s=self._settings.confirm_within_s,
            stats=self.stats,
        )

    def hooks(self, languages: HomeLanguages | None = None, room: str = "") -> tuple[Hook, ...]:
        """The hooks of the assistant for a speaker in `room`, and those of the running plugins; valid after `start`.

        `room` is "" where it is unknown.
        """
        state = (self.timers, self.alarms, self.watches, self.effects)
        hooks = assistant_hooks(self.executor, self.home, *state, languages)
        return (SpeakerRoom(room, self.home.house), *hooks, *self.plugins.hooks)

    def offered(self, sentence: str) -> tuple[str, ...]:
        """The names of the tools to offer for this sentence to a model that is made for the home alone."""
        names = self.mcp.offered(sentence)
        return tuple(name for name in names if not self.registry.get(name).called_by_rule)

    @property
    def unknown_names(self) -> tuple[str, ...]:
        """Tool names in the settings that match no tool."""
        tools = self._settings
        known = {*self.registry.names, *self.not_offered}
        named = (*tools.disabled, *tools.timeouts_s, *tools.confirm_tools)
        return tuple(dict.fromkeys(name for name in named if name not in known))

    async def start(self, plugins: Collection[str] | None = None, servers: Collection[str] | None = None) -> None:
        """Connect the home and start all plugins and MCP servers, or the named ones; raises nothing.

        Takes bounded time: tools of a slow server are offered later.
        """
        self.mcp.start(servers)
        await asyncio.gather(self.home.start(), self.plugins.start(plugins), self.mcp.settled(MCP_WAIT_S))

    async def stop(self) -> None:
        """Stop plugins and servers, close the home and save the counts; in bounded time, raises nothing."""
        await asyncio.gather(self.plugins.stop(), self.mcp.stop())
        await self.home.close()
        try:
            await asyncio.to_thread(self.stats.save)
        except StateError as error:
            _log.warning("%s", error.message)

    async def __aenter__(self) -> Toolbox:
        await self.start()
        return self

    async def __aexit__(self, *_exc_info: object) -> None:
        await self.stop()

    def _location(self) -> Location | None:
        """The place of the home: that of the settings, or the one that the backend knows."""
        latitude, longitude = self._home_settings.latitude, self._home_settings.longitude
        return self.home.location if latitude is None or longitude is None else Location(latitude, longitude)

    def _mcp_servers(self, settings: McpSettings, folders: Folders) -> tuple[ServerSpec, ...]:
        try:
            return configured_servers(settings, folders)
        except ConfigError as error:
            _log.warning("MCP servers are not started: %s (%s)", error.message, error.hint)
            return ()

    def _add_built_in(self, folders: Folders, transcribe: Transcribe | None) -> None:
        tools = self._settings
        home = HomeWithSatellites(self.home, self._announce_there)
        self._add(home_tools(home, self.timers, self.alarms, self.alarms.now, self.watches))
        self._add(knowledge_tools(self.alarms.now))
        if tools.documents is None:
            self._leave_out(CORPUS_TOOLS, "no document folder is set (tools.documents)")
        else:
            self._add(corpus_tools(tools.documents, folders.state / DOCUMENTS_FILE))
        if not tools.sound_folders:
            self._leave_out((TRANSCRIBE_TOOL,), "no audio folder is set (tools.sound_folders)")
        elif transcribe is None:
            self._leave_out((TRANSCRIBE_TOOL,), "STT is not loaded")
        else:
            self._add((transcribe_tool(transcribe, tools.sound_folders),))

    def _add(self, tools: Iterable[Tool]) -> None:
        for tool in tools:
            if (adjusted := self._adjusted(tool)) is not None:
                self.registry.add(adjusted)

    def _adjusted(self, tool: Tool) -> Tool | None:
        """Apply the settings to a tool; None if it is disabled."""
        if tool.name in self._settings.disabled:
            self._leave_out((tool.name,), "disabled in the settings (tools.disabled)")
            return None
        if tool.name in self._settings.timeouts_s:
            return dataclasses.replace(tool, timeout_s=self._settings.timeouts_s[tool.name])
        return tool

    def _leave_out(self, names: Iterable[str], reason: str) -> None:
        self.not_offered |= dict.fromkeys(names, reason)
