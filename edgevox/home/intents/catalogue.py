"""The home tools as a model sees them: names, slots, descriptions. FROZEN: a model is trained on them.

The names are Home Assistant's intents in snake case without "Hass", the slots are theirs; only alarms and
reminders are our own. Any change to them (catalogue.toml) needs a new HOME_TOOLS_VERSION and a model that
was trained on it; a test holds a digest.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from edgevox.core.files import packaged_toml
from edgevox.core.types import JsonObject

HOME_TOOLS_VERSION = 2


@dataclass(frozen=True, slots=True)
class HomeTool:
    """One tool: what the model reads of it, and sentences a person would say.

    `target_domains` are those of the entities on which it acts, empty for any; None if it acts on none.
    """

    name: str
    description: str
    parameters: JsonObject
    has_side_effects: bool
    examples: tuple[str, ...]
    target_domains: frozenset[str] | None


@cache
def catalogue() -> Mapping[str, HomeTool]:
    """All home tools by name, in the order in which a model reads them."""
    content = packaged_toml("home/intents/catalogue.toml")
    return {name: _tool(name, entry, content) for name, entry in content["tools"].items()}


@cache
def rule_catalogue() -> Mapping[str, HomeTool]:
    """The tools that rules call: the home model was not trained on them and is not offered them."""
    content = packaged_toml("home/intents/rule_tools.toml")
    shared = packaged_toml("home/intents/catalogue.toml")
    content = {**content, "slots": shared["slots"] | content["slots"], "kinds": shared["kinds"]}
    return {name: _tool(name, entry, content) for name, entry in content["tools"].items()}


@cache
def known_tools() -> Mapping[str, HomeTool]:
    """The tools of both catalogues by name."""
    return {**catalogue(), **rule_catalogue()}


def _tool(name: str, entry: dict[str, Any], content: dict[str, Any]) -> HomeTool:
    kinds: dict[str, list[str]] = content["kinds"].get(entry.get("kinds"), {})
    slots = content["slots"] | {slot: {"type": "string", "enum": values} for slot, values in kinds.items()}
    parameters: dict[str, Any] = {"type": "object", "properties": {slot: slots[slot] for slot in entry["slots"]}}
    if "required" in entry:
        parameters["required"] = entry["required"]
    targets = entry.get("targets", kinds.get("domain"))
    if targets is not None:
        targets = [*targets, *entry.get("more_targets", ())]
    return HomeTool(
        name,
        entry["description"],
        parameters,
        entry.get("has_side_effects", True),
        tuple(entry["examples"]),
        None if targets is None else frozenset(targets),
    )


def digest() -> str:
    """A fingerprint of all that a model reads: it changes with any letter or order of it."""
    read = [(tool.name, tool.description, tool.parameters) for tool in catalogue().values()]
    return hashlib.sha256(json.dumps(read, ensure_ascii=False).encode()).hexdigest()[:16]
