"""Backup and restore of settings and state in one file, and what an uninstallation removes."""

from __future__ import annotations

import datetime as dt
import hashlib
import os
import re
import shutil
import sqlite3
import sys
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from edgevox import __version__
from edgevox.agents.memory_file import FILE_NAME as MEMORY_FILE
from edgevox.app.service_unit import unit_path
from edgevox.core.errors import ConfigError, StateError
from edgevox.core.files import Folders, aside_folder, crash_files, private_folder, write_atomic

DISTRIBUTION = "edgevox-assistant"

_VERSION = 1
_INDEX = "backup.json"
# Derived from other files, or about this machine only. A backup has no log of turns, whose words `forget` deletes.
_LEFT_OUT = re.compile(
    r"\..*|.*\.lock|prompts|run|documents\.sqlite3?.*|turns\.jsonl.*|(edgevox|launchd)\.log.*|.*-(wal|shm)"
    r"|before-restore-.*|.*\.(damaged|broken).*|__pycache__"
)
_MAX_BYTES = 1_000_000_000


class _Index(BaseModel):
    """What a backup contains: the SHA-256 of each file under `config/` and `state/`."""

    model_config = ConfigDict(extra="forbid")

    format: Literal["edgevox-backup"] = "edgevox-backup"
    version: int = _VERSION
    edgevox: str = __version__
    made_at: str = Field(default_factory=lambda: dt.datetime.now(dt.UTC).isoformat(timespec="seconds"))
    files: dict[str, str]


def write_backup(folders: Folders, target: Path) -> int:
    """Write a backup, readable by its owner only, and return the number of files in it.

    It contains the secrets of the configuration folder. Raises ConfigError and StateError.
    """
    if target.exists():
        raise ConfigError(f"{target} exists already", hint="choose another name, or move it away first")
    try:
        contents = {name: _content(path) for name, path in _current_files(folders)}
        index = _Index(files={name: _digest(content) for name, content in contents.items()})
        with tempfile.SpooledTemporaryFile(max_size=_MAX_BYTES) as spool:
            with zipfile.ZipFile(spool, "w", zipfile.ZIP_DEFLATED) as archive:
                archive.writestr(_INDEX, index.model_dump_json(indent=1))
                for name, content in contents.items():
                    archive.writestr(name, content)
            spool.seek(0)
            write_atomic(target, spool.read())
    except sqlite3.Error as error:
        raise StateError(f"{MEMORY_FILE} cannot be read: {error}", hint="edgevox run repairs it") from error
    except OSError as error:
        raise ConfigError(
            f"{error.filename or target} cannot be used: {error.strerror}", hint="check the path and the free space"
        ) from error
    return len(contents)


def restore_backup(folders: Folders, source: Path) -> tuple[int, Path | None]:
    """Replace settings and state by those of a backup, which is checked as a whole first.

    Returns the number of files, and the folder that keeps what was there before. The assistant must not run.
    Raises ConfigError and StateError.
    """
    contents = _read_backup(source)
    aside = aside_folder(folders.state)
    old = list(_current_files(folders))
    try:
        for name, path in old:
            kept = aside / name
            private_folder(kept.parent)
            for suffix in ("", "-wal", "-shm"):
                if (side_file := path.with_name(path.name + suffix)).exists():
                    shutil.move(side_file, kept.with_name(kept.name + suffix))
        for name, content in contents.items():
            write_atomic(_place(folders, name), content)
    except OSError as error:
        where = f"; the files from before are in {aside}" if aside.exists() else ""
        raise StateError(
            f"{error.filename} cannot be written: {error.strerror}{where}", hint="free some space, then restore again"
        ) from error
    return len(contents), aside if old else None


