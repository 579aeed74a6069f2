"""Finds the entities of "the bedroom one", "in the kitchen" and "the other one"."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

from edgevox.core.languages import plural
from edgevox.core.types import ToolCall
from edgevox.core.words import normalized_words
from edgevox.home.entities import Entities, Entity, Floor, HomeError, House
from edgevox.home.intents.catalogue import catalogue
from edgevox.home.references.addressing import call_on, values_of
from edgevox.home.references.effects import Effect
from edgevox.home.resolve import labels
from edgevox.home.resolve.target_resolver import ClarificationNeeded, Slots, find_entities, resolve_targets

_LEADING = re.compile(r"^(?:in|for|with|at|on|to|the|my|our|all)\s+", re.IGNORECASE)
_ONE = re.compile(r"\s+(?:ones?)$", re.IGNORECASE)
_TOGGLED = frozenset({"light", "switch", "fan", "media_player", "input_boolean", "humidifier", "cover", "lock"})
_ON_STATES = frozenset({"on", "playing", "paused", "idle", "open", "opening", "locked"})


def retarget(effect: Effect, said: str, house: House) -> ToolCall | None:
    """The same call on another target, or None if the words name no other entity of the home."""
    target, has_one = plain_target(said)
    words = normalized_words(target)
    known = labels.labels_of(house)
    if not words or not set(words) <= labels.vocabulary(house, known.values()):
        return None
    place = labels.place_called(house, words)
    values, slots = values_of(effect.arguments), catalogue()[effect.call.name].parameters["properties"]
    before = effect.entities or effect.choices
    domains = {entity.domain for entity in before}
    for named in _ways(target, place, before, has_one):
        given = {slot: value for slot, value in named.items() if slot in slots} | values
        if given.keys().isdisjoint(named):
            continue
        found = _found(effect.call.name, given, house)
        is_kind_kept = place is None and not has_one
        if found and (is_kind_kept or not domains or {entity.domain for entity in found} <= domains):
            return ToolCall("", effect.call.name, json.dumps(given, ensure_ascii=False))
    return None


def plain_target(said: str) -> tuple[str, bool]:
    """The target without articles and "one", and whether "one" was said."""
    target = said.strip()
    while (shorter := _LEADING.sub("", target, count=1)) != target:
        target = shorter
    without = _ONE.sub("", target)
    return without, without != target


def _ways(target: str, place: object, before: Entities, has_one: bool) -> Iterator[dict[str, Any]]:
    """The slots that the words may mean, the most probable first."""
    kind = _kind_word(before)
    if place is None:
        yield {"name": f"{target} {kind}" if has_one and kind else target}
        if has_one:
            yield {"name": target}
        return
    if kind:
        yield {"name": f"{target} {plural(kind) if len(before) > 1 else kind}"}
    domains = {entity.domain for entity in before}
    slot = "floor" if isinstance(place, Floor) else "area"
    yield {slot: target, **({"domain": domains.pop()} if len(domains) == 1 else {})}


def _kind_word(entities: Entities) -> str:
    """The word for the kind of entities: that in the name of one, or else the common one."""
    for entity in entities[:1]:
        kinds = labels.kind_words(entity.domain, entity.device_class)
        own = next((word for word in normalized_words(entity.name) if word in kinds), "")
        return labels.plain(own) if own else min(kinds, key=lambda word: (word != entity.domain, len(word)), default="")
    return ""


def _found(tool: str, given: dict[str, Any], house: House) -> Entities:
    """The entities of a call, or those between which it asks; none if nothing matches."""
    try:
        return resolve_targets(tool, given, house)
    except ClarificationNeeded as question:
        return question.choices
    except HomeError:
        return ()


def others_than(last: Effect, mentioned: Sequence[Entity], house: House) -> Entities:
    """What "the other one" can mean: others of the same kind that were mentioned, or in the same room."""
    ids = {entity.id for entity in last.entities}
    domains = {entity.domain for entity in last.entities}
    spoken_of = {entity.id: entity for entity in mentioned if entity.id not in ids and entity.domain in domains}
    if spoken_of:
        return tuple(spoken_of.values())
    areas = {entity.area for entity in last.entities}
    return tuple(
        entity
        for entity in house.entities
        if entity.area in areas and entity.area and entity.domain in domains and entity.id not in ids
    )


_OTHER = re.compile(r"(?:the )?other(?: (?:one|light|lamp))?", re.IGNORECASE)
_ADDS = frozenset({"list_add_item", "shopping_list_add_item"})
_NO_ITEM = re.compile(
    r"\b(?:nothing|everything|cancel|forget|undo|delete|remove|wait|fine|good|okay|ok|right|wrong|never|enough|done|"
    r"sorry|else|all|yes|no|lists?|please|other)\b",
    re.IGNORECASE,
)
_MAX_ITEM_WORDS = 4


def is_other(said: str) -> bool:
    """Whether the words are "the other one"."""
    return _OTHER.fullmatch(said.strip()) is not None


def with_item(effect: Effect, said: str) -> ToolCall | None:
    """The same addition to a list with another item, or None."""
    is_item = 0 < len(said.split()) <= _MAX_ITEM_WORDS and not _NO_ITEM.search(said)
    if effect.call.name not in _ADDS or not is_item:
        return None
    return ToolCall("", effect.call.name, json.dumps({**effect.arguments, "item": said}, ensure_ascii=False))


def toggled(said: str, house: House) -> list[ToolCall]:
    """The calls that toggle what is named; none if the words name nothing that can be toggled."""
    target, _ = plain_target(said)
    try:
        found = find_entities(house, Slots(name=said.strip() if "all " in said.casefold() else target), _TOGGLED)
    except HomeError:
        return []
    is_on = tuple(entity for entity in found if entity.state in _ON_STATES)
    is_off = tuple(entity for entity in found if entity not in is_on)
    return [call_on(tool, part, {}, house) for tool, part in (("turn_off", is_on), ("turn_on", is_off)) if part]
