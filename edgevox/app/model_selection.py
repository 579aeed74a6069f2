"""Resolves settings and preset to model ids and files."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import assert_never

from edgevox.config import Settings
from edgevox.core.errors import ConfigError
from edgevox.core.events import EngineName
from edgevox.core.languages import ENGLISH
from edgevox.llm.presets import ModelPreset
from edgevox.models import ModelStore
from edgevox.models.optimise import ModelFiles, merge_on_first_use, model_files, optimise_on_first_use
from edgevox.tts.engines import chosen_voices

# The model that rescoring was measured with (docs/adr/0038-rescoring.md).
_TEXT_SCORER = "smollm2-135m-instruct"
_REMOTE_EAR, _REMOTE_VOICE = "remote-ear", "remote-voice"


class ModelSelection:
    """The models of the engines that a command needs. An engine on another machine needs none here."""

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

    def prepare(self, tell: Callable[[str], None]) -> None:
        """Make a faster copy of the language model, where that helps and is allowed. Raises ModelError.

        Without it, or when it fails, the engine starts with what was downloaded.
        """
        model_id = self._llm_id
        if "llm" not in self.engines or not model_id or not self._settings.llm.optimize:
            return
        if self._adapter_id is None:
            optimise_on_first_use(self._store, model_id, tell)
        else:
            merge_on_first_use(self._store, model_id, self._adapter_id, self._preset.adapter_scale, tell)

    def llm(self) -> ModelFiles:
        """The files of the language model."""
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

    def stt(self) -> tuple[Path, Path | None]:
        """The recogniser's folder, and its adapter where it has one."""
        adapter = self._stt_adapter_id
        return self._store.path(self._settings.stt.model), self._store.path(adapter) if adapter else None

    def text_scorer(self) -> Path | None:
        """The model that scores the recogniser's hypotheses: the default LLM, if used and installed."""
        ids = (self._llm_id, self._adapter_id)
        if self._llm_id != _TEXT_SCORER or not all(self._store.has(each) for each in ids if each):
            return None
        files = self.llm()
        return files.model if files.adapter is None else None

    def tts(self) -> dict[str, Path]:
        """The file of each language's voice."""
        return {language: self._store.path(voice) for language, voice in self.voices.items()}

    @property
    def stt_model_name(self) -> str:
        """What programs call the recogniser."""
        stt = self._settings.stt
        return (stt.remote_model or _REMOTE_EAR) if stt.remote else stt.model

    @cached_property
    def voices(self) -> Mapping[str, str]:
        """The voice of each language, the default one first."""
        tts = self._settings.tts
        if tts.remote is not None:
            return dict.fromkeys(tts.remote_languages, tts.remote_voice or _REMOTE_VOICE)
        return chosen_voices(tts, self._store.manifest)

    def _ids(self, engine: EngineName) -> tuple[str | None, ...]:
        settings = self._settings
        match engine:
            case "llm":
                return self._llm_id, self._adapter_id
            case "stt":
                return () if settings.stt.remote else (settings.stt.model, self._stt_adapter_id)
            case "tts":
                return () if settings.tts.remote else tuple(self.voices.values())
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
        stt = self._settings.stt
        return self._store.manifest.adapter_of(stt.model) if stt.adapted and stt.language == ENGLISH else None
