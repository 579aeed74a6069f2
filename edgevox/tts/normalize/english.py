"""English text normalisation: rules for what espeak reads badly; their words are in english.toml.

espeak reads integers, decimals, ordinals and capitals well, so these stay. Its errors were found in its
phonemes: `5 km/h` becomes "five K M slash H", `$5` "dollar five", and `Dr.` ends a sentence.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import Any, TypeAlias

from edgevox.core.files import packaged_toml
from edgevox.core.languages import plural
from edgevox.core.words import MONTHS, NUMBER_WORDS, SHORT_MONTHS, SHORT_WEEKDAYS, ordinal

_Spoken: TypeAlias = str | Callable[[re.Match[str]], str]
_Rule: TypeAlias = tuple[str, _Spoken]
"""A pattern, and what is spoken instead."""


def normalize_english(text: str) -> str:
    """Numbers, dates, units, abbreviations and symbols as words."""
    for pattern, spoken in _rules():
        text = pattern.sub(spoken, text)
    return text


@cache
def _rules() -> tuple[tuple[re.Pattern[str], _Spoken], ...]:
    rules = (
        *_DATES,
        (_PHONE, _phone),
        *_TIMES,
        *_money_rules(),
        (_RANGE, _range),
        *_measure_rules(),
        (r"(?<![\w.])\.(?=[0-9])", "0."),  # .5
        (rf"(?<![\w)%.,/-])[-−](?={_NUMBER})", "minus "),
        *_abbreviation_rules(),
        *_SYMBOLS,
    )
    return tuple((re.compile(pattern), spoken) for pattern, spoken in rules)


def _table(name: str) -> dict[str, Any]:
    """One table of english.toml."""
    table: dict[str, Any] = packaged_toml("tts/normalize/english.toml")[name]
    return table


def _any_of(signs: Iterable[str]) -> str:
    """A pattern for one of them, the longest that fits."""
    return "|".join(re.escape(sign) for sign in sorted(signs, key=len, reverse=True))


# --- dates and times

_MONTH = "|".join(MONTHS)
_SHORT_MONTH = "|".join(SHORT_MONTHS)
_YEAR = r"(?:1[1-9]|20)[0-9]{2}"
_MERIDIEM = r"(?: ?([AaPp]\.?[Mm]\b\.?))?"

_ISO_DATE = (
    rf"(?<![\w.,/-])({_YEAR})-(0[1-9]|1[0-2])-([0-2][0-9]|3[01])"
    r"(?:[T ]([0-2][0-9]:[0-5][0-9])(?::[0-5][0-9](?:\.[0-9]{1,9})?)?(?:Z|[+-][0-9]{2}:?[0-9]{2})?)?(?![\w-])"
)
_SLASH_DATE = rf"(?<![\w.,/-])([0-9]{{1,2}})/([0-9]{{1,2}})/({_YEAR})(?![\w/])"
_SHORT_MONTH_DAY = rf"\b({_SHORT_MONTH})\b\.?(?= [0-9]{{1,2}}\b)"
_DAY_SHORT_MONTH = rf"\b([0-9]{{1,2}}) ({_SHORT_MONTH})\b\.?"
_MONTH_DAY = rf"\b({_MONTH}) ([1-9]|[12][0-9]|3[01])(?![\w:%°/]|[.,][0-9])(?:(,?) ({_YEAR})\b)?"
_WEEKDAY = rf"\b({'|'.join(SHORT_WEEKDAYS)})\b\.?(?=,? (?:[0-9]|(?:{_MONTH}|{_SHORT_MONTH})\b))"
_YEAR_SPAN = rf"(?<![\w.,/-])({_YEAR}) ?(?:[-–]|to) ?({_YEAR})(?![\w-]|[.,][0-9])"
_KNOWN_YEAR = (
    rf"\b((?:[Ii]n|[Ss]ince|[Uu]ntil|[Dd]uring|[Yy]ear|[Ss]pring|[Ss]ummer|[Ff]all|[Aa]utumn|[Ww]inter"
    rf"|{_MONTH}),?(?: of)?) ({_YEAR})(?![\w%°/-]|[.,:][0-9]| ?[€$£¥])"
)
_DECADE = r"(?<![\w.,])(?:'|’)?(1[1-9]|20)?([0-9])0s\b"
_DECADES = ("hundreds", "tens", *(plural(NUMBER_WORDS[number]) for number in range(20, 100, 10)))

_TIME_JOINED = r"(?<![\w:.,])((?:1[0-2]|0?[1-9])(?::[0-5][0-9])?)([AaPp][Mm])\b"
_TIME_SPAN = r"(?<=[0-9Mm]) ?[-–] ?(?=[0-2]?[0-9](?::[0-5][0-9](?![0-9:])| [AaPp][Mm]\b))"
_TIME = rf"(?<![\w:.,])([01]?[0-9]|2[0-4]):([0-5][0-9])(?![\w:]|\.[0-9]){_MERIDIEM}(?!\w)"


def _iso_date(match: re.Match[str]) -> str:
    year, month, day, at = match.groups()
    return _date(int(month), int(day), year) + (f" at {at}" if at else "")


def _slash_date(match: re.Match[str]) -> str:
    """What could be two dates is left alone."""
    first, second = int(match[1]), int(match[2])
    month, day = (first, second) if second > 12 else (second, first)
    is_clear = 1 <= month <= 12 < day <= 31
    return _date(month, day, match[3]) if is_clear else match[0]


def _month_day(match: re.Match[str]) -> str:
    month, day, comma, year = match.groups()
    return f"{month} {ordinal(int(day))}" + (f"{comma} {_year(year)}" if year else "")


def _date(month: int, day: int, year: str) -> str:
    return f"{MONTHS[month - 1]} {ordinal(day)}, {_year(year)}"


def _decade(match: re.Match[str]) -> str:
    century, tens = match[1], int(match[2])
    if century == "20" and not tens:
        return "two thousands"
    if not century:
        return _DECADES[tens] if tens > 1 else match[0]
    return f"{NUMBER_WORDS[int(century)]} {_DECADES[tens]}"


def _time(match: re.Match[str]) -> str:
    hour, minute, meridiem = int(match[1]), int(match[2]), match[3]
    behind = f" {meridiem}" if meridiem else ""
    if minute >= 10:
        return f"{hour}:{minute}{behind}"
    if minute:
        return f"{hour} oh {minute}{behind}"
    if meridiem:
        return f"{hour}{behind}"
    if hour in (0, 24):
        return "midnight"
    return f"{hour} o'clock" if hour <= 12 else f"{hour} hundred"


def _year(year: str) -> str:
    """The words for a year, which espeak would say as a quantity."""
    century, rest = divmod(int(year), 100)
    if century == 20 and rest < 10:
        return year
    words = f"{'oh ' if rest < 10 else ''}{NUMBER_WORDS[rest]}" if rest else "hundred"
    return f"{NUMBER_WORDS[century]} {words}"


_DATES: tuple[_Rule, ...] = (
    (_ISO_DATE, _iso_date),
    (_SLASH_DATE, _slash_date),
    (_WEEKDAY, lambda m: SHORT_WEEKDAYS[m[1]]),
    (_SHORT_MONTH_DAY, lambda m: SHORT_MONTHS[m[1]]),
    (_DAY_SHORT_MONTH, lambda m: f"{m[1]} {SHORT_MONTHS[m[2]]}"),
    (_MONTH_DAY, _month_day),
    (_YEAR_SPAN, lambda m: f"{_year(m[1])} to {_year(m[2])}"),
    (_KNOWN_YEAR, lambda m: f"{m[1]} {_year(m[2])}"),
    (_DECADE, _decade),
)
"""2026-11-15, 11/15/2026, Nov. 15, Mon., the 1990s, in 1984."""
_TIMES: tuple[_Rule, ...] = ((_TIME_JOINED, r"\1 \2"), (_TIME_SPAN, " to "), (_TIME, _time))
"""07:05, 10:00, 3:00 pm, 3pm, 9:00-17:00. Others, such as 3:30, are read well as they are."""


# --- numbers

# A number as people write it: 7, 1,234, 21.5. `_START` stands before one and keeps a search from beginning
# inside it, which is also what keeps a long row of digits linear.
_START = r"(?<![\w.,])(?<!\d[:/])"
_NUMBER = r"(?:[0-9]{1,3}(?:,[0-9]{3})++(?![0-9])|[0-9]++)(?:\.[0-9]++)?"
_MAGNITUDE = r"(?: ?(k|K|m|M|mn|bn|b|B|tn|thousand|million|billion|trillion)\b)?"
_PHONE = (
    r"(?<![\w.,/:-])(?:"
    r"\+[0-9]{1,3}(?:[ .-]?\(?[0-9]{2,4}\)?){2,5}"  # +1 555 123 4567
    r"|\(?[0-9]{3}\)?[ .-][0-9]{3}[.-][0-9]{4}"  # (555) 123-4567
    r"|[0-9]{3}-[0-9]{4}"  # 555-1234
    r"|0[0-9]{2,4}[ /-][0-9]{5,8}"  # 0171 1234567
    r"|[0-9](?:-[0-9]){2,10}"  # 9-1-1
    r"|[0-9]{10,}+"
    r")(?![\w-]|[.,][0-9])"
)
_RANGE = rf"{_START}(?<!-)({_NUMBER})([%°]?)( ?[-–] ?)({_NUMBER})(?![\w-]|[.,:/][0-9])"


def _phone(match: re.Match[str]) -> str:
    """Digit by digit, with a pause between the groups."""
    number = match[0]
    groups = re.findall(r"[0-9]+", number)
    if len(groups[0]) == 1 and all(len(group) == 1 for group in groups):
        return " ".join(groups)
    spoken = ", ".join(" ".join(group) for group in groups)
    return f"plus {spoken}" if number.startswith("+") else spoken


def _range(match: re.Match[str]) -> str:
    low, unit, dash, high = match.groups()
    rises = float(low.replace(",", "")) < float(high.replace(",", ""))
    if not rises and dash == " - ":
        return f"{low}{unit} minus {high}"
    # 3-2 is a score, 747-400 a name.
    joint = " to " if rises or len(low) <= 2 else " "
    return f"{low}{unit}{joint}{high}"


def _money_rules() -> Iterator[_Rule]:
    """$5.50, £1.2m, 3 €, 99¢."""
    sign = f"[{''.join(_table('currencies'))}]"
    yield (
        rf"(?<!\w)(US|A|C|NZ|HK)?({sign}) ?({_NUMBER})(?: ?[-–] ?{sign}?({_NUMBER}))?{_MAGNITUDE}(?!\w)",
        lambda m: _money(m[2], m[3], up_to=m[4], magnitude=m[5], country=m[1]),
    )
    yield rf"{_START}({_NUMBER}){_MAGNITUDE} ?({sign})(?!\w)", lambda m: _money(m[3], m[1], magnitude=m[2])
    yield rf"{_START}({_NUMBER}) ?¢", lambda m: f"{m[1]} {'cent' if m[1] == '1' else 'cents'}"


def _money(
    sign: str, amount: str, *, up_to: str | None = None, magnitude: str | None = None, country: str | None = None
) -> str:
    one, many, small_one, small_many = _table("currencies")[sign]
    prefix = f"{country} " if country else ""
    if up_to or magnitude:
        scale = _table("magnitudes").get(magnitude.lower(), magnitude) if magnitude else None
        return " ".join(filter(None, (amount, up_to and f"to {up_to}", scale, prefix + many)))
    whole, _, hundredths = amount.partition(".")
    if len(hundredths) != 2:
        return f"{amount} {prefix}{one if amount == '1' else many}"
    small = int(hundredths)
    large = f"{whole} {prefix}{one if whole == '1' else many}"
    if not small:
        return large
    change = f"{small} {small_one if small == 1 else small_many}"
    return change if whole == "0" else f"{large} and {change}"


def _measure_rules() -> Iterator[_Rule]:
    """5 km/h, 21.5°C, 60-W, ½ l, 2 1/2 cups; a bare 3/4 may be a date."""
    fractions, units = _table("fractions"), _any_of(_table("units"))
    fraction = f"[{''.join(fractions)}]"
    slashed = {unicodedata.normalize("NFKC", sign).replace("\u2044", "/"): sign for sign in fractions}
    measured = rf"of|cups?|teaspoons?|tablespoons?|inch|inches|pints?|hours?|miles?|{units}"
    yield rf"{_START}([0-9]{{1,3}}) ([1-9]/[2-9])(?![\w/])", lambda m: m[1] + slashed.get(m[2], f" {m[2]}")
    yield rf"{_START}([1-9]/[2-9])(?= (?:{measured})(?!\w))", lambda m: slashed.get(m[1], m[1])
    yield (
        rf"{_START}({_NUMBER}{fraction}?|{fraction})"
        rf"(?:([ -]?)({units})| ({_any_of(_table('spaced_units'))}))(?:/([A-Za-z]++[²³]?))?(?![\w²³/])"
        r"(?:\.(?= [a-z]))?",
        _measure,
    )
    yield f"([0-9])({fraction})", lambda m: f"{m[1]} and {fractions[m[2]].replace('one half', 'a half')}"
    yield fraction, lambda m: fractions[m[0]]


def _measure(match: re.Match[str]) -> str:
    amount, joint, sign, spaced_sign, per_sign = match.groups()
    one, many = _units()[sign or spaced_sign]
    if per_sign:
        per = _table("per").get(per_sign) or _units().get(per_sign, ("",))[0]
        if not per:
            return match[0]
        one, many = f"{one} per {per}", f"{many} per {per}"
    if amount in (fractions := _table("fractions")):
        article = "an" if one.startswith(("a", "i", "o", "hour")) else "a"
        return f"{fractions[amount]} of {article} {one}"
    return f"{amount} {one if amount == '1' or joint == '-' else many}"


@cache
def _units() -> dict[str, tuple[str, str]]:
    """The singular and the plural of each unit."""
    return {sign: _forms(name) for sign, name in (_table("units") | _table("spaced_units")).items()}


def _forms(unit: str | list[str]) -> tuple[str, str]:
    """ "mile per hour" and "miles per hour"."""
    if isinstance(unit, str):
        counted, per, rest = unit.partition(" per ")
        return unit, plural(counted) + per + rest
    one, many = unit
    return one, many


# --- words and symbols


def _abbreviation_rules() -> Iterator[_Rule]:
    """Dr., St., No. 5, e.g., etc."""
    titles, abbreviations = _table("titles"), _table("abbreviations")
    before_numbers, last_words = _table("before_numbers"), _table("last_words")

    def abbreviation(match: re.Match[str]) -> str:
        words: str = abbreviations[match[1].lower()]
        return words.capitalize() if match[1][0].isupper() else words

    yield rf"\b({_any_of(titles)})(?= \S)", lambda m: titles[m[1]]
    yield r"(?<=\w )([A-Z]\w*+ )St\.( ?$| (?=[A-Z]))?", lambda m: f"{m[1]}Street{_stop_before(m[2])}"
    yield r"\bSt\.(?= [A-Z])", "Saint"
    yield rf"\b((?i:{_any_of(before_numbers)})) ?(?=[0-9])", lambda m: f"{before_numbers[m[1].lower()]} "
    yield rf"(?<![\w./])((?i:{_any_of(abbreviations)}))(?![\w/])", abbreviation
    yield rf"\b({_any_of(last_words)})( ?$| (?=[A-Z]))?", lambda m: last_words[m[1]] + _stop_before(m[2])


def _stop_before(behind: str | None) -> str:
    """The full stop that also ended the sentence, with the blank behind it; None: the sentence goes on."""
    return "" if behind is None else f".{behind}"


_SYMBOLS: tuple[_Rule, ...] = (  # in this order
    (r"(?<=[\w)]) ?(?:-{1,2}>|=>|→|⇒) ?(?=[\w(])", " to "),
    (r" ?(?:<=|≤) ?", " less than or equal to "),
    (r" ?(?:>=|≥) ?", " greater than or equal to "),
    (r" ?(?:!=|≠) ?", " is not equal to "),
    (r" ?± ?", " plus or minus "),
    (r"[~≈] ?(?=[0-9])", "about "),
    (r" ?≈ ?", " is about "),
    (r"(?<=[\w)]) ?={1,3}+ ?(?=[\w(-])", " equals "),
    (r"(?<=[0-9])(?:×|x|X)(?=[0-9])", " by "),
    (r"(?<=[0-9]) ?[*×] ?(?=[0-9])", " times "),
    (r" ?× ?", " times "),
    (r" ?÷ ?", " divided by "),
    (r"(?<=[0-9]) / (?=[0-9])", " divided by "),
    (r"(?<=[0-9])\*\*(?=[0-9])|(?<=\w)\^(?=[0-9])", " to the power of "),
    (r"(?<=\w)²", " squared"),
    (r"(?<=\w)³", " cubed"),
    (r"√ ?", "the square root of "),
    (r"∞", "infinity"),
    (r"(?<=\w) \+ (?=\w)|(?<=[0-9])\+(?=[0-9])", " plus "),
    (r"(?<=[0-9])\+(?!\w)", " plus"),
    (r"(?<=[\w)]) ?< ?(?=[\w(-])", " less than "),
    (r"(?<=[\w)]) ?> ?(?=[\w(-])", " greater than "),
    (r"\b([CF])#(?!\w)", r"\1 sharp"),
    (r"(?:#|№ ?)(?=[0-9])", "number "),
    (r"(?<!\w)#(?=\w)", "hashtag "),
    (r"§ ?", "section "),
    (r" & |(?<=[a-z])&(?=[a-z])", " and "),
    (r"(?<!\w)@ ?(?=\w)", "at "),
    (r"\b([Aa]nd)/or\b", r"\1 or"),
    (r"(?<![\w/.])([A-Z]{2,9})/([A-Z]{2,9})(?![\w/])", r"\1 \2"),
    (r"(?<![\w/.])([A-Za-z][a-z]{1,19})/([A-Za-z][a-z]{1,19})(?![\w/])", r"\1 or \2"),
    (r"\b24/7\b", "24 7"),
    (r"…", "..."),
    (r"(?<!!)!++(?=\?)|(?<=\?)[!?]++", ""),
)
