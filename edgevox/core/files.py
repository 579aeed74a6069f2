"""The user's folders, shipped data files, private files, atomic writes, and strict readers of JSON and TOML."""

from __future__ import annotations

import contextlib
import errno
import glob
import itertools
import os
import re
import stat
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import platformdirs
from filelock import FileLock, Timeout
from pydantic_core import from_json

from edgevox.core.errors import CRASH_FILE, ConfigError
from edgevox.core.platform import session_folder

_LOCK_TIMEOUT_S = 5.0
DISK_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
"""The error numbers of a write for which there is no room."""


def _runtime_folder() -> Path:
    # A separate state folder means a separate assistant: it must not find the socket of another one.
    in_state = _state_folder() / "run"
    if os.environ.get("EDGEVOX_STATE_DIR"):
        return _folder("EDGEVOX_RUNTIME_DIR", in_state)
    session = session_folder()
    return _folder("EDGEVOX_RUNTIME_DIR", session / "edgevox" if session is not None else in_state)


def _state_folder() -> Path:
    return _folder("EDGEVOX_STATE_DIR", platformdirs.user_state_path("edgevox"))


def _folder(variable: str, default: Path) -> Path:
    value = os.environ.get(variable)
    return Path(value).expanduser() if value else default


@dataclass(frozen=True, slots=True)
class Folders:
    """The four folders; each is created when something is first written to it."""

    config: Path
    state: Path
    models: Path
    runtime: Path = field(default_factory=_runtime_folder)

    @property
    def config_file(self) -> Path:
        return self.config / "config.toml"


def user_folders() -> Folders:
    """The folders of this user; EDGEVOX_CONFIG_DIR, EDGEVOX_STATE_DIR, EDGEVOX_MODELS_DIR and
    EDGEVOX_RUNTIME_DIR override them.
    """
    return Folders(
        config=_folder("EDGEVOX_CONFIG_DIR", platformdirs.user_config_path("edgevox")),
        state=_state_folder(),
        models=_folder("EDGEVOX_MODELS_DIR", platformdirs.user_cache_path("edgevox") / "models"),
    )


# Evaluated prompt prefixes, in the state folder.
PROMPTS_FOLDER = "prompts"

_PACKAGE = Path(__file__).resolve().parents[1]


def data_path(*parts: str) -> Path:
    """The path of a shipped file or folder, such as `data_path("presets")`. Raises ConfigError."""
    for root in (_PACKAGE / "_data", _PACKAGE.parent):
        path = root.joinpath(*parts)
        if path.exists():
            return path
    raise ConfigError(
        f"{'/'.join(parts)} is missing from this installation",
        hint="install EdgeVox again: pip install --force-reinstall edgevox-assistant",
    )


@cache
def packaged_toml(path: str) -> dict[str, Any]:
    """The content of a TOML file beside the modules, such as "home/states.toml"; read once, not to be changed."""
    return tomllib.loads((_PACKAGE / path).read_text(encoding="utf-8"))


_MAX_DEPTH = 64
# The time that tomllib takes for a dotted key grows with the square of its length.
_LONG_KEY = re.compile(
    r"""^[ \t\[]*(?:(?:[A-Za-z0-9_-]+|"[^"\n]*"|'[^'\n]*')[ \t]*\.[ \t]*){%d}""" % _MAX_DEPTH,  # noqa: UP031 - braces
    re.MULTILINE,
)


def parse_json(text: str | bytes) -> Any:  # noqa: ANN401 - JSON is anything
    """Parse JSON from outside. Raises ValueError, also for nesting that Python could neither compare nor print."""
    content = from_json(text)  # has a limit of its own, unlike json.loads, which raises RecursionError
    if not _is_shallow(content):
        raise ValueError(f"it is nested more than {_MAX_DEPTH} levels deep")
    return content


def parse_toml(text: str) -> dict[str, Any]:
    """Parse TOML from outside. Raises tomllib.TOMLDecodeError, also for deep nesting."""
    too_deep = f"it is nested more than {_MAX_DEPTH} levels deep"
    if _LONG_KEY.search(text):
        raise tomllib.TOMLDecodeError(too_deep)
    try:
        content = tomllib.loads(text)
    except RecursionError:
        raise tomllib.TOMLDecodeError(too_deep) from None
    if not _is_shallow(content):
        raise tomllib.TOMLDecodeError(too_deep)
    return content


def _is_shallow(content: object) -> bool:
    level: list[object] = [content]
    for _ in range(_MAX_DEPTH):
        inner = (one.values() if isinstance(one, dict) else one for one in level if isinstance(one, dict | list))
        level = [value for values in inner for value in values]
        if not level:
            return True
    return False


_OTHERS = stat.S_IRWXG | stat.S_IRWXO


def make_private(folders: Folders) -> None:
    """Let this process and its children write for their owner only, and tighten what an earlier version wrote.

    Secrets and plugins that others may change are left: they are refused with an explanation when they are read.
    """
    os.umask(_OTHERS)
    for folder in (folders.state, folders.runtime):
        for found in (folder, *folder.rglob("*")):
            _tighten(found)
    for found in (folders.config, folders.config_file, folders.config / "mcp.json"):
        _tighten(found)


