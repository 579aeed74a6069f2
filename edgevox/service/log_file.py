"""The service's log: a file that is rotated, and that neither a full disk nor a deleted folder stops."""

from __future__ import annotations

import logging
import sys
from logging.handlers import RotatingFileHandler
from pathlib import Path

FILE_NAME = "edgevox.log"
_MAX_BYTES = 1_000_000
_OLDER_FILES = 3
_FORMAT = "%(asctime)s %(levelname)-7s %(name)s: %(message)s"


class LogFile(RotatingFileHandler):
    """Appends to `edgevox.log` in the folder, and begins a new file at a megabyte; three older ones stay."""

    def __init__(self, folder: Path, *, max_bytes: int = _MAX_BYTES) -> None:
        self._path = folder / FILE_NAME
        super().__init__(
            self._path, maxBytes=max_bytes, backupCount=_OLDER_FILES, encoding="utf-8", delay=True
        )
        self.setFormatter(logging.Formatter(_FORMAT))

    def emit(self, record: logging.LogRecord) -> None:
        try:
            if not self._path.exists():
                if self.stream is not None:
                    self.stream.close()
                    self.stream = None
                self._path.parent.mkdir(parents=True, exist_ok=True)
        except OSError:
            return  # the next line may find a folder again
        super().emit(record)

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802  (logging's own name)
        """A line that cannot be written is lost; the assistant goes on."""


def log_to(folder: Path) -> LogFile:
    """Have everything that is logged from now on kept in the folder, and shown to who started the service."""
    file = LogFile(folder)
    shown = logging.StreamHandler(sys.stderr)
    shown.setFormatter(logging.Formatter("%(levelname)s %(name)s: %(message)s"))
    logging.basicConfig(level=logging.INFO, handlers=[file, shown], force=True)
    return file


def tail(folder: Path, lines: int) -> list[str]:
    """The last lines of the log, over the rotated files where the newest holds too few."""
    found: list[str] = []
    names = (FILE_NAME, *(f"{FILE_NAME}.{number}" for number in range(1, _OLDER_FILES + 1)))
    for name in names:
        if len(found) >= lines:
            break
        try:
            text = (folder / name).read_text(encoding="utf-8", errors="replace")
        except FileNotFoundError:
            break
        found = text.splitlines() + found
    return found[-lines:]
