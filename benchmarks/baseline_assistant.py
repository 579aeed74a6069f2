"""The assistant without prefix cache, speculation and adaptive endpointing, as a baseline.

The model caches no prompt and prepares none. A loop whose microphone is not live waits for one fixed
hangover, transcribes after it, and starts the reply after that.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from edgevox.app.engines import Engines
from edgevox.app.runtime import AssistantRuntime
from edgevox.config import Settings
from edgevox.core.events import EngineName
from edgevox.core.files import Folders
from edgevox.core.turn import CancelFlag
from edgevox.core.types import Busy, ChatDone, ChatReply, ChatRequest, Engine
from edgevox.engines import EngineLimits, HostedEngine
from edgevox.llm.engine import LlamaEngine
from edgevox.llm.prefix_cache import PrefixCache
from edgevox.models import ModelStore


class BaselineAssistant(AssistantRuntime):
    """A daemon whose language model has no prefix cache."""

    def __init__(
        self, settings: Settings, folders: Folders, store: ModelStore, engines: Collection[EngineName]
    ) -> None:
        super().__init__(settings, folders, store, engines)
        self.engines = _BaselineEngines(settings, self.preset, folders, self.models, self.bus.publish)


class _BaselineEngines(Engines):
    # The engines are of different types, which is between `_host` and its callers.
    def _host(self, name: EngineName, engine: Engine[Any, Any] | HostedEngine[Any, Any], limits: EngineLimits) -> Any:  # noqa: ANN401
        plain = UncachedLlama(engine) if isinstance(engine, LlamaEngine) else engine
        return super()._host(name, plain, limits)


class UncachedLlama:
    """An engine that reads every prompt from its first token on."""

    def __init__(self, engine: LlamaEngine) -> None:
        self._engine = engine

    def load(self) -> None:
        self._engine.load()

    def run(self, request: ChatRequest, cancel: CancelFlag) -> Iterator[ChatReply | Busy]:
        if request.prompt_only:
            yield ChatDone("stop", 0, 0, 0)
            return
        decoder = self._engine._decoder
        assert decoder is not None
        for sequence in (*decoder._cache._clients, *decoder._cache._prefixes):
            decoder._cache._empty(sequence)
        decoder._cache = PrefixCache(decoder._context)
        yield from self._engine.run(request, cancel)
