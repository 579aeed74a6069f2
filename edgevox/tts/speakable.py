"""What a person would read aloud of a text: no markup, no pictures, numbers and signs as words.

`speakable` is a row of passes, each from text to text, each in linear time. English has its own
(edgevox/tts/english.py); the others hold for every language.
"""

from __future__ import annotations

import html
import re
import unicodedata

from edgevox.tts.english import ENGLISH_PASSES, Pass
from edgevox.tts.markdown import strip_markdown

_LINE_END = re.compile(r"\r\n?|[\v\f\x1c-\x1e\x85\u2028\u2029]")
_BLANKS = re.compile(r"[^\S\n]++")
_SPOKEN_SIGNS = frozenset("°℃℉№")
_PICTURE_PARTS = frozenset("\ufe0e\ufe0f\u20e3\u200d" + "".join(map(chr, range(0x1F3FB, 0x1F400))))
_INVISIBLE = frozenset(("Cc", "Cf", "Cs", "Co", "Cn"))
# Persian and the Indic scripts spell with these.
_LETTER_JOINERS = frozenset("\u200c\u200d")

_EMOTICON = re.compile(r"(?<!\S)(?:[:;=8][-']?[()DPp|/\\oO]|<3|[xX]D)(?=[\s.,!?]|$)")
_ADDRESS = re.compile(r"(?:https?://|\bwww\.)([^\s<>\"()\[\]{}]++)", re.IGNORECASE)
_UNSPOKEN = re.compile(r"[*_`#|~^\\<>{}\[\]→⇒]++")
_EMPTY_BRACKETS = re.compile(r"\( ?\)")
_BLANK_BEFORE_MARK = re.compile(r" ++(?=[,.;:!?](?:\s|$))")


def speakable(text: str, language: str = "en") -> str:
    """The words to be spoken; empty when there are none."""
    passes = _BY_LANGUAGE.get(language[:2].lower(), _OTHER_LANGUAGES)
    for rewrite in (*_FIRST_PASSES, *passes, *_LAST_PASSES):
        text = rewrite(text)
    return text if any(char.isalnum() for char in text) else ""


def resolve_entities(text: str) -> str:
    """&amp; and its like."""
    return html.unescape(text) if "&" in text else text


def drop_invisible(text: str) -> str:
    """Only letters, signs, single blanks and line ends are left."""
    text = _BLANKS.sub(" ", _LINE_END.sub("\n", text))
    return "".join(
        char
        for char in text
        if char == "\n" or char in _LETTER_JOINERS or unicodedata.category(char) not in _INVISIBLE
    )


def drop_pictures(text: str) -> str:
    """Emoji, dingbats and emoticons."""
    kept: list[str] = []
    for char in _EMOTICON.sub("", text):
        if char in _PICTURE_PARTS:
            # The joiner inside a word belongs to the word.
            if char == "\u200d" and kept and kept[-1].isalpha():
                kept.append(char)
        elif unicodedata.category(char) != "So" or char in _SPOKEN_SIGNS:
            kept.append(char)
    return "".join(kept)


def shorten_addresses(text: str) -> str:
    """https://www.example.com/a?b becomes example.com."""
    return _ADDRESS.sub(lambda match: "".join(_host(match)), text)


def name_addresses(text: str) -> str:
    """The same, with the words that an English speaker would put before it."""

    def named(match: re.Match[str]) -> str:
        host, behind = _host(match)
        return f"a link to {host}{behind}" if host else behind

    return _ADDRESS.sub(named, text)


def drop_unspoken(text: str) -> str:
    """Markup that had no partner, and signs without a sound."""
    return _EMPTY_BRACKETS.sub("", _UNSPOKEN.sub(" ", text))


def tidy(text: str) -> str:
    return _BLANK_BEFORE_MARK.sub("", " ".join(text.split()))


_FIRST_PASSES: tuple[Pass, ...] = (resolve_entities, drop_invisible, drop_pictures, strip_markdown)
_BY_LANGUAGE: dict[str, tuple[Pass, ...]] = {"en": (name_addresses, *ENGLISH_PASSES)}
_OTHER_LANGUAGES: tuple[Pass, ...] = (shorten_addresses,)
_LAST_PASSES: tuple[Pass, ...] = (drop_unspoken, tidy)


def _host(match: re.Match[str]) -> tuple[str, str]:
    """The host of an address, and the punctuation that only stood behind it."""
    address = match[1].rstrip(".,;:!?'’")
    host = re.split(r"[/?#:]", address, maxsplit=1)[0].rpartition("@")[2]
    return host.removeprefix("www."), match[1][len(address) :]
