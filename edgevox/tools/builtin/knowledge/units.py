"""Converts units of measure, and reads questions about them: "how many grams in a pound", "5 feet 10 in cm".

The factors are in units.toml: `pint` knows more units, but took 0.9 s and 30 MB to load.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

from edgevox.core.files import packaged_toml
from edgevox.core.languages import plural
from edgevox.tools.builtin.knowledge.numbers import NumberTooLong, Tokens, number_text, take_number
from edgevox.tools.builtin.knowledge.question import NoAnswer, Reading, first_match, pattern, plain_question

NO_RATES = "I do not know exchange rates."
_TEMPERATURE = "temperature"
_IN_KELVIN: dict[str, Callable[[Fraction], Fraction]] = {
    "degree Celsius": lambda value: value + Fraction("273.15"),
    "degree Fahrenheit": lambda value: (value + Fraction("459.67")) * 5 / 9,
    "kelvin": lambda value: value,
}
_FROM_KELVIN: dict[str, Callable[[Fraction], Fraction]] = {
    "degree Celsius": lambda value: value - Fraction("273.15"),
    "degree Fahrenheit": lambda value: value * 9 / 5 - Fraction("459.67"),
    "kelvin": lambda value: value,
}
_DEGREES = {"celsius": "degree Celsius", "c": "degree Celsius", "centigrade": "degree Celsius",
            "fahrenheit": "degree Fahrenheit", "f": "degree Fahrenheit", "kelvin": "kelvin"}  # fmt: skip
CURRENCY = (
    r"(?:(?:an? |one |the )?(?:u\.? ?s\.? |american |canadian |australian |hong kong |singapore |new zealand )?dollars?"
    r"|(?:an? |one |the )?(?:euros?|yens?|rupees?|pesos?|francs?|rubles?|yuan|renminbi|won|lira|bitcoins?|"
    r"u\. ?s\. ?d\.?|usd|eur|gbp|g\. ?b\. ?p\.?|jpy|inr|"
    r"(?:british |english )?pounds?(?: sterling)?|quid|sterling|krona|kroner?|zloty|rand|reais|real|dirhams?))"
)
_MAX_UNIT_WORDS = 4
_MAX_AMOUNT_WORDS = 9


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit of a dimension; `factor` is its size in base units. Temperatures have no factor."""

    name: str
    dimension: str
    factor: Fraction


@dataclass(frozen=True, slots=True)
class Quantity:
    """An amount of a unit, and how it was said: "5 feet 10 inches"."""

    amount: Fraction
    unit: Unit
    text: str


@cache
def _units() -> dict[str, Unit]:
    """Every name of every unit, in the singular and the plural."""
    names: dict[str, Unit] = {}
    for dimension, units in packaged_toml("tools/builtin/knowledge/units.toml").items():
        for name, (factor, *aliases) in units.items():
            unit = Unit(name, dimension, Fraction(factor))
            for each in (name.casefold(), *aliases):
                names[each] = unit
                if len(each) > 2:
                    names.setdefault(_plural(each), unit)
    return names


def _plural(name: str) -> str:
    """ "feet", "miles per hour", "cubic inches"."""
    head, per, rest = name.partition(" per ")
    head, an, rest = head.partition(" an ") if not per else (head, per, rest)
    first, space, last = head.rpartition(" ")
    last = {"foot": "feet", "stone": "stone", "psi": "psi", "hertz": "hertz"}.get(last) or plural(last)
    if name.startswith("degree "):
        return name.replace("degree ", "degrees ")
    return f"{first}{space}{last}{an}{rest}"


def take_unit(tokens: Tokens) -> Unit | None:
    """Take the longest name of a unit that comes next."""
    start = tokens.at
    tokens.take("degrees", "degree", "°")
    if (word := tokens.peek()) in _DEGREES and (len(word) > 1 or tokens.at > start):
        tokens.at += 1
        return Unit(_DEGREES[word], _TEMPERATURE, Fraction(1))
    tokens.at = start
    for count in range(_MAX_UNIT_WORDS, 0, -1):
        name = " ".join(tokens.words[start : start + count])
        for said in (name, name.replace(" / ", "/")):
            if said in _units() and len(tokens.words[start : start + count]) == count:
                tokens.at += count
                return _units()[said]
    return None


