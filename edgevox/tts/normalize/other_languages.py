"""Text normalisation in languages other than English: one table each in tables/, numbers and names from CLDR.

espeak, which reads the voices of these languages, reads integers and decimals with a comma well. What it reads badly
becomes words: dates, times, units, money, abbreviations and symbols. The names of units, currencies and months come
from babel, ordinal numbers from unicode-rbnf; both are imported on first use.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from datetime import date
from functools import cache, partial
from importlib.resources import files
from typing import Any, TypeAlias

from edgevox.core.files import packaged_toml

_Spoken: TypeAlias = str | Callable[[re.Match[str]], str]

_NUMBER = r"\d{1,3}(?:[.\u202f\u00a0]\d{3})+(?:,\d+)?(?![\d])|\d+(?:[.,]\d+)?"
_BEFORE = r"(?<![\w.,:/])"
# Signs of units with their names in CLDR.
_UNITS = {
    "°C": "temperature-celsius",
    "℃": "temperature-celsius",
    "°F": "temperature-fahrenheit",
    "km/h": "speed-kilometer-per-hour",
    "m/s": "speed-meter-per-second",
    "kWh": "energy-kilowatt-hour",
    "kW": "power-kilowatt",
    "W": "power-watt",
    "V": "electric-volt",
    "A": "electric-ampere",
    "hPa": "pressure-hectopascal",
    "mbar": "pressure-millibar",
    "km": "length-kilometer",
    "cm": "length-centimeter",
    "mm": "length-millimeter",
    "m": "length-meter",
    "m²": "area-square-meter",
    "m³": "volume-cubic-meter",
    "kg": "mass-kilogram",
    "g": "mass-gram",
    "ml": "volume-milliliter",
    "l": "volume-liter",
    "L": "volume-liter",
    "GB": "digital-gigabyte",
    "MB": "digital-megabyte",
    "h": "duration-hour",
    "min": "duration-minute",
    "s": "duration-second",
}
_CURRENCIES = {"€": "EUR", "EUR": "EUR", "$": "USD", "USD": "USD", "£": "GBP", "CHF": "CHF", "R$": "BRL"}


@cache
def known_languages() -> frozenset[str]:
    """The languages that have a table."""
    tables = files(__package__) / "tables"
    return frozenset(file.name.removesuffix(".toml") for file in tables.iterdir() if file.name.endswith(".toml"))


def normalize_other(text: str, language: str) -> str:
    """Dates, times, units, money, abbreviations and symbols as words; a language without a table stays as it is."""
    if language not in known_languages():
        return text
    for pattern, spoken in _rules(language):
        text = pattern.sub(spoken, text)
    return re.sub(r"[\u00a0\u202f]", " ", text)


@cache
def _rules(language: str) -> tuple[tuple[re.Pattern[str], _Spoken], ...]:
    table = packaged_toml(f"tts/normalize/tables/{language}.toml")
    rules = (*_dates(language, table), *_times(table), *_amounts(language), *_words(language, table))
    return tuple((re.compile(pattern), spoken) for pattern, spoken in rules)


def _any_of(signs: Iterable[str]) -> str:
    return "|".join(re.escape(sign) for sign in sorted(signs, key=len, reverse=True))


# --- dates and times


def _dates(language: str, table: dict[str, Any]) -> Iterator[tuple[str, _Spoken]]:
    from babel.dates import get_month_names

    def spoken(match: re.Match[str]) -> str:
        try:
            day = date(int(match["y"]), int(match["m"]), int(match["d"]))
        except ValueError:
            return match[0]
        return _spoken_date(language, table, day)

    yield r"(?<![\w-])(?P<y>\d{4})-(?P<m>\d{2})-(?P<d>\d{2})(?![\w-])", spoken
    yield r"(?<![\w./-])(?P<d>\d{1,2})(?P<_>[./-])(?P<m>\d{1,2})(?P=_)(?P<y>\d{4})(?!\w)", spoken
    if "ordinal_before" in table:
        months = _any_of(get_month_names(locale=language).values())
        nouns = "|".join((months, *table["ordinal_before"]))
        yield (
            rf"\b(?:({'|'.join(table['ordinal_after'])}) )?(\d{{1,2}})\. (?=(?:{nouns})\b)",
            partial(_ordinal_match, language),
        )


def _spoken_date(language: str, table: dict[str, Any], day: date) -> str:
    from babel.dates import format_date

    number = table.get("first_day", "1") if day.day == 1 else str(day.day)
    if "ordinal_before" in table:
        number = _ordinal(language, day.day, "spellout-ordinal-n")
    rest = format_date(day, table["month_and_year"], locale=language)
    return f"{number} {rest}"


def _ordinal_match(language: str, match: re.Match[str]) -> str:
    """ "am 3. März" is "am dritten März", "der 3. März" "der dritte März"."""
    ruleset = "spellout-ordinal-n" if match[1] else "spellout-ordinal"
    before = f"{match[1]} " if match[1] else ""
    return f"{before}{_ordinal(language, int(match[2]), ruleset)} "


def _ordinal(language: str, number: int, ruleset: str) -> str:
    return str(_spellout(language).format_number(number, ruleset_names=[ruleset]).text).replace("\u00ad", "")


@cache
def _spellout(language: str) -> Any:  # noqa: ANN401 (unicode_rbnf.RbnfEngine, imported late)
    from unicode_rbnf import RbnfEngine

    return RbnfEngine.for_language(language)


def _times(table: dict[str, Any]) -> Iterator[tuple[str, _Spoken]]:
    def spoken(match: re.Match[str]) -> str:
        hour, minute = int(match[1]), int(match[2] or 0)
        kind = "time_one" if hour == 1 and "time_one" in table else "time"
        if minute == 0:
            kind = f"{kind}_full"
        return str(table[kind]).format(hour=hour, minute=minute)

    marks, word = table["time_marks"], table["time_word"]
    hours, minutes = r"([01]?\d|2[0-4])", r"([0-5]\d)"
    if word:
        yield rf"(?<![\w.,:]){hours}[.:{marks}]{minutes} ?{word}\b", spoken
    yield rf"(?<![\w.,:]){hours}[:{marks}]{minutes}(?::[0-5]\d)?(?![\w:%])", spoken


# --- amounts


def _value(written: str) -> int | float:
    plain = re.sub(r"(?<=\d)[.\u202f\u00a0](?=\d{3}(?:\D|$))", "", written).replace(",", ".")
    return float(plain) if "." in plain else int(plain)


def _amounts(language: str) -> Iterator[tuple[str, _Spoken]]:
    from babel.numbers import format_currency
    from babel.units import format_unit

    def unit(match: re.Match[str]) -> str:
        value, name = _value(match["number"]), _UNITS[match["sign"]]
        return format_unit(value, name, length="long", locale=language)

    def money(match: re.Match[str]) -> str:
        value, code = _value(match["number"]), _CURRENCIES[match["sign"]]
        return format_currency(
            value, code, locale=language, format_type="name", currency_digits=isinstance(value, float)
        )

    signs = _any_of(_CURRENCIES)
    yield rf"{_BEFORE}(?P<number>{_NUMBER}) ?(?P<sign>{signs})(?!\w)", money
    yield rf"(?<!\w)(?P<sign>{signs}) ?(?P<number>{_NUMBER})(?![\w])", money
    yield rf"{_BEFORE}(?P<number>{_NUMBER}) ?(?P<sign>{_any_of(_UNITS)})(?![\w²³/'])", unit
    # A decimal point, as in values of sensors.
    yield rf"{_BEFORE}(\d+)\.(\d{{1,2}})(?![\d.,])", r"\1,\2"


# --- words


def _words(language: str, table: dict[str, Any]) -> Iterator[tuple[str, _Spoken]]:
    yield r"(?<=\d) ?°(?!\w)", f" {table['degrees']}"
    yield r"(?<=\d) ?%", f" {table['percent']}"
    yield rf"(?<=\d) ?[-–] ?(?=\d+(?:,\d+)? (?:{table['percent']}|{table['degrees']}|\w))", f" {table['to']} "
    yield r"(?<![\w)%.,/-])[-−](?=\d)", f"{table['minus']} "
    shortened: dict[str, str] = table["abbreviations"]
    yield rf"(?<!\w)({_any_of(shortened)})(?!\w)", lambda match: shortened[match[1]]
    symbols: dict[str, str] = table["symbols"]
    yield rf" ?({_any_of(symbols)}) ?", lambda match: f" {symbols[match[1]]} "
