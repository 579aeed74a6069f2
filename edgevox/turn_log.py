"""The log of turns: one JSON line each in the state folder, never larger than its cap."""

from __future__ import annotations

import dataclasses
import datetime as dt
import json
import math
import os
from pathlib import Path

from edgevox.errors import StateError
from edgevox.metrics import StageSpan, TurnRecord

FILE_NAME = "turns.jsonl"
_OLDER_SUFFIX = ".1"


class TurnLog:
    """Appends records. A full file becomes the older one, so that half of the cap at least is always kept."""

    def __init__(self, folder: Path, *, max_bytes: int, keep_text: bool = True) -> None:
        self._path = folder / FILE_NAME
        self._older = folder / (FILE_NAME + _OLDER_SUFFIX)
        self._max_bytes = max_bytes
        self._keep_text = keep_text

    def append(self, record: TurnRecord) -> None:
        """Raises StateError when the folder cannot be written."""
        if not self._keep_text:
            record = dataclasses.replace(record, heard="", reply="")
        line = json.dumps(dataclasses.asdict(record), ensure_ascii=False) + "\n"
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            if self._path.exists() and self._path.stat().st_size + len(line.encode()) > self._max_bytes // 2:
                self._path.replace(self._older)
            with self._path.open("a", encoding="utf-8") as file:
                file.write(line)
        except OSError as error:
            raise StateError(
                f"the turn could not be recorded in {self._path}: {error.strerror}",
                hint="make that folder writable, free some space, or set EDGEVOX_STATE_DIR to another folder",
            ) from error

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
    beside = path.with_name(f"{path.name}.new")
    try:
        with beside.open("w", encoding="utf-8") as file:
            file.writelines(f"{line}\n" for line in lines)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
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
