"""Matches a sentence with the published templates of Home Assistant's intents, and with those of our own.

The library `hassil` matches, the package `home-assistant-intents` has the templates. Both are imported when the first
sentence of another language than English comes. Parsing the templates of one language takes a second or two, once.
"""

from __future__ import annotations

import json
import re
import threading
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import TYPE_CHECKING, Any, TypeAlias

from edgevox.core.files import packaged_toml
from edgevox.home.entities import Area, Entity, Floor, House

if TYPE_CHECKING:
    from hassil import Intents
    from hassil.intents import TextSlotList
    from hassil.recognize import RecognizeResult

LANGUAGES: Mapping[str, tuple[str, ...]] = {
    "de": ("de",), "es": ("es",), "fr": ("fr",), "it": ("it",), "nl": ("nl",), "pt": ("pt", "pt-BR"),
}  # fmt: skip
"""The languages of home commands beside English, and the published templates of each, in the order of their use."""

_HERE = "(here)"  # stands for the room of the speaker, which the templates want to know
_MAX_CHARS = 200
_MATCHING = threading.Lock()  # templates are parsed while they are matched


Entry: TypeAlias = tuple[str, str, str, dict[str, Any]]
"""A slot, a label for it, the name that the label stands for, and the context that templates ask for."""


@dataclass(frozen=True, slots=True)
class Match:
    """An intent and its slots; a sentence that `is_here` is about the room of the speaker.

    `english` is the same request in English, where a template has one: the rules for English then read it.
    """

    intent: str
    slots: Mapping[str, Any] = field(default_factory=dict)
    is_here: bool = False
    english: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Names:
    """The names of a home as lists of slots, in their own spelling and without accents. Compared by identity."""

    exact: Mapping[str, TextSlotList]
    folded: Mapping[str, TextSlotList]
    labels: tuple[str, ...]
    areas: tuple[str, ...] = ()
    entries: tuple[Entry, ...] = ()


def names_of(house: House) -> Names:
    """The names of everything in the house; an alias stands for the name."""
    entries = [*_entries(house)]
    folded = [(slot, fold(label), name, context) for slot, label, name, context in entries]
    labels = tuple(dict.fromkeys(label for _, label, _, _ in entries))
    areas = tuple(label for slot, label, _, _ in entries if slot == "area")
    return Names(_lists(entries), _lists(folded), labels, areas, tuple(entries))


def _lists(entries: Iterable[Entry]) -> dict[str, TextSlotList]:
    from hassil.intents import TextSlotList

    by_slot: dict[str, list[tuple[str, str, dict[str, Any]]]] = {"name": [], "area": [], "floor": []}
    for slot, label, name, context in entries:
        by_slot[slot].append((label, name, context))
    return {slot: TextSlotList.from_tuples(values, allow_template=False, name=slot) for slot, values in by_slot.items()}


def _entries(house: House) -> Iterator[Entry]:
    things: Iterable[Entity | Area | Floor] = (*house.entities, *house.areas, *house.floors)
    for thing in things:
        slot = "name"
        context: dict[str, Any] = {}
        match thing:
            case Area():
                slot = "area"
                if any(one.area == thing.id and one.device_class == "garage" for one in house.entities):
                    context = {"garage_door": "yes"}
            case Floor():
                slot = "floor"
            case Entity():
                context = {"domain": thing.domain}
                if thing.device_class:
                    context["device_class"] = thing.device_class
        for label in (thing.name, *thing.aliases):
            if label.strip():
                yield slot, " ".join(label.split()), thing.name, context


@cache
def load(code: str) -> Intents:
    """The templates of a language, from the package and from our file."""
    from hassil import Intents

    return Intents.from_dict(_content(code))


@cache
def _load_folded(code: str) -> Intents:
    """The same without accents, for a sentence that is written without them."""
    from hassil import Intents

    return Intents.from_dict(json.loads(fold(json.dumps(_content(code), ensure_ascii=False))))


def _content(code: str) -> dict[str, Any]:
    from home_assistant_intents import get_intents

    content: dict[str, Any] = dict(get_intents(code) or {})
    content["intents"] = {name: {"data": list(intent["data"])} for name, intent in content["intents"].items()}
    own = own_file(code.partition("-")[0])
    for name, blocks in own.get("sentences", {}).items():
        content["intents"].setdefault(name, {"data": []})["data"] += blocks
    content["intents"].setdefault("HassGetState", {"data": []})["data"] += _sensor_blocks(own.get("sensors", {}))
    content["lists"] = {**content.get("lists", {}), **own.get("lists", {})}
    content["expansion_rules"] = {**content.get("expansion_rules", {}), **own.get("rules", {})}
    content["skip_words"] = [*content.get("skip_words", ()), *own.get("skip_words", ())]
    return content


