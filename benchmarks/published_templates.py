"""Sentences sampled from Home Assistant's published templates, and which of them our rules read otherwise.

    python -m benchmarks.published_templates --intents CHECKOUT --languages nl [--each 3] [--only cover] [--show 5]

CHECKOUT is a checkout of the repository home-assistant/intents. Its templates (`sentences/LANGUAGE`) are what the rules
of a language may be written from; its test sentences (`tests`) are not read. Every template is sampled in a home with
one entity of every kind, so that the names say nothing. What a template asks for becomes a call of our tools as in
`edgevox.home.rules.languages.intents`, and counts as in `benchmarks.published_sentences`.
"""

from __future__ import annotations

import argparse
import json
import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml
from hassil import Intents
from hassil.expression import Alternative, Expression, Group, ListReference, Permutation, RuleReference, TextChunk
from hassil.intents import IntentData, RangeSlotList, SlotList, TextSlotList

from benchmarks.published_sentences import FOLDERS, _same_calls
from edgevox.core.types import JsonObject
from edgevox.eval.offered_tools import bound_home_tools
from edgevox.eval.suite import HomeSpec
from edgevox.home import DemoHome
from edgevox.home.rules.languages.intents import call_of
from edgevox.home.rules.languages.reader import read
from edgevox.home.rules.languages.templates import Match, Names, names_of

# Names that mean nothing in any of these languages.
_SYLLABLES = ("Talo", "Rimba", "Zuno", "Kesta", "Moru", "Velka", "Doppi", "Sanju", "Orbin", "Quila")
_AREAS = ("Zanoba", "Mirtek", "Olvado")
_FLOORS = ("Prexo", "Gantu")
_WORDS = ("pasta", "gitaar", "Alpha Beta")


@dataclass
class _Sample:
    """One sentence of a template, with its slots."""

    slots: dict[str, Any] = field(default_factory=dict)
    is_lost: bool = False


@dataclass
class TemplateCounts:
    """How often the sentences of one template file were read as it says; `missed` are some that were not."""

    sampled: int = 0
    exact: int = 0
    missed: list[str] = field(default_factory=list)


class _Sampler:
    """Draws sentences of one block of templates."""

    def __init__(self, intents: Intents, data: IntentData, names: Mapping[str, list[str]], seed: random.Random) -> None:
        self._rules = {**intents.expansion_rules, **data.expansion_rules}
        self._lists: dict[str, SlotList] = {**intents.slot_lists, **data.slot_lists}
        self._names = names
        self._seed = seed

    def draw(self, expression: Expression, sample: _Sample) -> str:
        """The text of one drawing; a list that is not known makes the sample worthless."""
        match expression:
            case TextChunk():
                return str(expression.original_text)
            case Permutation():
                items = self._seed.sample(expression.items, len(expression.items))
                return " ".join(self.draw(item, sample) for item in items)
            case Alternative():
                return self.draw(self._seed.choice(expression.items), sample)
            case Group():
                return "".join(self.draw(item, sample) for item in expression.items)
            case ListReference():
                return self._value(expression, sample)
            case RuleReference():
                if (rule := self._rules.get(expression.rule_name)) is not None:
                    return self.draw(rule.expression, sample)
        sample.is_lost = True
        return ""

    def _value(self, reference: ListReference, sample: _Sample) -> str:
        slot, name = reference.slot_name, reference.list_name
        if name in self._names:
            text = self._seed.choice(self._names[name])
            sample.slots[slot] = text
            return text
        match self._lists.get(name):
            case TextSlotList(values=values) if values:
                value = self._seed.choice(values)
                sample.slots[slot] = value.value_out
                return self.draw(value.text_in, sample)
            case RangeSlotList() as numbers:
                number = self._seed.randrange(max(numbers.start, 2), min(numbers.stop, 59) + 1)
                sample.slots[slot] = number
                return str(number)
            case None:
                sample.is_lost = True
                return ""
            case _:
                text = self._seed.choice(_WORDS)
                sample.slots[slot] = text
                return text


def _kinds(data: IntentData) -> list[tuple[str, str]]:
    """The domains and classes that a block of templates wants of {name}."""
    context = data.requires_context or {}

    def values(key: str) -> list[str]:
        value = context.get(key, data.slots.get(key, ""))
        value = value.get("value", "") if isinstance(value, dict) else value
        return list(value) if isinstance(value, list) else [str(value or "")]

    return [(domain or "switch", one) for domain in values("domain") for one in values("device_class")]


