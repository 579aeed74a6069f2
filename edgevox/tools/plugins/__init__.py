"""The plugin API: `PluginHost`, the argument of a plugin's `register`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias, TypeVar

from edgevox.core.errors import ConfigError
from edgevox.core.hooks import Hook
from edgevox.tools.tool import Tool

API_VERSION = 1
"""The version of the plugin API; raised by changes that break plugins."""

Step: TypeAlias = Callable[[], Any]
"""A callback without arguments, sync or async."""
StepT = TypeVar("StepT", bound=Step)


@dataclass(slots=True)
class Contribution:
    """What one plugin has registered; once closed it accepts nothing more."""

    hooks: list[Hook] = field(default_factory=list)
    starts: list[Step] = field(default_factory=list)
    stops: list[Step] = field(default_factory=list)
    is_open: bool = True


class PluginHost:
    """The API for one plugin. `settings` is its table [plugins.NAME]."""

    def __init__(
        self, name: str, settings: Mapping[str, Any], contribution: Contribution, offer: Callable[[Tool], None]
    ) -> None:
        self.name = name
        self.settings = settings
        self._contribution = contribution
        self._offer = offer

    def add_tool(self, tool: Tool) -> None:
        """Register a tool. Raises ConfigError if its name is taken."""
        self._check_open()
        if not isinstance(tool, Tool):
            raise ConfigError(f"add_tool got {tool!r}, which is not a tool", hint="put @tool above the function")
        self._offer(tool)

    def add_hook(self, hook: Hook) -> None:
        """Register a hook; it is called in every turn that starts from now on."""
        self._check_open()
        if not isinstance(hook, Hook):
            raise ConfigError(f"add_hook got {hook!r}, which is not a hook", hint="pass an instance of a Hook subclass")
        self._contribution.hooks.append(hook)

    def on_start(self, function: StepT) -> StepT:
        """Call `function`, sync or async, when the assistant starts; if it fails, the plugin is disabled."""
        self._check_open()
        self._contribution.starts.append(function)
        return function

    def on_stop(self, function: StepT) -> StepT:
        """Call `function`, sync or async, when the assistant stops, also after a failed start."""
        self._check_open()
        self._contribution.stops.append(function)
        return function

    def _check_open(self) -> None:
        # A start that timed out may still be running.
        if not self._contribution.is_open:
            raise ConfigError(f"the plugin {self.name} has been stopped or disabled", hint="restart EdgeVox")
