"""Finds plugins: entry points of installed packages, and single files in the user's plugins folder.

A plugin runs with the user's rights, so a file is loaded only if no other user can write to it.
"""

from __future__ import annotations

import os
import re
import stat
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import ModuleType
from typing import Any

from edgevox.core.errors import ConfigError
from edgevox.core.files import Folders
from edgevox.core.platform import user_id

GROUP = "edgevox.plugins"
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,39}")
_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH
_NO_REGISTER = "write `def register(host):`, and in it host.add_tool(...)"


@dataclass(frozen=True, slots=True)
class LoadedPlugin:
    """A plugin's code. The default API version is 1."""

    register: Callable[..., Any]
    api_version: object = 1


@dataclass(frozen=True, slots=True)
class PluginSource:
    """A plugin that was found; `load` runs its module, and raises whatever that raises."""

    name: str
    place: str
    load: Callable[[], LoadedPlugin]


def plugins_folder(folders: Folders) -> Path:
    """The folder of single-file plugins."""
    return folders.config / "plugins"


def plugin_sources(folders: Folders) -> tuple[PluginSource, ...]:
    """All plugins, packages first, without loading them."""
    return (*package_sources(), *file_sources(plugins_folder(folders)))


def package_sources() -> tuple[PluginSource, ...]:
    """The plugins of installed packages: entry points of the group `edgevox.plugins`."""
    return tuple(
        PluginSource(point.name, _package(point), partial(_load_point, point))
        for point in sorted(entry_points(group=GROUP), key=lambda point: (point.name, point.value))
    )


def file_sources(folder: Path) -> tuple[PluginSource, ...]:
    """The .py files of a folder, except those that begin with _."""
    return tuple(
        PluginSource(path.stem, str(path), partial(load_file, path))
        for path in sorted(folder.glob("*.py"))
        if not path.name.startswith(("_", "."))
    )


def check_name(name: str) -> None:
    """Raises ConfigError for an invalid plugin name."""
    if _NAME.fullmatch(name) is None:
        raise ConfigError(
            f"{name!r} is not a valid plugin name", hint="a letter, then letters, digits, - and _; 40 at most"
        )


def load_file(path: Path) -> LoadedPlugin:
    """Run a plugin file. Raises ConfigError if others can change it, and whatever its code raises."""
    code = compile(_read_guarded(path), path, "exec", dont_inherit=True)
    module = ModuleType(f"edgevox_plugin_{path.stem}")
    module.__file__ = str(path)
    # Dataclasses and type hints look up their module by name.
    sys.modules[module.__name__] = module
    try:
        exec(code, module.__dict__)  # noqa: S102 - running the user's own plugin is what this is for
    except BaseException:
        del sys.modules[module.__name__]
        raise
    return load_module(module)


def load_module(module: ModuleType, function: str = "register") -> LoadedPlugin:
    """The plugin in a module. Raises ConfigError if it has no `register`."""
    register = getattr(module, function, None)
    if not callable(register):
        raise ConfigError(f"it has no function {function}(host)", hint=_NO_REGISTER)
    return LoadedPlugin(register, getattr(module, "API_VERSION", 1))


def _load_point(point: EntryPoint) -> LoadedPlugin:
    return load_module(import_module(point.module), point.attr or "register")


def _package(point: EntryPoint) -> str:
    return f"{point.dist.name} {point.dist.version}" if point.dist is not None else point.value


def _read_guarded(path: Path) -> bytes:
    """Read the file after checking that only its owner can write it; symlinks are resolved first."""
    real = path.resolve()
    for folder in dict.fromkeys((path.parent, real.parent)):
        _check_private(folder, folder.stat())
    # Checked and read through one handle, so that the file cannot be replaced in between.
    with real.open("rb") as file:
        _check_private(real, os.fstat(file.fileno()))
        return file.read()


def _check_private(path: Path, facts: os.stat_result) -> None:
    if facts.st_uid not in (own_uid := user_id(), 0):
        raise ConfigError(
            f"{path} belongs to another user, who could change what it does",
            hint=f"if you trust it: sudo chown {own_uid} {path}",
        )
    if facts.st_mode & _OTHERS_WRITE:
        raise ConfigError(f"other users can write to {path}", hint=f"chmod go-w {path}")
