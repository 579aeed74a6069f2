"""Writes the commented config.toml of `edgevox config init`, and the keys that the web page or the setup change."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from operator import attrgetter
from pathlib import Path

from edgevox.config.loader import load_settings
from edgevox.config.schema import Setting, catalogue, sections
from edgevox.config.settings import Settings
from edgevox.config.toml_file import Value, read_toml, update_config_file
from edgevox.core.errors import ConfigError
from edgevox.core.files import Folders, write_atomic

_HEADER = """\
# Settings of EdgeVox. A line that begins with "#" has no effect and shows the default.
# Remove the "#" and write your own value. Environment variables (EDGEVOX_LLM__THREADS=2) and command-line
# options override this file; edgevox config show lists the source of each value.
"""
_FOOTER = """
# --- Plugins: each has its own table, [plugins.NAME]; "enabled = false" in it disables the plugin.
"""


def write_initial_config(folders: Folders) -> Path:
    """Write the file, readable by its owner only, unless it exists. Raises ConfigError."""
    path = folders.config_file
    if path.exists():
        raise ConfigError(f"{path} exists already", hint="edit it, or move it away first")
    # The environment of this shell must not appear as the default.
    text = commented_file(load_settings(folders, environ={}))
    try:
        write_atomic(path, text)
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
        yield f"# {setting.expected}; from {source}, a value here applies to every preset"
    else:
        yield f"# {setting.expected}"
    yield f"#{key} = {_toml(setting.example if value is None else value)}"


def _toml(value: object) -> str:
    """A TOML value: as in JSON, except for the delete character; a table is inline: `{"lock" = "screen"}`."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_toml(key)} = {_toml(inner)}" for key, inner in value.items()) + "}"
    return json.dumps(value, default=str, ensure_ascii=False).replace("\x7f", "\\u007f")


EDITABLE: tuple[str, ...] = (
    "tts.voice",
    "tts.speed",
    "tts.pitch_semitones",
    "tts.volume_db",
    "stt.language",
    "sounds.chimes",
    "sounds.chime_volume",
    "sounds.apologise",
    "sounds.acknowledge_after_s",
    "audio.hangover_ms",
    "wake.mode",
    "wake.word",
    "wake.follow_up_s",
    "home.room",
    "ring.for_s",
    "ring.snooze_minutes",
    "memory.continue_minutes",
    "records.keep_text",
    "llm.temperature",
    "llm.max_tokens",
)


def editable_settings() -> tuple[Setting, ...]:
    return tuple(catalogue()[name] for name in EDITABLE)


def value_of(settings: Settings, name: str) -> object:
    return attrgetter(name)(settings)


def reason_not_editable(settings: Settings, name: str) -> str:
    """Why a change in the file would have no effect; "" if it would."""
    source = settings.sources.get(name)
    if source is None or source.layer in ("default", "preset", "file"):
        return ""
    return f"it is set by {source}, which overrides the settings file"


def save_changes(settings: Settings, folders: Folders, changes: Mapping[str, object]) -> None:
    """Write the changes to the settings file: all of them, or none if one is invalid.

    Raises ValueError for an invalid change, and ConfigError if the file cannot be changed. Blocks.
    """
    by_section: defaultdict[str, dict[str, Value]] = defaultdict(dict)
    parsed: dict[str, object] = {}
    for name, wanted in changes.items():
        if name not in EDITABLE:
            raise ValueError(f"{name[:64]} cannot be changed from here")
        if reason := reason_not_editable(settings, name):
            raise ValueError(f"{name}: {reason}")
        parsed[name] = value = catalogue()[name].from_toml(wanted)
        assert isinstance(value, str | int | float | bool)
        section, _, key = name.rpartition(".")
        by_section[section][key] = value
    try:
        load_settings(folders, changes=parsed)
    except ConfigError as error:
        raise ValueError(error.message) from error
    for section, values in by_section.items():
        update_config_file(folders.config_file, section, values)


def save_answers(settings: Settings, folders: Folders, answers: Mapping[str, Value | None]) -> tuple[str, ...]:
    """Write those answers that differ from the present values, and return their names; None removes a setting.

    Raises ConfigError if a value is invalid, if it would have no effect, or if the file cannot be changed. Blocks.
    """
    changed = {name: value for name, value in answers.items() if value_of(settings, name) != value}
    by_section: defaultdict[str, dict[str, Value | None]] = defaultdict(dict)
    for name, value in changed.items():
        if reason := reason_not_editable(settings, name):
            raise ConfigError(f"{name} cannot be saved: {reason}", hint="unset it, or change it there")
        if value is not None:
            try:
                catalogue()[name].from_toml(value)
            except ValueError as error:
                raise ConfigError(str(error), hint=catalogue()[name].description) from error
        section, _, key = name.rpartition(".")
        by_section[section][key] = value
    for section, values in by_section.items():
        update_config_file(folders.config_file, section, values)
    return tuple(changed)


def with_setting(folders: Folders, setting: Setting, text: str) -> Settings:
    """The settings as they will be when `save_setting` has written this one, given as text.

    Raises ConfigError for an invalid value, or if it would have no effect. Blocks.
    """
    try:
        settings = load_settings(folders, changes={setting.name: setting.from_text(text)})
    except ValueError as error:
        raise ConfigError(str(error), hint=f"{setting.name}: {setting.description}") from error
    if reason := reason_not_editable(settings, setting.name):
        raise ConfigError(f"{setting.name}: {reason}", hint="unset it, or change it there")
    if isinstance(value_of(settings, setting.name), Mapping | None):
        raise ConfigError(f"{setting.name} is a table", hint=f"write it by hand into {folders.config_file}")
    return settings


def save_setting(settings: Settings, folders: Folders, setting: Setting) -> None:
    """Write one setting of `settings` to the settings file. Raises ConfigError if it cannot be changed. Blocks."""
    # JSON turns a path into a text, and a tuple into a list.
    value = json.loads(json.dumps(value_of(settings, setting.name), default=str))
    update_config_file(folders.config_file, setting.section, {setting.name.rpartition(".")[2]: value})


def remove_setting(folders: Folders, setting: Setting) -> None:
    """Remove one setting from the settings file, which need not be valid. Raises ConfigError. Blocks."""
    key = setting.name.rpartition(".")[2]
    file = read_toml(folders.config_file)
    table = file.table.get(setting.section, {}) if file and setting.section else file.table if file else {}
    if not isinstance(table, Mapping) or key not in table:
        raise ConfigError(
            f"{folders.config_file} does not have {setting.name}",
            hint="edgevox config show names the source of each value",
        )
    update_config_file(folders.config_file, setting.section, {key: None})
