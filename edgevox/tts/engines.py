"""The TTS engines: the table of factories, and which engine and voices the settings choose.

docs/guide/engines.md shows how to write one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
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
from edgevox.tts.mixed import MixedEngine

# Speaks the voices whose manifest entry names no engine.
_DEFAULT, _REMOTE = "piper", "wyoming"
_WITH_PITCH = frozenset({"hibari"})
# They have no voices but those of the manifest.
_LOCAL = ("hibari", "kokoro", "piper", "sano")
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
    "tts",
    {
        "hibari": "edgevox.tts.kokoro:create",
        "kokoro": "edgevox.tts.kokoro:create",
        "piper": "edgevox.tts.piper:create",
        "sano": "edgevox.tts.sano:create",
        "wyoming": "edgevox.tts.wyoming:create",
    },
)


def register_tts_engine(name: str, factory: TtsFactory) -> None:
    """Make an engine available as `tts.engine = "NAME"`. The factory must be cheap: it loads no model."""
    TTS_ENGINES.register(name, factory)


@dataclass(frozen=True, slots=True)
class TtsChoice:
    """The voices by language with the default one first, those of them that the manifest lists, and their engines.

    `engine` is that of the default voice, `engines` has those of the languages.
    """

    engine: str
    voices: Mapping[str, str]
    model_ids: Mapping[str, str]
    engines: Mapping[str, str]

    @property
    def is_remote(self) -> bool:
        return self.engine == _REMOTE

    @property
    def with_pitch(self) -> tuple[str, ...]:
        """The languages whose voice can be higher or lower."""
        return tuple(language for language, engine in self.engines.items() if engine in _WITH_PITCH)


def create_tts(choice: TtsChoice, context: TtsContext) -> TtsEngine:
    """The engine of all voices. Raises ConfigError where the engine of a package cannot be used."""
    names = set(choice.engines.values())
    if len(names) == 1:
        return TTS_ENGINES.factory(choice.engine)(context)
    made = {name: TTS_ENGINES.factory(name)(_part(context, choice, name)) for name in sorted(names)}
    parts: dict[str, Engine[SynthesisRequest, Audio]] = {}
    for language, name in choice.engines.items():
        if isinstance(engine := made[name], HostedEngine):
            raise ConfigError(
                f"tts.voices.{language}: {name} cannot be mixed with the voices of other engines",
                hint="choose voices of one engine, or set tts.engine",
            )
        parts[language] = engine
    most = context.language if context.language in parts else next(iter(parts))
    return MixedEngine(parts, most)


def _part(context: TtsContext, choice: TtsChoice, name: str) -> TtsContext:
    """The context with the voices of one engine."""
    own = [language for language, engine in choice.engines.items() if engine == name]
    return replace(
        context,
        voices={language: context.voices[language] for language in own},
        files={language: path for language, path in context.files.items() if language in own},
    )


def choose_tts(tts: TtsSettings, manifest: Manifest) -> TtsChoice:
    """Raises ConfigError for an unknown engine or a voice of another one, ModelMissing for an unknown voice."""
    if tts.engine != AUTO:
        engine = tts.engine
    elif tts.remote is not None:
        engine = _REMOTE
    else:
        engine = engine_of(_voice("tts.voice", tts.voice, manifest))
    TTS_ENGINES.check(engine)
    if engine == _REMOTE:
        voices = dict.fromkeys(tts.remote_languages, tts.remote_voice or _REMOTE_NAME)
        return TtsChoice(engine, voices, {}, dict.fromkeys(voices, engine))
    if tts.engine == AUTO or engine in _LOCAL:
        voices = _manifest_voices(tts, manifest, None if tts.engine == AUTO else engine)
        engines = {language: TTS_ENGINES.check(engine_of(manifest.entry(id_))) for language, id_ in voices.items()}
        return TtsChoice(engine, voices, voices, engines)
    voices = _engine_voices(tts, engine, manifest)
    listed = {language: name for language, name in voices.items() if manifest.find(name)}
    return TtsChoice(engine, voices, listed, dict.fromkeys(voices, engine))


def _manifest_voices(tts: TtsSettings, manifest: Manifest, engine: str | None) -> dict[str, str]:
    """The voices of the manifest, each with the engine that it names, which must be `engine` where that is given."""
    default = _voice("tts.voice", tts.voice, manifest)
    if engine and engine_of(default) != engine and tts.voice == TtsSettings().voice:
        default = next(entry for entry in manifest.models if entry.kind == "tts" and engine_of(entry) == engine)
    if engine:
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
        if engine:
            _check_engine(f"tts.voices.{language}", voice, engine)
        voices[language] = voice_id
    return voices


def _engine_voices(tts: TtsSettings, engine: str, manifest: Manifest) -> dict[str, str]:
    """The voices of an engine that was chosen by name and may have voices that the manifest does not list."""
    voices: dict[str, str] = {}
    default = manifest.find(tts.voice)
    if default is None:
        voices[ENGLISH] = tts.voice
    elif engine_of(default) == engine:  # else it is the setting's default
        voices[default.spoken_language] = default.id
    for language, name in tts.voices.items():
        if (entry := manifest.find(name)) is not None:
            _check_engine(f"tts.voices.{language}", entry, engine)
        voices[language] = name
    return voices or {ENGLISH: engine}


def engine_of(voice: ModelEntry) -> str:
    """The name of the engine that opens the voice."""
    return voice.engine or _DEFAULT


def _check_engine(setting: str, voice: ModelEntry, engine: str) -> None:
    if engine_of(voice) != engine:
        raise ConfigError(
            f"{setting}: {voice.id} is a voice of {engine_of(voice)}, and the engine is {engine}",
            hint="choose voices of one engine, or set tts.engine",
        )


def _voice(setting: str, model_id: str, manifest: Manifest) -> ModelEntry:
    entry = manifest.entry(model_id)
    if entry.kind != "tts":
        raise ConfigError(
            f"{setting}: {model_id} is no voice", hint="edgevox models list shows the voices: their kind is tts"
        )
    return entry
