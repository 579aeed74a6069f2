"""Finding presets: the files that ship with EdgeVox, and the user's own, which go first.

A preset file describes a model (edgevox.llm.presets reads that) and holds settings for it, in the same words
as config.toml. The settings know only the second part, and need not know what a language model is.
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from pathlib import Path

from edgevox.data_files import data_path
from edgevox.errors import ConfigError
from edgevox.settings.toml_file import TomlFile, read_toml

SETTINGS_TABLE = "llm"
"""The table of a preset file that holds settings."""


@dataclass(frozen=True, slots=True)
class PresetFile:
    """A preset as written; its name is the file's."""

    name: str
    content: TomlFile

    @property
    def aliases(self) -> tuple[str, ...]:
        aliases = self.content.table.get("aliases", [])
        return tuple(map(str, aliases)) if isinstance(aliases, list) else ()


def find_preset(name: str, user_folder: Path | None = None) -> PresetFile:
    """The preset of that name or alias. Raises ConfigError, with suggestions, when there is none."""
    paths = _paths(user_folder)
    if name in paths:
        return _read(paths[name])
    presets = preset_files(user_folder)
    for preset in presets:
        if name in preset.aliases:
            return preset
    names = [*paths, *(alias for preset in presets for alias in preset.aliases)]
    near = difflib.get_close_matches(name.lower(), names, n=3, cutoff=0.5)
    meant = f": did you mean {' or '.join(near)}?" if near else ""
    raise ConfigError(f"there is no preset {name}{meant}", hint="edgevox presets list shows all of them")


def preset_files(user_folder: Path | None = None) -> list[PresetFile]:
    """Every preset; one in `user_folder` takes the place of a shipped one. Raises ConfigError."""
    return [_read(path) for path in _paths(user_folder).values()]


def _paths(user_folder: Path | None) -> dict[str, Path]:
    folders = [data_path("presets"), *([user_folder] if user_folder else [])]
    return {path.stem: path for folder in folders for path in sorted(folder.glob("*.toml"))}


def _read(path: Path) -> PresetFile:
    content = read_toml(path)
    if content is None:
        raise ConfigError(f"{path} has just been removed", hint="try again")
    return PresetFile(path.stem, content)
