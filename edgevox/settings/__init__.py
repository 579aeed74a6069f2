"""The settings: one typed model, filled from defaults, preset, file, environment and flags."""

from edgevox.settings.home_sections import HomeSettings, MqttSettings, RingSettings
from edgevox.settings.layers import load_settings, user_presets, variable_name
from edgevox.settings.mcp_section import McpSettings
from edgevox.settings.model import (
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
from edgevox.settings.server_section import ServerSettings
from edgevox.settings.sound_section import SoundSettings
from edgevox.settings.wake_section import WakeSettings

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
