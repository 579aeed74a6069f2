"""The voices that can be chosen: what is known of each, and how a choice is saved."""

from __future__ import annotations

import difflib
from dataclasses import dataclass

from edgevox.config import Settings
from edgevox.config.editing import save_answers
from edgevox.config.toml_file import update_config_file
from edgevox.core.errors import ConfigError, ModelMissing
from edgevox.core.files import Folders
from edgevox.core.languages import LANGUAGES, all_phrases
from edgevox.models import Manifest, ModelEntry, ModelStore
from edgevox.tts.engines import choose_tts, engine_of

# Spoken where a language has no phrases of its own: every voice can read it.
ANY_LANGUAGE_SENTENCE = "1, 2, 3."


@dataclass(frozen=True, slots=True)
class VoiceFacts:
    """A voice of the manifest. `is_used` says that it speaks its language now."""

    id: str
    language: str
    engine: str
    size_bytes: int
    licence: str
    is_installed: bool
    is_used: bool

    @property
    def language_name(self) -> str:
        return LANGUAGES[self.language]


def list_voices(settings: Settings, store: ModelStore) -> list[VoiceFacts]:
    """All voices, in the order of the manifest. Raises ConfigError and ModelMissing for unusable settings."""
    used = set(choose_tts(settings.tts, store.manifest).model_ids.values())
    installed = set(store.installed())
    return [
        VoiceFacts(
            entry.id,
            entry.spoken_language,
            engine_of(entry),
            entry.size_bytes,
            entry.licence_text,
            is_installed=entry.id in installed,
            is_used=entry.id in used,
        )
        for entry in store.manifest.models
        if entry.kind == "tts"
    ]


def find_voice(manifest: Manifest, voice_id: str) -> ModelEntry:
    """The voice with that id. Raises ModelMissing, and ConfigError for a model of another kind."""
    entry = manifest.find(voice_id)
    if entry is None:
        near = difflib.get_close_matches(voice_id, [model.id for model in manifest.models if model.kind == "tts"], n=3)
        hint = f"did you mean {' or '.join(near)}? " if near else ""
        raise ModelMissing(f"unknown voice {voice_id}", hint=f"{hint}edgevox voices list shows all")
    if entry.kind != "tts":
        raise ConfigError(f"{voice_id} is no voice", hint="edgevox voices list shows the voices")
    return entry


def save_voice(settings: Settings, folders: Folders, manifest: Manifest, voice: ModelEntry) -> str:
    """Let the voice speak its language from the next start on; returns the name of the changed setting.

    Raises ConfigError where the setting is fixed elsewhere, or another engine was chosen by name. Blocks.
    """
    tts, language = settings.tts, voice.spoken_language
    choose_tts(tts.model_copy(update={"voice": voice.id, "voices": {}}), manifest)
    default = manifest.find(tts.voice)
    if default is None or default.spoken_language == language:
        if language in tts.voices:  # it would take precedence
            update_config_file(folders.config_file, "tts.voices", {language: voice.id})
        save_answers(settings, folders, {"tts.voice": voice.id})
        return "tts.voice"
    update_config_file(folders.config_file, "tts.voices", {language: voice.id})
    return "tts.voices"


def sample_text(language: str) -> str:
    """A sentence to judge a voice by."""
    phrases = all_phrases().get(language)
    return phrases.sound_check if phrases else ANY_LANGUAGE_SENTENCE
