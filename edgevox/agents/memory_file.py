"""The SQLite file of turns and summaries in the state folder. Every method blocks.

Deletion overwrites the bytes, in the file and in its write-ahead log.
"""

from __future__ import annotations

import json
import math
import os
import sqlite3
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

from filelock import FileLock, Timeout

from edgevox.agents.conversation import Summary, TurnRecord, messages_as_json, messages_from_json
from edgevox.core.errors import StateError
from edgevox.core.files import inode, private_folder, set_aside

FILE_NAME = "memory.sqlite"

# SQL scripts: the first leads from version 1 to 2. `_SCHEMA` creates the version after the last one.
_MIGRATIONS: tuple[str, ...] = ()
_SCHEMA = Path(__file__).with_suffix(".sql")
# Readers run on the event loop and wait only while an interrupted log is recovered.
_BUSY_S = {"rw": 5.0, "ro": 0.2}
# Python cannot decode SQLite's message if it quotes a damaged schema.
_TROUBLE = (sqlite3.Error, UnicodeDecodeError)
# SQLite result codes that mean damaged content.
_BROKEN_CODES = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR)
_HINT = "make that folder writable, free some space, or set EDGEVOX_STATE_DIR to another folder"


class MemoryBroken(StateError):
    """The file is damaged."""


