"""How things, places and numbers are put into a sentence that is spoken."""

from __future__ import annotations

from collections.abc import Sequence

from edgevox.tools.home.house import Area, Entity, Floor, House
from edgevox.tools.home.names import is_plural

_MAX_REPEATED_CHARS = 60


def the(thing: Entity | Area | Floor | str) -> str:
    """A thing as one speaks of it: "the kitchen light", "the TV", "Anna's lamp"."""
    name = thing if isinstance(thing, str) else thing.name
    if isinstance(thing, Entity) and thing.domain == "person":
        return name
    if "'s " in name or "’s " in name or name.casefold().startswith(("the ", "my ", "our ")):
        return name
    # Title case is how devices are labelled; capitals inside a word are the word's own.
    return "the " + " ".join(word.lower() if word.istitle() else word for word in name.split())


def listed(names: Sequence[str], last: str) -> str:
    """ "a", "a and b", "a, b and c"."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} {last} {names[-1]}"


def place_of(entity: Entity, house: House) -> str:
    """ " in the kitchen", or nothing for what stands nowhere."""
    area = house.area(entity.area)
    return f" in {the(area)}" if area else ""


def brief(text: str) -> str:
    """What somebody said, as far as it bears repeating aloud."""
    text = " ".join(text.split())
    return text if len(text) <= _MAX_REPEATED_CHARS else text[:_MAX_REPEATED_CHARS].rsplit(" ", 1)[0]


def is_are(name: str) -> str:
    return "are" if is_plural(name) else "is"


def sentence(text: str) -> str:
    """With a capital at its start and a full stop at its end."""
    text = text.strip()
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "?", "!")) else ".")


def number(value: float) -> str:
    """As people say it: 21, 21.5."""
    return f"{value:.1f}".removesuffix(".0")


def counted(count: int, noun: str) -> str:
    """ "1 minute", "3 minutes"."""
    return f"{count} {noun}" if count == 1 else f"{count} {plural(noun)}"


def plural(noun: str) -> str:
    """ "lights", "switches", "batteries"."""
    if noun.endswith("y") and noun[-2:-1] not in "aeiou":
        return noun[:-1] + "ies"
    return noun + ("es" if noun.endswith(("s", "x", "ch", "sh")) else "s")


def duration(seconds: float) -> str:
    """ "1 hour and 5 minutes"; what is shorter than a second is "0 seconds"."""
    whole = round(seconds)
    parts = [
        counted(count, noun)
        for count, noun in ((whole // 3600, "hour"), (whole // 60 % 60, "minute"), (whole % 60, "second"))
        if count
    ]
    return listed(parts, "and") if parts else "0 seconds"
