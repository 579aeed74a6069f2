"""Strings and keys: length, pattern and format, with the escapes and quotes of each notation."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from functools import lru_cache
from json.encoder import encode_basestring, encode_basestring_ascii

from edgevox.llm.grammar.language import (
    EMPTY,
    NEVER,
    Both,
    Chars,
    Node,
    Ranges,
    Repeat,
    Rules,
    Text,
    UnsupportedSchema,
    alt,
    joined,
    of_ranges,
    one_of_texts,
    points,
    repeat,
    seq,
    without,
)
from edgevox.llm.grammar.regex import EVERY, contains, pattern_language, read_pattern, whole_language
from edgevox.llm.tool_parsers.notation import Escapes, Notation, Quoting

# The length of a string without its own bound, and the maximum bound: a call has to close.
DEFAULT_MAX_CHARS = 512
MOST_CHARS = 2000
MAX_KEY_CHARS = 64
# The repetitions of `*` in a pattern.
_MAX_REPEATS = 256

_YEAR = r"(?:000[1-9]|00[1-9]\d|0[1-9]\d\d|[1-9]\d{3})"
_LEAP_YEAR = r"(?:\d\d(?:0[48]|[2468][048]|[13579][26])|(?:0[48]|[2468][048]|[13579][26])00)"
_DATE = (
    rf"(?:{_YEAR}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\d|30)"
    rf"|02-(?:0[1-9]|1\d|2[0-8]))|{_LEAP_YEAR}-02-29)"
)
# The standard requires an offset; people who name a time mean local time.
_TIME = r"(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,9})?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)?"
_LABEL = r"[A-Za-z0-9]+(?:-+[A-Za-z0-9]+)*"
_ATOM = r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+"
_OCTET = r"(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)"
_IPV4 = rf"{_OCTET}(?:\.{_OCTET}){{3}}"
_GROUP = r"[0-9A-Fa-f]{1,4}"
_IPV6 = "|".join(
    [
        rf"(?:{_GROUP}:){{7}}{_GROUP}",
        rf"(?:{_GROUP}:){{1,7}}:",
        *(rf"(?:{_GROUP}:){{1,{7 - tail}}}(?::{_GROUP}){{1,{tail}}}" for tail in range(1, 6)),
        rf"{_GROUP}:(?::{_GROUP}){{1,6}}",
        rf":(?::{_GROUP}){{1,7}}",
        "::",
    ]
)
_URI_CHARS = r"(?:[A-Za-z0-9._~:/?#\[\]@!$&'()*+,;=-]|%[0-9A-Fa-f]{2})"
_CLOCK = r"T(?:\d{1,6}H(?:\d{1,6}M(?:\d{1,6}S)?)?|\d{1,6}M(?:\d{1,6}S)?|\d{1,6}S)"
_DAYS = r"(?:\d{1,6}Y(?:\d{1,6}M(?:\d{1,6}D)?)?|\d{1,6}M(?:\d{1,6}D)?|\d{1,6}D)"

_HOSTNAME = rf"^{_LABEL}(?:\.{_LABEL})*$"
_EMAIL = rf"^{_ATOM}(?:\.{_ATOM})*@{_LABEL}(?:\.{_LABEL})+$"
_URI = rf"^[A-Za-z][A-Za-z0-9+.-]*:{_URI_CHARS}+$"

FORMATS = {
    "date": f"^{_DATE}$",
    "time": f"^{_TIME}$",
    "date-time": f"^{_DATE}T{_TIME}$",
    "duration": rf"^P(?:\d{{1,6}}W|{_DAYS}(?:{_CLOCK})?|{_CLOCK})$",
    "email": _EMAIL,
    "idn-email": _EMAIL,
    "hostname": _HOSTNAME,
    "idn-hostname": _HOSTNAME,
    "ipv4": f"^{_IPV4}$",
    "ipv6": f"^(?:{_IPV6})$",
    "uri": _URI,
    "iri": _URI,
    "uuid": r"^[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$",
    "json-pointer": r"^(?:/(?:[^~/]|~[01]){0,64}){0,16}$",
}

# How the characters that need it are escaped; the quotation mark is added.
_ESCAPED: dict[Escapes, dict[int, str]] = {
    "json": {code: encode_basestring_ascii(chr(code))[1:-1] for code in (*range(0x20), 0x5C)},
    "python": {code: repr(chr(code))[1:-1] for code in (*range(0x20), 0x5C)},
    "none": {},
}
# All escapes that a string without a pattern may contain.
_HEX = "[0-9a-fA-F]"
_FREE_ESCAPES: dict[Escapes, str] = {
    "json": rf'\\(?:["\\/bfnrt]|u(?:[0-9a-cefA-CEF]{_HEX}{{3}}|[dD][0-7]{_HEX}{{2}}'
    rf"|[dD][89abAB]{_HEX}{{2}}\\u[dD][c-fC-F]{_HEX}{{2}}))",
    "python": rf"""\\(?:[\\'"nrt]|x{_HEX}{{2}}|u{_HEX}{{4}})""",
}


@lru_cache(maxsize=256)
def character(ranges: Ranges, quoting: Quoting) -> Node:
    """Return one character of `ranges` inside a string; NEVER if none can be written there."""
    if quoting.escapes == "none":
        return of_ranges(without(ranges, points(f"\0{quoting.barred}")))
    escaped = {**_ESCAPED[quoting.escapes], ord(quoting.open): f"\\{quoting.open}"}
    raw = of_ranges(without(ranges, joined((code, code) for code in escaped)))
    return alt(raw, one_of_texts([written for code, written in escaped.items() if contains(ranges, code)]))


@lru_cache(maxsize=16)
def _free_character(quoting: Quoting) -> Node:
    """Return any character, in any spelling."""
    if quoting.escapes != "none":
        raw = without(EVERY, joined((*points(f"{quoting.open}\\"), (0x00, 0x1F))))
        return alt(of_ranges(raw), whole_language(_FREE_ESCAPES[quoting.escapes]))
    plain = character(EVERY, quoting)
    if quoting.barred != "<":
        return plain
    # The character is excluded only where it would begin the closing quote.
    return alt(plain, seq(Text("<"), of_ranges(without(EVERY, points("!/<e|")))))


def spelling(value: str, escapes: Escapes, *, quote: str = '"', barred: str = "") -> str:
    """Return this text as it stands between quotes. Raises UnsupportedSchema if the notation cannot write it."""
    if escapes == "json":
        return (encode_basestring if _is_encodable(value) else encode_basestring_ascii)(value)[1:-1]
    if not _is_encodable(value) or (escapes == "none" and any(char in value for char in f"\0{barred}")):
        raise UnsupportedSchema(f"{value!r:.60} cannot be written in this format")
    return value if escapes == "none" else "".join(_python_character(char, quote) for char in value)


def _python_character(char: str, quote: str) -> str:
    return f"\\{char}" if char in (quote, "\\") else char if char.isprintable() else repr(char)[1:-1]


def _is_encodable(value: str) -> bool:
    return not any(0xD800 <= ord(char) <= 0xDFFF for char in value)


def string(
    rules: Rules,
    notation: Notation,
    *,
    least: int = 0,
    most: int | None = None,
    patterns: Sequence[str] = (),
    format_name: str | None = None,
) -> Node:
    """Return a string value. Raises UnsupportedSchema for a pattern that no grammar can express."""
    if most is not None and most < least:
        return NEVER
    wanted = tuple(dict.fromkeys((*patterns, *filter(None, [FORMATS.get(format_name or "")]))))
    key = "string", id(notation), least, most, wanted
    return rules.once(key, lambda: alt(*(_string(rules, quoting, wanted, least, most) for quoting in notation.strings)))


def _string(rules: Rules, quoting: Quoting, patterns: tuple[str, ...], least: int, most: int | None) -> Node:
    high = max(least, DEFAULT_MAX_CHARS) if most is None else min(most, max(least, MOST_CHARS))
    content = repeat(rules.add("char", _free_character(quoting), token=True), least, high)
    name = "text" if patterns else "string" if (least, high) == (0, DEFAULT_MAX_CHARS) else f"string-{least}-{high}"
    match [pattern_language(pattern) for pattern in patterns]:
        case []:
            pass
        case [Repeat(Chars(ranges), low, bound)]:
            # The common case: a repeated class, whose length is its own.
            low = max(least, low)
            bounds = [one for one in (bound, most) if one is not None]
            content = repeat(character(ranges, quoting), low, min(bounds, default=low + _MAX_REPEATS))
        case _:
            parts = [with_pattern(pattern, quoting) for pattern in patterns]
            parts += [content] if least or most is not None else []
            content = NEVER if NEVER in parts else Both(tuple(parts)) if len(parts) > 1 else parts[0]
    if content is NEVER:
        raise UnsupportedSchema(f"pattern {patterns[0]!r:.60} in this format")
    return rules.add(name, seq(Text(quoting.open), content, Text(quoting.close)), token=True)


@lru_cache(maxsize=256)
def with_pattern(pattern: str, quoting: Quoting) -> Node:
    """Return the texts in which a pattern is found, without the quotes. Raises UnsupportedSchema."""
    return read_pattern(pattern, lambda ranges: character(ranges, quoting), _MAX_REPEATS)


def literals(value: str, notation: Notation) -> list[str]:
    """Return this string in each quoting that can write it. Raises UnsupportedSchema if none can."""
    found = []
    for quoting in notation.strings:
        with suppress(UnsupportedSchema):
            content = spelling(value, quoting.escapes, quote=quoting.open, barred=quoting.barred)
            found.append(f"{quoting.open}{content}{quoting.close}")
    if not found:
        raise UnsupportedSchema(f"{value!r:.60} cannot be written in this format")
    return found


# --- keys


def key(name: str, notation: Notation) -> Node:
    """Return this key, up to its value. Raises UnsupportedSchema if the notation cannot write it."""
    if notation.key_escapes == "none" and _BARE_KEY.fullmatch(name) is None:
        raise UnsupportedSchema(f"the name {name!r:.60} cannot be written in this format")
    written = spelling(name, notation.key_escapes, quote=notation.key_open)
    return Text(f"{notation.key_open}{written}{notation.key_close}")


# An unquoted key must be one that every detector accepts.
_BARE_KEY = re.compile(r"[A-Za-z_][\w.-]{0,100}")
_FREE_BARE_KEY = whole_language("[A-Za-z_][0-9A-Za-z_]{0,40}")


def other_key(rules: Rules, notation: Notation, names: Sequence[str]) -> Node:
    """Return any key but these, up to its value. Raises UnsupportedSchema."""
    if notation.key_escapes != "none":
        content = _other_than(sorted(set(names)), 0, key_notation(notation).strings[0])
    elif names:
        raise UnsupportedSchema("further members beside named ones, in this format")
    else:
        content = _FREE_BARE_KEY
    return rules.add("key", seq(Text(notation.key_open), content, Text(notation.key_close)), token=True)


@lru_cache(maxsize=32)
def key_notation(notation: Notation) -> Notation:
    """Return the notation of keys: always the same object, because values are cached by it."""
    return Notation(strings=(Quoting(notation.key_open, notation.key_close, notation.key_escapes),))


def _other_than(names: list[str], at: int, quoting: Quoting) -> Node:
    """Return what may follow `at` characters that all of `names` begin with, and is none of them."""
    longer = [name for name in names if len(name) > at]
    heads = points("".join(name[at] for name in longer))
    others = character(without(EVERY, heads), quoting)
    choices = [seq(others, repeat(character(EVERY, quoting), 0, max(0, MAX_KEY_CHARS - at)))]
    if len(longer) == len(names):
        choices.append(EMPTY)
    for head in sorted({name[at] for name in longer}):
        begun = [name for name in longer if name[at] == head]
        choices.append(seq(character(points(head), quoting), _other_than(begun, at + 1, quoting)))
    return alt(*choices)
