"""Characters and strings in each notation, with its escapes."""

from __future__ import annotations

from functools import lru_cache
from json.encoder import encode_basestring, encode_basestring_ascii

from edgevox.llm.grammar.language import (
    NEVER,
    Node,
    Ranges,
    Text,
    UnsupportedSchema,
    alt,
    chars,
    common,
    joined,
    of_ranges,
    repeat,
    seq,
    without,
)
from edgevox.llm.grammar.numbers import same_length
from edgevox.llm.tool_parsers.notation import Escapes, Quoting

# All characters of a text. NUL is excluded: llama.cpp takes it for the end of a token.
EVERY: Ranges = ((0x01, 0xD7FF), (0xE000, 0x10FFFF))
_CONTROL: Ranges = ((0x00, 0x1F),)
_HEX = "0123456789abcdef"
_HEX_DIGIT = chars("0123456789abcdefABCDEF")
_SHORT = {0x08: "\\b", 0x09: "\\t", 0x0A: "\\n", 0x0C: "\\f", 0x0D: "\\r", 0x22: '\\"', 0x5C: "\\\\"}
_PYTHON_SHORT = {0x09: "\\t", 0x0A: "\\n", 0x0D: "\\r", 0x5C: "\\\\"}
# Beyond this, the escapes of a class would cost more than they are worth.
_MOST_ESCAPED_RANGES = 16


@lru_cache(maxsize=256)
def character(ranges: Ranges, quoting: Quoting) -> Node:
    """Return one character of `ranges` inside a string; NEVER if none can be written there."""
    if ranges == EVERY:
        return _any_character(quoting)
    match quoting.escapes:
        case "json":
            raw = without(ranges, joined((*_CONTROL, (0x22, 0x22), (0x5C, 0x5C))))
            short = [Text(written) for code, written in _SHORT.items() if common(ranges, ((code, code),))]
            return alt(of_ranges(raw), *short, _json_escapes(ranges))
        case "python":
            quote = ord(quoting.open)
            raw = without(ranges, joined((*_CONTROL, (quote, quote), (0x5C, 0x5C))))
            escaped = {**_PYTHON_SHORT, quote: f"\\{quoting.open}"}
            short = [Text(written) for code, written in escaped.items() if common(ranges, ((code, code),))]
            return alt(of_ranges(raw), *short)
        case "none":
            return of_ranges(without(ranges, joined((ord(char), ord(char)) for char in f"\0{quoting.barred}")))


def _any_character(quoting: Quoting) -> Node:
    four = repeat(_HEX_DIGIT, 4, 4)
    match quoting.escapes:
        case "json":
            pair = seq(chars("dD"), chars("89abAB"), repeat(_HEX_DIGIT, 2, 2), Text("\\u"))
            low = seq(chars("dD"), chars("cdefCDEF"), repeat(_HEX_DIGIT, 2, 2))
            single = alt(
                seq(chars("0123456789abcefABCEF"), repeat(_HEX_DIGIT, 3, 3)),
                seq(chars("dD"), chars("01234567"), repeat(_HEX_DIGIT, 2, 2)),
            )
            raw = of_ranges(without(EVERY, joined((*_CONTROL, (0x22, 0x22), (0x5C, 0x5C)))))
            return alt(raw, seq(Text("\\"), alt(chars('"\\/bfnrt'), seq(Text("u"), alt(single, seq(pair, low))))))
        case "python":
            quote = ord(quoting.open)
            raw = of_ranges(without(EVERY, joined((*_CONTROL, (quote, quote), (0x5C, 0x5C)))))
            code = alt(seq(Text("x"), repeat(_HEX_DIGIT, 2, 2)), seq(Text("u"), four))
            return alt(raw, seq(Text("\\"), alt(chars("\\'\"nrt"), code)))
        case "none":
            return of_ranges(without(EVERY, joined((ord(char), ord(char)) for char in quoting.barred)))


def _json_escapes(ranges: Ranges) -> Node:
    r"""Return `\u` and four digits, for control characters and non-ASCII."""
    outside = without(ranges, ((0x20, 0x7F), *((code, code) for code in (8, 9, 10, 12, 13))))
    if not outside or len(outside) > _MOST_ESCAPED_RANGES:
        return NEVER
    choices: list[Node] = []
    for first, last in outside:
        if first <= 0xFFFF:
            written = same_length(f"{first:04x}", f"{min(last, 0xFFFF):04x}", _HEX)
            choices.append(seq(Text("\\u"), written))
        if last > 0xFFFF:
            choices.append(_surrogates(max(first, 0x10000), last))
    return alt(*choices)


def _surrogates(first: int, last: int) -> Node:
    def pair(high_first: int, high_last: int, low_first: int, low_last: int) -> Node:
        return seq(
            Text("\\u"),
            same_length(f"{high_first:04x}", f"{high_last:04x}", _HEX),
            Text("\\u"),
            same_length(f"{low_first:04x}", f"{low_last:04x}", _HEX),
        )

    (high, low), (last_high, last_low) = _split(first), _split(last)
    if high == last_high:
        return pair(high, high, low, last_low)
    choices = [pair(high, high, low, 0xDFFF), pair(last_high, last_high, 0xDC00, last_low)]
    if high + 1 < last_high:
        choices.append(pair(high + 1, last_high - 1, 0xDC00, 0xDFFF))
    return alt(*choices)


def _split(code: int) -> tuple[int, int]:
    return 0xD800 + ((code - 0x10000) >> 10), 0xDC00 + ((code - 0x10000) & 0x3FF)


def spellings(value: str, escapes: Escapes, *, quote: str = '"', barred: str = "") -> tuple[str, ...]:
    """Return the spellings of this text between quotes. Raises UnsupportedSchema if the notation cannot write it.

    JSON has two valid spellings of non-ASCII text.
    """
    match escapes:
        case "json":
            coded = encode_basestring_ascii(value)[1:-1]
            if value.isascii():
                return (coded,)
            plain = encode_basestring(value)[1:-1]
            return (plain, coded) if is_encodable(plain) else (coded,)
        case "python":
            if not is_encodable(value):
                raise UnsupportedSchema("half a character outside JSON")
            return ("".join(_python_character(char, quote) for char in value),)
        case "none":
            if not is_encodable(value) or any(char in value for char in f"\0{barred}"):
                raise UnsupportedSchema(f"{value!r:.60} cannot be written in this format")
            return (value,)


def _python_character(char: str, quote: str) -> str:
    if char in (quote, "\\"):
        return f"\\{char}"
    return char if char.isprintable() else repr(char)[1:-1]


def is_encodable(value: str) -> bool:
    return not any(0xD800 <= ord(char) <= 0xDFFF for char in value)
