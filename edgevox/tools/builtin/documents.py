"""`search_corpus` and `list_corpora`: full-text search in the user's documents.

Documents are read as plain text in passages. The index is a SQLite FTS file that is kept in step with the
folder and can be rebuilt at any time.
"""

from __future__ import annotations

import logging
import os
import re
import sqlite3
import stat
import time
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from html import unescape
from itertools import islice
from pathlib import Path
from typing import Annotated

from pydantic import Field

from edgevox.core.errors import StateError, ToolError
from edgevox.core.files import private_folder
from edgevox.core.platform import open_no_follow
from edgevox.core.words import any_word_query, word_set
from edgevox.tools.tool import Tool, tool

MAX_FILE_BYTES = 2_000_000
MAX_FILES = 20_000
_PASSAGE_CHARS = 1_000
_HTML = frozenset({".html", ".htm"})
_TEXT = frozenset({".txt", ".text", ".md", ".markdown", ".rst", ".org"})
_BREAKS = word_set("p div br li ul ol tr table section article pre blockquote title h1 h2 h3 h4 h5 h6")
_TAG = re.compile(r"<(?P<slash>/?)(?P<name>!--|[!?]|[A-Za-z][A-Za-z0-9]*)")
_UNREAD = frozenset({"script", "style", "template", "svg"})


@dataclass(frozen=True, slots=True)
class Document:
    """A file in the documents folder; `path` is relative to it, and its first part is the corpus."""

    path: str
    size_bytes: int
    mtime_ns: int

    @property
    def corpus(self) -> str:
        first, slash, _ = self.path.partition("/")
        return first if slash else ""


def find_documents(folder: Path) -> Iterator[Document]:
    """All readable documents below the folder, in order; symlinks and hidden files are skipped."""
    for parent, names, files in os.walk(folder):
        names[:] = sorted(name for name in names if not name.startswith("."))
        for name in sorted(files):
            path = Path(parent, name)
            if name.startswith(".") or path.suffix.lower() not in _TEXT | _HTML:
                continue
            try:
                facts = path.lstat()
            except OSError:
                continue  # deleted meanwhile
            if stat.S_ISREG(facts.st_mode) and 0 < facts.st_size <= MAX_FILE_BYTES:
                yield Document(path.relative_to(folder).as_posix(), facts.st_size, facts.st_mtime_ns)


def read_passages(folder: Path, document: Document) -> list[str]:
    """The text of a document in passages of one or a few paragraphs; empty if it is not text or was deleted."""
    try:
        # The file may have been replaced by a symlink or a pipe since it was found.
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
    """The visible text of a page, with blank lines between blocks."""
    try:
        return unescape("".join(_shown(page)))
    except ValueError:  # a character reference with thousands of digits
        return "".join(_shown(page))


def _shown(page: str) -> Iterator[str]:
    # A single pass in linear time: html.parser takes minutes for a file of nothing but "<".
    at = 0
    while (start := page.find("<", at)) >= 0:
        yield page[at:start]
        tag = _TAG.match(page, start)
        if tag is None:
            yield "<"
            at = start + 1
            continue
        name = tag["name"].lower()
        mark = "-->" if name == "!--" else ">"
        end = page.find(mark, tag.end())
        at = len(page) if end < 0 else end + len(mark)
        if name in _UNREAD and not tag["slash"]:
            closing = re.compile(f"</{name}", re.IGNORECASE).search(page, at)
            at = closing.start() if closing else len(page)
        elif name in _BREAKS:
            yield "\n\n"
    yield page[at:]


def _passages(text: str) -> Iterator[str]:
    """Paragraphs; short ones are joined, long ones split at a word."""
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


