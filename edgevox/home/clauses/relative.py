"""Reads relative changes: "a bit brighter", "two degrees warmer", "turn the fan down".

The tools set absolute values, which the model fills in well. So it reads an absolute command ("set the desk lamp to
50 percent"), and its call gets the step in place of that value.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from edgevox.core.words import number_value
from edgevox.home.grammar import POLITE, pattern
from edgevox.home.intents.quantities import BRIGHTNESS, POSITION, SPEED, TEMPERATURE, Quantity


@dataclass(frozen=True, slots=True)
class _Words:
    """How a quantity is spoken of, and an absolute command for it: a value, and a target where none is named."""

    quantity: Quantity
    value: str
    default_target: str
    names: str
    more: str
    less: str

    def are_in(self, text: str) -> bool:
        return re.search(rf"\b(?:{self.names})\b", text, re.IGNORECASE) is not None


_LIGHT = _Words(
    BRIGHTNESS, "50 percent", "the lights", "lights?|lighting|lamps?|bulbs?|brightness",
    "brighter|brighten|dark", "dimmer|darker|dim|darken|bright",
)  # fmt: skip
_CLIMATE = _Words(
    TEMPERATURE, "21 degrees", "the thermostat", "heat(?:ing|er)?|thermostat|radiator|temperature",
    "warmer|hotter|warm up|heat up|cold", "cooler|colder|cool down|warm|hot",
)  # fmt: skip
_FAN = _Words(SPEED, "50 percent", "the fan", "fans?|ventilator|speed", "faster", "slower")
_COVER = _Words(POSITION, "50 percent", "the blinds", "blinds?|curtains?|shades?|shutters?|awning", "open", "close")
_KINDS = (_LIGHT, _CLIMATE, _FAN, _COVER)
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
    kind, is_more = _kind(parts["word"].casefold(), target)
    if kind is None or _ABSOLUTE.search(target):
        return None
    has_amount = any(parts.get(amount) for amount in ("small", "large", "count", "bare"))
    if kind is _COVER and not (has_amount and kind.are_in(target)):
        return None  # "raise the blinds" opens them
    if kind is _CLIMATE and _LIGHT.are_in(target):
        return None  # "make the lights warmer" is a colour
    size = _size(parts, kind.quantity)
    if size is None or (kind is _CLIMATE and size > _LARGEST_DEGREES):
        return None
    named = _PART.sub("", target) if _PART.match(target) else target
    if kind is _CLIMATE and _PART.match(target) and named:
        named, place = "", f" in {named}"
    is_unnamed = _ANY.fullmatch(named) is not None
    target = kind.default_target if is_unnamed else named
    return RelativeChange(
        f"set {target}{place} to {kind.value}", kind.quantity, size if is_more else -size, is_unnamed and not place
    )


def _kind(word: str, target: str) -> tuple[_Words | None, bool]:
    """The kind that a word changes, or the named one, and whether it becomes more."""
    for kind in _KINDS:
        if word in kind.more.split("|") or word in kind.less.split("|"):
            return kind, word in kind.more.split("|")
    return next((kind for kind in _KINDS if kind.are_in(target)), None), word in _UP


def _size(parts: dict[str, str | None], quantity: Quantity) -> float | None:
    small, usual, large = quantity.steps
    if not (count := parts.get("count") or parts.get("bare")):
        return small if parts.get("small") else large if parts.get("large") else usual
    whole = count.casefold()
    if whole in _ROUGHLY:
        return _ROUGHLY[whole]
    number = number_value(whole)
    return None if number is None else number + (0.5 if parts.get("half") else 0)