def _read_backup(source: Path) -> dict[str, bytes]:
    """The checked files of a backup. Raises ConfigError."""
    damaged = f"{source} is damaged or no backup of EdgeVox"
    try:
        with zipfile.ZipFile(source) as archive:
            if sum(entry.file_size for entry in archive.infolist()) > _MAX_BYTES:
                raise ConfigError(f"{source} is larger than any backup", hint="choose another file")
            index = _Index.model_validate_json(archive.read(_INDEX))
            _check_version(index, source)
            contents = {name: archive.read(name) for name in index.files}
    except OSError as error:
        raise ConfigError(f"{source} cannot be read: {error.strerror}", hint="check the path") from error
    # RuntimeError: it is encrypted, or packed in a way that Python does not know.
    except (zipfile.BadZipFile, zlib.error, KeyError, ValidationError, EOFError, RuntimeError) as error:
        raise ConfigError(damaged, hint="nothing was changed; choose another backup") from error
    for name, content in contents.items():
        path = PurePosixPath(name)
        is_inside = path.parts[:1] in (("config",), ("state",)) and len(path.parts) > 1 and ".." not in path.parts
        if not is_inside or "\\" in name or _digest(content) != index.files[name]:
            raise ConfigError(damaged, hint="nothing was changed; choose another backup")
    return contents


def _check_version(index: _Index, source: Path) -> None:
    if index.version > _VERSION or _numbers(index.edgevox) > _numbers(__version__):
        raise ConfigError(
            f"{source} was made by EdgeVox {index.edgevox}, and this is {__version__}",
            hint="upgrade EdgeVox first; nothing was changed",
        )


def _numbers(version: str) -> list[int]:
    return [int(part) for part in re.findall(r"\d+", version)[:3]]


def _current_files(folders: Folders) -> Iterator[tuple[str, Path]]:
    """The files of a backup, by their names in it."""
    for kind, root in (("config", folders.config), ("state", folders.state)):
        for folder, names, files in os.walk(root):
            names[:] = [name for name in names if not _LEFT_OUT.fullmatch(name)]
            for name in sorted(files):
                path = Path(folder, name)
                if path.is_file() and not _LEFT_OUT.fullmatch(name):
                    yield f"{kind}/{path.relative_to(root).as_posix()}", path


def _place(folders: Folders, name: str) -> Path:
    kind, *parts = PurePosixPath(name).parts
    return (folders.config if kind == "config" else folders.state).joinpath(*parts)


def _content(path: Path) -> bytes:
    if path.name != MEMORY_FILE:
        return path.read_bytes()
    # The file alone lacks what is in its write-ahead log.
    with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as source:
        return source.serialize()


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


@dataclass(frozen=True, slots=True)
class OwnedPath:
    """A file or folder of this user that EdgeVox made; `is_chosen` if the user chose its place by a variable."""

    purpose: str
    path: Path
    is_chosen: bool = False

    @property
    def size_bytes(self) -> int:
        files = self.path.rglob("*") if self.path.is_dir() else (self.path,)
        return sum(file.lstat().st_size for file in files if not file.is_dir())

    def remove(self) -> None:
        """Raises StateError."""
        try:
            if self.path.is_dir() and not self.path.is_symlink():
                shutil.rmtree(self.path)
            else:
                self.path.unlink(missing_ok=True)
        except OSError as error:
            raise StateError(
                f"{error.filename or self.path} cannot be deleted: {error.strerror}", hint="delete it by hand"
            ) from error


def removal_command() -> str:
    """The command that removes the program itself."""
    root = Path(__file__).resolve().parents[2]
    if (root / "pyproject.toml").exists():
        return f"rm -r {root}"
    if sys.prefix == "/opt/edgevox":  # script/deb
        return f"sudo apt remove {DISTRIBUTION}"
    for part, command in (("pipx", "pipx uninstall"), ("uv", "uv tool uninstall")):
        if part in Path(sys.prefix).parts:
            return f"{command} {DISTRIBUTION}"
    return f"{sys.executable} -m pip uninstall {DISTRIBUTION}"


def owned_paths(folders: Folders) -> list[OwnedPath]:
    """Everything that EdgeVox has on this machine, apart from the program itself."""
    found = [
        OwnedPath("settings, tokens, plugins", folders.config, bool(os.environ.get("EDGEVOX_CONFIG_DIR"))),
        OwnedPath("conversations, lists, timers", folders.state, bool(os.environ.get("EDGEVOX_STATE_DIR"))),
        OwnedPath("models", folders.models, bool(os.environ.get("EDGEVOX_MODELS_DIR"))),
        OwnedPath("control socket", folders.runtime, bool(os.environ.get("EDGEVOX_RUNTIME_DIR"))),
        OwnedPath("service", unit_path()),
        *(OwnedPath("traceback", path) for path in crash_files()),
    ]
    return [owned for owned in found if owned.path.exists()]