def read_quantity(text: str) -> Quantity | None:
    """ "5 miles", "a pound", "5 feet 10 inches", "100 degrees fahrenheit"; None for anything else."""
    tokens = Tokens.of(text)
    total: Fraction | None = None
    unit: Unit | None = None
    parts: list[str] = []
    try:
        while tokens:
            tokens.take("and", ",") if parts else ""
            sign = -1 if tokens.take("minus", "-", "negative") else 1
            amount = take_number(tokens)
            if amount is None:
                tokens.take("a", "an", "one", "each", "every", "1")
                amount = Fraction(1)
                if parts:
                    return None
            tokens.take("of a", "of an", "a", "an")  # "half a pound", "a quarter of a mile"
            found = take_unit(tokens)
            if found is None and unit is not None and unit.name == "foot" and not tokens:
                found = _units()["inch"]  # "5 foot 10"
            if found is None or (unit is not None and (found.dimension != unit.dimension or not found.factor)):
                return None
            if unit is not None and found.dimension == _TEMPERATURE:
                return None
            unit = unit or found
            total = (total or 0) + sign * amount * found.factor / unit.factor
            parts.append(_amount_text(sign * amount, found))
    except NumberTooLong:
        return None
    return None if total is None or unit is None else Quantity(total, unit, " ".join(parts))


def _amount_text(amount: Fraction, unit: Unit, *, is_exact: bool = True) -> str:
    text, exact = number_text(amount)
    name = unit.name if text == "1" else _plural(unit.name)
    return f"{text if exact and is_exact else f'about {text}'} {name}"


def read_unit(text: str) -> Unit | None:
    tokens = Tokens.of(text)
    unit = take_unit(tokens)
    return None if tokens else unit


def converted(quantity: Quantity, unit: Unit) -> Fraction:
    """The amount in another unit. Raises NoAnswer."""
    if {quantity.unit.name, unit.name} & {"ounce"} and "volume" in (quantity.unit.dimension, unit.dimension):
        fluid = _units()["fluid ounce"]  # "how many ounces in a cup"
        if unit.name == "ounce":
            unit = fluid
        else:
            quantity = Quantity(quantity.amount, fluid, quantity.text)
    if quantity.unit.dimension != unit.dimension:
        raise NoAnswer(
            f"{_plural(quantity.unit.name)} measure {quantity.unit.dimension} and {_plural(unit.name)} "
            f"{unit.dimension}, so that depends on what it is."
        )
    if unit.dimension == _TEMPERATURE:
        return _FROM_KELVIN[unit.name](_IN_KELVIN[quantity.unit.name](quantity.amount))
    return quantity.amount * quantity.unit.factor / unit.factor


def spoken_conversion(amount: str, to: str) -> str:
    """The sentence that answers a conversion. Raises NoAnswer."""
    if _is_currency(amount) and _is_currency(to):
        return NO_RATES
    quantity, unit = read_quantity(amount.casefold()), read_unit(to.casefold())
    if quantity is None or unit is None:
        raise NoAnswer(f"I do not know the unit in “{(amount if quantity is None else to)[:40]}”.")
    value = converted(quantity, unit)
    if unit.dimension == _TEMPERATURE:
        rounded = round(value, 1)
        answer = _amount_text(rounded, unit, is_exact=rounded == value)
    elif unit.name == "week" and quantity.unit.name == "year" and quantity.amount == 1:
        answer = "52 weeks and 1 day"
    else:
        answer = _amount_text(value, unit)
    if quantity.unit.name == "year" and unit.name == "day" and quantity.amount == 1:
        answer = f"{answer}, and a leap year 366"
    sentence = _spelled(f"{quantity.text} is {answer}.", f"{amount} {to}".casefold())
    return f"{sentence[:1].upper()}{sentence[1:]}"


def _spelled(text: str, said: str) -> str:
    """The names of units in the spelling that the person used."""
    return text.replace("meter", "metre").replace("liter", "litre") if "metre" in said or "litre" in said else text


def _is_currency(text: str) -> bool:
    tokens = Tokens.of(text)
    tokens.take("$", "€", "£")
    try:
        take_number(tokens)
    except NumberTooLong:
        return False
    rest = " ".join(tokens.words[tokens.at :]).replace(" .", ".")
    return first_match((CURRENCY,), rest) is not None or (not rest and text[:1] in "$€£")


