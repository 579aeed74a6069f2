"""The first file of settings, as `edgevox config init` writes it: all of them, explained, none changed."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from operator import attrgetter
from pathlib import Path

from edgevox.errors import ConfigError
from edgevox.folders import Folders
from edgevox.settings.catalogue import Setting, catalogue, sections
from edgevox.settings.layers import load_settings
from edgevox.settings.model import Settings
from edgevox.whole_file import write_whole

_HEADER = """\
# Settings of EdgeVox. A line that begins with "#" changes nothing: it shows what holds without it.
# Remove the "#" and write your own value. Stronger than this file are environment variables
# (EDGEVOX_LLM__THREADS=2) and options of a command; edgevox config show tells what came from where.
"""
_FOOTER = """
# --- Plugins: each has a table of its own, [plugins.NAME]; "enabled = false" in it switches the plugin off.
"""


def write_first_file(folders: Folders) -> Path:
    """Write the file, readable by its owner only, where there is none yet. Raises ConfigError."""
    path = folders.config_file
    if path.exists():
        raise ConfigError(f"{path} exists already", hint="edit it, or move it away first")
    # The environment of this moment is not to be shown as what holds without the file.
    text = commented_file(load_settings(folders, environ={}))
    try:
        write_whole(path, text)
    except OSError as error:
        raise ConfigError(
            f"{path} cannot be written: {error.strerror}",
            hint="make its folder writable, or name another one in EDGEVOX_CONFIG_DIR",
        ) from error
    return path


def commented_file(settings: Settings) -> str:
    """A file with every setting, its value in `settings` commented out."""
    blocks = [_HEADER]
    section = ""
    for setting in catalogue().values():
        if setting.section != section:
            section = setting.section
            blocks.append(f"\n# --- {sections()[section]}\n[{section}]\n")
        blocks.append("\n".join(_lines(setting, settings)) + "\n")
    return "\n".join([*blocks, _FOOTER])


def _lines(setting: Setting, settings: Settings) -> Iterator[str]:
    key = setting.name.rpartition(".")[2]
    value = attrgetter(setting.name)(settings)
    source = settings.sources[setting.name]
    yield f"# {setting.description}"
    if value is None:
        yield f"# {setting.expected}; not set, for example:"
    elif source.layer == "preset":
        yield f"# {setting.expected}; from {source}, your own would hold for every preset"
    else:
        yield f"# {setting.expected}"
    yield f"#{key} = {_toml(setting.example if value is None else value)}"


def _toml(value: object) -> str:
    """A text, number, truth value or list of texts: as in JSON, but for the delete character.

    A table stands on one line: `{"lock" = "screen"}`.
    """
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_toml(key)} = {_toml(inner)}" for key, inner in value.items()) + "}"
    return json.dumps(value, default=str, ensure_ascii=False).replace("\x7f", "\\u007f")
