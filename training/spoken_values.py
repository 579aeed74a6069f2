"""Numbers, amounts in other units and rare names, as people say them.

Only a slot that names its unit can be given an amount in another unit ("an hour and twenty minutes" in
minutes); any other slot takes the number that was said. Rare names are composed from the syllables of many
languages, so that the model can only copy them.
"""

from __future__ import annotations

import functools
import random
import re
from collections.abc import Callable
from dataclasses import dataclass

# fmt: off
_SMALL = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
)
_TENS = ("zero", "ten", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
# fmt: on
_LARGEST = 1_000_000


def said_number(value: float, rng: random.Random) -> str:
    """A number in digits or in words, as a recogniser may write it: small ones more often in words."""
    in_words = rng.random() < (0.5 if abs(value) <= 12 else 0.3)
    if in_words and abs(value) < _LARGEST and float(value * 10).is_integer():
        return in_spoken_words(value, rng)
    with_commas = abs(value) >= 1000 and rng.random() < 0.3
    return f"{neat_number(value):,}" if with_commas else str(neat_number(value))


def neat_number(value: float) -> int | float:
    """20 for 20.0: nobody says or writes needless decimals."""
    return int(value) if float(value).is_integer() else value


def in_spoken_words(value: float, rng: random.Random) -> str:
    """A number below a million, with at most one decimal, in words."""
    if value < 0:
        return f"minus {in_spoken_words(-value, rng)}"
    whole, tenth = divmod(round(value * 10), 10)
    link = " and " if rng.random() < 0.5 else " "
    words = _whole_in_words(whole, link)
    if not tenth:
        return words
    if tenth == 5 and rng.random() < 0.5:
        return f"{words} and a half" if whole else "half"
    return f"{words} point {_SMALL[tenth]}"


def _whole_in_words(value: int, link: str) -> str:
    if value < 20:
        return _SMALL[value]
    if value < 100:
        tens, ones = divmod(value, 10)
        return f"{_TENS[tens]} {_SMALL[ones]}" if ones else _TENS[tens]
    unit, name = (1000, "thousand") if value >= 1000 else (100, "hundred")
    count, rest = divmod(value, unit)
    words = f"{_whole_in_words(count, link)} {name}"
    if not rest:
        return words
    return f"{words}{link if rest < 100 else ' '}{_whole_in_words(rest, link)}"


# What slots, their descriptions and people call a unit. Short forms count in the name of a slot only.
_CALLED = {
    "seconds": ("seconds", "second", "secs"),
    "minutes": ("minutes", "minute", "mins"),
    "hours": ("hours", "hour"),
    "days": ("days",),
    "grams": ("grams", "gram", "g"),
    "kilograms": ("kilograms", "kilogram", "kilos", "kg"),
    "millimetres": ("millimetres", "millimetre", "millimeters", "mm"),
    "centimetres": ("centimetres", "centimetre", "centimeters", "cm"),
    "metres": ("metres", "meters", "m"),
    "kilometres": ("kilometres", "kilometers", "km"),
    "millilitres": ("millilitres", "milliliters", "ml"),
    "litres": ("litres", "liters"),
}
_UNITS = {called: unit for unit, names in _CALLED.items() for called in names}
_SHORTEST_WORD = 4
_WORDS = re.compile(r"[a-z]+")
UNIT_BEHIND = re.compile(rf" ({'|'.join(name for name in _UNITS if len(name) >= _SHORTEST_WORD)})\b")


@dataclass(frozen=True, slots=True)
class _Other:
    """A unit to say instead; `worth` is one of it in the slot's unit."""

    one: str
    many: str
    worth: float
    has_rest: bool = False


_HOUR = _Other("hour", "hours", 60, has_rest=True)
_MINUTE = _Other("minute", "minutes", 60, has_rest=True)
_KILO = _Other("kilo", "kilos", 1000)
_OTHERS: dict[str, tuple[_Other, ...]] = {
    "seconds": (_MINUTE,),
    "minutes": (_HOUR,),
    "hours": (_Other("day", "days", 24), _Other("minute", "minutes", 1 / 60)),
    "days": (_Other("week", "weeks", 7),),
    "grams": (_KILO, _KILO, _Other("kilogram", "kilograms", 1000)),
    "kilograms": (_Other("gram", "grams", 0.001), _Other("tonne", "tonnes", 1000)),
    "millimetres": (_Other("centimetre", "centimetres", 10),),
    "centimetres": (_Other("metre", "metres", 100),),
    "metres": (_Other("kilometre", "kilometres", 1000),),
    "kilometres": (_Other("metre", "metres", 0.001),),
    "millilitres": (_Other("litre", "litres", 1000),),
    "litres": (_Other("millilitre", "millilitres", 0.001),),
}
_AMOUNTS = (0.25, 0.5, 0.5, 0.75, 1, 1, 1.5, 1.5, 2, 2, 2.5, 3, 3, 3.5, 4, 5, 6, 8, 10, 12)
_FINE_AMOUNTS = (1.1, 1.2, 1.4, 1.6, 1.8, 2.2, 2.4, 3.2, 4.5)
_SMALL_AMOUNTS = (100, 150, 200, 250, 300, 400, 500, 600, 750, 800, 900, 1200, 1500)
_MINUTES = (6, 15, 30, 45, 75, 90, 105, 150)
_RESTS = (5, 10, 15, 20, 25, 30, 40, 45, 50)
_TRIES = 5


@functools.cache
def named_unit(name: str, about: str) -> str | None:
    """The unit that a slot's name or else its description says it counts; None for a rate or none."""
    parts = name.lower().split("_")
    words = _WORDS.findall(about.lower())
    if "per" in parts or "per" in words:
        return None
    found = {_UNITS[part] for part in parts if part in _UNITS and (len(part) > 1 or len(parts) > 1)}
    found = found or {_UNITS[word] for word in words if word in _UNITS and len(word) >= _SHORTEST_WORD}
    return found.pop() if len(found) == 1 else None


def unit_behind(words: str) -> tuple[str, int] | None:
    """The unit that `words` begin with, and how long it is written."""
    found = UNIT_BEHIND.match(words)
    return (_UNITS[found[1]], found.end()) if found else None


def in_other_unit(unit: str, fits: Callable[[object], bool], rng: random.Random) -> tuple[str, int | float] | None:
    """An amount in another unit, and the number of `unit` that it is; None where none was found that fits."""
    for _ in range(_TRIES):
        other = rng.choice(_OTHERS[unit])
        said, amount = _said(other, rng)
        number = neat_number(round(amount * other.worth, 3))
        if fits(number):
            return said, number
    return None


def _said(other: _Other, rng: random.Random) -> tuple[str, float]:
    if other.worth < 1:
        amount: float = rng.choice(_MINUTES if other.one == "minute" else _SMALL_AMOUNTS)
        return f"{said_number(amount, rng)} {other.many}", amount
    if other.has_rest and rng.random() < 0.35:
        whole, rest = rng.choice((1, 1, 2, 3)), rng.choice(_RESTS)
        part = "minutes" if other.one == "hour" else "seconds"
        ones = rng.choice((_a(other.one), "one " + other.one, "1 " + other.one))
        big = ones if whole == 1 else f"{said_number(whole, rng)} {other.many}"
        link = rng.choice((" and ", " and ", " "))
        return f"{big}{link}{said_number(rest, rng)} {part}", whole + rest / other.worth
    if other.worth >= 100 and rng.random() < 0.25:
        amount = rng.choice(_FINE_AMOUNTS)
        return f"{said_number(amount, rng)} {other.many}", amount
    amount = rng.choice(_AMOUNTS)
    match amount:
        case 0.25:
            return f"a quarter of {_a(other.one)}", amount
        case 0.5:
            return f"half {_a(other.one)}", amount
        case 0.75:
            return f"three quarters of {_a(other.one)}", amount
        case 1:
            return rng.choice((_a(other.one), f"one {other.one}", f"1 {other.one}")), amount
        case 1.5 if rng.random() < 0.6:
            return rng.choice((f"{_a(other.one)} and a half", f"one and a half {other.many}")), amount
        case _:
            return f"{said_number(amount, rng)} {other.many}", amount


def _a(noun: str) -> str:
    return f"an {noun}" if noun == "hour" else f"a {noun}"


# A language: beginnings, middles (may be missing) and ends.
# fmt: off
_SOUNDS: tuple[tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]], ...] = (
    (
        ("Krzy", "Bogu", "Zby", "Wło", "Vra", "Drago", "Mi", "Svet", "Jaro"),
        ("sla", "gni", "ze", "mi", "do"),
        ("ski", "czyk", "ova", "wicz", "nek", "šic", "ko"),
    ),
    (
        ("Bjør", "Tho", "Ing", "Sig", "Hal", "Gun", "Ås", "Kvit", "Ráð"),
        ("va", "ri", "mund", "fri", "ste"),
        ("dsen", "strand", "vik", "fjell", "borg", "dóttir", "lund"),
    ),
    (
        ("Saoir", "Caoim", "Niam", "Ois", "Tadh", "Grá", "Eo", "Fion"),
        ("le", "na", "ri"),
        ("se", "he", "in", "nagh", "ghan", "bhín"),
    ),
    (
        ("Haru", "Michi", "Taka", "Shi", "Kuro", "Ao", "Natsu", "Yama"),
        ("no", "ka", "mi", "zu"),
        ("ko", "to", "shima", "saki", "gawa", "ri", "moto"),
    ),
    (
        ("Olu", "Ade", "Chi", "Nko", "Ama", "Kwa", "Ngo", "Fola"),
        ("wa", "ye", "nna", "sa", "mi"),
        ("seun", "bayo", "ka", "dike", "kunle", "lewa", "eze"),
    ),
    (
        ("Ab", "Khal", "Fa", "Nour", "Sal", "Yas", "Za", "Haf"),
        ("da", "ri", "ma", "hi"),
        ("id", "min", "oun", "sah", "reh", "awi", "een"),
    ),
    (
        ("Gia", "Batti", "Lore", "Scar", "Vero", "Pica", "Este", "Xime"),
        ("co", "ni", "lla", "vi", "to"),
        ("zzi", "nelli", "tto", "zar", "rra", "ndez", "guez"),
    ),
    (
        ("Väi", "Aino", "Kuusa", "Hei", "Pello", "Ylö", "Jyr"),
        ("li", "ta", "mö", "ki"),
        ("nen", "järvi", "koski", "la", "niemi", "maa"),
    ),
    (
        ("Llan", "Rhy", "Gwen", "Dyl", "Eir", "Tre", "Aber", "Cefn"),
        ("do", "fy", "lli", "go"),
        ("wyn", "ach", "ddyn", "fach", "ian", "ros", "mawr"),
    ),
    (
        ("Gül", "Çi", "Ay", "Em", "Öz", "Kara", "Yıl"),
        ("de", "ru", "se", "han"),
        ("oğlu", "çek", "maz", "dırım", "nur", "kaya", "su"),
    ),
    (
        ("Vish", "Laksh", "Anu", "Sri", "Pra", "Chandra", "Dhru", "Meenak"),
        ("wa", "mi", "ni", "ja"),
        ("nath", "priya", "shi", "deep", "swamy", "rajan", "vati"),
    ),
    (
        ("Quil", "Zeph", "Thad", "Ever", "Mor", "Wyn", "Brax", "Cress"),
        ("li", "o", "ing", "er"),
        ("worth", "ton", "ford", "well", "sby", "ley", "combe"),
    ),
    (
        ("Nguy", "Thuy", "Xia", "Zhe", "Qi", "Jin", "Bao", "Hyun"),
        ("o", "n", "a"),
        ("ng", "en", "jing", "wei", "seok", "lan", "min"),
    ),
    (
        ("Zor", "Vel", "Nex", "Kyb", "Tru", "Plo", "Ixi", "Ombr"),
        ("a", "o", "i", "u"),
        ("via", "dex", "lon", "mica", "za", "bit", "que"),
    ),
)
_PLACES = (
    "Street", "Lane", "Lodge", "Bay", "Hall", "Farm", "House", "Valley", "Hill", "Bridge", "Mill",
    "Square", "Park", "Gate", "Wood",
)
_BEFORE = (
    "Saint", "van der", "de la", "von", "Mac", "El", "Los", "Old", "Little", "Upper", "Port", "Al",
    "Casa", "Château", "Villa",
)
_FIRST = (
    "Amrit", "Bente", "Cosmin", "Dilnoza", "Eudora", "Fyodor", "Ginevra", "Hjalmar", "Ilse", "Jacinta",
    "Kwabena", "Ludmila", "Mairead", "Nuno", "Odile", "Piet", "Quentin", "Rukhsana", "Soledad", "Tiago",
    "Ulrike", "Vasco", "Wenzel", "Xanthe", "Yevgeni", "Zaynab",
)
# fmt: on


def rare_name(rng: random.Random) -> str:
    """A person, a place, a ship, a brand: one word or more, in title case as it would be written."""
    way = rng.random()
    if way < 0.4:
        return _word(rng)
    if way < 0.55:
        return f"{rng.choice(_FIRST)} {_word(rng)}"
    if way < 0.67:
        return f"{_word(rng)} {rng.choice(_PLACES)}"
    if way < 0.76:
        return f"{rng.choice(_BEFORE)} {_word(rng)}"
    if way < 0.82:
        return f"{_word(rng)}-{_word(rng)}"
    if way < 0.87:
        return f"{rng.choice(('O', 'D', 'L'))}'{_word(rng)}"
    if way < 0.92:
        return f"{_word(rng)} {rng.randint(2, 99)}"
    if way < 0.96:
        return f"{_word(rng)} and {_word(rng)}"
    return f"{_word(rng)}'s"


def _word(rng: random.Random) -> str:
    beginnings, middles, ends = rng.choice(_SOUNDS)
    middle = rng.choice(middles) if rng.random() < 0.4 else ""
    return rng.choice(beginnings) + middle + rng.choice(ends)
