"""Text normalisation for speech: removes markup and emoji, writes numbers and symbols as words.

`normalize_text` is a chain of passes from text to text, each in linear time, also for hostile input.
English has passes of its own (edgevox/tts/normalize/english.py); the others apply to every language.
"""

from __future__ import annotations

import html
import re
import unicodedata

from edgevox.tts.normalize.english import ENGLISH_PASSES, Pass

_FENCE = ("```", "~~~")
_RULE = re.compile(r"(?:[-*_=] ?){3,}+")
_TABLE_RULE = frozenset("|:- ")
_LINK_DEFINITION = re.compile(r"\[[^\[\]]++\]: ?\S++.*")
_QUOTE = re.compile(r"(?:> ?)++")
_HEADING = re.compile(r"#{1,6} ")
_BULLET = re.compile(r"[-*+•‣◦▪–] (?:\[[ xX]\] )?")
_NUMBER = re.compile(r"(\d{1,3})\) ")

_ENDS = ".!?…:;,。！？"


def strip_markdown(text: str) -> str:
    """The text in one line, without markup. Lines that are blocks of their own end like sentences."""
    text = _BREAK_TAG.sub("\n", text)
    spoken: list[str] = []
    ends_block = False
    for raw in text.split("\n"):
        line, is_block = _strip_block(raw.strip())
        line = _strip_inline(line).strip() if line else ""
        if not line:
            ends_block = True
            continue
        if spoken and (ends_block or is_block) and spoken[-1][-1] not in _ENDS:
            spoken[-1] += "."
        spoken.append(line)
        ends_block = is_block
    return " ".join(spoken)


def _strip_inline(line: str) -> str:
    for pattern, replacement in _INLINE:
        line = pattern.sub(replacement, line)
    return line


def _strip_block(line: str) -> tuple[str, bool]:
    """The line without the marks that make it a heading, a list item, a table row; and whether it was one."""
    if not line:
        return line, False
    if line.startswith(_FENCE):
        inside, fence, _ = line[3:].partition(line[:3])
        return (inside if fence else ""), True
    line = _QUOTE.sub("", line, count=1) if line.startswith(">") else line
    if _RULE.fullmatch(line) or _TABLE_RULE.issuperset(line) or _LINK_DEFINITION.fullmatch(line):
        return "", True
    if line.startswith("|") and line.endswith("|"):
        return ", ".join(cell.strip() for cell in line.strip("|").split("|") if cell.strip()), True
    if heading := _HEADING.match(line):
        text = line[heading.end() :]
        closed = text.rstrip("#")
        return (closed if closed.endswith(" ") else text), True
    if bullet := _BULLET.match(line):
        return line[bullet.end() :], True
    if number := _NUMBER.match(line):
        return f"{number[1]}. {line[number.end() :]}", True
    return line, False


_BREAK_TAG = re.compile(r"<(?:br|p|li|tr|h[1-6]|/p|/li|/tr|/h[1-6]) ?/?>", re.IGNORECASE)

_INLINE = [
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        (r"<!--(?:[^<>-]|-(?!->))*+-->", " "),  # comment
        (r"<((?:https?|mailto):[^<>\s]*+)>", r"\1"),  # <https://example.com>
        (r"</?[A-Za-z][^<>]*+>", " "),  # tag
        (r"!?\[([^\[\]]*+)\]\([^()]*+(?:\([^()]*+\)[^()]*+)?\)", r"\1"),  # [link](address), ![image](address)
        (r"\[\^[^\[\]]*+\]", ""),  # [^footnote]
        (r"\[([^\[\]]++)\]\[[^\[\]]*+\]", r"\1"),  # [link][reference]
        (r"\\([\\`*_{}\[\]()#+\-.!|~<>])", r"\1"),  # \*escaped\*
        (r"`++", ""),  # `code`
        (r"(?<!\d)\*\*++|\*\*++(?!\d)", ""),  # **strong**, not 2**3
        (r"(?<![\w*])\*(?=[^\s*])|(?<=[^\s*])\*(?![\w*])", ""),  # *emphasis*, not 3 * 4
        (r"(?<![\w~])~~(?=[^\s~])|(?<=[^\s~])~~(?![\w~])", ""),  # ~~struck~~
        (r"(?<!\w)_++(?=[^\W_])|(?<!_)_++(?!\w)", ""),  # __strong__, _emphasis_, not a_name
    )
]


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


def normalize_text(text: str, language: str = "en") -> str:
    """The text as words to speak; empty if there are none."""
    passes = _BY_LANGUAGE.get(language[:2].lower(), _OTHER_LANGUAGES)
    for rewrite in (*_FIRST_PASSES, *passes, *_LAST_PASSES):
        text = rewrite(text)
    return text if any(char.isalnum() for char in text) else ""


def resolve_entities(text: str) -> str:
    """Decode HTML entities."""
    return html.unescape(text) if "&" in text else text


def drop_invisible(text: str) -> str:
    """Reduce the text to printable characters, single spaces and line ends."""
    text = _BLANKS.sub(" ", _LINE_END.sub("\n", text))
    return "".join(
        char for char in text if char == "\n" or char in _LETTER_JOINERS or unicodedata.category(char) not in _INVISIBLE
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
    """Shorten URLs, with English words before the host."""

    def named(match: re.Match[str]) -> str:
        host, behind = _host(match)
        return f"a link to {host}{behind}" if host else behind

    return _ADDRESS.sub(named, text)


def drop_unspoken(text: str) -> str:
    """Remove unpaired markup and silent characters."""
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
