"""Applies a command without a place to the room of the speaker: "turn on the lights", "close the blinds"."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from edgevox.core.errors import StateError
from edgevox.core.hooks import Hook, Run
from edgevox.core.types import ToolCall
from edgevox.core.words import normalized_words
from edgevox.home.entities import Area, Entities, HomeError, House
from edgevox.home.intents.catalogue import catalogue
from edgevox.home.intents.resolution import ENTITY_IDS
from edgevox.home.resolve import labels
from edgevox.home.resolve.target_resolver import resolved_targets
from edgevox.home.rules.languages.hook import read_here

_LOG = logging.getLogger(__name__)

# Not locks and alarms: "lock the doors" means all of them.
_DOMAINS = frozenset({"light", "cover", "fan", "media_player", "climate", "switch", "sensor"})
_ASKING = frozenset({"get_state", "get_weather"})
_ELSEWHERE = frozenset({"house", "home", "everywhere", "apartment", "flat", "upstairs", "downstairs", "other", "else"})
# A player that is silent is hardly meant by these.
_FOR_ACTIVE = frozenset(
    {"media_pause", "media_unpause", "media_next", "media_previous", "set_volume", "set_volume_relative"}
)
_ACTIVE = frozenset({"playing", "buffering", "paused"})


class SpeakerRoom(Hook):
    """Adds the speaker's room to calls that name no place, if there is something of that kind in it.

    The room is that of the turn's caller, else the one given here: a scheduled command keeps the room in which it was
    said. It runs before the hook of clauses, which completes such calls. A room that the home does not have is ignored.
    """

    name: ClassVar[str] = "speaker_room"
    priority: ClassVar[int] = 50

    def __init__(self, room: str, house: Callable[[], House]) -> None:
        self._room = room
        self._house = house
        self._is_reported = False

    async def before_tool(self, run: Run, call: ToolCall) -> ToolCall | None:
        named = run.caller.room or self._room
        if not named or call.name not in catalogue() or call.name in _ASKING or read_here(run) is False:
            return None
        try:
            house = self._house()
            arguments = json.loads(call.arguments or "{}")
        except (HomeError, StateError, ValueError):
            return None  # the executor says it
        room = labels.find_place(house, named)
        if not isinstance(room, Area):
            if not self._is_reported:
                self._is_reported = True
                _LOG.warning("the home has no room called %s, so commands without a place are not tied to it", named)
            return None
        if not _names_no_place(call.name, arguments) or _mentions_a_place(run.text, house):
            return None
        here = {**arguments, "area": room.name}
        found = resolved_targets(call.name, here, house)
        if not found or not _is_meant(call.name, found):
            return None
        return call.with_arguments(here)


def _names_no_place(tool: str, arguments: Mapping[str, Any]) -> bool:
    """Whether a call selects at most a kind of entities: "lights", not "desk lamp"."""
    if "area" not in catalogue()[tool].parameters["properties"] or tool == "vacuum_clean_area":
        return False
    if any(arguments.get(slot) for slot in ("area", "floor", ENTITY_IDS)):
        return False
    name = normalized_words(str(arguments.get("name") or ""))
    return all(labels.kind_called(word) for word in name)


def _mentions_a_place(text: str, house: House) -> bool:
    words = {*normalized_words(text)}
    if not words.isdisjoint(labels.ALL_WORDS | _ELSEWHERE):
        return True
    return any(
        set(normalized_words(label)) <= words for place in house.places for label in (place.name, *place.aliases)
    )


def _is_meant(tool: str, found: Entities) -> bool:
    if any(entity.domain not in _DOMAINS for entity in found):
        return False
    return tool not in _FOR_ACTIVE or any(entity.state in _ACTIVE for entity in found)