def _sensor_blocks(table: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Questions about sensors that are on or off, of a table that has the words of each class for both states."""
    blocks: list[dict[str, Any]] = []
    classes: Mapping[str, Mapping[str, str]] = table.get("classes", {})
    for state in ("on", "off"):
        words = "|".join(dict.fromkeys(one[state] for one in classes.values() if state in one))
        asked = [shape.replace("STATE", f"({words})") for shape in table.get("of_name", ())]
        if state == "on" and (verbs := "|".join(one["verbs"] for one in classes.values() if "verbs" in one)):
            asked += [shape.replace("VERB", f"({verbs})") for shape in table["of_verb_name"]]
        context = {"domain": ["binary_sensor"]}
        blocks.append({"sentences": asked, "requires_context": context, "slots": {"state": state}})
        for name, one in classes.items():
            if state not in one or "things" not in one:
                continue
            asked = [
                shape.replace("THINGS", f"({one['things']})").replace("STATE", f"({one[state]})")
                for shape in table["of_class"]
            ]
            if state == "on" and "found" in one:  # "is there smoke in the kitchen"
                asked += [shape.replace("THINGS", f"({one['things']})") for shape in table["of_thing"]]
            if state == "on" and "verbs" in one:  # "is the washing machine running", where that is one verb
                asked += [
                    shape.replace("THINGS", f"({one['things']})").replace("VERB", f"({one['verbs']})")
                    for shape in table["of_verb"]
                ]
            slots = {"domain": "binary_sensor", "device_class": name, "state": state}
            blocks.append({"sentences": asked, "slots": slots})
    return blocks


def own_file(language: str) -> Mapping[str, Any]:
    """Our file of a language."""
    return packaged_toml(f"home/rules/languages/{language}.toml")


def warm_up(language: str) -> None:
    """Parse the templates of a language in the background; nothing for a language without templates."""
    if language in LANGUAGES:
        threading.Thread(target=_parse, args=(language, names_of(House(()))), name="templates", daemon=True).start()


def _parse(language: str, names: Names) -> None:
    with _MATCHING:
        for code in LANGUAGES[language]:
            _recognized("?", load(code), names.exact)
            _recognized("?", _load_folded(code), names.folded)


def best_match(text: str, language: str, names: Names) -> Match | None:
    """The best match of a sentence, as it is written or without its accents; None if no template fits."""
    if not text.strip() or len(text) > _MAX_CHARS:
        return None
    with _MATCHING:
        for code in LANGUAGES[language]:
            if found := _recognized(text, load(code), names.exact):
                return found
        folded = _with_number_words(fold(text), language)
        for code in LANGUAGES[language]:
            if _lacks_accents(text, code, names) and (found := _recognized(folded, _load_folded(code), names.folded)):
                return replace(found, slots={slot: _unfolded(value, text) for slot, value in found.slots.items()})
    return None


def _recognized(text: str, intents: Intents, lists: Mapping[str, TextSlotList]) -> Match | None:
    from hassil import recognize_best

    found = recognize_best(
        text,
        intents,
        slot_lists=dict(lists),
        intent_context={"area": _HERE},
        best_slot_name="name",
        best_metadata_key="preferred",
    )
    return _match(found) if found else None


def _match(found: RecognizeResult) -> Match:
    slots = {slot: entity.value for slot, entity in found.entities.items()}
    is_here = slots.get("area") == _HERE
    if is_here:
        del slots["area"]
    english = str((found.intent_metadata or {}).get("english", ""))
    return Match(found.intent.name, slots, is_here, english.format_map(slots))


_GERMAN = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss", "Ä": "Ae", "Ö": "Oe", "Ü": "Ue"})


def fold(text: str) -> str:
    """The text without accents: "Küche" is "Kueche", "télé" is "tele"."""
    plain = unicodedata.normalize("NFD", unicodedata.normalize("NFC", text).translate(_GERMAN))
    return re.sub(r"[\u0300-\u036f]", "", plain)


def _lacks_accents(text: str, code: str, names: Names) -> bool:
    """Whether a word of the text is written with an accent in the templates or in the home."""
    accented = _accented(code) | {fold(word) for label in names.labels for word in _accented_words(label)}
    return any(word in accented for word in re.findall(r"\w+", fold(text).casefold()))


@cache
def _accented(code: str) -> frozenset[str]:
    words = _accented_words(json.dumps(_content(code), ensure_ascii=False))
    return frozenset(map(fold, words)) | _number_words(code.partition("-")[0]).keys()


def _accented_words(text: str) -> list[str]:
    return [word for word in re.findall(r"\w+", text.casefold()) if not word.isascii()]


def _unfolded(value: object, text: str) -> object:
    """The part of a text whose folded form is this value; any other value as it is."""
    if not isinstance(value, str):
        return value
    offsets = [at for at, letter in enumerate(text) for _ in fold(letter)]
    start = fold(text).casefold().find(value.casefold())
    return text[offsets[start] : offsets[start + len(value) - 1] + 1] if value and start >= 0 else value


@cache
def _number_words(language: str) -> Mapping[str, str]:
    """The words for numbers that have accents, by their folded form."""
    from hassil.numbers import get_rbnf_engine

    engine = get_rbnf_engine(language)
    words = {str(engine.format_number(number).text) for number in range(101)}
    return {fold(word): word for word in words if fold(word) != word}


def _with_number_words(folded: str, language: str) -> str:
    words = _number_words(language)
    return " ".join(words.get(word.casefold(), word) for word in folded.split())
