"""Language codes as Whisper uses them, the phrases of each reply language, and English word forms."""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Any

ENGLISH = "en"
"""The language of built-in sentences."""

_NAMES = """
af Afrikaans, am Amharic, ar Arabic, as Assamese, az Azerbaijani, ba Bashkir, be Belarusian, bg Bulgarian,
bn Bengali, bo Tibetan, br Breton, bs Bosnian, ca Catalan, cs Czech, cy Welsh, da Danish, de German, el
Greek, en English, es Spanish, et Estonian, eu Basque, fa Persian, fi Finnish, fo Faroese, fr French, gl
Galician, gu Gujarati, ha Hausa, haw Hawaiian, he Hebrew, hi Hindi, hr Croatian, ht Haitian Creole, hu
Hungarian, hy Armenian, id Indonesian, is Icelandic, it Italian, ja Japanese, jw Javanese, ka Georgian, kk
Kazakh, km Khmer, kn Kannada, ko Korean, la Latin, lb Luxembourgish, ln Lingala, lo Lao, lt Lithuanian, lv
Latvian, mg Malagasy, mi Maori, mk Macedonian, ml Malayalam, mn Mongolian, mr Marathi, ms Malay, mt Maltese,
my Burmese, ne Nepali, nl Dutch, nn Norwegian Nynorsk, no Norwegian, oc Occitan, pa Punjabi, pl Polish, ps
Pashto, pt Portuguese, ro Romanian, ru Russian, sa Sanskrit, sd Sindhi, si Sinhala, sk Slovak, sl Slovenian,
sn Shona, so Somali, sq Albanian, sr Serbian, su Sundanese, sv Swedish, sw Swahili, ta Tamil, te Telugu, tg
Tajik, th Thai, tk Turkmen, tl Tagalog, tr Turkish, tt Tatar, uk Ukrainian, ur Urdu, uz Uzbek, vi
Vietnamese, yi Yiddish, yo Yoruba, yue Cantonese, zh Chinese
"""

LANGUAGES: Mapping[str, str] = MappingProxyType(
    {code: " ".join(name) for code, *name in (entry.split() for entry in _NAMES.split(","))}
)
"""The English name of every language, by its code."""


OWN_NAMES: Mapping[str, str] = MappingProxyType(
    {
        "en": "English",
        "de": "Deutsch",
        "fr": "Français",
        "es": "Español",
        "it": "Italiano",
        "nl": "Nederlands",
        "pt": "Português",
    }
)
"""The languages in which a home can be run, as those who speak them call them."""


def own_name(code: str) -> str:
    """The name of a language in itself, in English where that is not known."""
    return OWN_NAMES.get(code) or LANGUAGES.get(code, code)


@dataclass(frozen=True, slots=True)
class Phrases:
    """What is said and understood in one language without a model: edgevox/core/phrases/CODE.toml.

    What is understood is case-folded and without apostrophes: "d'accord" is "daccord", "weiß" is "weiss".
    """

    filler: tuple[str, ...]
    """Said while a reply takes long. Short: the reply may be ready as one begins."""
    error: str
    """Said after an engine failed."""
    sound_check: str
    """Said to test a loudspeaker or a voice."""
    ready: str
    """Said at the end of the setup."""
    back: str
    """Said by a satellite that is connected again."""
    yes: tuple[str, ...]
    no: tuple[str, ...]
    polite: tuple[str, ...]
    """Allowed beside a yes, but not a yes alone: "merci" is often a no."""
    idioms: tuple[str, ...]
    """Phrases that contain a no or a yes, but are neither."""
    backchannels: tuple[str, ...] = ()
    """Said while listening; none of their words asks for anything. Hums ("mhm") need no entry."""
    interruptions: tuple[str, ...] = ()
    """Single words that interrupt a reply, beside every no and every built-in command."""
    command_polite: tuple[str, ...] = ()
    """Ignored in a built-in command."""
    commands: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """The phrases of each built-in command, as whole utterances; only unambiguous ones."""
    said: Mapping[str, str] = field(default_factory=dict)
    """What the program says, by key, with {} for values: see `say`."""


@cache
def all_phrases() -> Mapping[str, Phrases]:
    """The phrases of every language that has a file, by language code."""
    folder = files(__package__) / "phrases"
    tables = {
        file.name.removesuffix(".toml"): tomllib.loads(file.read_text(encoding="utf-8")) for file in folder.iterdir()
    }
    return MappingProxyType({code: Phrases(**_frozen(tables[code])) for code in sorted(tables)})


