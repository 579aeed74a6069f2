"""How the engines have been: what the events said of each, and how often it was begun anew."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping

from edgevox.events import EngineChanged, Event
from edgevox.types import JsonObject


class EngineHealth:
    """A listener on the bus. `states` are those of this moment."""

    def __init__(self, states: Callable[[], Mapping[str, str]]) -> None:
        self._states = states
        self._details: dict[str, str] = {}
        self._restarts: Counter[str] = Counter()

    def __call__(self, event: Event) -> None:
        if isinstance(event, EngineChanged):
            self._details[event.engine] = event.detail
            self._restarts[event.engine] += event.state == "restarting"

    def report(self) -> Mapping[str, JsonObject]:
        """By the names of the engines."""
        return {
            name: {"state": state, "detail": self._details.get(name, ""), "restarts": self._restarts[name]}
            for name, state in self._states().items()
        }
