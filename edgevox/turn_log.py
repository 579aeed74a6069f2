"""The log of turns: one JSON line each in the state folder, never larger than its cap.

What cannot be written is written later, without its words: nobody could delete those meanwhile.
"""

from __future__ import annotations

import dataclasses
import datetime as dt
import errno
import json
import logging
import math
import os
from collections import deque
from pathlib import Path

from edgevox.errors import StateError
from edgevox.metrics import StageSpan, TurnRecord
from edgevox.whole_file import write_whole

log = logging.getLogger(__name__)

FILE_NAME = "turns.jsonl"
_OLDER_SUFFIX = ".1"
_MOST_WAITING = 1000


class TurnLog:
    """Appends records. A full file becomes the older one, so that half of the cap at least is always kept."""

    def __init__(self, folder: Path, *, max_bytes: int, keep_text: bool = True) -> None:
        self._path = folder / FILE_NAME
        self._older = folder / (FILE_NAME + _OLDER_SUFFIX)
        self._max_bytes = max_bytes
        self._keep_text = keep_text
        self._has_written = False
        self._waiting: deque[TurnRecord] = deque(maxlen=_MOST_WAITING)
        """What could not be written yet."""

    def append(self, record: TurnRecord) -> None:
        """Raises StateError when the folder cannot be written; the record waits then."""
        try:
            self.catch_up()
            self._write(record if self._keep_text else _wordless(record))
        except StateError:
            self._waiting.append(_wordless(record))
            raise

    def catch_up(self) -> None:
        """Write what is still waiting. Raises StateError."""
        while self._waiting:
            self._write(self._waiting[0])
            self._waiting.popleft()

    def _write(self, record: TurnRecord) -> None:
        line = json.dumps(dataclasses.asdict(record), ensure_ascii=False).encode() + b"\n"
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            is_there = self._path.exists()
            if self._has_written and not is_there:
                log.warning("%s was deleted: it is begun anew", self._path)
            if is_there and self._path.stat().st_size + len(line) > self._max_bytes // 2:
                self._path.replace(self._older)
            _append(self._path, line)
            self._has_written = True
        except OSError as error:
            raise StateError(
                f"the turn could not be recorded in {self._path}: {error.strerror}",
                hint="make that folder writable, free some space, or set EDGEVOX_STATE_DIR to another folder",
            ) from error

    def between(self, from_s: float, until_s: float) -> list[TurnRecord]:
        """The turns that ended in a time, oldest first. Raises StateError."""
        records = map(_parse, (line for path in (self._older, self._path) for line in _lines(path)))
        return [record for record in records if record and from_s <= _moment_s(record) < until_s]

    def moments(self) -> dict[str, float]:
        """When each recorded turn ended, in seconds since 1970, by its id. Raises StateError."""
        records = map(_parse, (line for path in (self._older, self._path) for line in _lines(path)))
        return {record.turn_id: _moment_s(record) for record in records if record}

    def delete(self, *, from_s: float = -math.inf, until_s: float = math.inf) -> int:
        """Delete the records of a time, and every line that cannot be read. Raises StateError."""
        deleted = 0
        for path in (self._older, self._path):
            lines = _lines(path)
            kept = [line for line in lines if _is_outside(line, from_s, until_s)]
            if len(kept) < len(lines):
                _replace(path, kept)
                deleted += len(lines) - len(kept)
        return deleted

    def last(self) -> TurnRecord | None:
        """The newest record that can be read, or None. Raises StateError."""
        for path in (self._path, self._older):
            for line in reversed(_lines(path)):
                if record := _parse(line):
                    return record
        return None


def _append(path: Path, line: bytes) -> None:
    """The whole line or nothing of it. Raises OSError."""
    with path.open("ab", buffering=0) as file:
        size = file.tell()
        if file.write(line) < len(line):
            os.ftruncate(file.fileno(), size)
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def _wordless(record: TurnRecord) -> TurnRecord:
    return dataclasses.replace(record, heard="", reply="")


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8", errors="replace").splitlines()
    except FileNotFoundError:
        return []
    except OSError as error:
        raise StateError(f"{path} cannot be read: {error.strerror}", hint="check its permissions") from error


def _is_outside(line: str, from_s: float, until_s: float) -> bool:
    record = _parse(line)
    return record is not None and not from_s <= _moment_s(record) < until_s


def _moment_s(record: TurnRecord) -> float:
    try:
        return dt.datetime.fromisoformat(record.at).timestamp()
    except (ValueError, TypeError, OverflowError):
        return -math.inf


def _replace(path: Path, lines: list[str]) -> None:
    try:
        write_whole(path, *(f"{line}\n" for line in lines))
    except OSError as error:
        raise StateError(
            f"{path} cannot be changed: {error.strerror}", hint="check its permissions"
        ) from error


def _parse(line: str) -> TurnRecord | None:
    # A line cut by a power failure, or of another version, is passed over.
    try:
        values = json.loads(line)
        stages = tuple(StageSpan(**stage) for stage in values.pop("stages"))
        return TurnRecord(**values, stages=stages)
    except (ValueError, TypeError, KeyError, AttributeError):
        return None
