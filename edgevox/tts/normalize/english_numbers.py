"""English words for dates, years, times of day, money, fractions and units of measure."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

_MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July"),
    *("August", "September", "October", "November", "December"),
)
_WEEKDAYS = {
    "Mon": "Monday",
    "Tue": "Tuesday",
    "Tues": "Tuesday",
    "Wed": "Wednesday",
    "Thu": "Thursday",
    "Thurs": "Thursday",
    "Fri": "Friday",
    "Sat": "Saturday",
    "Sun": "Sunday",
}
_ONES = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven"),
    *("twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"),
)
_TENS = ("", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_DECADES = (
    *("hundreds", "tens", "twenties", "thirties", "forties"),
    *("fifties", "sixties", "seventies", "eighties", "nineties"),
)

_SHORT_MONTHS = {month[:3]: month for month in _MONTHS} | {"Sept": "September"}
_MONTH = "|".join(_MONTHS)
_SHORT_MONTH = "|".join(_SHORT_MONTHS)
_ANY_MONTH = rf"(?:{_MONTH}|{_SHORT_MONTH})\b"
_YEAR = r"(?:1[1-9]|20)[0-9]{2}"
_MERIDIEM = r"(?: ?([AaPp]\.?[Mm]\b\.?))?"

_ISO_DATE = re.compile(
    rf"(?<![\w.,/-])({_YEAR})-(0[1-9]|1[0-2])-([0-2][0-9]|3[01])"
    r"(?:[T ]([0-2][0-9]:[0-5][0-9])(?::[0-5][0-9](?:\.[0-9]{1,9})?)?(?:Z|[+-][0-9]{2}:?[0-9]{2})?)?(?![\w-])"
)
_SLASH_DATE = re.compile(rf"(?<![\w.,/-])([0-9]{{1,2}})/([0-9]{{1,2}})/({_YEAR})(?![\w/])")
_SHORT_MONTH_DAY = re.compile(rf"\b({_SHORT_MONTH})\b\.?(?= [0-9]{{1,2}}\b)")
_DAY_SHORT_MONTH = re.compile(rf"\b([0-9]{{1,2}}) ({_SHORT_MONTH})\b\.?")
_MONTH_DAY = re.compile(rf"\b({_MONTH}) ([1-9]|[12][0-9]|3[01])(?![\w:%°/]|[.,][0-9])(?:(,?) ({_YEAR})\b)?")
_WEEKDAY = re.compile(rf"\b({'|'.join(_WEEKDAYS)})\b\.?(?=,? (?:[0-9]|{_ANY_MONTH}))")
_YEAR_SPAN = re.compile(rf"(?<![\w.,/-])({_YEAR}) ?(?:[-–]|to) ?({_YEAR})(?![\w-]|[.,][0-9])")
_KNOWN_YEAR = re.compile(
    rf"\b((?:[Ii]n|[Ss]ince|[Uu]ntil|[Dd]uring|[Yy]ear|[Ss]pring|[Ss]ummer|[Ff]all|[Aa]utumn|[Ww]inter"
    rf"|{_MONTH}),?(?: of)?) ({_YEAR})(?![\w%°/-]|[.,:][0-9]| ?[€$£¥])"
)
_DECADE = re.compile(r"(?<![\w.,])(?:'|’)?(1[1-9]|20)?([0-9])0s\b")

_TIME = re.compile(rf"(?<![\w:.,])([01]?[0-9]|2[0-4]):([0-5][0-9])(?![\w:]|\.[0-9]){_MERIDIEM}(?!\w)")
_TIME_JOINED = re.compile(r"(?<![\w:.,])((?:1[0-2]|0?[1-9])(?::[0-5][0-9])?)([AaPp][Mm])\b")
_TIME_SPAN = re.compile(r"(?<=[0-9Mm]) ?[-–] ?(?=[0-2]?[0-9](?::[0-5][0-9](?![0-9:])| [AaPp][Mm]\b))")


def say_dates(text: str) -> str:
    """2026-11-15, 11/15/2026, Nov. 15, Mon., the 1990s, in 1984. What could be two dates is left alone."""
    text = _ISO_DATE.sub(_iso_date, text)
    text = _SLASH_DATE.sub(_slash_date, text)
    text = _WEEKDAY.sub(lambda m: _WEEKDAYS[m[1]], text)
    text = _SHORT_MONTH_DAY.sub(lambda m: _SHORT_MONTHS[m[1]], text)
    text = _DAY_SHORT_MONTH.sub(lambda m: f"{m[1]} {_SHORT_MONTHS[m[2]]}", text)
    text = _MONTH_DAY.sub(_month_day, text)
    text = _YEAR_SPAN.sub(lambda m: f"{_year(m[1])} to {_year(m[2])}", text)
    text = _KNOWN_YEAR.sub(lambda m: f"{m[1]} {_year(m[2])}", text)
    return _DECADE.sub(_decade, text)


def say_times(text: str) -> str:
    """07:05, 10:00, 3:00 pm, 3pm, 9:00-17:00. Others, such as 3:30, are read well as they are."""
    text = _TIME_JOINED.sub(r"\1 \2", text)
    text = _TIME_SPAN.sub(" to ", text)
    return _TIME.sub(_time, text)


def _iso_date(match: re.Match[str]) -> str:
    year, month, day, at = match.groups()
    return _date(int(month), int(day), year) + (f" at {at}" if at else "")


def _slash_date(match: re.Match[str]) -> str:
    first, second = int(match[1]), int(match[2])
    month, day = (first, second) if second > 12 else (second, first)
    is_clear = 1 <= month <= 12 < day <= 31
    return _date(month, day, match[3]) if is_clear else match[0]


def _month_day(match: re.Match[str]) -> str:
    month, day, comma, year = match.groups()
    return f"{month} {_ordinal(int(day))}" + (f"{comma} {_year(year)}" if year else "")


def _date(month: int, day: int, year: str) -> str:
    return f"{_MONTHS[month - 1]} {_ordinal(day)}, {_year(year)}"


def _decade(match: re.Match[str]) -> str:
    century, tens = match[1], int(match[2])
    name = _DECADES[tens]
    if century == "20" and not tens:
        return "two thousands"
    if not century:
        return name if tens > 1 else match[0]
    return f"{_below_hundred(int(century))} {name}"


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
    match rest:
        case 0:
            words = "hundred"
        case _ if rest < 10:
            words = f"oh {_ONES[rest]}"
        case _:
            words = _below_hundred(rest)
    return f"{_below_hundred(century)} {words}"


def _below_hundred(number: int) -> str:
    if number < 20:
        return _ONES[number]
    tens, ones = divmod(number, 10)
    return _TENS[tens] + (f"-{_ONES[ones]}" if ones else "")


def _ordinal(number: int) -> str:
    ending = {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{'th' if 11 <= number <= 13 else ending}"


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
_MAGNITUDES = {"k": "thousand", "m": "million", "mn": "million", "b": "billion", "bn": "billion", "tn": "trillion"}

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
_MONEY = re.compile(rf"(?<!\w)(US|A|C|NZ|HK)?({_SIGN}) ?({NUMBER})(?: ?[-–] ?{_SIGN}?({NUMBER}))?{_MAGNITUDE}(?!\w)")
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
    sign: str, amount: str, *, up_to: str | None = None, magnitude: str | None = None, country: str | None = None
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
