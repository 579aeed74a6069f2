"""Text normalisation for speech: removes markup and emoji, writes numbers and symbols as words.

Every step takes linear time, also for hostile input. English has rules of its own (english.py), six languages have a
table each (other_languages.py); the other steps apply to every language.
"""

from __future__ import annotations

import html
import re
import unicodedata

from edgevox.tts.normalize.english import normalize_english
from edgevox.tts.normalize.other_languages import normalize_other

_FENCE = ("```", "~~~")
_RULE = re.compile(r"(?:[-*_=] ?){3,}+")
_TABLE_RULE = frozenset("|:- ")
_LINK_DEFINITION = re.compile(r"\[[^\[\]]++\]: ?\S++.*")
_QUOTE = re.compile(r"(?:> ?)++")
_HEADING = re.compile(r"#{1,6} ")
_BULLET = re.compile(r"[-*+•‣◦▪–] (?:\[[ xX]\] )?")
_NUMBER = re.compile(r"(\d{1,3})\) ")

_ENDS = ".!?…:;,。！？"


def _strip_markdown(text: str) -> str:
    """The text in one line, without markup. Lines that are blocks of their own end like sentences."""
    text = _BREAK_TAG.sub("\n", text)
    spoken: list[str] = []
    ends_block = False
    for raw in text.split("\n"):
        line, is_block = _strip_block(raw.strip())
        for pattern, replacement in _INLINE:
            line = pattern.sub(replacement, line)
        if not (line := line.strip()):
            ends_block = True
            continue
        if spoken and (ends_block or is_block) and spoken[-1][-1] not in _ENDS:
            spoken[-1] += "."
        spoken.append(line)
        ends_block = is_block
    return " ".join(spoken)


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
    text = _strip_markdown(_drop_pictures(_drop_invisible(html.unescape(text))))
    if language[:2].lower() == "en":
        text = normalize_english(_shorten_addresses(text, "a link to "))
    else:
        text = normalize_other(_shorten_addresses(text), language[:2].lower())
    text = _EMPTY_BRACKETS.sub("", _UNSPOKEN.sub(" ", text))
    text = _BLANK_BEFORE_MARK.sub("", " ".join(text.split()))
    return text if any(char.isalnum() for char in text) else ""


def _drop_invisible(text: str) -> str:
    """Reduce the text to printable characters, single spaces and line ends."""
    text = _BLANKS.sub(" ", _LINE_END.sub("\n", text))
    return "".join(
        char for char in text if char == "\n" or char in _LETTER_JOINERS or unicodedata.category(char) not in _INVISIBLE
    )


def _drop_pictures(text: str) -> str:
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


def _shorten_addresses(text: str, prefix: str = "") -> str:
    """https://www.example.com/a?b becomes example.com, with the prefix before it."""

    def shortened(match: re.Match[str]) -> str:
        address = match[1].rstrip(".,;:!?'’")
        host = re.split(r"[/?#:]", address, maxsplit=1)[0].rpartition("@")[2].removeprefix("www.")
        return (prefix + host if host else "") + match[1][len(address) :]

    return _ADDRESS.sub(shortened, text)
