"""A JSON state file with atomic writes and a lock between processes.

A damaged file is set aside, one of an earlier version is migrated, and one of a newer version is left alone.
"""

from __future__ import annotations

import json
import logging
import re
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, Literal, TypeAlias, TypeVar

from filelock import Timeout
from pydantic import BaseModel, ValidationError

from edgevox.core.errors import StateError
from edgevox.core.files import file_lock, parse_json, set_aside, write_atomic

log = logging.getLogger(__name__)

_Stamp: TypeAlias = tuple[int, int, int]
ContentT = TypeVar("ContentT", bound=BaseModel)
Migration: TypeAlias = Callable[[dict[str, Any]], dict[str, Any]]
"""Turns the content of one version into that of the next."""


@dataclass(frozen=True, slots=True)
class WordStore:
    """A state file that contains things people said, with a function to delete some; for `edgevox forget`.

    `forget_words(path, is_forgotten)` returns the number of deleted entries.
    """

    file_name: str
    counted_as: Literal["timers", "things"]
    forget_words: Callable[[Path, Callable[[str], bool]], int]


class StateFile(Generic[ContentT]):
    """The file, or memory if there is no path. A damaged file is set aside and replaced by an empty one.

    Its version is the field `version` of the content, 1 if missing. `migrations[0]` leads from version 1 to 2, and
    so on; `kind` describes the version after the last one.
    """

    def __init__(self, path: Path | None, kind: type[ContentT], migrations: Sequence[Migration] = ()) -> None:
        self._path = path
        self._kind = kind
        self._migrations = migrations
        # Content and stamp of the last read, as one value because threads share it.
        self._last: tuple[_Stamp | None, ContentT] = (None, kind())

    def read(self) -> ContentT:
        """The content, or an empty one if there is no file. Raises StateError.

        Read only: the same object is returned until the file changes, so that reading is cheap.
        """
        if self._path is None:
            return self._last[1]
        try:
            stamp, last = _stamp(self._path), self._last
            if stamp != last[0]:
                content = self._migrated(_checked(self._path.read_bytes()), self._path)
                last = self._last = (stamp, self._kind.model_validate_json(content))
            return last[1]
        except FileNotFoundError:
            return self._kind()
        except ValidationError as error:
            _aside(self._path, error.errors(include_url=False)[0]["msg"])
            return self._kind()
        except (ValueError, RecursionError) as error:
            _aside(self._path, str(error))
            return self._kind()
        except OSError as error:
            raise _unusable(self._path, error) from error

    def _migrated(self, content: bytes, path: Path) -> bytes:
        """The content in the present version. Raises StateError for a newer one, and ValueError."""
        table = parse_json(content)
        version = table.get("version", 1) if isinstance(table, dict) else 1
        present = len(self._migrations) + 1
        if not isinstance(version, int) or version < 1 or version == present:
            return content
        if version > present:
            raise StateError(
                f"{path} was written by a newer version of EdgeVox", hint="use that version, or move the file away"
            )
        for migrate in self._migrations[version - 1 :]:
            table = migrate(table)
        return json.dumps(table | {"version": present}).encode()

    @contextmanager
    def changing(self) -> Iterator[ContentT]:
        """The content, to be changed in place; written if the block ends without an error. Raises StateError."""
        if self._path is None:
            content = self.read().model_copy(deep=True)
            yield content
            self._last = (None, content)
            return
        try:
            with file_lock(self._path):
                content = self.read().model_copy(deep=True)
                yield content
                write_atomic(self._path, _with_checksum(content.model_dump_json(indent=1)))
        except Timeout as error:
            raise StateError(
                f"{self._path} is locked by another program", hint="try again, or end that program"
            ) from error
        except OSError as error:
            raise _unusable(self._path, error) from error


def _aside(path: Path, reason: str) -> None:
    try:
        kept = set_aside(path)
    except OSError as problem:
        raise _unusable(path, problem) from problem
    log.warning("%s is damaged (%s): starting with an empty one, the old one is kept as %s", path, reason, kept)


_CHECKSUM = re.compile(rb'\{"checksum": "([0-9a-f]{8})",?\n')


def _with_checksum(text: str) -> bytes:
    """The JSON object with a checksum of its other entries as its first line."""
    rest = text.removeprefix("{").encode() + b"\n"
    comma = b"" if rest.strip() == b"}" else b","
    return b'{"checksum": "%08x"%s\n' % (zlib.crc32(rest), comma) + rest


def _checked(content: bytes) -> bytes:
    """The JSON object without its checksum. Raises ValueError if it does not match.

    A file without one was written by an earlier version, or by hand.
    """
    header = _CHECKSUM.match(content)
    if header is None:
        return content
    rest = content[header.end() :]
    if zlib.crc32(rest) != int(header[1], 16):
        raise ValueError("its checksum does not match")
    return b"{" + rest


def _stamp(path: Path) -> _Stamp:
    """Changes with every write, because each write creates a new file."""
    status = path.stat()
    return status.st_ino, status.st_mtime_ns, status.st_size


def _unusable(path: Path, error: OSError) -> StateError:
    return StateError(
        f"{path} cannot be used: {error.strerror or error}",
        hint="make that folder writable, free some space, or set EDGEVOX_STATE_DIR to another folder",
    )
