"""Writing a file whole or not at all, and finding what was left of one that was not."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

_SUFFIX = ".partial"


def write_whole(path: Path, *parts: str | bytes, owner_only: bool = False) -> None:
    """Put a file in the place of what was there. Raises OSError, and then the old one is as it was.

    Its folder is made where there is none. A reader sees the old one or all of the new one, also after a
    power failure. A link to the file stays a link. A file that was there keeps its permissions, a new one is
    for its owner only; with `owner_only` both are.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    target = path.resolve()
    # mkstemp's mode is 0600.
    handle, name = tempfile.mkstemp(prefix=f".{target.name}.", suffix=_SUFFIX, dir=target.parent)
    beside = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.writelines(part.encode() if isinstance(part, str) else part for part in parts)
            file.flush()
            os.fsync(file.fileno())
        if not owner_only:
            with contextlib.suppress(FileNotFoundError):
                shutil.copymode(target, beside)
        beside.replace(target)
    finally:
        beside.unlink(missing_ok=True)


def half_written(path: Path) -> Iterator[Path]:
    """What a power failure, or the end of the process, left beside a file that was being written."""
    target = path.resolve()
    yield from target.parent.glob(f".{target.name}.*{_SUFFIX}")
