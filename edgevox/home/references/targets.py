"""Finds the entities that a reference means: by a pronoun, as "the bedroom one", or in answer to a which-question."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from edgevox.core.languages import plural
from edgevox.core.types import ToolCall
from edgevox.core.words import NUMBER_WORDS, ORDINAL_WORDS, normalized_words
from edgevox.home.entities import Entities, Entity, Floor, HomeError, House
from edgevox.home.grammar import pattern, tool_call
from edgevox.home.intents.catalogue import catalogue
from edgevox.home.phrasing import is_in_state
from edgevox.home.references.calls import call_on, values_of
from edgevox.home.references.effects import Effect, TurnEffects
from edgevox.home.references.forms import NO_TARGET, TAIL, Pronoun, one_sentence
from edgevox.home.resolve import labels
from edgevox.home.resolve.fuzzy import is_plural
from edgevox.home.resolve.target_resolver import ClarificationNeeded, Slots, find_entities, resolve_targets

# --- pronouns


def entities_of(turn: TurnEffects) -> Entities:
    """The entities that a turn was about: of "which lights are on?", those that are."""
    found: dict[str, Entity] = {}
    for effect in turn.meant:
        state = effect.arguments.get("state")
        meant = tuple(entity for entity in effect.entities if state and is_in_state(entity, str(state)))
        found |= {entity.id: entity for entity in meant or effect.entities}
    return tuple(found.values())


def mentioned(turns: Sequence[TurnEffects], domains: frozenset[str], pronoun: Pronoun) -> Entities:
    """The entities of these domains that "it" or "them" means; none if a timer or an alarm may be meant."""
    for place in range(len(turns) - 1, -1, -1):
        turn = turns[place]
        if any("timer" in effect.call.name or "alarm" in effect.call.name for effect in turn.effects):
            return ()
        found = tuple(entity for entity in entities_of(turn) if entity.domain in domains)
        if found:
            is_one = len(found) == 1 and (pronoun == "both" or not is_plural(found[0].name))
            return _chained(turns[: place + 1], found) if is_one and pronoun != "it" else found
    return ()


def _chained(turns: Sequence[TurnEffects], found: Entities) -> Entities:
    """ "Them" after one thing at a time: also those of the turns before with the same call."""
    tools = {effect.call.name for effect in turns[-1].meant}
    meant = {entity.id: entity for entity in found}
    for turn in reversed(turns[:-1]):
        if {effect.call.name for effect in turn.meant} != tools:
            break
        meant |= {entity.id: entity for entity in entities_of(turn) if entity.domain == found[0].domain}
    return tuple(reversed(meant.values()))


# --- another target: "the bedroom one", "in the kitchen", "the other one"

_LEADING = pattern(r"^(?:in|for|with|at|on|to|the|my|our|all)\s+")
_ONE = pattern(r"\s+(?:ones?)$")
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
            return tool_call(effect.call.name, **given)
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


_OTHER = pattern(r"(?:the )?other(?: (?:one|light|lamp))?")
_ADDS = frozenset({"list_add_item", "shopping_list_add_item"})
_NO_ITEM = pattern(
    r"\b(?:nothing|everything|cancel|forget|undo|delete|remove|wait|fine|good|okay|ok|right|wrong|never|enough|done|"
    r"sorry|else|all|yes|no|lists?|please|other)\b"
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
    return tool_call(effect.call.name, **{**effect.arguments, "item": said})


_REMOVES = (
    r"^(?:(?:no|actually|oh|wait|sorry|okay|ok|please|can you|could you|just)[, ]+)*(?:(?:take|cross|strike|scratch|"
    r"knock|get) (?:the )?{item} (?:back )?off|(?:remove|delete|drop|scratch) (?:the )?{item})"
    r"(?: (?:again|it|there|(?:from |of )?(?:it|there|(?:the|my|our) (?:\w+ )?list)))*(?:,.*|{tail})"
)


def removed_item(turns: Sequence[TurnEffects], said: str, house: House) -> ToolCall | None:
    """The removal of an item that a recent turn put on a list: "take the butter off again"."""
    added = [effect for turn in turns for effect in turn.done if effect.call.name in _ADDS and effect.entities]
    for effect in reversed(added):
        item = str(effect.arguments.get("item") or "")
        is_last = effect is added[-1] and effect in turns[-1].effects
        names = "|".join(map(re.escape, (item, *(("it", "that", "this", "them") if is_last else ()))))
        if item and pattern(_REMOVES.replace("{item}", f"(?:{names})").replace("{tail}", TAIL)).match(
            one_sentence(said)
        ):
            return call_on("list_remove_item", effect.entities, {"item": item}, house)
    return None


def names_something(said: str, house: House) -> bool:
    """Whether the words have the whole name of an entity or an area."""
    words = set(normalized_words(said))
    names = [name for entity in house.entities for name in (entity.name, *entity.aliases)]
    names += [area.name for area in house.areas]
    return any(set(normalized_words(name)) <= words for name in names)


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


# --- the answer to a which-question: "the second one", "the bedroom one", "both", "neither"


@dataclass(frozen=True, slots=True)
class Choice:
    """The answer to a which-question: all, none, positions from 0 (-1 is the last), or a name."""

    is_all: bool = False
    is_none: bool = False
    positions: tuple[int, ...] = ()
    name: str = ""


_ANSWER_LEAD = r"^(?:(?:um+|uh+|er+|oh|well|yes|yeah|okay|ok|i mean|i meant|i want|take|use|please|just|maybe)[, ]+)*"
_ALL_CHOICES = pattern(
    rf"{_ANSWER_LEAD}(?:all|both|every ?one|everything|all (?:of )?(?:them|those|these)|both of (?:them|those|these)|"
    rf"all (?:two|three|four)(?: of them)?|them all|the lot|every one of them|all the \w+){TAIL}"
)
_NO_CHOICE = pattern(
    rf"{_ANSWER_LEAD}(?:no|nope|none|neither|nothing|neither one|(?:none|neither) of (?:them|those|these)|"
    rf"forget it|never ?mind|no (?:thanks|thank you)|leave it){TAIL}"
)
_ORDINALS = {word: place for place, word in enumerate(ORDINAL_WORDS[:10])} | {
    "1st": 0, "2nd": 1, "3rd": 2, "last": -1, "latter": -1, "former": 0, "middle": 1, "final": -1,
}  # fmt: skip
_COUNTS = {word: place - 1 for place, word in enumerate(NUMBER_WORDS[:10]) if place} | {
    str(count): count - 1 for count in range(1, 10)
}
_ORDINAL = "|".join(_ORDINALS)
_POSITION = pattern(
    rf"{_ANSWER_LEAD}(?:(?:the )?(?P<ordinal>{_ORDINAL})(?: (?:one|light|lamp|option))?|"
    rf"(?:number|option|choice) (?P<count>{'|'.join(_COUNTS)})){TAIL}"
)
_FIRST_TWO = pattern(rf"{_ANSWER_LEAD}the first (?P<count>two|three){TAIL}")
_TWO_POSITIONS = pattern(
    rf"{_ANSWER_LEAD}(?:the )?(?P<first>{_ORDINAL})(?: one)? and (?:the )?(?P<second>{_ORDINAL})(?: one)?{TAIL}"
)
_STATE = pattern(r"\b(?:on|off|of|percent)\b")  # "desk lamp off" is another command
_NAMED_CHOICE = pattern(
    rf"{_ANSWER_LEAD}(?:the ones? (?:in|on|at|by|next to) )?(?:in |on )?(?P<name>(?:the |my |our )?[\w' -]+?)"
    rf"(?: ones?)?{TAIL}"
)


def parse_choice(text: str) -> Choice | None:
    """The answer to a which-question, or None for another sentence."""
    words = one_sentence(text)
    if _ALL_CHOICES.match(words):
        return Choice(is_all=True)
    if _NO_CHOICE.match(words):
        return Choice(is_none=True)
    if found := _POSITION.match(words):
        ordinal, count = found["ordinal"], found["count"]
        return Choice(positions=(_ORDINALS[ordinal.casefold()] if ordinal else _COUNTS[count.casefold()],))
    if found := _FIRST_TWO.match(words):
        return Choice(positions=tuple(range(2 if found["count"].casefold() == "two" else 3)))
    if found := _TWO_POSITIONS.match(words):
        return Choice(positions=(_ORDINALS[found["first"].casefold()], _ORDINALS[found["second"].casefold()]))
    if (found := _NAMED_CHOICE.match(words)) and not (NO_TARGET.search(found["name"]) or _STATE.search(found["name"])):
        return Choice(name=found["name"])
    return None


_AND = re.compile(r"\s*(?:,|\band\b)\s*")


def choose(choice: Choice, choices: Entities, house: House) -> Entities:
    """The chosen entities; none if the answer names none of them."""
    if choice.is_all:
        return choices
    if choice.positions:
        return tuple(choices[place] for place in choice.positions if -1 <= place < len(choices))
    found: dict[str, Entity] = {}
    for part in _AND.split(choice.name):
        if not (meant := _named_choice(part, choices, house)):
            return ()
        found |= {entity.id: entity for entity in meant}
    return tuple(found.values())


def _named_choice(said: str, choices: Entities, house: House) -> Entities:
    target, _ = plain_target(said)
    words = normalized_words(target)
    if place := labels.place_called(house, words):
        there = labels.entities_at(place, choices)
        return there if len(there) == 1 else ()
    try:
        found = find_entities(replace(house, entities=choices), Slots(name=target), ())
    except HomeError:
        return ()
    return found if len(found) == 1 else ()
