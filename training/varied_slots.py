"""Slots as no data file has them: a model that has seen each tool a hundred times must still read the list.

Values, choices and ranges are exchanged among the tools, and slots are added that nobody talks about: what is
said decides, not what the tool is known for.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from training.drawn_tool import Choice, OtherTool, Slot
from training.rare_names import rare_name

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
class Pool:
    """What the slots of all tools are made of."""

    texts: tuple[Choice, ...]
    choices: tuple[tuple[Choice, ...], ...]
    optional: tuple[Slot, ...]

    @classmethod
    def of(cls, tools: Iterable[OtherTool]) -> Pool:
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
        return rng.choice((invented(rng), f"{invented(rng)}_{invented(rng)}", f"op_{rng.randint(1, 99)}"))

    def _varied(self, slot: Slot, rng: random.Random) -> Slot:
        draw = rng.random()
        if slot.kind == "text" and draw < _OTHER_TEXTS_SHARE:
            return replace(slot, choices=tuple(rng.sample(self.texts, _TEXTS)))
        if slot.kind == "text" and draw < _OTHER_TEXTS_SHARE + _INVENTED_SHARE:
            words = [" ".join(invented(rng) for _ in range(rng.choice((1, 1, 2)))) for _ in range(_TEXTS)]
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


def invented(rng: random.Random) -> str:
    """A word that nobody knows: it can only be copied."""
    syllables = rng.choice((1, 2, 2))
    return "".join(
        rng.choice(_BEGINNINGS) + rng.choice(_MIDDLES) + (rng.choice(_ENDS) if rng.random() < 0.7 else "")
        for _ in range(syllables)
    )
