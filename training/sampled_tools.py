"""Samples a tool that is not the home's for one scene: its name, slots, schema and requests.

`Pool` exchanges values, choices and ranges among the tools and adds slots that no request fills, so that
the model has to read the schema instead of remembering the tool.
"""

from __future__ import annotations

import functools
import random
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeAlias

from training.spoken_values import in_other_unit, named_unit, neat_number, rare_name, said_number, unit_behind

Value: TypeAlias = str | int | float | bool | list[str]

MENTION = re.compile(r"\{(\w+)\}")

_LEFT_OUT_SHARE = 0.08
_SHUFFLED_SHARE = 0.15
_UNDESCRIBED_SHARE = 0.3
_EXAMPLES_SHARE = 0.35
# So many asks stay as requests, whatever a draw leaves out or shows as an example.
_FEWEST_REQUESTS = 3

_JSON_TYPES = {
    "text": "string",
    "enum": "string",
    "int": "integer",
    "number": "number",
    "bool": "boolean",
    "list": "array",
}
_PLURAL_BEHIND = re.compile(r"\s+(?:of us|people|children|[a-z]+(?<!s)s\b)")
_ARTICLE_BEFORE = re.compile(r"\b([Aa])n?(?= $)")
# "on Friday" and "Friday" are the same argument, but nobody says "for on Friday".
_WEEKDAY = re.compile(r"(?:mon|tues|wednes|thurs|fri|satur|sun)day", re.IGNORECASE)
_NO_ON_BEHIND = re.compile(r"\b(?:on|for|from|to|by|until|till|since|starting|is|was|read me|block|keep|every|the) $")
# Where a slot names its unit, an amount may be said in another one.
_OTHER_UNIT_SHARE = 0.45
_BRIEF_SHARE = 0.16
_PART_SHARE = 0.45
_TOLD_SHARE = 0.05
_SO = (", so ", ", ", " so ", ", now ", ", anyway, ", ", that's why I say, ")
_NO_ARTICLE_BEHIND = re.compile(r"\b(?:next|last|another|the|those|these|my|every|all) $")
_VOWEL = re.compile(r"(?!one\b|once\b|uni|use|euro)[aeiou]|8|11\b|18\b|hour|honest", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Choice:
    """A value of a slot, and how it is said (None: a number, in digits or words)."""

    value: str | float | bool
    said: str | None


@dataclass(frozen=True, slots=True)
class Slot:
    """A parameter. `names[0]` is what the asks call it, `unit` what the schema says it counts."""

    names: tuple[str, ...]
    kind: str
    required: bool
    low: float | None
    high: float | None
    about: str
    choices: tuple[Choice, ...]
    unit: str | None = None

    @property
    def key(self) -> str:
        return self.names[0]

    def schema(self) -> dict[str, Any]:
        """The slot as JSON Schema."""
        schema: dict[str, Any] = {"type": _JSON_TYPES[self.kind]}
        if self.kind == "list":
            schema["items"] = {"type": "string"}
        if self.kind == "enum":
            schema["enum"] = list(dict.fromkeys(choice.value for choice in self.choices))
        if self.low is not None and self.high is not None:
            schema |= {"minimum": self.low, "maximum": self.high}
        return schema | ({"description": self.about} if self.about else {})

    def fits(self, value: object) -> bool:
        """Whether `value`, from JSON, can be this slot's argument."""
        match self.kind:
            case "bool":
                return isinstance(value, bool)
            case "enum":
                return any(choice.value == value for choice in self.choices)
            case "list":
                return isinstance(value, list) and all(isinstance(item, str) for item in value)
            case "int" | "number":
                kinds = int if self.kind == "int" else (int, float)
                is_number = isinstance(value, kinds) and not isinstance(value, bool)
                return is_number and (self.low is None or self.low <= value <= (self.high or 0))  # type: ignore[operator]  # a number by now
            case _:
                return isinstance(value, str)

    def draw(self, rng: random.Random, *, behind: str) -> tuple[str, Value]:
        """What is said for the slot before the words `behind`, and the argument."""
        if self.kind == "list":
            items = rng.sample(self.choices, min(len(self.choices), rng.choice((1, 2, 2, 3, 3, 4))))
            *others, last = (str(item.said) for item in items)
            said = f"{', '.join(others)} and {last}" if others else last
            return said, [str(item.value) for item in items]
        if self.choices:
            choice = rng.choice(self.choices)
            said = choice.said if choice.said is not None else said_number(float(choice.value), rng)
            return said, choice.value
        number = self._draw_number(rng)
        if number == 1 and _PLURAL_BEHIND.match(behind):
            number = min(2, int(self.high or 2))
        return said_number(number, rng), number

    def in_other_words(self, unit: str, rng: random.Random) -> tuple[str, Value] | None:
        """A number of `unit` that is said in another one, where the slot is known to count it; not always."""
        if self.unit != unit or self.kind not in ("int", "number") or self.choices:
            return None
        return in_other_unit(unit, self.fits, rng) if rng.random() < _OTHER_UNIT_SHARE else None

    def _draw_number(self, rng: random.Random) -> int | float:
        assert self.low is not None
        assert self.high is not None
        span = self.high - self.low
        # People say round numbers where the range is wide.
        steps = [step for step in (5, 10, 50, 100, 500) if step * 6 <= span]
        if steps and rng.random() < 0.65:
            step = rng.choice(steps)
            return step * rng.randint(-int(-self.low // step), int(self.high // step))
        if self.kind == "int":
            return rng.randint(int(self.low), int(self.high))
        step_of_number = rng.choice((1, 1, 0.5, 0.1))
        drawn = round(rng.uniform(self.low, self.high) / step_of_number) * step_of_number
        return neat_number(min(max(round(drawn, 1), self.low), self.high))


@dataclass(frozen=True, slots=True)
class Ask:
    """A request with `{slot}` for the values, and the arguments that its words imply."""

    text: str
    implied: tuple[tuple[str, Value], ...]

    @property
    def keys(self) -> frozenset[str]:
        mentioned = _mentioned(self.text)
        return mentioned.union(key for key, _ in self.implied) if self.implied else mentioned

    def fill(self, slots: Iterable[Slot], rng: random.Random) -> tuple[str, dict[str, Value]]:
        """The words with values drawn for them, and the arguments by the slots' keys."""
        by_key = {slot.key: slot for slot in slots}
        said_so_far: set[str] = set()
        arguments = dict(self.implied)
        words = ""
        place = 0
        for mention in MENTION.finditer(self.text):
            slot = by_key[mention[1]]
            behind = self.text[mention.end() :]
            said, arguments[slot.key] = slot.draw(rng, behind=behind)
            # Nobody travels from Rome to Rome.
            for _ in range(8):
                if said not in said_so_far:
                    break
                said, arguments[slot.key] = slot.draw(rng, behind=behind)
            said_so_far.add(said)
            words += self.text[place : mention.start()]
            place = mention.end()
            unit = None if _NO_ARTICLE_BEHIND.search(words) else unit_behind(behind)
            if unit and (other := slot.in_other_words(unit[0], rng)):
                said, arguments[slot.key] = other
                place += unit[1]
            words = _ARTICLE_BEFORE.sub(r"\1n" if _VOWEL.match(said) else r"\1", words)
            if _WEEKDAY.fullmatch(said) and not _NO_ON_BEHIND.search(words) and rng.random() < 0.5:
                words += "on "
            words += said
        return words + self.text[place:], arguments


@dataclass(frozen=True, slots=True)
class Brief:
    """A request like a headline: one of the titles, then parts in any order. A part mentions one slot."""

    titles: tuple[str, ...]
    parts: tuple[tuple[str, str], ...]

    def ask(self, slots: Sequence[Slot], rng: random.Random) -> Ask:
        """All that is required, and some of the rest, of the slots that there are."""
        by_key = {slot.key: slot for slot in slots}
        chosen = [
            text
            for key, text in self.parts
            if (slot := by_key.get(key)) and (slot.required or rng.random() < _PART_SHARE)
        ]
        rng.shuffle(chosen)
        title = rng.choice(self.titles)
        if not chosen:
            return Ask(title, ())
        return Ask(f"{title}{rng.choice((': ', ', ', ' '))}{rng.choice((', ', ', ', ' ')).join(chosen)}", ())


@dataclass(frozen=True, slots=True)
class Aside:
    """Words beside a tool that ask nothing it could do: a `miss`, a `tell` or a `wonder`, and its answers."""

    kind: str
    text: str
    answers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SampledTool:
    """A tool as one scene offers it. `slots` pairs each name in the schema with its slot, in order.

    `tells` ask for nothing: said before a request, they change nothing in the call.
    """

    schema: dict[str, Any]
    slots: tuple[tuple[str, Slot], ...]
    asks: tuple[Ask, ...]
    results: tuple[tuple[str, str], ...]
    brief: Brief | None = None
    tells: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return str(self.schema["function"]["name"])

    def request(self, rng: random.Random) -> tuple[str, dict[str, Value]]:
        """What a person says, and the arguments of the call in the order of the schema."""
        slots = [slot for _, slot in self.slots]
        is_brief = self.brief is not None and rng.random() < _BRIEF_SHARE
        ask = self.brief.ask(slots, rng) if self.brief and is_brief else rng.choice(self.asks)
        text, by_key = ask.fill(slots, rng)
        if self.tells and rng.random() < _TOLD_SHARE:
            text = f"{rng.choice(self.tells)}{rng.choice(_SO)}{text}"
        return text, {name: by_key[slot.key] for name, slot in self.slots if slot.key in by_key}

    def request_for_two(self, rng: random.Random) -> tuple[str, list[dict[str, Value]]] | None:
        """The same asked for two things in one breath, "for A and B"; None where that does not fit."""
        slots = [slot for _, slot in self.slots]
        doubled = [slot for slot in slots if slot.kind == "text" and slot.required and len(slot.choices) > 1]
        if not doubled:
            return None
        slot = rng.choice(doubled)
        asks = [ask for ask in self.asks if ask.text.count(f"{{{slot.key}}}") == 1]
        if not asks:
            return None
        ask, (one, other) = rng.choice(asks), rng.sample(slot.choices, 2)
        both = replace(slot, choices=(Choice("", f"{one.said} {rng.choice(('and', 'and also'))} {other.said}"),))
        text, by_key = ask.fill([both if part is slot else part for part in slots], rng)
        calls = [
            {name: ({**by_key, slot.key: value})[part.key] for name, part in self.slots if part.key in by_key}
            for value in (one.value, other.value)
        ]
        return text, calls

    def result(self, rng: random.Random) -> tuple[str, str] | None:
        """What the tool gives back, and the sentence to say then; None where the data has none."""
        return rng.choice(self.results) if self.results else None


class Variation(Protocol):
    """Changes what a tool is made of, so that it cannot be known by heart."""

    def varied(self, slots: Sequence[Slot], rng: random.Random) -> list[Slot]: ...

    def tool_name(self, name: str, rng: random.Random) -> str: ...


@dataclass(frozen=True, slots=True)
class ToolTemplate:
    """A tool of a data file, with all it may be called.

    `theme` is the file: tools of one theme are alike, but a request fits only one. `where` is `file:line`.
    `takes` are the kinds of asides beside other tools that this one may serve after all.
    """

    theme: str
    where: str
    names: tuple[str, ...]
    abouts: tuple[str, ...]
    slots: tuple[Slot, ...]
    asks: tuple[Ask, ...]
    results: tuple[tuple[str, str], ...]
    same: frozenset[str]
    topics: tuple[str, ...] = ()
    brief: Brief | None = None
    asides: tuple[Aside, ...] = ()
    takes: frozenset[str] = frozenset()

    def goes_with(self, other: ToolTemplate) -> bool:
        """Whether a scene may offer both: a request of one must not fit the other as well."""
        ours, theirs = {*self.names, *self.same}, {*other.names, *other.same}
        return ours.isdisjoint(other.names) and theirs.isdisjoint(self.names)

    def draw(self, rng: random.Random, variation: Variation | None = None) -> SampledTool:
        """The tool under one of its names, its slots changed a little, maybe with examples."""
        slots = list(self._drawn_slots(rng))
        name = rng.choice(self.names)
        if variation is not None:
            varied = variation.varied(slots, rng)
            if len(self._asks_within(varied)) >= _FEWEST_REQUESTS:
                slots = varied
            name = variation.tool_name(name, rng)
        if rng.random() < _SHUFFLED_SHARE:
            rng.shuffle(slots)
        if rng.random() < _UNDESCRIBED_SHARE:
            slots = [replace(slot, about="") for slot in slots]
        named = tuple(_named(slot, rng) for slot in slots)
        slots = [slot for _, slot in named]
        asks = self._asks_within(slots)
        function: dict[str, Any] = {
            "name": name,
            "description": rng.choice(self.abouts),
            "parameters": {
                "type": "object",
                "properties": {name: slot.schema() for name, slot in named},
                "required": [name for name, slot in named if slot.required],
                "additionalProperties": False,
            },
        }
        if rng.random() < _EXAMPLES_SHARE:
            shown = rng.sample(asks, min(rng.choice((1, 2)), max(0, len(asks) - _FEWEST_REQUESTS)))
            if shown:
                function["examples"] = [ask.fill(slots, rng)[0] for ask in shown]
                asks = [ask for ask in asks if ask not in shown]
        schema = {"type": "function", "function": function}
        tells = tuple(one.text for one in self.asides if one.kind == "tell" and "{" not in one.text)
        return SampledTool(schema, named, tuple(asks), self.results, self.brief, tells)

    def _drawn_slots(self, rng: random.Random) -> Sequence[Slot]:
        optional = [slot for slot in self.slots if not slot.required]
        if optional and rng.random() < _LEFT_OUT_SHARE:
            left_out = rng.choice(optional)
            slots = [slot for slot in self.slots if slot is not left_out]
            if len(self._asks_within(slots)) >= _FEWEST_REQUESTS:
                return slots
        return self.slots

    def _asks_within(self, slots: Iterable[Slot]) -> list[Ask]:
        by_key = {slot.key: slot for slot in slots}
        return [
            ask
            for ask in self.asks
            if ask.keys <= by_key.keys() and all(by_key[key].fits(value) for key, value in ask.implied)
        ]


@functools.cache
def _mentioned(text: str) -> frozenset[str]:
    return frozenset(MENTION.findall(text))


def _named(slot: Slot, rng: random.Random) -> tuple[str, Slot]:
    name = rng.choice(slot.names)
    return name, replace(slot, unit=named_unit(name, slot.about)) if slot.low is not None else slot


_OTHER_TEXTS_SHARE = 0.35
_INVENTED_SHARE = 0.12
_RARE_SHARE = 0.15
_OTHER_CHOICES_SHARE = 0.3
_SHUFFLED_CHOICES_SHARE = 0.5
_OTHER_RANGE_SHARE = 0.3
_UNSAID_SHARE = 0.3
_INVENTED_NAME_SHARE = 0.12
_TEXTS = 6
_MOST_WORDS = 3
_HIGHS = (10, 12, 20, 24, 30, 40, 50, 60, 90, 100, 120, 200, 300, 500, 1000)

_BEGINNINGS = [
    "b",
    "br",
    "c",
    "ch",
    "cl",
    "cr",
    "d",
    "dr",
    "f",
    "fl",
    "g",
    "gr",
    "h",
    "j",
    "k",
    "kl",
    "l",
    "m",
    "n",
    "p",
    "pl",
    "qu",
    "r",
    "s",
    "sh",
    "sk",
    "sl",
    "sp",
    "st",
    "t",
    "tr",
    "v",
    "w",
    "z",
]
_MIDDLES = ["a", "e", "i", "o", "u", "ai", "ea", "ee", "oa", "oo", "ou"]
_ENDS = [
    "b",
    "ck",
    "d",
    "ff",
    "g",
    "l",
    "ll",
    "m",
    "mp",
    "n",
    "nd",
    "ng",
    "nk",
    "p",
    "r",
    "rn",
    "s",
    "sh",
    "st",
    "t",
    "th",
    "x",
    "z",
]


@dataclass(frozen=True, slots=True)
class SlotPool:
    """What the slots of all tools are made of."""

    texts: tuple[Choice, ...]
    choices: tuple[tuple[Choice, ...], ...]
    optional: tuple[Slot, ...]

    @classmethod
    def of(cls, tools: Iterable[ToolTemplate]) -> SlotPool:
        slots = [slot for tool in tools for slot in tool.slots]
        texts = [choice for slot in slots if slot.kind == "text" for choice in slot.choices]
        return cls(
            tuple(choice for choice in texts if len(str(choice.said).split()) <= _MOST_WORDS),
            tuple(slot.choices for slot in slots if slot.kind == "enum"),
            tuple(slot for slot in slots if not slot.required and slot.kind != "list"),
        )

    def varied(self, slots: Sequence[Slot], rng: random.Random) -> list[Slot]:
        """The slots with other values, and some that nobody asks for."""
        varied = [self._varied(slot, rng) for slot in slots]
        names = {name for slot in slots for name in slot.names}
        if rng.random() < _UNSAID_SHARE:
            for extra in rng.sample(self.optional, rng.choice((1, 1, 2))):
                if names.isdisjoint(extra.names):
                    names.update(extra.names)
                    varied.insert(rng.randint(0, len(varied)), extra)
        return varied

    def tool_name(self, name: str, rng: random.Random) -> str:
        """The name, or one that says nothing."""
        if rng.random() > _INVENTED_NAME_SHARE:
            return name
        return rng.choice(
            (invented_word(rng), f"{invented_word(rng)}_{invented_word(rng)}", f"op_{rng.randint(1, 99)}")
        )

    def _varied(self, slot: Slot, rng: random.Random) -> Slot:
        draw = rng.random()
        if slot.kind == "text" and draw < _OTHER_TEXTS_SHARE:
            return replace(slot, choices=tuple(rng.sample(self.texts, _TEXTS)))
        if slot.kind == "text" and draw < _OTHER_TEXTS_SHARE + _INVENTED_SHARE:
            words = [" ".join(invented_word(rng) for _ in range(rng.choice((1, 1, 2)))) for _ in range(_TEXTS)]
            titled = rng.random() < 0.5
            texts = [word.title() if titled else word for word in words]
            return replace(slot, choices=tuple(Choice(text, text) for text in texts))
        if slot.kind == "text" and draw < _OTHER_TEXTS_SHARE + _INVENTED_SHARE + _RARE_SHARE:
            names = [rare_name(rng) for _ in range(_TEXTS)]
            return replace(slot, choices=tuple(Choice(name, name) for name in names))
        if slot.kind == "enum":
            choices = rng.choice(self.choices) if draw < _OTHER_CHOICES_SHARE else slot.choices
            if rng.random() < _SHUFFLED_CHOICES_SHARE:
                choices = tuple(rng.sample(choices, len(choices)))
            return replace(slot, choices=choices)
        if slot.kind in ("int", "number") and slot.low is not None and draw < _OTHER_RANGE_SHARE:
            highs = [high for high in _HIGHS if high >= slot.low + 5]
            return replace(slot, high=rng.choice(highs), choices=()) if highs else slot
        return slot


def invented_word(rng: random.Random) -> str:
    """A word that nobody knows: it can only be copied."""
    syllables = rng.choice((1, 2, 2))
    return "".join(
        rng.choice(_BEGINNINGS) + rng.choice(_MIDDLES) + (rng.choice(_ENDS) if rng.random() < 0.7 else "")
        for _ in range(syllables)
    )
