"""Typed settings, loaded from defaults, preset, file, environment and command-line flags."""

from __future__ import annotations

from edgevox.config.loader import load_settings, user_presets, variable_name
from edgevox.config.sections import McpSettings, ServerSettings, SoundSettings
from edgevox.config.settings import (
    DEFAULT_PRESET,
    GENERIC_PRESET,
    REMOTE_PRESET,
    AudioSettings,
    LlmSettings,
    MemorySettings,
    PluginTables,
    Settings,
    Source,
    SttSettings,
    TtsSettings,
)

__all__ = [
    "DEFAULT_PRESET",
    "GENERIC_PRESET",
    "REMOTE_PRESET",
    "AudioSettings",
    "LlmSettings",
    "McpSettings",
    "MemorySettings",
    "PluginTables",
    "ServerSettings",
    "Settings",
    "SoundSettings",
    "Source",
    "SttSettings",
    "TtsSettings",
    "load_settings",
    "user_presets",
    "variable_name",
]
