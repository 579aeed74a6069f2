"""What a page shows beside the conversation: the home, the tools, the turns of the day and the settings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from edgevox.errors import StateError
from edgevox.folders import Folders
from edgevox.metrics import TurnRecord
from edgevox.settings import Settings
from edgevox.tools.toolbox import Toolbox
from edgevox.types import JsonObject


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Of one daemon. `turns` are those that ended in a time: it blocks, and raises StateError.

    `problem` is what keeps turns from being recorded or remembered.
    """

    settings: Settings
    folders: Folders
    toolbox: Toolbox | None
    engines: Callable[[], Mapping[str, JsonObject]]
    turns: Callable[[float, float], list[TurnRecord]]
    problem: Callable[[], StateError | None] = lambda: None
