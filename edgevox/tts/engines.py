"""Selects the voice of each language from the settings."""

from __future__ import annotations

from edgevox.config import TtsSettings
from edgevox.core.errors import ConfigError
from edgevox.core.languages import LANGUAGES
from edgevox.models import Manifest, ModelEntry


def chosen_voices(tts: TtsSettings, manifest: Manifest) -> dict[str, str]:
    """The ids of the voices by language, the default voice's first. Raises ModelMissing, ConfigError."""
    default = _voice("tts.voice", tts.voice, manifest)
    voices = {default.spoken_language: default.id}
    for language, voice_id in tts.voices.items():
        voice = _voice(f"tts.voices.{language}", voice_id, manifest)
        if voice.language not in (None, language):
            raise ConfigError(
                f"tts.voices.{language}: {voice_id} speaks {LANGUAGES[voice.spoken_language]}, "
                f"not {LANGUAGES[language]}",
                hint="edgevox models list shows the language of each voice",
            )
        voices[language] = voice_id
    return voices


def _voice(setting: str, model_id: str, manifest: Manifest) -> ModelEntry:
    entry = manifest.entry(model_id)
    if entry.kind != "tts":
        raise ConfigError(
            f"{setting}: {model_id} is no voice",
            hint="edgevox models list shows the voices: their kind is tts",
        )
    return entry
