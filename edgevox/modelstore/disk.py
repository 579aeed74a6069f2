"""The disk under the store: what can go wrong there, in words, and files that appear whole or not at all."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from edgevox.errors import ModelDownloadFailed

_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


class DiskProblem(ModelDownloadFailed):
    """The models folder cannot be used, or is full: no other source would help."""


@contextlib.contextmanager
def disk_problems(folder: Path) -> Iterator[None]:
    """Turn what the operating system says about `folder` into DiskProblem."""
    try:
        yield
    except OSError as error:
        # Errors of the network are OSErrors too, without a path and mostly without a number.
        if error.errno is None:
            raise
        raise _problem(folder, error) from error


def check_free_space(folder: Path, needed_bytes: int) -> None:
    """Raise DiskProblem unless `needed_bytes` fit on the disk of `folder`, which need not exist yet."""
    existing = next(path for path in (folder, *folder.parents) if path.exists())
    free_bytes = shutil.disk_usage(existing).free
    if free_bytes < needed_bytes:
        raise disk_full(
            folder,
            f"{needed_bytes} bytes ({size_text(needed_bytes)}) are needed, "
            f"{free_bytes} ({size_text(free_bytes)}) are free",
        )


def disk_full(folder: Path, detail: str) -> DiskProblem:
    return DiskProblem(
        f"the disk of {folder} is full: {detail}",
        hint="make room (edgevox models remove ID), or set EDGEVOX_MODELS_DIR to a folder on another disk",
    )


def name_when_whole(temporary: Path, final: Path) -> None:
    """Give a complete file its name: written through to the disk first, then renamed."""
    final.parent.mkdir(parents=True, exist_ok=True)
    _sync(temporary)
    temporary.replace(final)
    _sync(final.parent)


def size_text(count: float) -> str:
    """A number of bytes as people read it."""
    for unit in ("B", "kB", "MB"):
        if count < 1000:
            return f"{count:.0f} {unit}"
        count /= 1000
    return f"{count:.1f} GB"


def _problem(folder: Path, error: OSError) -> DiskProblem:
    if error.errno in _FULL:
        return disk_full(folder, error.strerror or "no space left")
    return DiskProblem(
        f"cannot use the folder {folder}: {error.strerror or error}",
        hint="make it readable and writable, or set EDGEVOX_MODELS_DIR to a folder that is",
    )


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
