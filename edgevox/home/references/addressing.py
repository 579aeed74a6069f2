"""Writes calls of home tools that act on exactly the given entities."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from edgevox.core.languages import listed
from edgevox.core.types import ToolCall
from edgevox.home.entities import Entities, House
from edgevox.home.intents.catalogue import catalogue
from edgevox.home.intents.resolution import ENTITY_IDS
from edgevox.home.resolve.target_resolver import resolved_targets

TARGET_SLOTS = ("name", "area", "floor", "domain", "device_class", ENTITY_IDS)
_MAX_NAMED = 4


def call_on(tool: str, entities: Entities, values: Mapping[str, Any], house: House) -> ToolCall:
    """A call on these entities: by its name if that is enough, otherwise also by id."""
    slots = catalogue()[tool].parameters["properties"]
    name = listed([entity.name for entity in entities[:_MAX_NAMED]], "and")
    named: dict[str, Any] = {"name": name} if "name" in slots else {}
    if len(entities) > 1 or _ids(resolved_targets(tool, {**named, **values}, house)) != _ids(entities):
        named[ENTITY_IDS] = [entity.id for entity in entities]
    return ToolCall("", tool, json.dumps({**named, **values}, ensure_ascii=False))


def values_of(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments that do not select entities."""
    return {slot: value for slot, value in arguments.items() if slot not in TARGET_SLOTS}


def _ids(entities: Entities) -> list[str]:
    return [entity.id for entity in entities]