_HOW_MANY = r"how (?:many|much) (?P<to>.+?)"
_FORMS = (
    rf"{_HOW_MANY} (?:are |is |do you get |make up |can fit |fit )?(?:there )?(?:in|to|make|makes|equals?|per|for) "
    rf"(?P<amount>.+)",
    rf"{_HOW_MANY} (?:is|are|do|does) (?P<amount>.+?)(?: make| have| equal)?",
    r"(?:convert|change|turn|translate) (?P<amount>.+?) (?:to|into|in) (?P<to>.+)",
    r"(?:what(?:'s| is| are| would)|whats|how (?:much|long|far|heavy|hot|cold|big|tall|fast|many)(?: is| are)?) "
    r"(?P<amount>.+?) (?:in|to|into|as|in terms of|equals? to|converted (?:to|into)) (?P<to>.+)",
    r"(?P<amount>.+?) (?:is|are|equals?|makes?) (?:how (?:much|many|hot|cold|long|far|heavy)|what)(?: in| as)? "
    r"(?P<to>.+)",
    r"(?P<to>\S+(?: \S+)?) (?:in|per) (?P<amount>(?:an?|one|1) .+)",
    r"(?P<amount>(?:an? |\d|minus |[\w-]+ ).+?) (?:in|to|into) (?P<to>.+)",
)
# A number of degrees without its scale is in the other one.
_BARE_DEGREES = (
    r"(?:(?:what(?:'s| is| would)|whats|how (?:hot|cold|much|warm) is|convert) )?(?P<amount>(?:minus |-)?\d+)"
    r"(?: degrees)?(?: be)? (?:in|to|into|as) (?P<to>celsius|centigrade|fahrenheit)"
)
_SHORT_DEGREES = (
    r"(?:(?:what(?:'s| is)|whats|convert) )?(?P<amount>(?:minus |-)?\d+(?:\.\d+)?) ?"
    r"(?:(?P<of>c) (?:in|to|into|as) f|f (?:in|to|into|as) c)"
)
_OF_WHAT = r"^(?P<measure>(?:\S+ )*?\S+) of (?!an? )(?P<what>\w+(?: \w+)?)$"


def read_conversion(text: str) -> Reading | None:
    """The call that answers a question about units; None for any other text."""
    question = plain_question(text)
    if short := first_match((_SHORT_DEGREES,), question):
        of, to = ("c", "f") if short["of"] else ("f", "c")
        return Reading("convert_units", {"amount": f"{short['amount']} degrees {of}", "to": _DEGREES[to]})
    if bare := first_match((_BARE_DEGREES,), question):
        of = "celsius" if bare["to"] == "fahrenheit" else "fahrenheit"
        return Reading("convert_units", {"amount": f"{bare['amount']} degrees {of}", "to": bare["to"]})
    for form in _FORMS:
        if (found := first_match((form,), question)) is None:
            continue
        amount, to = found["amount"], found["to"]
        if _is_currency(amount) and _is_currency(to):
            return Reading("convert_units", {"amount": amount, "to": to})
        measured = first_match((_OF_WHAT,), amount)  # "tablespoons in a cup of sugar"
        for each in (amount, measured["measure"] if measured else ""):
            quantity, unit = read_quantity(each), read_unit(to)
            if quantity is not None and unit is not None and quantity.unit.name != unit.name:
                return Reading("convert_units", {"amount": each, "to": to})
    return None


# --- any order: an amount, and the unit that is asked for

_ASKS = r"\b(?:what(?:'s|s)?|how|convert|change|turn|translate|switch|express|equals?)\b"
_ASKED_UNIT = r"\b(?:how (?:many|much)|in|into|to|as|what)$"
_OTHER_SUBJECT = (
    r"\b(?:timers?|alarms?|remind\w*|thermostat|heating|outside|inside|room|weather|forecast|oven to|set|"
    r"temperature in the|distance|drive|walk|ago|until|till|since|left|between|from|old)\b"
)


def read_unit_pair(text: str) -> Reading | None:
    """The call for a question with one amount and one other unit of its kind behind "in", "to" or "how many"."""
    question = pattern(r"(?<=\d) ?([cf])\b").sub(r" degrees \1", plain_question(text))
    if not pattern(_ASKS).search(question) or pattern(_OTHER_SUBJECT).search(question):
        return None
    tokens = Tokens.of(question)
    amounts: list[tuple[str, Unit]] = []
    asked: list[tuple[str, Unit]] = []
    while tokens:
        start = tokens.at
        if (found := _longest_amount(tokens)) is not None:
            amounts.append(found)
        elif (unit := take_unit(tokens)) is not None:
            if pattern(_ASKED_UNIT).search(" ".join(tokens.words[:start])):
                asked.append((" ".join(tokens.words[start : tokens.at]), unit))
        else:
            tokens.at = start + 1
    if len(amounts) != 1 or len(asked) != 1:
        return None
    (amount, of), (to, unit) = amounts[0], asked[0]
    if of.name == unit.name or (
        of.dimension != unit.dimension and {of.dimension, unit.dimension} != {"mass", "volume"}
    ):
        return None
    return Reading("convert_units", {"amount": amount, "to": to})


def _longest_amount(tokens: Tokens) -> tuple[str, Unit] | None:
    """Take the longest amount that comes next: "5 foot 10", "2 and a half cups"."""
    start = tokens.at
    for end in range(min(len(tokens.words), start + _MAX_AMOUNT_WORDS), start + 1, -1):
        text = " ".join(tokens.words[start:end]).replace(" / ", "/")
        first = Tokens.of(text)
        has_number = first.take("a", "an", "one") or take_number(first) is not None
        if has_number and (quantity := read_quantity(text)) is not None:
            tokens.at = end
            return text, quantity.unit
    return None
