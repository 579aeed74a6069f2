"""What is left of Markdown and HTML when it is read aloud: the words.

Every pattern starts where it can only start once per run of characters, so that a hostile text costs linear
time; there is no pattern that crosses a line.
"""

from __future__ import annotations

import re

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
