"""The sha256 of a large file, worked out once: it is remembered for as long as the file does not change."""

from __future__ import annotations

import contextlib
import hashlib
import json
from pathlib import Path

from edgevox.whole_file import write_whole

_MEMORY_NAME = "digests.json"


class FileDigests:
    """Digests remembered in one folder, by path, size, inode and time of change."""

    def __init__(self, folder: Path) -> None:
        self._memory = folder / _MEMORY_NAME

    def sha256(self, path: Path) -> str:
        """The file's digest. Raises OSError when it cannot be read."""
        path = path.resolve()
        facts = path.stat()
        known_by = [facts.st_size, facts.st_ino, facts.st_mtime_ns]
        remembered = self._remembered()
        match remembered.get(str(path)):
            case {"known_by": by, "sha256": str(digest)} if by == known_by:
                return digest
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        self._remember({**remembered, str(path): {"known_by": known_by, "sha256": digest}})
        return digest

    def _remembered(self) -> dict[str, object]:
        try:
            content = json.loads(self._memory.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return content if isinstance(content, dict) else {}

    def _remember(self, content: dict[str, object]) -> None:
        """What cannot be written is worked out again the next time."""
        with contextlib.suppress(OSError):
            self._memory.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            write_whole(self._memory, json.dumps(content))
