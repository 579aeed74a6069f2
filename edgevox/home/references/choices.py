"""Reads the answer to a which-question: "the second one", "the bedroom one", "both", "neither"."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from edgevox.core.words import NUMBER_WORDS, ORDINAL_WORDS, normalized_words
from edgevox.home.entities import Entities, Entity, HomeError, House
from edgevox.home.intents.relative import pattern
from edgevox.home.references.forms import NO_TARGET, TAIL, one_sentence
from edgevox.home.references.retarget import plain_target
from edgevox.home.resolve import labels
from edgevox.home.resolve.target_resolver import Slots, find_entities


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
