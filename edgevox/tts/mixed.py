"""Voices of several engines in one process: each language is spoken by the engine of its voice.

The child process imports this module, and with it neither the settings nor the factories of engines.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from edgevox.core.turn import CancelFlag
from edgevox.core.types import Audio, Busy, Engine, SynthesisRequest


class MixedEngine:
    """`engines` are by language; `language` is that of most replies, and its engine speaks for all others."""

    def __init__(self, engines: Mapping[str, Engine[SynthesisRequest, Audio]], language: str) -> None:
        self.engines = dict(engines)
        self.language = language
        self._loaded: list[Engine[SynthesisRequest, Audio]] = []

    def load(self) -> None:
        """Load the engine of most replies; the others are loaded on first use. Raises ModelError."""
        self._engine(self.language)

    def run(self, request: SynthesisRequest, cancel: CancelFlag) -> Iterator[Audio | Busy]:
        """Synthesize one sentence. Raises ModelError."""
        yield from self._engine(request.language).run(request, cancel)

    def _engine(self, language: str) -> Engine[SynthesisRequest, Audio]:
        engine = self.engines.get(language) or self.engines[self.language]
        if not any(engine is loaded for loaded in self._loaded):
            engine.load()
            self._loaded.append(engine)
        return engine
