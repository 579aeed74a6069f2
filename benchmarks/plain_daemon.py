"""The assistant without what makes it quick, for benchmarks that ask what that is worth.

The model remembers nothing of the prompts that it has read, and prepares none. A loop whose ear is not live
waits for one fixed hangover, transcribes behind it, and begins with the reply behind that.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from edgevox.daemon import Daemon
from edgevox.daemon.engines import Engines
from edgevox.engine import EngineLimits
from edgevox.events import EngineName
from edgevox.folders import Folders
from edgevox.llm.llamacpp import LlamaEngine
from edgevox.llm.prefix_cache import PrefixCache
from edgevox.modelstore import ModelStore
from edgevox.settings import Settings
from edgevox.turn import CancelFlag
from edgevox.types import Busy, ChatDone, ChatReply, ChatRequest, Engine


class PlainDaemon(Daemon):
    """A daemon whose language model has no prefix cache."""

    def __init__(
        self, settings: Settings, folders: Folders, store: ModelStore, engines: Collection[EngineName]
    ) -> None:
        super().__init__(settings, folders, store, engines)
        self.engines = _PlainEngines(settings, self.preset, folders, self.models, self.bus.publish)


class _PlainEngines(Engines):
    # The engines are of different types, which is between `_host` and its callers.
    def _host(self, name: EngineName, engine: Engine[Any, Any], limits: EngineLimits) -> Any:  # noqa: ANN401
        plain = ForgetfulLlama(engine) if isinstance(engine, LlamaEngine) else engine
        return super()._host(name, plain, limits)


class ForgetfulLlama:
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
        for track in (*decoder._cache._clients, *decoder._cache._prefixes):
            decoder._cache._empty(track)
        decoder._cache = PrefixCache(decoder._context)
        yield from self._engine.run(request, cancel)
