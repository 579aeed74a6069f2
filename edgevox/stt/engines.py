"""The STT engines: the table of factories, and which engine and model the settings choose.

docs/guide/engines.md shows how to write one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from edgevox.config import SttSettings
from edgevox.config.sections import AUTO
from edgevox.core.types import Engine, TranscribeRequest, Transcript
from edgevox.engines import EngineLimits, HostedEngine
from edgevox.engines.registry import EngineRegistry
from edgevox.models import Manifest
from edgevox.stt.rescoring import TextScorer

# Opens the models whose manifest entry names no engine.
_DEFAULT, _REMOTE = "whisper", "wyoming"
_REMOTE_NAME = "remote-ear"


@dataclass(frozen=True, slots=True)
class SttContext:
    """What a factory may use to build its engine.

    `model` is the path of `settings.model` if the manifest lists it for this engine, else None. `languages` are those
    of the home, where the spoken one is detected.
    """

    settings: SttSettings
    threads: int
    limits: EngineLimits
    model: Path | None = None
    adapter: Path | None = None
    text_scorer: TextScorer | None = None
    languages: tuple[str, ...] = ()


SttEngine: TypeAlias = Engine[TranscribeRequest, Transcript] | HostedEngine[TranscribeRequest, Transcript]
"""An Engine runs in a child process and must be picklable; a HostedEngine is used as it is."""

SttFactory: TypeAlias = Callable[[SttContext], SttEngine]

STT_ENGINES: EngineRegistry[SttFactory] = EngineRegistry(
    "stt", {"whisper": "edgevox.stt.whisper:create", "wyoming": "edgevox.stt.wyoming:create"}
)


def register_stt_engine(name: str, factory: SttFactory) -> None:
    """Make an engine available as `stt.engine = "NAME"`. The factory must be cheap: it loads no model."""
    STT_ENGINES.register(name, factory)


@dataclass(frozen=True, slots=True)
class SttChoice:
    """The engine, the name of its model for clients, and the model's id in the manifest if it has one there."""

    engine: str
    model_name: str
    model_id: str | None = None

    @property
    def is_remote(self) -> bool:
        return self.engine == _REMOTE


def choose_stt(stt: SttSettings, manifest: Manifest) -> SttChoice:
    """Raises ConfigError for an unknown engine, and ModelMissing for an unknown model where that decides."""
    if stt.engine == AUTO:
        engine = _REMOTE if stt.remote is not None else manifest.entry(stt.model).engine or _DEFAULT
    else:
        engine = stt.engine
    STT_ENGINES.check(engine)
    if engine == _REMOTE:
        return SttChoice(engine, stt.remote_model or _REMOTE_NAME)
    entry = manifest.find(stt.model)
    if entry is None:
        return SttChoice(engine, stt.model)
    is_its_own = (entry.engine or _DEFAULT) == engine
    return SttChoice(engine, stt.model, stt.model) if is_its_own else SttChoice(engine, engine)
