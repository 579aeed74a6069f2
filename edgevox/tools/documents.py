"""Reading documents as plain text, in passages: what is no text, too big, or elsewhere is left out."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from html import unescape
from pathlib import Path

from edgevox.platform_support import open_no_follow

MAX_FILE_BYTES = 2_000_000
MAX_FILES = 20_000
_PASSAGE_CHARS = 1_000
_HTML = frozenset({".html", ".htm"})
_TEXT = frozenset({".txt", ".text", ".md", ".markdown", ".rst", ".org"})
_BREAKS = frozenset(
    {
        *("p", "div", "br", "li", "ul", "ol", "tr", "table", "section", "article", "pre", "blockquote"),
        *("title", "h1", "h2", "h3", "h4", "h5", "h6"),
    }
)
_TAG = re.compile(r"<(?P<slash>/?)(?P<name>!--|[!?]|[A-Za-z][A-Za-z0-9]*)")
_UNREAD = frozenset({"script", "style", "template", "svg"})


@dataclass(frozen=True, slots=True)
class Document:
    """A file below the folder of documents: `path` is relative to it, and its first part the corpus."""

    path: str
    size_bytes: int
    mtime_ns: int

    @property
    def corpus(self) -> str:
        first, slash, _ = self.path.partition("/")
        return first if slash else ""


def find_documents(folder: Path) -> Iterator[Document]:
    """Every readable document below the folder, in order; links and hidden files are not followed."""
    found = 0
    for parent, names, files in os.walk(folder):
        names[:] = sorted(name for name in names if not name.startswith("."))
        for name in sorted(files):
            path = Path(parent, name)
            if name.startswith(".") or path.suffix.lower() not in _TEXT | _HTML:
                continue
            try:
                facts = path.lstat()
            except OSError:
                continue  # it went away meanwhile
            if not stat.S_ISREG(facts.st_mode) or not 0 < facts.st_size <= MAX_FILE_BYTES:
                continue
            yield Document(path.relative_to(folder).as_posix(), facts.st_size, facts.st_mtime_ns)
            found += 1
            if found >= MAX_FILES:
                return


def read_passages(folder: Path, document: Document) -> list[str]:
    """The text of a document in pieces of a paragraph or a few; none when it is no text or has gone."""
    try:
        # What was a file when it was found may be a link or a pipe by now.
        with os.fdopen(open_no_follow(folder / document.path), "rb") as file:
            data = file.read(MAX_FILE_BYTES)
    except OSError:
        return []
    if b"\0" in data:
        return []
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = data.decode("cp1252", errors="replace")
    if Path(document.path).suffix.lower() in _HTML:
        text = html_text(text)
    return list(_passages(text))


def html_text(page: str) -> str:
    """What a reader sees of a page, with blank lines between its blocks."""
    try:
        return unescape("".join(_shown(page)))
    except ValueError:  # a character whose number has thousands of digits
        return "".join(_shown(page))


def _shown(page: str) -> Iterator[str]:
    # One way through, in linear time: html.parser needs minutes for a file of nothing but "<".
    at = 0
    while (start := page.find("<", at)) >= 0:
        yield page[at:start]
        tag = _TAG.match(page, start)
        if tag is None:
            yield "<"
            at = start + 1
            continue
        name = tag["name"].lower()
        at = _end(page, "-->" if name == "!--" else ">", tag.end())
        if name in _UNREAD and not tag["slash"]:
            closing = re.compile(f"</{name}", re.IGNORECASE).search(page, at)
            at = closing.start() if closing else len(page)
        elif name in _BREAKS:
            yield "\n\n"
    yield page[at:]


def _end(page: str, mark: str, at: int) -> int:
    found = page.find(mark, at)
    return len(page) if found < 0 else found + len(mark)


def _passages(text: str) -> Iterator[str]:
    """Paragraphs, put together while they are short and cut at a word where they are long."""
    passage = ""
    for paragraph in re.split(r"\n[ \t\r]*\n", text):
        words = " ".join(paragraph.split())
        if passage and len(passage) + len(words) > _PASSAGE_CHARS:
            yield passage
            passage = ""
        passage = f"{passage}\n{words}" if passage and words else passage or words
        while len(passage) > _PASSAGE_CHARS:
            cut = passage.rfind(" ", 0, _PASSAGE_CHARS)
            cut = cut if cut > 0 else _PASSAGE_CHARS
            yield passage[:cut]
            passage = passage[cut:].lstrip()
    if passage:
        yield passage
