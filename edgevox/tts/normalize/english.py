"""English text normalisation: the passes in their order, for what espeak reads badly.

espeak reads integers, decimals, ordinals and capitals well, so these stay. Its errors were found in its
phonemes: `5 km/h` becomes "five K M slash H", `$5` "dollar five", and `Dr.` ends a sentence.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeAlias

from edgevox.tts.normalize.english_numbers import (
    NUMBER,
    START,
    any_of,
    say_dates,
    say_fractions,
    say_measures,
    say_money,
    say_times,
    write_fractions,
)

Pass: TypeAlias = Callable[[str], str]

_TITLES = {  # stand before a name and never end a sentence
    "Dr.": "Doctor",
    "Mr.": "Mister",
    "Mrs.": "Missus",
    "Ms.": "Miz",
    "Prof.": "Professor",
    "Gen.": "General",
    "Capt.": "Captain",
    "Lt.": "Lieutenant",
    "Sgt.": "Sergeant",
    "Rev.": "Reverend",
    "Sen.": "Senator",
    "Gov.": "Governor",
    "Mt.": "Mount",
}
_ABBREVIATIONS = {  # in any case; never end a sentence
    "e.g.": "for example",
    "i.e.": "that is",
    "vs.": "versus",
    "approx.": "approximately",
    "a.k.a.": "also known as",
    "cf.": "compare",
    "w/": "with",
    "w/o": "without",
    "n/a": "not available",
}
_LAST_WORDS = {  # end the sentence when it is over, or when a capital follows
    "etc.": "et cetera",
    "Jr.": "Junior",
    "Sr.": "Senior",
    "Ave.": "Avenue",
    "Blvd.": "Boulevard",
    "Rd.": "Road",
    "Inc.": "Incorporated",
    "Ltd.": "Limited",
    "Corp.": "Corporation",
    "dept.": "department",
}
_BEFORE_NUMBERS = {
    "no.": "number",
    "nr.": "number",
    "fig.": "figure",
    "p.": "page",
    "pp.": "pages",
    "vol.": "volume",
    "ch.": "chapter",
}

_SYMBOLS = [  # in this order
    (re.compile(pattern), spoken)
    for pattern, spoken in (
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
]

_PHONE = re.compile(
    r"(?<![\w.,/:-])(?:"
    r"\+[0-9]{1,3}(?:[ .-]?\(?[0-9]{2,4}\)?){2,5}"  # +1 555 123 4567
    r"|\(?[0-9]{3}\)?[ .-][0-9]{3}[.-][0-9]{4}"  # (555) 123-4567
    r"|[0-9]{3}-[0-9]{4}"  # 555-1234
    r"|0[0-9]{2,4}[ /-][0-9]{5,8}"  # 0171 1234567
    r"|[0-9](?:-[0-9]){2,10}"  # 9-1-1
    r"|[0-9]{10,}+"
    r")(?![\w-]|[.,][0-9])"
)
_RANGE = re.compile(rf"{START}(?<!-)({NUMBER})([%°]?)( ?[-–] ?)({NUMBER})(?![\w-]|[.,:/][0-9])")
_MINUS = re.compile(rf"(?<![\w)%.,/-])[-−](?={NUMBER})")
_LEADING_POINT = re.compile(r"(?<![\w.])\.(?=[0-9])")

_TITLE = re.compile(rf"\b({any_of(_TITLES)})(?= \S)")
_STREET = re.compile(r"(?<=\w )([A-Z]\w*+ )St\.( ?$| (?=[A-Z]))?")
_SAINT = re.compile(r"\bSt\.(?= [A-Z])")
_ABBREVIATION = re.compile(rf"(?<![\w./])((?i:{any_of(_ABBREVIATIONS)}))(?![\w/])")
_LAST_WORD = re.compile(rf"\b({any_of(_LAST_WORDS)})( ?$| (?=[A-Z]))?")
_BEFORE_NUMBER = re.compile(rf"\b((?i:{any_of(_BEFORE_NUMBERS)})) ?(?=[0-9])")


def say_phone_numbers(text: str) -> str:
    """555-1234 digit by digit, with a pause between the groups."""
    return _PHONE.sub(_phone, text)


def say_ranges(text: str) -> str:
    """5-10, 20%–30%."""
    return _RANGE.sub(_range, text)


def say_signs(text: str) -> str:
    """-5 and .5."""
    return _MINUS.sub("minus ", _LEADING_POINT.sub("0.", text))


def say_abbreviations(text: str) -> str:
    """Dr., St., No. 5, e.g., etc."""
    text = _TITLE.sub(lambda m: _TITLES[m[1]], text)
    text = _STREET.sub(lambda m: f"{m[1]}Street" + _stop_before(m[2]), text)
    text = _SAINT.sub("Saint", text)
    text = _BEFORE_NUMBER.sub(lambda m: f"{_BEFORE_NUMBERS[m[1].lower()]} ", text)
    text = _ABBREVIATION.sub(_abbreviation, text)
    return _LAST_WORD.sub(lambda m: _LAST_WORDS[m[1]] + _stop_before(m[2]), text)


def say_symbols(text: str) -> str:
    for pattern, spoken in _SYMBOLS:
        text = pattern.sub(spoken, text)
    return text


ENGLISH_PASSES: tuple[Pass, ...] = (
    say_dates,
    say_phone_numbers,
    say_times,
    say_money,
    say_ranges,
    write_fractions,
    say_measures,
    say_fractions,
    say_signs,
    say_abbreviations,
    say_symbols,
)


def _phone(match: re.Match[str]) -> str:
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


def _abbreviation(match: re.Match[str]) -> str:
    words = _ABBREVIATIONS[match[1].lower()]
    return words.capitalize() if match[1][0].isupper() else words


def _stop_before(behind: str | None) -> str:
    """The full stop that also ended the sentence, with the blank behind it; None: the sentence goes on."""
    return "" if behind is None else f".{behind}"