DOCUMENTS_FILE = "documents.sqlite3"
# How long a search may update the index before it answers from the current one.
UPDATE_BUDGET_S = 5.0
_LOCK_WITHIN_S = 5.0
_BATCH = 50
_MAX_WORDS = 24
_SNIPPET_TOKENS = 48
_VERSION = 2
_SCHEMA = (
    "drop table if exists files",
    "drop table if exists passages",
    # The passages of a file have consecutive row ids, so that they are found without a search.
    "create table files (path text primary key, corpus text not null, size_bytes integer not null,"
    " mtime_ns integer not null, first_row integer not null, row_count integer not null)",
    "create virtual table passages using fts5(text, corpus unindexed, path unindexed,"
    " tokenize = 'porter unicode61 remove_diacritics 2')",
)
_SEARCH = (
    "select path, snippet(passages, 0, '', '', '…', ?) from passages"
    " where passages match ? and (? is null or corpus = ?) order by rank limit ?"
)

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Passage:
    """A search result as the model reads it; `file` is relative to the documents folder."""

    file: str
    text: str


class DocumentIndex:
    """Searches the documents below `folder`. Thread-safe; methods block, and raise StateError."""

    def __init__(
        self,
        folder: Path,
        database: Path,
        *,
        budget_s: float = UPDATE_BUDGET_S,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._folder = folder
        self._database = database
        # Identifies the schema and the folder that was indexed.
        self._key = zlib.crc32(f"{_VERSION} {folder}".encode()) >> 1
        self._budget_s = budget_s
        self._clock = clock

    def corpora(self) -> dict[str, int]:
        """The number of documents in each corpus; files outside of sub-folders are in the corpus ""."""
        with self._open() as connection:
            self._update(connection)
            rows = connection.execute(
                "select corpus, count(*) from files where row_count > 0 group by corpus order by corpus"
            )
            return {str(corpus): int(count) for corpus, count in rows}

    def search(self, query: str, *, corpus: str | None = None, limit: int = 3) -> tuple[Passage, ...]:
        """The best passages: not all words must match, and rare words count for more."""
        wanted = any_word_query(query, most=_MAX_WORDS) or any_word_query(query, most=_MAX_WORDS, without=frozenset())
        if not wanted:
            return ()
        with self._open() as connection:
            self._update(connection)
            rows = connection.execute(_SEARCH, (_SNIPPET_TOKENS, wanted, corpus, corpus, limit))
            return tuple(Passage(*row) for row in rows)

    # --- updating

    def _update(self, connection: sqlite3.Connection) -> None:
        """Update the index within the time budget; the next search continues from there."""
        if not self._folder.is_dir():
            # The index is kept: the disk may be unmounted for a while.
            raise StateError(
                f"there is no folder {self._folder}", hint="create it, or change tools.documents in the settings"
            )
        end_s = self._clock() + self._budget_s
        known = {
            path: (size, mtime)
            for path, size, mtime in connection.execute("select path, size_bytes, mtime_ns from files")
        }
        there = {document.path: document for document in islice(find_documents(self._folder), MAX_FILES)}
        changed = [one for one in there.values() if known.get(one.path) != (one.size_bytes, one.mtime_ns)]
        try:
            if gone := known.keys() - there.keys():
                with connection:
                    connection.execute("begin immediate")
                    for path in gone:
                        _forget(connection, path)
            for start in range(0, len(changed), _BATCH):
                with connection:
                    connection.execute("begin immediate")
                    for document in changed[start : start + _BATCH]:
                        _forget(connection, document.path)
                        _learn(connection, document, read_passages(self._folder, document))
                if self._clock() > end_s:
                    _log.info("the index of %s is not complete yet", self._folder)
                    break
        except sqlite3.OperationalError as error:
            # Another process is updating: the current index can be searched all the same.
            _log.info("the index of %s was not updated: %s", self._folder, error)

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        try:
            with closing(self._connected()) as connection:
                yield connection
        except sqlite3.OperationalError as error:
            raise StateError(
                f"the document index cannot be used: {error}",
                hint=f"free some space, or delete {self._database}: it will be rebuilt",
            ) from error
        except sqlite3.DatabaseError as error:
            _log.warning("%s is damaged and will be rebuilt: %s", self._database, error)
            self._database.unlink(missing_ok=True)
            raise StateError("the document index was damaged", hint="ask again: it is rebuilt now") from error
        except OSError as error:
            raise StateError(
                f"{self._database} cannot be written: {error.strerror}",
                hint="make that folder writable, or set EDGEVOX_STATE_DIR to another folder",
            ) from error

    def _connected(self) -> sqlite3.Connection:
        try:
            return self._connect()
        except sqlite3.OperationalError:
            raise  # locked, or the disk is full: rebuilding would not help
        except sqlite3.DatabaseError:
            _log.warning("%s is corrupt and will be rebuilt", self._database)
            self._database.unlink()
            return self._connect()

    def _connect(self) -> sqlite3.Connection:
        private_folder(self._database.parent)
        # Created here, because SQLite would make it readable by everybody.
        os.close(os.open(self._database, os.O_CREAT | os.O_RDWR, 0o600))
        connection = sqlite3.connect(self._database, timeout=_LOCK_WITHIN_S, isolation_level=None)
        try:
            if not self._is_ours(connection):
                with connection:
                    connection.execute("begin immediate")
                    if not self._is_ours(connection):  # else another process has created it meanwhile
                        for statement in (*_SCHEMA, f"pragma user_version = {self._key}"):
                            connection.execute(statement)
        except BaseException:
            connection.close()
            raise
        return connection

    def _is_ours(self, connection: sqlite3.Connection) -> bool:
        return bool(connection.execute("pragma user_version").fetchone() == (self._key,))


def _forget(connection: sqlite3.Connection, path: str) -> None:
    row = connection.execute("select first_row, row_count from files where path = ?", (path,)).fetchone()
    if row is not None:
        first, count = row
        connection.execute("delete from passages where rowid >= ? and rowid < ?", (first, first + count))
        connection.execute("delete from files where path = ?", (path,))


def _learn(connection: sqlite3.Connection, document: Document, passages: list[str]) -> None:
    """Documents without passages are recorded too, so that they are not read again until they change."""
    row = connection.execute("select rowid from passages order by rowid desc limit 1").fetchone()
    first = row[0] + 1 if row else 1
    connection.executemany(
        "insert into passages(rowid, text, corpus, path) values (?, ?, ?, ?)",
        ((number, text, document.corpus, document.path) for number, text in enumerate(passages, start=first)),
    )
    connection.execute(
        "insert into files values (?, ?, ?, ?, ?, ?)",
        (document.path, document.corpus, document.size_bytes, document.mtime_ns, first, len(passages)),
    )


TOOL_NAMES = ("search_corpus", "list_corpora")


def corpus_tools(folder: Path, database: Path) -> tuple[Tool, ...]:
    """The tools for the documents in `folder`; each sub-folder is a corpus."""
    index = DocumentIndex(folder, database)

    @tool(
        examples=[
            "what does the dishwasher manual say about error seven",
            "look in my recipes for something with leeks",
        ]
    )
    def search_corpus(
        query: Annotated[str, Field(min_length=1, max_length=300)], corpus: str | None = None
    ) -> tuple[Passage, ...] | str:
        """Search the user's own documents.

        Args:
            query: the words to look for
            corpus: search only this collection of documents
        """
        try:
            name = None if corpus is None else _matching(corpus, index.corpora(), folder.name)
            return index.search(query, corpus=name) or "Nothing fits."
        except StateError as error:
            raise ToolError(error.message) from error

    @tool(examples=["which documents can you search"])
    def list_corpora() -> dict[str, int] | str:
        """List the collections of the user's own documents, with how many each has."""
        try:
            corpora = {name or folder.name: count for name, count in index.corpora().items()}
        except StateError as error:
            raise ToolError(error.message) from error
        return corpora or "There are no documents yet."

    return search_corpus, list_corpora


def _matching(wanted: str, corpora: Iterable[str], whole: str) -> str:
    """The corpus of that name; files outside of sub-folders go by the folder's name. Raises ToolError."""
    names = {(corpus or whole).casefold(): corpus for corpus in corpora}
    if wanted.strip().casefold() not in names:
        there = ", ".join(corpus or whole for corpus in names.values()) or "none"
        raise ToolError(f"there is no corpus called {wanted}; there are: {there}")
    return names[wanted.strip().casefold()]
