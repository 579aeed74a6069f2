"""Typed settings, loaded from defaults, preset, file, environment and command-line flags."""

from __future__ import annotations

from edgevox.config.loader import load_settings, user_presets, variable_name
from edgevox.config.sections import (
    HomeSettings,
    McpSettings,
    MqttSettings,
    RingSettings,
    ServerSettings,
    SoundSettings,
    WakeSettings,
)
from edgevox.config.settings import (
    DEFAULT_PRESET,
    GENERIC_PRESET,
    REMOTE_PRESET,
    AudioSettings,
    EngineSettings,
    LlmSettings,
    MemorySettings,
    PluginTables,
    RecordSettings,
    Settings,
    Source,
    SttSettings,
    ToolSettings,
    TtsSettings,
)

__all__ = [
    "DEFAULT_PRESET",
    "GENERIC_PRESET",
    "REMOTE_PRESET",
    "AudioSettings",
    "EngineSettings",
    "HomeSettings",
    "LlmSettings",
    "McpSettings",
    "MemorySettings",
    "MqttSettings",
    "PluginTables",
    "RecordSettings",
    "RingSettings",
    "ServerSettings",
    "Settings",
    "SoundSettings",
    "Source",
    "SttSettings",
    "ToolSettings",
    "TtsSettings",
    "WakeSettings",
    "load_settings",
    "user_presets",
    "variable_name",
]