def _name(kind: tuple[str, str]) -> str:
    number = sum((at + 1) * ord(letter) for at, letter in enumerate("/".join(kind)))
    return f"{_SYLLABLES[number % 10]}{_SYLLABLES[number // 10 % 10].lower()}"


def _home(kinds: set[tuple[str, str]]) -> Names:
    entities = [
        {"name": _name(kind), "domain": kind[0], "device_class": kind[1] or None, "area": _AREAS[0]} for kind in kinds
    ]
    content = {
        "floors": [{"name": name} for name in _FLOORS],
        "areas": [{"name": name} for name in _AREAS],
        "entities": entities,
    }
    return names_of(HomeSpec.model_validate(content).house())


def _load(folder: Path) -> Iterator[tuple[str, Intents]]:
    common = yaml.safe_load((folder / "_common.yaml").read_text(encoding="utf-8"))
    for file in sorted(folder.glob("*_Hass*.yaml")):
        content = yaml.safe_load(file.read_text(encoding="utf-8"))
        if content.get("intents"):
            merged = {**common, **content, "lists": {**common.get("lists", {}), **content.get("lists", {})}}
            merged["expansion_rules"] = {**common.get("expansion_rules", {}), **content.get("expansion_rules", {})}
            yield file.stem, Intents.from_dict(merged)


def measure(folder: Path, language: str, each: int, only: str) -> dict[str, TemplateCounts]:
    """Sample every template `each` times and read the sentences."""
    tools = {tool.name: tool for tool in bound_home_tools(DemoHome())}
    files = [(stem, intents) for stem, intents in _load(folder) if only in stem]
    blocks = [
        (stem, intents, name, data)
        for stem, intents in files
        for name, intent in intents.intents.items()
        for data in intent.data
    ]
    home = _home({kind for _, _, _, data in blocks for kind in _kinds(data)})
    counts: dict[str, TemplateCounts] = {}
    seed = random.Random(7)
    for stem, intents, intent, data in blocks:
        names = {"name": [_name(kind) for kind in _kinds(data)], "area": list(_AREAS), "floor": list(_FLOORS)}
        sampler = _Sampler(intents, data, names, seed)
        for sentence in data.sentences * each:
            sample = _Sample()
            text = " ".join(sampler.draw(sentence.expression, sample).split())
            call = call_of(Match(intent, {**data.slots, **sample.slots}))
            if sample.is_lost or call is None or call.name not in tools:
                continue
            reading = read(text, language, home, tools)
            given = [
                {"name": one.name, "arguments": json.loads(one.arguments)} for one in (reading.calls if reading else ())
            ]
            expected: list[JsonObject] = [{"name": call.name, "arguments": json.loads(call.arguments)}]
            count = counts.setdefault(stem, TemplateCounts())
            count.sampled += 1
            if _same_calls(expected, given):
                count.exact += 1
            else:
                count.missed.append(f"{text}\n        wanted {_shown(expected)}\n        got    {_shown(given)}")
    return counts


def _shown(calls: Sequence[JsonObject]) -> str:
    return "; ".join(f"{one['name']} {json.dumps(one['arguments'], ensure_ascii=False)}" for one in calls) or "nothing"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--intents", type=Path, required=True, help="a checkout of home-assistant/intents")
    parser.add_argument("--languages", default=",".join(FOLDERS), help="default: all six")
    parser.add_argument("--each", type=int, default=3, help="sentences of each template")
    parser.add_argument("--only", default="", help="a part of the file's name, as in cover_HassTurnOn")
    parser.add_argument("--show", type=int, default=0, help="print so many missed sentences of each file")
    arguments = parser.parse_args()
    for language in arguments.languages.split(","):
        total: Counter[str] = Counter()
        for folder in FOLDERS[language]:
            found = measure(arguments.intents / "sentences" / folder, language, arguments.each, arguments.only)
            for stem, count in sorted(found.items(), key=lambda one: one[1].exact - one[1].sampled):
                total.update(exact=count.exact, sampled=count.sampled)
                print(f"{folder} {stem:45} {count.exact} of {count.sampled}", flush=True)
                print(*(f"    {missed}" for missed in count.missed[: arguments.show]), sep="\n")
        print(f"{language} {total['exact']} of {total['sampled']}", flush=True)


if __name__ == "__main__":
    main()
