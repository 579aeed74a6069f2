"""Names that nobody has seen: they can only be copied, letter by letter.

Beginnings and endings of many languages are put together, so that few of them are the names of anybody.
"""

from __future__ import annotations

import random

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
