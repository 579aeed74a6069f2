"""A file that is not whole yet: it has a temporary name, knows its own digest, and can be continued."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from types import TracebackType
from typing import Self

_READ_BYTES = 1 << 20
# Ctrl-C waits for fsync, and one over gigabytes takes minutes on a memory card.
_SYNC_EVERY_BYTES = 8 << 20


class PartialFile:
    """Appends to `path`; what an earlier attempt left there counts. It stays when the work is interrupted."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.size_bytes = 0
        self._unsynced_bytes = 0
        self._digest = hashlib.sha256()

    def __enter__(self) -> Self:
        self._file = self.path.open("a+b")
        self._file.seek(0)
        while chunk := self._file.read(_READ_BYTES):
            self._digest.update(chunk)
            self.size_bytes += len(chunk)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._file.close()

    @property
    def sha256(self) -> str:
        return self._digest.hexdigest()

    def write(self, chunk: bytes) -> None:
        self._file.write(chunk)
        self._digest.update(chunk)
        self.size_bytes += len(chunk)
        self._unsynced_bytes += len(chunk)
        if self._unsynced_bytes >= _SYNC_EVERY_BYTES:
            self._file.flush()
            os.fsync(self._file.fileno())
            self._unsynced_bytes = 0

    def restart(self) -> None:
        """Throw away what is there."""
        self._file.truncate(0)
        self._digest = hashlib.sha256()
        self.size_bytes = 0


def sha256_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
