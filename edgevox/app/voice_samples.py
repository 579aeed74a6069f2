"""Lets a voice say a sentence before it is chosen."""

from __future__ import annotations

import asyncio
from contextlib import aclosing

from edgevox.app.engines import Engines
from edgevox.app.model_selection import ModelSelection
from edgevox.config import Settings
from edgevox.config.sections import AUTO
from edgevox.core.errors import ModelMissing
from edgevox.core.files import Folders
from edgevox.core.turn import CancelFlag
from edgevox.core.types import Audio
from edgevox.dialogue import Synthesizer
from edgevox.llm.presets import ModelPreset
from edgevox.models import open_store
from edgevox.tts.voices import find_voice, sample_text


class VoiceSamples:
    """Each sample has an engine of its own, which ends with it. One at a time, because a voice takes memory."""

    def __init__(self, settings: Settings, preset: ModelPreset, folders: Folders) -> None:
        self._settings = settings
        self._preset = preset
        self._folders = folders
        self._one_at_a_time = asyncio.Lock()

    async def __call__(self, voice_id: str) -> list[Audio]:
        """Return the sentence in that voice. Raises ModelMissing, ConfigError, ModelError and EngineFailed."""
        store = open_store(self._folders)
        voice = find_voice(store.manifest, voice_id)
        if not await asyncio.to_thread(store.has, voice.id):
            raise ModelMissing(f"{voice.id} is not downloaded", hint=f"edgevox models pull {voice.id}")
        # With the engine of the voice, on this machine, whatever the settings say of others.
        own: dict[str, object] = {"voice": voice.id, "voices": {}, "engine": AUTO, "remote": None}
        settings = self._settings.model_copy(update={"tts": self._settings.tts.model_copy(update=own)})
        models = ModelSelection(settings, self._preset, store, ["tts"])
        engines = Engines(settings, self._preset, self._folders, models, lambda _event: None)
        language = voice.spoken_language
        async with self._one_at_a_time:
            try:
                await engines.tts.start()
                speech = Synthesizer(engines.tts).speak_text(sample_text(language), CancelFlag(), language)
                async with aclosing(speech) as sounds:
                    return [sound async for sound in sounds]
            finally:
                await engines.close()
