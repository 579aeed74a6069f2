"""Reads requests by the names of things: an option or a number beside the name, or the name of a routine alone.

"Soundbar mode night", "charge the car to 90 percent" for the number Car Charge Limit, "feed the cat" for the button
Cat Feeder. Around the name and the value there may be nothing but words that ask for a change, so no form of the
sentence is needed.
"""

from __future__ import annotations

import re

from edgevox.core.words import Words, normalized_words, number_value, word_set
from edgevox.home.entities import Entity, House
from edgevox.home.grammar import NUMBER, Calls, pattern, tool_call
from edgevox.home.resolve import labels

_SELECTORS = frozenset({"select", "input_select"})
# The tool that sets what is a number to begin with, and its slot.
_SET = {
    "number": ("set_number", "value"),
    "input_number": ("set_number", "value"),
    "humidifier": ("humidifier_set_humidity", "humidity"),
}
_ROUTINES = frozenset({"scene", "script", "button", "input_button"})
_ASKS = pattern(r"^(?:what|which|who|when|where|why|how|is|are|was|were|do|does|did|has|have|can|tell|if|whenever)\b")
# Words of a request that need not be in a name.
_REQUEST = word_set("set put turn switch change make use select choose bring take move go to for with as into it by")
_UNITS = word_set("percent percentage degree celsius fahrenheit minute hour second watt kilowatt volt amp amper lumen")
_VALUE = pattern(rf"(?<![\w.,-]){NUMBER}(?![\w-])")
_SWITCHES = frozenset({"on", "off"})


def parse(text: str, house: House) -> Calls:
    """The calls of a request, or none."""
    if not text or _ASKS.match(text):
        return ()
    return _option(text, house) or _number(text, house) or routine(text, house)


def _option(text: str, house: House) -> Calls:
    said = normalized_words(text)
    meant: list[tuple[Entity, str]] = []
    for entity in house.entities:
        if entity.domain not in _SELECTORS:
            continue
        for option in entity.attributes.get("options", ()):
            wanted = normalized_words(str(option).replace("_", " "))
            rest = _without(said, wanted)
            if rest is not None and not _SWITCHES & set(wanted) and _names(rest, entity, house):
                meant.append((entity, str(option)))
    if len(meant) != 1:
        return ()
    ((entity, option),) = meant
    return (tool_call("select_option", name=entity.name, option=option),)


def _number(text: str, house: House) -> Calls:
    values = list(_VALUE.finditer(text))
    if len(values) != 1 or not any(entity.domain in _SET for entity in house.entities):
        return ()
    value = number_value(values[0][0])
    around = f"{text[: values[0].start()]} {text[values[0].end() :]}".replace("%", " ")
    rest = tuple(word for word in normalized_words(around) if word not in _REQUEST | _UNITS)
    if value is None or not rest:
        return ()
    fit, found = labels.best_fits(rest, house.entities, labels.labels_of(house))
    # One word of a name may mean something else with that word.
    is_clear = fit <= labels.Fit.SAME_PLAIN_WORDS or (fit <= labels.Fit.PART and len(rest) > 1)
    if len(found) != 1 or found[0].domain not in _SET or not is_clear:
        return ()
    tool, slot = _SET[found[0].domain]
    return (tool_call(tool, **{"name": found[0].name, slot: int(value) if value.is_integer() else value}),)


def routine(text: str, house: House) -> Calls:
    """A routine whose name is what is said, also as an imperative: "feed the cat" for the Cat Feeder."""
    said = normalized_words(text)
    if len(said) < 2:
        return ()  # a single word may be about anything
    wanted = sorted(map(_stem, said))
    routines = [
        entity
        for entity in house.entities
        if entity.domain in _ROUTINES
        and any(sorted(map(_stem, normalized_words(name))) == wanted for name in (entity.name, *entity.aliases))
    ]
    if len(routines) != 1:
        return ()
    meant = routines[0]
    kind = {"domain": meant.domain} if meant.domain in ("scene", "script") else {}
    return (tool_call("turn_on", name=meant.name, **kind),)


def _without(said: Words, part: Words) -> Words | None:
    """The words without a part of them that is said in one piece; None if it is not."""
    for place in range(len(said) - len(part) + 1):
        if part and said[place : place + len(part)] == part:
            return said[:place] + said[place + len(part) :]
    return None


def _names(rest: Words, entity: Entity, house: House) -> bool:
    """Whether what is left of a request is the name of an entity or a part of it, and nothing else."""
    its = labels.labels_of(house)[entity.id]
    left = {word for word in rest if word not in its.words}
    kinds = word_set("mode program programme setting option")
    core = {word for word in rest if word in its.words and word not in kinds}
    return bool(core) and left <= _REQUEST | kinds | its.extra


def _stem(word: str) -> str:
    """The verb of what does something: "feed" for "feeder", "clean" for "cleaning"."""
    return re.sub(r"(?<=\w{3})(?:er|or|ing)$", "", word)
