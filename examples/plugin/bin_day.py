"""A plugin that knows when which bin is collected.

[plugins.bin_day]           # in config.toml
paper = "tuesday"
organic = "friday"
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Literal

from edgevox import Speech, ToolError, tool
from edgevox.tools.plugins import PluginHost

API_VERSION = 1

WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")


def register(host: PluginHost) -> None:
    """Add the tool. Raises ValueError for an unknown weekday, which disables the plugin."""
    days = {kind: WEEKDAYS.index(str(day)) for kind, day in host.settings.items() if kind != "enabled"}

    @tool(examples=["when is the paper bin collected"])
    def next_bin_collection(kind: Literal["paper", "organic", "glass"]) -> Speech:
        """When a bin is collected next."""
        if kind not in days:
            raise ToolError(f"no day is set for the {kind} bin")
        today = datetime.now(UTC).astimezone().weekday()
        match (days[kind] - today) % 7:
            case 0:
                when = "today"
            case 1:
                when = "tomorrow"
            case _:
                when = f"on {WEEKDAYS[days[kind]].capitalize()}"
        return Speech(f"The {kind} bin is collected {when}.")

    host.add_tool(next_bin_collection)
