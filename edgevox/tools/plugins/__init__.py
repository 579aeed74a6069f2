"""The plugin API: `PluginHost`, the argument of a plugin's `register`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias, TypeVar

from edgevox.core.errors import ConfigError
from edgevox.core.hooks import Hook
from edgevox.tools.tool import Tool

API_VERSION = 1
"""What plugins are written for. It grows when a plugin would have to change."""

Step: TypeAlias = Callable[[], Any]
"""A function without arguments, sync or async, that a plugin wants called."""
StepT = TypeVar("StepT", bound=Step)


@dataclass(slots=True)
class Contribution:
    """What one plugin has given so far; when it is closed nothing more is taken."""

    hooks: list[Hook] = field(default_factory=list)
    starts: list[Step] = field(default_factory=list)
    stops: list[Step] = field(default_factory=list)
    is_open: bool = True


class PluginHost:
    """EdgeVox, for one plugin. `settings` is the table [plugins.NAME] of the settings."""

    def __init__(
        self,
        name: str,
        settings: Mapping[str, Any],
        contribution: Contribution,
        offer: Callable[[Tool], None],
    ) -> None:
        self.name = name
        self.settings = settings
        self._contribution = contribution
        self._offer = offer

    def add_tool(self, tool: Tool) -> None:
        """Offer a tool to the model. Raises ConfigError when its name is taken."""
        self._check_open()
        if not isinstance(tool, Tool):
            raise ConfigError(f"add_tool got {tool!r}, which is no tool", hint="put @tool above the function")
        self._offer(tool)

    def add_hook(self, hook: Hook) -> None:
        """Have a hook called in every turn that begins from now on."""
        self._check_open()
        if not isinstance(hook, Hook):
            raise ConfigError(f"add_hook got {hook!r}, which is no hook", hint="give an object of a subclass of Hook")
        self._contribution.hooks.append(hook)

    def on_start(self, function: StepT) -> StepT:
        """Call `function`, sync or async, when the assistant starts; if it fails the plugin is disabled."""
        self._check_open()
        self._contribution.starts.append(function)
        return function

    def on_stop(self, function: StepT) -> StepT:
        """Call `function`, sync or async, at the end, also when the start failed."""
        self._check_open()
        self._contribution.stops.append(function)
        return function

    def _check_open(self) -> None:
        # The start of a plugin that was given up may still be running.
        if not self._contribution.is_open:
            raise ConfigError(f"the plugin {self.name} has been stopped or disabled", hint="restart EdgeVox")
