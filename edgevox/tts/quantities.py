"""How English says amounts: money, units of measure, and the words they take."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

# A number as people write it: 7, 1,234, 21.5. `START` stands before one and keeps a search from beginning
# inside it, which is also what keeps a long row of digits linear.
START = r"(?<![\w.,])(?<!\d[:/])"
NUMBER = r"(?:[0-9]{1,3}(?:,[0-9]{3})++(?![0-9])|[0-9]++)(?:\.[0-9]++)?"

FRACTIONS = {
    "½": "one half",
    "⅓": "one third",
    "⅔": "two thirds",
    "¼": "one quarter",
    "¾": "three quarters",
    "⅕": "one fifth",
    "⅛": "one eighth",
    "⅜": "three eighths",
    "⅝": "five eighths",
    "⅞": "seven eighths",
}

_CURRENCIES = {  # sign: one, many, one hundredth, many hundredths
    "$": ("dollar", "dollars", "cent", "cents"),
    "€": ("euro", "euros", "cent", "cents"),
    "£": ("pound", "pounds", "penny", "pence"),
    "¥": ("yen", "yen", "sen", "sen"),
    "₹": ("rupee", "rupees", "paisa", "paise"),
    "₩": ("won", "won", "jeon", "jeon"),
    "₽": ("ruble", "rubles", "kopek", "kopeks"),
}
_MAGNITUDES = {
    "k": "thousand",
    "m": "million",
    "mn": "million",
    "b": "billion",
    "bn": "billion",
    "tn": "trillion",
}

_UNITS = {  # sign: one, many
    "%": ("percent", "percent"),
    "‰": ("per mille", "per mille"),
    "°C": ("degree Celsius", "degrees Celsius"),
    "℃": ("degree Celsius", "degrees Celsius"),
    "°F": ("degree Fahrenheit", "degrees Fahrenheit"),
    "℉": ("degree Fahrenheit", "degrees Fahrenheit"),
    "°": ("degree", "degrees"),
    "nm": ("nanometer", "nanometers"),
    "µm": ("micrometer", "micrometers"),
    "mm": ("millimeter", "millimeters"),
    "cm": ("centimeter", "centimeters"),
    "m": ("meter", "meters"),
    "km": ("kilometer", "kilometers"),
    "ft": ("foot", "feet"),
    "yd": ("yard", "yards"),
    "mi": ("mile", "miles"),
    "m²": ("square meter", "square meters"),
    "km²": ("square kilometer", "square kilometers"),
    "cm²": ("square centimeter", "square centimeters"),
    "sq ft": ("square foot", "square feet"),
    "ft²": ("square foot", "square feet"),
    "in²": ("square inch", "square inches"),
    "m³": ("cubic meter", "cubic meters"),
    "cm³": ("cubic centimeter", "cubic centimeters"),
    "ha": ("hectare", "hectares"),
    "ml": ("milliliter", "milliliters"),
    "mL": ("milliliter", "milliliters"),
    "cl": ("centiliter", "centiliters"),
    "dl": ("deciliter", "deciliters"),
    "l": ("liter", "liters"),
    "L": ("liter", "liters"),
    "gal": ("gallon", "gallons"),
    "tsp": ("teaspoon", "teaspoons"),
    "tbsp": ("tablespoon", "tablespoons"),
    "µg": ("microgram", "micrograms"),
    "mg": ("milligram", "milligrams"),
    "g": ("gram", "grams"),
    "kg": ("kilogram", "kilograms"),
    "lb": ("pound", "pounds"),
    "lbs": ("pound", "pounds"),
    "oz": ("ounce", "ounces"),
    "ns": ("nanosecond", "nanoseconds"),
    "µs": ("microsecond", "microseconds"),
    "ms": ("millisecond", "milliseconds"),
    "sec": ("second", "seconds"),
    "min": ("minute", "minutes"),
    "mins": ("minute", "minutes"),
    "h": ("hour", "hours"),
    "hr": ("hour", "hours"),
    "hrs": ("hour", "hours"),
    "mph": ("mile per hour", "miles per hour"),
    "kph": ("kilometer per hour", "kilometers per hour"),
    "rpm": ("revolution per minute", "revolutions per minute"),
    "fps": ("frame per second", "frames per second"),
    "bpm": ("beat per minute", "beats per minute"),
    "ppm": ("part per million", "parts per million"),
    "Hz": ("hertz", "hertz"),
    "kHz": ("kilohertz", "kilohertz"),
    "MHz": ("megahertz", "megahertz"),
    "GHz": ("gigahertz", "gigahertz"),
    "mW": ("milliwatt", "milliwatts"),
    "W": ("watt", "watts"),
    "kW": ("kilowatt", "kilowatts"),
    "MW": ("megawatt", "megawatts"),
    "GW": ("gigawatt", "gigawatts"),
    "Wh": ("watt hour", "watt hours"),
    "kWh": ("kilowatt hour", "kilowatt hours"),
    "MWh": ("megawatt hour", "megawatt hours"),
    "mV": ("millivolt", "millivolts"),
    "V": ("volt", "volts"),
    "kV": ("kilovolt", "kilovolts"),
    "mA": ("milliampere", "milliamperes"),
    "mAh": ("milliampere hour", "milliampere hours"),
    "Ah": ("ampere hour", "ampere hours"),
    "Ω": ("ohm", "ohms"),
    "lm": ("lumen", "lumens"),
    "lx": ("lux", "lux"),
    "dB": ("decibel", "decibels"),
    "Pa": ("pascal", "pascals"),
    "hPa": ("hectopascal", "hectopascals"),
    "kPa": ("kilopascal", "kilopascals"),
    "mbar": ("millibar", "millibars"),
    "J": ("joule", "joules"),
    "kJ": ("kilojoule", "kilojoules"),
    "cal": ("calorie", "calories"),
    "kcal": ("kilocalorie", "kilocalories"),
    "kB": ("kilobyte", "kilobytes"),
    "KB": ("kilobyte", "kilobytes"),
    "MB": ("megabyte", "megabytes"),
    "GB": ("gigabyte", "gigabytes"),
    "TB": ("terabyte", "terabytes"),
    "KiB": ("kibibyte", "kibibytes"),
    "MiB": ("mebibyte", "mebibytes"),
    "GiB": ("gibibyte", "gibibytes"),
    "kbps": ("kilobit per second", "kilobits per second"),
    "Mbps": ("megabit per second", "megabits per second"),
    "Gbps": ("gigabit per second", "gigabits per second"),
    "USD": ("US dollar", "US dollars"),
    "EUR": ("euro", "euros"),
    "GBP": ("pound", "pounds"),
}
# "90s" is a decade and "5K" a race, so these stand apart from their number.
_SPACED_UNITS = {"s": ("second", "seconds"), "K": ("kelvin", "kelvins")}
_PER = {"s": "second", "day": "day", "week": "week", "month": "month", "year": "year", "person": "person"}


def any_of(signs: Iterable[str]) -> str:
    """A pattern for one of them, the longest that fits."""
    return "|".join(re.escape(sign) for sign in sorted(signs, key=len, reverse=True))


_SIGN = f"[{''.join(_CURRENCIES)}]"
_MAGNITUDE = r"(?: ?(k|K|m|M|mn|bn|b|B|tn|thousand|million|billion|trillion)\b)?"
_MONEY = re.compile(
    rf"(?<!\w)(US|A|C|NZ|HK)?({_SIGN}) ?({NUMBER})(?: ?[-–] ?{_SIGN}?({NUMBER}))?{_MAGNITUDE}(?!\w)"
)
_MONEY_BEHIND = re.compile(rf"{START}({NUMBER}){_MAGNITUDE} ?({_SIGN})(?!\w)")
_CENTS = re.compile(rf"{START}({NUMBER}) ?¢")

_FRACTION = f"[{''.join(FRACTIONS)}]"
_SLASHED = {unicodedata.normalize("NFKC", sign).replace("\u2044", "/"): sign for sign in FRACTIONS}
_MIXED = re.compile(rf"{START}([0-9]{{1,3}}) ([1-9]/[2-9])(?![\w/])")
_MEASURED = rf"of|cups?|teaspoons?|tablespoons?|inch|inches|pints?|hours?|miles?|{any_of(_UNITS)}"
_WITH_WHOLE = re.compile(rf"([0-9])({_FRACTION})")
_PART = re.compile(rf"{START}([1-9]/[2-9])(?= (?:{_MEASURED})(?!\w))")
_MEASURE = re.compile(
    rf"{START}({NUMBER}{_FRACTION}?|{_FRACTION})"
    rf"(?:([ -]?)({any_of(_UNITS)})| ({any_of(_SPACED_UNITS)}))(?:/([A-Za-z]++[²³]?))?(?![\w²³/])"
    r"(?:\.(?= [a-z]))?"
)


def write_fractions(text: str) -> str:
    """2 1/2 becomes 2½, and 1/2 becomes ½ where a measure follows; a bare 3/4 may be a date."""
    text = _MIXED.sub(lambda m: m[1] + _SLASHED.get(m[2], f" {m[2]}"), text)
    return _PART.sub(lambda m: _SLASHED.get(m[1], m[1]), text)


def say_money(text: str) -> str:
    """$5.50, £1.2m, 3 €, 99¢."""
    text = _MONEY.sub(lambda m: _money(m[2], m[3], up_to=m[4], magnitude=m[5], country=m[1]), text)
    text = _MONEY_BEHIND.sub(lambda m: _money(m[3], m[1], magnitude=m[2]), text)
    return _CENTS.sub(lambda m: f"{m[1]} {'cent' if m[1] == '1' else 'cents'}", text)


def say_fractions(text: str) -> str:
    """½, 2½."""
    text = _WITH_WHOLE.sub(lambda m: f"{m[1]} and {FRACTIONS[m[2]].replace('one half', 'a half')}", text)
    for sign, words in FRACTIONS.items():
        text = text.replace(sign, words)
    return text


def say_measures(text: str) -> str:
    """5 km/h, 21.5°C, 60-W, ½ l."""
    return _MEASURE.sub(_measure, text)


def _money(
    sign: str,
    amount: str,
    *,
    up_to: str | None = None,
    magnitude: str | None = None,
    country: str | None = None,
) -> str:
    one, many, small_one, small_many = _CURRENCIES[sign]
    prefix = f"{country} " if country else ""
    if up_to or magnitude:
        scale = _MAGNITUDES.get(magnitude.lower(), magnitude) if magnitude else None
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


def _measure(match: re.Match[str]) -> str:
    amount, joint, sign, spaced_sign, per_sign = match.groups()
    one, many = _UNITS[sign] if sign else _SPACED_UNITS[spaced_sign]
    if per_sign:
        per = _PER.get(per_sign) or _UNITS.get(per_sign, ("",))[0]
        if not per:
            return match[0]
        one, many = f"{one} per {per}", f"{many} per {per}"
    if amount in FRACTIONS:
        article = "an" if one.startswith(("a", "i", "o", "hour")) else "a"
        return f"{FRACTIONS[amount]} of {article} {one}"
    return f"{amount} {one if amount == '1' or joint == '-' else many}"
