"""The engines of `edgevox eval`: a daemon whose model may have an adapter that is in no manifest."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection
from pathlib import Path

from edgevox.cli.context import Context
from edgevox.cli.pull_display import pull_display
from edgevox.daemon import Daemon
from edgevox.errors import ConfigError, ModelError
from edgevox.events import EngineName
from edgevox.llm.optimise import ModelFiles
from edgevox.modelstore import ModelStore, open_store
from edgevox.types import Synthesizer, Transcriber


class EvalDaemon(Daemon):
    """A daemon that hands out its engines."""

    def __init__(
        self, context: Context, store: ModelStore, engines: Collection[EngineName], adapter: Path | None
    ) -> None:
        super().__init__(context.settings, context.folders, store, engines)
        self._adapter_path = adapter

    @property
    def transcriber(self) -> Transcriber:
        return self._whisper

    @property
    def synthesizer(self) -> Synthesizer:
        return self._piper

    @property
    def _adapter_id(self) -> str | None:
        return None if self._adapter_path else super()._adapter_id

    def _llama_files(self) -> ModelFiles:
        files = super()._llama_files()
        return dataclasses.replace(files, adapter=self._adapter_path) if self._adapter_path else files


def open_eval_daemon(
    context: Context, engines: Collection[EngineName], *, adapter: Path | None = None
) -> EvalDaemon:
    """A daemon that is not started yet, with its models in the store. Raises ConfigError and ModelError."""
    if adapter is not None and not adapter.is_file():
        raise ConfigError(f"there is no file {adapter}", hint="--adapter takes a GGUF file")
    store = open_store(context.folders)
    daemon = EvalDaemon(context, store, engines, adapter)
    with pull_display(context.err) as progress:
        store.ensure(daemon.needed_models(), progress)
    try:
        daemon.prepare(lambda text: context.err.print(text, markup=False, soft_wrap=True))
    except ModelError as error:
        context.complain(error)  # the model works as it was downloaded, only slower
    return daemon
