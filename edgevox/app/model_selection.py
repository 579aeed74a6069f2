"""Resolves settings and preset to model ids and files."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import assert_never

from edgevox.config import Settings
from edgevox.config.sections import AUTO
from edgevox.core.errors import ConfigError
from edgevox.core.events import EngineName
from edgevox.core.languages import ENGLISH
from edgevox.embedding.minilm import MODEL_ID
from edgevox.llm.presets import ModelPreset
from edgevox.models import ModelStore
from edgevox.models.optimise import ModelFiles, model_files, optimise_on_first_use
from edgevox.speakers.ge2e import MODEL_ID as VOICE_ENCODER
from edgevox.stt.engines import SttChoice, choose_stt
from edgevox.tts.engines import TtsChoice, choose_tts

# The model that rescoring was measured with (docs/adr/0038-rescoring.md).
_TEXT_SCORER = "smollm2-135m-instruct"


class ModelSelection:
    """The models of the engines that a command needs; an engine without model files here needs none."""

    def __init__(
        self,
        settings: Settings,
        preset: ModelPreset,
        store: ModelStore,
        engines: Collection[EngineName],
        *,
        adapter_path: Path | None = None,
    ) -> None:
        """With `adapter_path`, that file is applied to the model in the place of the preset's adapter.

        Raises ConfigError where the language model is needed and none is chosen.
        """
        if "llm" in engines and not (settings.llm.model or settings.llm.remote_url or preset.model):
            raise ConfigError(
                f"the preset {preset.name} has no model of its own",
                hint="name a file in llm.model (--model), or a server in llm.remote_url (--remote)",
            )
        self.engines = tuple(sorted(set(engines)))
        self._settings = settings
        self._preset = preset
        self._store = store
        self._adapter_path = adapter_path

    def needed(self) -> tuple[str, ...]:
        """The ids of the models that must be in the store before the engines start."""
        return tuple(model for engine in self.engines for model in self._ids(engine) if model)

    def prepare(self, report: Callable[[str], None]) -> None:
        """Make a faster copy of the language model, where that helps and is allowed. Raises ModelError.

        Without it, or when it fails, the engine starts with what was downloaded.
        """
        model_id = self._llm_id
        if "llm" in self.engines and model_id and self._settings.llm.optimize:
            optimise_on_first_use(self._store, model_id, report, self._adapter_id, self._preset.adapter_scale)

    def llm(self) -> ModelFiles:
        llm, model_id = self._settings.llm, self._llm_id
        if llm.model is not None:
            return ModelFiles(llm.model, self._adapter_path)
        assert model_id is not None
        files = model_files(
            self._store,
            model_id,
            adapter=self._adapter_id,
            adapter_scale=self._preset.adapter_scale,
            optimised=llm.optimize,
        )
        return replace(files, adapter=self._adapter_path) if self._adapter_path else files

    @cached_property
    def stt_choice(self) -> SttChoice:
        """The STT engine and its model. Raises ConfigError and ModelMissing."""
        return choose_stt(self._settings.stt, self._store.manifest)

    @cached_property
    def tts_choice(self) -> TtsChoice:
        """The TTS engine and its voices. Raises ConfigError and ModelMissing."""
        return choose_tts(self._settings.tts, self._store.manifest)

    def stt(self) -> tuple[Path | None, Path | None]:
        """The recogniser's model and adapter, each None where it has none."""
        model, adapter = self.stt_choice.model_id, self._stt_adapter_id
        return self._store.path(model) if model else None, self._store.path(adapter) if adapter else None

    def text_scorer(self) -> Path | None:
        """The model that scores the recogniser's hypotheses: the default LLM, if used and installed."""
        ids = (self._llm_id, self._adapter_id)
        if self._llm_id != _TEXT_SCORER or not all(self._store.has(each) for each in ids if each):
            return None
        files = self.llm()
        return files.model if files.adapter is None else None

    def tts(self) -> dict[str, Path]:
        """The file of each language's voice, for voices that have one."""
        return {language: self._store.path(voice) for language, voice in self.tts_choice.model_ids.items()}

    def embedding(self) -> Path:
        """The folder of the embedding model. Raises ModelMissing: it is downloaded only on request."""
        return self._store.path(MODEL_ID)

    def speaker(self) -> Path:
        """The voice encoder. Raises ModelMissing: it is downloaded when the first person is enrolled."""
        return self._store.path(VOICE_ENCODER)

    @property
    def voices(self) -> Mapping[str, str]:
        """The voice of each language, the default one first."""
        return self.tts_choice.voices

    def _ids(self, engine: EngineName) -> tuple[str | None, ...]:
        match engine:
            case "llm":
                return self._llm_id, self._adapter_id
            case "stt":
                return self.stt_choice.model_id, self._stt_adapter_id
            case "tts":
                return tuple(self.tts_choice.model_ids.values())
            case _:
                assert_never(engine)

    @property
    def _llm_id(self) -> str | None:
        llm = self._settings.llm
        return None if llm.model or llm.remote_url else self._preset.model

    @property
    def _adapter_id(self) -> str | None:
        """The preset's adapter: it is for the preset's model, not for a file of the user's own."""
        return self._preset.adapter if self._llm_id and not self._adapter_path else None

    @property
    def _stt_adapter_id(self) -> str | None:
        """The adapter of the recogniser, which has learnt English alone."""
        stt, model = self._settings.stt, self.stt_choice.model_id
        is_english = ENGLISH in (stt.language, *self.home_languages)
        return self._store.manifest.adapter_of(model) if model and stt.adapted and is_english else None

    @property
    def home_languages(self) -> tuple[str, ...]:
        """The languages among which the spoken one is detected; none if it is set, or may be any."""
        stt = self._settings.stt
        if stt.language != AUTO or stt.model.endswith(".en"):
            return ()
        return stt.languages or tuple(self.voices)
