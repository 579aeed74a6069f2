"""Reads relative changes: "a bit brighter", "two degrees warmer", "turn the fan down".

The tools set absolute values, which the model fills in well. So it reads an absolute command ("set the desk lamp to
50 percent"), and its call gets the step in place of that value.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import partial

from edgevox.core.words import NUMBER_WORDS
from edgevox.home.entities import Entity, HomeError
from edgevox.home.phrasing import sentence, the

STEP = "step"
"""The slot for a change relative to the current value. No model is trained on it: CommandClauses fills it."""

pattern = partial(re.compile, flags=re.IGNORECASE)
POLITE = (
    r"(?:(?:please|hey|okay|ok|so|and|then|just|now|(?:can|could|would|will) (?:you|we)|let's|"
    r"i (?:want|need|would like)(?: you)? to|i'd like(?: you)? to)[, ]+)*"
)


@dataclass(frozen=True, slots=True)
class Quantity:
    """Something that can be more or less: its tool and slot, words for it, a small, a usual and a large step."""

    tool: str
    slot: str
    value: str
    default_target: str
    names: str
    more: str
    less: str
    steps: tuple[float, float, float]

    def is_named(self, text: str) -> bool:
        return re.search(rf"\b(?:{self.names})\b", text, re.IGNORECASE) is not None


_LIGHT = Quantity(
    "light_set", "brightness", "50 percent", "the lights", "lights?|lighting|lamps?|bulbs?|brightness",
    "brighter|brighten|dark", "dimmer|darker|dim|darken|bright", (10, 20, 40),
)  # fmt: skip
_CLIMATE = Quantity(
    "climate_set_temperature", "temperature", "21 degrees", "the thermostat",
    "heat(?:ing|er)?|thermostat|radiator|temperature",
    "warmer|hotter|warm up|heat up|cold", "cooler|colder|cool down|warm|hot", (0.5, 1, 3),
)  # fmt: skip
_FAN = Quantity(
    "fan_set_speed", "percentage", "50 percent", "the fan", "fans?|ventilator|speed", "faster", "slower", (10, 25, 50)
)
_COVER = Quantity(
    "set_position", "position", "50 percent", "the blinds", "blinds?|curtains?|shades?|shutters?|awning",
    "open", "close", (10, 20, 50),
)  # fmt: skip
_QUANTITIES = (_LIGHT, _CLIMATE, _FAN, _COVER)
_UP = ("up", "increase", "raise", "higher")

_AMOUNT = (
    r"(?:(?P<small>(?:just )?a (?:tiny |little )?(?:bit|little|touch|tad|notch)|slightly|somewhat)|"
    r"(?P<large>much|a lot|way(?= )|far)|"
    r"(?:by )?(?:(?:a|another) (?=few|couple))?(?P<count>[\w.-]+)(?P<half> and a half)?(?: of)?"
    r" ?(?:%|percent|degrees?)|"
    r"by (?P<bare>\d+|one|two|three|four|five|six|seven|eight|nine|ten)(?=$))"
)
_ROUGHLY = {"a": 1, "another": 1, "couple": 2, "few": 2}
_LARGEST_DEGREES = 10
"""More than this is a temperature that was meant ("turn the heating up 22 degrees"), not a step."""
_BY_AMOUNT = _AMOUNT.replace("(?:by )?", "by ")  # "dim the lamp ten percent" is a misheard "to"
# One way to say what is said in many.
_SPELLINGS = (
    (pattern(r"[, ]+(?:please|thanks|thank you|now|for me|more)$"), ""),
    (pattern(r"^(?:it'?s|it is) (?:(?:so|really|absolutely) )?(?:freezing|chilly|icy) in here$"), "it's too cold"),
    (pattern(r"^(?:it'?s|it is) (?:(?:so|really|absolutely) )?(?:boiling|roasting|baking) in here$"), "it's too hot"),
    (
        pattern(
            r"^(?:it'?s|it is|i'?m|i am) (?:(?:so|too|really|getting|a bit) )*"
            r"(?:freezing|cold|chilly|hot|boiling|warm|dark|bright)(?: in here)?[,.;]? (?:and |so )?"
            rf"(?={POLITE}(?:turn|raise|lower|increase|decrease|reduce|warm|heat|cool|make|bump|crank|dim|brighten)\b)"
        ),
        "",
    ),
    (pattern(r"\b(?:in )?(?:here|(?:the|this|my|a) room)\b"), ""),
    (pattern(rf"^{POLITE}(?:give me|i need|i want|add|do)? ?(?:some )?more lights?\b"), "the lights brighter"),
    (pattern(r"\bundim\b"), "brighten"),
    (pattern(r"\bless bright(?:er)?\b"), "dimmer"),
    (pattern(r"\bmore bright(?:er)?\b"), "brighter"),
    (pattern(r"^(brighter|dimmer|darker) (lights?|lighting)\b"), r"\2 \1"),
    (pattern(r"\b(brighter|dimmer|darker|warmer|hotter|cooler|colder) (by .+ (?:percent|degrees?))$"), r"\2 \1"),
    (
        pattern(r"\blight (?:intensity|strength|power|level)\b|\b(?:intensity|strength|power|level)(?= of)"),
        "brightness",
    ),
)
_FORMS = (
    pattern(
        rf"^{POLITE}(?:(?:make|turn|get|set|have) )?(?P<target>.*?)(?: on)? ?(?:{_AMOUNT} )?"
        r"(?P<word>brighter|dimmer|darker|warmer|hotter|cooler|colder|faster|slower|higher|lower)"
        r"(?P<place> (?:in|at|on) .+)?$"
    ),
    pattern(
        rf"^{POLITE}(?P<word>warm up|heat up|cool down|increase|raise|lower|decrease|reduce) (?P<target>.+?) "
        r"(?:by )?(?:(?:a|another) (?=few|couple))?(?P<count>[\w.-]+)(?P<half> and a half)?(?: of)? degrees?$"
    ),
    pattern(
        rf"^{POLITE}(?P<word>brighten|dim|darken|warm up|heat up|cool down)(?: up)?(?P<target>.*?)(?: down)?"
        rf"(?: {_BY_AMOUNT})?$"
    ),
    pattern(rf"^{POLITE}(?:turn|bring|bump|crank) (?P<word>up|down) (?P<target>.+?)(?: {_AMOUNT})?$"),
    pattern(
        rf"^{POLITE}(?:(?:turn|bring|bump|crank) )?(?P<target>.+?) (?P<word>up|down)(?: {_AMOUNT})?"
        r"(?P<place> (?:in|on) .+)?$"
    ),
    pattern(
        rf"^{POLITE}(?P<word>increase|raise|lower|decrease|reduce|up) (?P<target>.+?)(?: up| down)?(?: {_BY_AMOUNT})?$"
    ),
    pattern(rf"^{POLITE}(?P<word>open|close) (?P<target>.+?) {_AMOUNT}$"),
    pattern(
        r"^(?:it'?s|it is|this is|(?:the|these) lights? (?:is|are)) (?:a bit |much |way )?too "
        r"(?P<word>dark|bright|cold|warm|hot)(?P<place> (?:in|on) (?:the |my |our )?\w+(?: \w+)?)?$"
    ),
)
_ANY = pattern(r"(?:all )?(?:of )?(?:(?:the|my|our|these) ?)?(?:lights?|lighting|it)?")
_PART = pattern(r"^(?:the )?(?:brightness|temperature|speed|heat)\b(?: (?:of|in|on))? ?")
_ABSOLUTE = pattern(
    r"^(?:on|off)\b|%|\b(?:when|if|i|percent|degrees|to|at|is|are|half|all the way)\b|"
    r"\b(?:volume|music|sound|radio|tv|television|speakers?)\b"
)


@dataclass(frozen=True, slots=True)
class RelativeChange:
    """An absolute command for the model, and the step by which its call changes the quantity."""

    command: str
    quantity: Quantity
    step: float
    is_unnamed: bool


def parse_relative(text: str) -> RelativeChange | None:
    """The relative change that a text asks for, or None."""
    words = " ".join(text.split()).strip(" .!?")
    for spelling, plain in _SPELLINGS:
        words = " ".join(spelling.sub(plain, words).split())
    found = next((match for form in _FORMS if (match := form.match(words))), None)
    if found is None:
        return None
    parts = found.groupdict()
    target, place = (parts.get("target") or "").strip(), parts.get("place") or ""
    quantity, is_more = _quantity(parts["word"].casefold(), target)
    if quantity is None or _ABSOLUTE.search(target):
        return None
    has_amount = any(parts.get(amount) for amount in ("small", "large", "count", "bare"))
    if quantity is _COVER and not (has_amount and quantity.is_named(target)):
        return None  # "raise the blinds" opens them
    if quantity is _CLIMATE and _LIGHT.is_named(target):
        return None  # "make the lights warmer" is a colour
    size = _size(parts, quantity)
    if size is None or (quantity is _CLIMATE and size > _LARGEST_DEGREES):
        return None
    named = _PART.sub("", target) if _PART.match(target) else target
    if quantity is _CLIMATE and _PART.match(target) and named:
        named, place = "", f" in {named}"
    is_unnamed = _ANY.fullmatch(named) is not None
    target = quantity.default_target if is_unnamed else named
    return RelativeChange(
        f"set {target}{place} to {quantity.value}", quantity, size if is_more else -size, is_unnamed and not place
    )


def _quantity(word: str, target: str) -> tuple[Quantity | None, bool]:
    """The quantity that a word changes, or the named one, and whether it becomes more."""
    for quantity in _QUANTITIES:
        if word in quantity.more.split("|") or word in quantity.less.split("|"):
            return quantity, word in quantity.more.split("|")
    return next((quantity for quantity in _QUANTITIES if quantity.is_named(target)), None), word in _UP


def _size(parts: dict[str, str | None], quantity: Quantity) -> float | None:
    small, usual, large = quantity.steps
    if not (count := parts.get("count") or parts.get("bare")):
        return small if parts.get("small") else large if parts.get("large") else usual
    whole = count.casefold()
    if whole in _ROUGHLY:
        return _ROUGHLY[whole]
    try:
        number = float(NUMBER_WORDS.index(whole) if whole in NUMBER_WORDS else whole)
    except ValueError:
        return None
    return number + (0.5 if parts.get("half") else 0)


def stepped(entity: Entity, slot: str, step: float) -> float:
    """The value of a slot after a step, within its limits. Raises HomeError where the value is unknown."""
    before = entity.attributes.get(slot)
    if not isinstance(before, int | float):
        raise HomeError(sentence(f"I do not know how {the(entity)} is set"))
    if slot == "temperature":
        return before + step
    if slot == "brightness" and not before:
        return abs(step)  # "dim the lamp", which is off: a dim light
    lowest = 5 if slot == "brightness" else 0
    return round(min(100, max(lowest, before + step)))
