"""The TTS engines: the table of factories, and which engine and voices the settings choose.

docs/guide/engines.md shows how to write one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from edgevox.config import TtsSettings
from edgevox.config.sections import AUTO
from edgevox.core.errors import ConfigError
from edgevox.core.languages import ENGLISH, LANGUAGES
from edgevox.core.types import Audio, Engine, SynthesisRequest
from edgevox.engines import EngineLimits, HostedEngine
from edgevox.engines.registry import EngineRegistry
from edgevox.models import Manifest, ModelEntry

# Speaks the voices whose manifest entry names no engine.
_DEFAULT, _REMOTE = "piper", "wyoming"
_REMOTE_NAME = "remote-voice"


@dataclass(frozen=True, slots=True)
class TtsContext:
    """What a factory may use to build its engine. `voices` and `files` are by language, the default voice first.

    `files` has the voices that the manifest lists for this engine; `language` is that of most replies.
    """

    settings: TtsSettings
    threads: int
    limits: EngineLimits
    voices: Mapping[str, str]
    files: Mapping[str, Path]
    language: str = ENGLISH


TtsEngine: TypeAlias = Engine[SynthesisRequest, Audio] | HostedEngine[SynthesisRequest, Audio]
"""An Engine runs in a child process and must be picklable; a HostedEngine is used as it is."""

TtsFactory: TypeAlias = Callable[[TtsContext], TtsEngine]

TTS_ENGINES: EngineRegistry[TtsFactory] = EngineRegistry(
    "tts", {"piper": "edgevox.tts.piper:create", "wyoming": "edgevox.tts.wyoming:create"}
)


def register_tts_engine(name: str, factory: TtsFactory) -> None:
    """Make an engine available as `tts.engine = "NAME"`. The factory must be cheap: it loads no model."""
    TTS_ENGINES.register(name, factory)


@dataclass(frozen=True, slots=True)
class TtsChoice:
    """The engine, its voices by language with the default one first, and those of them that the manifest lists."""

    engine: str
    voices: Mapping[str, str]
    model_ids: Mapping[str, str]

    @property
    def is_remote(self) -> bool:
        return self.engine == _REMOTE


def choose_tts(tts: TtsSettings, manifest: Manifest) -> TtsChoice:
    """Raises ConfigError for an unknown engine or a voice of another one, ModelMissing for an unknown voice."""
    if tts.engine != AUTO:
        engine = tts.engine
    elif tts.remote is not None:
        engine = _REMOTE
    else:
        engine = _voice("tts.voice", tts.voice, manifest).engine or _DEFAULT
    TTS_ENGINES.check(engine)
    if engine == _REMOTE:
        return TtsChoice(engine, dict.fromkeys(tts.remote_languages, tts.remote_voice or _REMOTE_NAME), {})
    if engine == _DEFAULT or tts.engine == AUTO:
        voices = _manifest_voices(tts, engine, manifest)
        return TtsChoice(engine, voices, voices)
    voices = _engine_voices(tts, engine, manifest)
    return TtsChoice(engine, voices, {language: name for language, name in voices.items() if manifest.find(name)})


def _manifest_voices(tts: TtsSettings, engine: str, manifest: Manifest) -> dict[str, str]:
    """The voices of an engine that has no others."""
    default = _voice("tts.voice", tts.voice, manifest)
    _check_engine("tts.voice", default, engine)
    voices = {default.spoken_language: default.id}
    for language, voice_id in tts.voices.items():
        voice = _voice(f"tts.voices.{language}", voice_id, manifest)
        if voice.language not in (None, language):
            raise ConfigError(
                f"tts.voices.{language}: {voice_id} speaks {LANGUAGES[voice.spoken_language]}, "
                f"not {LANGUAGES[language]}",
                hint="edgevox models list shows the language of each voice",
            )
        _check_engine(f"tts.voices.{language}", voice, engine)
        voices[language] = voice_id
    return voices


def _engine_voices(tts: TtsSettings, engine: str, manifest: Manifest) -> dict[str, str]:
    """The voices of an engine that was chosen by name and may have voices that the manifest does not list."""
    voices: dict[str, str] = {}
    default = manifest.find(tts.voice)
    if default is None:
        voices[ENGLISH] = tts.voice
    elif (default.engine or _DEFAULT) == engine:  # else it is the setting's default
        voices[default.spoken_language] = default.id
    for language, name in tts.voices.items():
        if (entry := manifest.find(name)) is not None:
            _check_engine(f"tts.voices.{language}", entry, engine)
        voices[language] = name
    return voices or {ENGLISH: engine}


def _check_engine(setting: str, voice: ModelEntry, engine: str) -> None:
    if (voice.engine or _DEFAULT) != engine:
        raise ConfigError(
            f"{setting}: {voice.id} is a voice of {voice.engine or _DEFAULT}, and the engine is {engine}",
            hint="choose voices of one engine, or set tts.engine",
        )


def _voice(setting: str, model_id: str, manifest: Manifest) -> ModelEntry:
    entry = manifest.entry(model_id)
    if entry.kind != "tts":
        raise ConfigError(
            f"{setting}: {model_id} is no voice", hint="edgevox models list shows the voices: their kind is tts"
        )
    return entry