class MemoryFile:
    """An open file. It may move to another thread, but not be used by two at once.

    Every method raises StateError if the file cannot be used.
    """

    def __init__(self, path: Path, mode: Literal["ro", "rw"] = "ro") -> None:
        """Raises sqlite3.Error: use `open`, `open_to_read` or `reader`."""
        self.path = path
        self.set_aside: Path | None = None
        """The new path of a damaged file that was replaced."""
        self._inode = inode(path)
        self._connection = sqlite3.connect(
            f"{path.absolute().as_uri()}?mode={mode}",
            uri=True,
            timeout=_BUSY_S[mode],
            isolation_level=None,
            check_same_thread=False,
        )
        self._connection.text_factory = lambda text: text.decode("utf-8", errors="replace")
        try:
            self._prepare(mode)
        except BaseException:
            self.close()
            raise

    @property
    def is_deleted(self) -> bool:
        """Whether the file was removed or replaced; SQLite would keep writing to the unlinked one."""
        return inode(self.path) != self._inode

    @classmethod
    def open(cls, folder: Path) -> MemoryFile:
        """Open the file for writing; create a missing one, and set a damaged one aside first."""
        path = folder / FILE_NAME
        with _errors_explained(path):
            private_folder(folder)
            with FileLock(folder / f".{FILE_NAME}.lock", timeout=_BUSY_S["rw"], mode=0o600):
                try:
                    return cls._create(path)
                except _TROUBLE as error:
                    if not _is_broken(error):
                        raise
                kept = set_aside(path, "-wal", "-shm")
                fresh = cls._create(path)
                fresh.set_aside = kept
                return fresh

    @classmethod
    def open_to_read(cls, folder: Path) -> MemoryFile | None:
        """Open the file read-only, or return None if it is missing."""
        path = folder / FILE_NAME
        with _errors_explained(path):
            return cls(path) if path.exists() else None

    def reader(self) -> MemoryFile:
        """Return a read-only connection for another thread; writes do not block it."""
        with _errors_explained(self.path):
            return MemoryFile(self.path)

    def close(self) -> None:
        self._connection.close()

    # --- writing

    def add(self, turn: TurnRecord) -> None:
        values = (turn.id, turn.conversation, turn.at_s, turn.source, turn.finish_reason)
        text = messages_as_json(turn.messages)
        self._write("INSERT OR REPLACE INTO turns VALUES (NULL, ?, ?, ?, ?, ?, ?)", (*values, text))

    def amend(self, turn: TurnRecord) -> None:
        """Overwrite the messages of a turn; does nothing if it was deleted."""
        values = (turn.finish_reason, messages_as_json(turn.messages), turn.id)
        self._write("UPDATE turns SET finish_reason = ?, messages = ? WHERE id = ?", values)

    def summarise(self, conversation: str, summary: Summary) -> None:
        """Replace the summary of a conversation; does nothing if its turns were deleted."""
        self._write(
            "INSERT OR REPLACE INTO summaries SELECT ?, ?, first.number, last.number "
            "FROM turns AS first, turns AS last WHERE first.id = ? AND last.id = ?",
            (conversation, summary.text, summary.first_id, summary.last_id),
        )

    def delete(self, *, from_s: float = -math.inf, until_s: float = math.inf) -> int:
        """Delete the turns of a period and return their number; call `wipe` to remove their bytes."""
        return self._write("DELETE FROM turns WHERE at_s >= ? AND at_s < ?", (from_s, until_s))

    def probe(self) -> None:
        """Check that the file is writable, without changing it."""
        self._write("UPDATE forgettings SET times = times")

    def wipe(self) -> None:
        """Remove all bytes of deleted turns from the file and SQLite's side files."""
        # Deleted rows are already zeroed. Free the space, and empty the log, which holds earlier pages.
        self._read("VACUUM")
        if self._value("PRAGMA wal_checkpoint(TRUNCATE)"):
            raise StateError(
                f"the turns are deleted, but another program is reading {self.path}: their bytes are still there",
                hint="end that program, or run the command again",
            )

    # --- reading

    def turns(self, *, from_s: float = -math.inf, until_s: float = math.inf) -> Iterator[TurnRecord]:
        """Iterate over the turns of a period, newest first; unreadable ones are skipped."""
        period = (from_s, until_s)
        return _readable(self._read("SELECT * FROM turns WHERE at_s >= ? AND at_s < ? ORDER BY number DESC", period))

    def count(self) -> int:
        return int(self._value("SELECT count(*) FROM turns"))

    def last_turns(self, conversation: str, limit: int) -> tuple[tuple[TurnRecord, ...], Summary | None, float]:
        """Return the last turns that are not summarised, the summary if any, and the time of its last turn."""
        found = self._read(
            "SELECT text, first.id, last.id, last_turn, last.at_s FROM summaries "
            "JOIN turns AS first ON first.number = first_turn "
            "JOIN turns AS last ON last.number = last_turn "
            "WHERE summaries.conversation = ?",
            (conversation,),
        )
        *summary, after, summarised_s = found[0] if found else (0, -math.inf)
        rows = self._read(
            "SELECT * FROM turns WHERE conversation = ? AND number > ? ORDER BY number DESC LIMIT ?",
            (conversation, after, limit),
        )
        return tuple(_readable(reversed(rows))), Summary(*summary) if summary else None, summarised_s

    def surviving(self, turn_ids: Collection[str]) -> frozenset[str]:
        """Return the ids of those turns that have not been deleted."""
        ids = (json.dumps(list(turn_ids)),)
        rows = self._read("SELECT id FROM turns WHERE id IN (SELECT value FROM json_each(?))", ids)
        return frozenset(row[0] for row in rows)

    def forgettings(self) -> int:
        """Return a number that grows with every deleted turn."""
        return int(self._value("SELECT times FROM forgettings"))

    # --- opening

    @classmethod
    def _create(cls, path: Path) -> MemoryFile:
        # SQLite gives its side files the permissions of this one.
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
        return cls(path, "rw")

    def _prepare(self, mode: Literal["ro", "rw"]) -> None:
        """Check the version and, for writing, the content; create the tables of a new file."""
        run = self._connection.execute
        version = run("PRAGMA user_version").fetchone()[0]
        present = len(_MIGRATIONS) + 1
        if version > present:
            raise StateError(
                f"{self.path} was written by a newer version of EdgeVox", hint="use that version, or move the file away"
            )
        if mode == "ro":
            if 0 < version < present:
                raise StateError(f"{self.path} has an earlier version", hint="edgevox run converts it")
            return
        run("PRAGMA journal_mode = WAL")
        # One fsync per turn, off the event loop: a turn with an action survives a power cut.
        run("PRAGMA synchronous = FULL")
        run("PRAGMA secure_delete = ON")
        run("PRAGMA temp_store = MEMORY")  # VACUUM must not leave text in a temporary folder
        script = "".join(_MIGRATIONS[version - 1 :]) if version else _SCHEMA.read_text(encoding="utf-8")
        if script:
            self._connection.executescript(f"BEGIN IMMEDIATE; {script} PRAGMA user_version = {present}; COMMIT")
        # The full check: the quick one skips the indexes, without which nothing can be deleted.
        if run("PRAGMA integrity_check(1)").fetchone()[0] != "ok":
            raise _Broken("its pages are inconsistent")
        if run("SELECT times FROM forgettings").fetchone() is None:
            raise _Broken("a part is missing")

    def _read(self, query: str, values: tuple[object, ...] = ()) -> list[Any]:
        with _errors_explained(self.path):
            return self._connection.execute(query, values).fetchall()

    def _value(self, query: str) -> Any:  # noqa: ANN401 - what the column holds
        return self._read(query)[0][0]

    def _write(self, statement: str, values: tuple[object, ...] = ()) -> int:
        """Run a statement in a transaction and return the number of changed rows."""
        with _errors_explained(self.path):
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                changed = self._connection.execute(statement, values).rowcount
                self._connection.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:  # some errors have already ended it
                    self._connection.execute("ROLLBACK")
                raise
            return changed


@contextmanager
def _errors_explained(path: Path) -> Iterator[None]:
    try:
        yield
    except (OSError, Timeout, *_TROUBLE) as error:
        if _is_broken(error):
            hint = "edgevox run sets it aside and creates a new one"
            raise MemoryBroken(f"{path} is damaged: {error}", hint=hint) from error
        reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
        raise StateError(f"conversations cannot be stored in {path}: {reason}", hint=_HINT) from error


class _Broken(sqlite3.DatabaseError):
    """The file can be opened but is incomplete."""

    sqlite_errorcode = sqlite3.SQLITE_CORRUPT


def _is_broken(error: Exception) -> bool:
    # The low byte is the primary error code.
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_OK) & 0xFF
    return code in _BROKEN_CODES or isinstance(error, UnicodeDecodeError)


def _readable(rows: Iterable[Any]) -> Iterator[TurnRecord]:
    for _number, turn_id, conversation, at_s, source, finish_reason, messages in rows:
        try:
            yield TurnRecord(turn_id, conversation, float(at_s), source, finish_reason, messages_from_json(messages))
        except ValueError:
            continue
