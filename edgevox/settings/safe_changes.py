"""The settings that may be changed from a page: none of them opens a door, deletes or loads anything."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from operator import attrgetter

from edgevox.folders import Folders
from edgevox.settings.catalogue import Setting, catalogue
from edgevox.settings.config_edit import Value, keep_in_file
from edgevox.settings.model import Settings

SAFE: tuple[str, ...] = (
    "tts.speed",
    "sounds.chimes",
    "sounds.chime_volume",
    "sounds.apologise",
    "sounds.acknowledge_after_s",
    "audio.hangover_ms",
    "wake.follow_up_s",
    "ring.for_s",
    "ring.snooze_minutes",
    "memory.continue_minutes",
    "records.keep_text",
    "llm.temperature",
    "llm.max_tokens",
)


def safe_settings() -> tuple[Setting, ...]:
    return tuple(catalogue()[name] for name in SAFE)


def value_of(settings: Settings, name: str) -> object:
    return attrgetter(name)(settings)


def why_not(settings: Settings, name: str) -> str:
    """What keeps a change in the file from having an effect; "" where nothing does."""
    source = settings.sources.get(name)
    if source is None or source.layer in ("default", "preset", "file"):
        return ""
    return f"it is set by {source}, which goes before the file of settings"


def keep_changes(settings: Settings, folders: Folders, changes: Mapping[str, object]) -> None:
    """Write the changes to the file of settings, all of them or, where one is wrong, none.

    Raises ValueError for what is wrong with one, and ConfigError where the file cannot be changed. Blocks.
    """
    by_section: defaultdict[str, dict[str, Value]] = defaultdict(dict)
    for name, wanted in changes.items():
        if name not in SAFE:
            raise ValueError(f"{name[:64]} cannot be changed from here")
        if reason := why_not(settings, name):
            raise ValueError(f"{name}: {reason}")
        value = catalogue()[name].from_toml(wanted)
        assert isinstance(value, str | int | float | bool)
        section, _, key = name.rpartition(".")
        by_section[section][key] = value
    for section, values in by_section.items():
        keep_in_file(folders.config_file, section, values)
