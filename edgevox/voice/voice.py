"""The voice: a synthesizer with its manner of speaking, in every language that it has a voice for."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing

import numpy as np

from edgevox.languages import ENGLISH
from edgevox.tts.speakable import speakable
from edgevox.turn import CancelFlag
from edgevox.types import Audio, SynthesisRequest, Synthesizer


class Voice:
    """Speaks sentences, each made speakable first."""

    def __init__(self, synthesizer: Synthesizer, *, speed: float = 1.0) -> None:
        self._synthesizer = synthesizer
        self._speed = speed

    async def prepare(self, language: str) -> None:
        """Have the voice for another language ready: it may have to be read. Raises what `speak` does."""
        if language != ENGLISH:
            nothing = SynthesisRequest("", self._speed, language)
            async with aclosing(self._synthesizer.stream(nothing, CancelFlag())) as pieces:
                async for _ in pieces:
                    pass

    async def speak(
        self, sentence: str, cancel: CancelFlag, language: str = ENGLISH
    ) -> AsyncGenerator[Audio, None]:
        """The sound of one sentence in that language; none when there is nothing in it to say.

        Raises EngineFailed, and ModelError where the voice for the language cannot be used.
        """
        text = speakable(sentence, language)
        if text:
            request = SynthesisRequest(text, self._speed, language)
            async with aclosing(self._synthesizer.stream(request, cancel)) as pieces:
                async for piece in pieces:
                    yield piece

    async def sound_of(self, sentence: str, language: str = ENGLISH) -> Audio:
        """All of one sentence at once; it must hold something to say. Raises what `speak` does."""
        pieces = [piece async for piece in self.speak(sentence, CancelFlag(), language)]
        return Audio(np.concatenate([piece.samples for piece in pieces]), pieces[0].rate_hz)