def _frozen(table: Mapping[str, Any]) -> dict[str, Any]:
    return {key: tuple(value) if isinstance(value, list) else value for key, value in table.items()}


def say(key: str, language: str, /, **values: object) -> str:
    """A sentence of the catalogue in that language, or in English where it has none. Raises KeyError."""
    said = all_phrases()[language].said if language in all_phrases() else {}
    return (said.get(key) or all_phrases()[ENGLISH].said[key]).format(**values)


_reply_language: ContextVar[str] = ContextVar("reply_language", default=ENGLISH)
_turn_language: ContextVar[str] = ContextVar("turn_language", default="")


def turn_language() -> str:
    """The language in which the turn was spoken, inside of `replying_in`; "" elsewhere, and where it is not known."""
    return _turn_language.get()


def reply_language() -> str:
    """The language of the turn's answer, inside of `replying_in`; elsewhere English."""
    return _reply_language.get()


@contextmanager
def replying_in(language: str, spoken: str = "") -> Iterator[None]:
    """Let tools answer and ask in this language; "" is English. `spoken` is that of the turn, if it is another."""
    token, turn_token = _reply_language.set(language or ENGLISH), _turn_language.set(language or spoken)
    try:
        yield
    finally:
        _turn_language.reset(turn_token)
        _reply_language.reset(token)


def checked_language(code: str) -> str:
    """Return the code. Raises ValueError, with a suggestion, if Whisper does not know it."""
    if code in LANGUAGES:
        return code
    meant = _nearest(code)
    hint = f"did you mean {meant} ({LANGUAGES[meant]})?" if meant else "use a code such as en, de or fr"
    raise ValueError(f'"{code}" is not a language code that Whisper knows: {hint}')


def language_named(written: str) -> str:
    """The code of a language, given by it, by its English name or its own. Raises ValueError like checked_language."""
    low = written.strip().casefold()
    named = (*LANGUAGES.items(), *OWN_NAMES.items())
    return next((code for code, name in named if name.casefold() == low), None) or checked_language(low)


def _nearest(written: str) -> str | None:
    """The code that was probably meant; accepts `en-US`, `DE`, `German`, `ger` and `deu`."""
    low = written.strip().lower()
    codes = {name.lower(): code for code, name in LANGUAGES.items()} | {code: code for code in LANGUAGES}
    region_free = low.replace("_", "-").partition("-")[0]
    if region_free in codes:
        return codes[region_free]
    begun = [code for name, code in codes.items() if len(low) > 2 and name.startswith(low)]
    if begun:
        return begun[0]
    if len(low) == 3 and low[:2] in LANGUAGES:
        return low[:2]
    near = difflib.get_close_matches(low, codes, n=1, cutoff=0.7)
    return codes[near[0]] if near else None


def listed(names: Sequence[str], last: str) -> str:
    """ "a", "a and b", "a, b and c"."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} {last} {names[-1]}"


def capitalized(text: str) -> str:
    """The text with a capital first letter, and the others as they are."""
    return f"{text[:1].upper()}{text[1:]}"


def plural(noun: str) -> str:
    """ "lights", "switches", "batteries"."""
    if noun.endswith("y") and noun[-2:-1] not in "aeiou":
        return noun[:-1] + "ies"
    return noun + ("es" if noun.endswith(("s", "x", "ch", "sh")) else "s")


def counted(count: int, noun: str) -> str:
    """ "1 minute", "3 minutes"."""
    return f"{count} {noun}" if count == 1 else f"{count} {plural(noun)}"


def duration(seconds: float) -> str:
    """ "1 hour and 5 minutes"; less than a second is "0 seconds"."""
    whole = round(seconds)
    parts = [
        counted(count, noun)
        for count, noun in ((whole // 3600, "hour"), (whole // 60 % 60, "minute"), (whole % 60, "second"))
        if count
    ]
    return listed(parts, "and") if parts else "0 seconds"


def length_in(seconds: float, language: str) -> str:
    """A duration in words of that language: "1 Stunde und 5 Minuten"."""
    if language == ENGLISH:
        return duration(seconds)
    from babel.lists import format_list
    from babel.units import format_unit

    whole = round(seconds)
    parts = [(whole // 3600, "hour"), (whole // 60 % 60, "minute"), (whole % 60, "second")]
    said = [str(format_unit(count, f"duration-{unit}", locale=language)) for count, unit in parts if count]
    return str(format_list(said or [format_unit(0, "duration-second", locale=language)], locale=language))


def time_in(at: datetime, language: str) -> str:
    """A time of day as it is written in that language: "18:30"."""
    from babel.dates import format_time

    return str(format_time(at, "short", locale=language))