def _tighten(path: Path) -> None:
    """Take the permissions of others from a file or folder that is the user's own."""
    with contextlib.suppress(OSError):
        facts = path.lstat()
        is_ours = sys.platform == "win32" or facts.st_uid == os.getuid()
        if is_ours and not stat.S_ISLNK(facts.st_mode) and facts.st_mode & _OTHERS:
            path.chmod(stat.S_IMODE(facts.st_mode) & ~_OTHERS)


def private_folder(folder: Path) -> None:
    """Create the folder and those above it, as far as they are missing, for their owner only. Raises OSError.

    When this returns, new folders survive a power failure.
    """
    for missing in reversed([above for above in (folder, *folder.parents) if not above.exists()]):
        missing.mkdir(mode=stat.S_IRWXU, exist_ok=True)
        with contextlib.suppress(PermissionError):  # new names are allowed there, but reading is not
            sync_folder(missing.parent)
    folder.mkdir(exist_ok=True)  # says what is wrong if a file is in its place


def open_private(path: str | os.PathLike[str], flags: int) -> int:
    """The `opener` of `open`: a new file is for its owner only. Raises OSError."""
    return os.open(path, flags, stat.S_IRUSR | stat.S_IWUSR)


def sync_folder(folder: Path) -> None:
    """Make new, renamed and deleted names in the folder survive a power failure. Raises OSError."""
    if sys.platform != "win32":  # which has no such call
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


_SUFFIX = ".partial"


def write_atomic(path: Path, *parts: str | bytes, mode: int = stat.S_IRUSR | stat.S_IWUSR) -> None:
    """Replace a file atomically. Raises OSError, and then the old file is unchanged.

    Missing folders are created. When this returns, the new content survives a power failure; until then a reader
    sees the old file or all of the new one. A symlink stays a symlink. The file is readable by its owner only, unless
    `mode` says otherwise.
    """
    private_folder(path.parent)
    target = path.resolve()
    handle, name = tempfile.mkstemp(prefix=f".{target.name}.", suffix=_SUFFIX, dir=target.parent)
    beside = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.writelines(part.encode() if isinstance(part, str) else part for part in parts)
            file.flush()
            os.fsync(file.fileno())
        beside.chmod(mode)
        beside.replace(target)
        sync_folder(target.parent)
    finally:
        beside.unlink(missing_ok=True)


def file_lock(path: Path) -> FileLock:
    """The lock of those that read the file and write it anew. Raises OSError, and Timeout when it is entered."""
    private_folder(path.parent)
    return FileLock(path.with_name(f".{path.name}.lock"), timeout=_LOCK_TIMEOUT_S, mode=0o600)


@contextlib.contextmanager
def locked_file(path: Path) -> Iterator[None]:
    """Keep other programs from changing a settings file during the block. Raises ConfigError."""
    try:
        with file_lock(path):
            yield
    except Timeout as error:
        raise ConfigError(f"{path} is locked by another program", hint="try again, or end that program") from error
    except OSError as error:
        raise ConfigError(
            f"{path} cannot be written: {error.strerror}", hint="make it and its folder writable"
        ) from error


_DAMAGED = ".damaged-"
_EARLIER_DAMAGED = ".broken"  # the name that earlier versions gave


def set_aside(path: Path, *side_files: str) -> Path:
    """Rename a damaged file, and its side files by their suffixes; return its new name. Raises OSError.

    No earlier one is replaced: what a person may want to rescue stays.
    """
    name = f"{path.name}{_DAMAGED}{time.strftime('%Y%m%d-%H%M%S')}"
    kept = next(
        place
        for number in itertools.count(1)
        if not (place := path.with_name(name if number == 1 else f"{name}-{number}")).exists()
    )
    for suffix in (*side_files, ""):
        with contextlib.suppress(FileNotFoundError):
            path.with_name(path.name + suffix).rename(kept.with_name(kept.name + suffix))
    sync_folder(path.parent)
    return kept


def damaged_files(path: Path) -> list[Path]:
    """What was set aside from this path, with side files, oldest first."""
    found = (path.parent.glob(f"{glob.escape(path.name + suffix)}*") for suffix in (_EARLIER_DAMAGED, _DAMAGED))
    return [file for files in found for file in sorted(files)]


def crash_files() -> list[Path]:
    """The tracebacks of this user in the temporary folder; they may contain spoken words."""
    prefix, suffix = CRASH_FILE
    found = Path(tempfile.gettempdir()).glob(f"{prefix}*{suffix}")
    return [path for path in found if sys.platform == "win32" or path.lstat().st_uid == os.getuid()]


_BEFORE_RESTORE = "before-restore-"


def aside_folder(state: Path) -> Path:
    """A new name in the state folder, for what a restored backup replaces."""
    return state / f"{_BEFORE_RESTORE}{time.strftime('%Y%m%d-%H%M%S')}"


def replaced_files(state: Path) -> Iterator[Path]:
    """The state files that restored backups replaced."""
    for folder in state.glob(f"{_BEFORE_RESTORE}*/state"):
        yield from (path for path in folder.rglob("*") if path.is_file())


def inode(path: Path) -> int | None:
    """The number of the file at `path`, which a new file there does not have; None if there is none."""
    try:
        return path.stat().st_ino
    except OSError:
        return None


def leftover_partials(path: Path) -> Iterator[Path]:
    """The temporary files that a power failure or the end of the process left beside `path`."""
    target = path.resolve()
    yield from target.parent.glob(f".{target.name}.*{_SUFFIX}")
