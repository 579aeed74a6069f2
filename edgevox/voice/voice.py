"""The voice: a synthesizer with its manner of speaking."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing

import numpy as np

from edgevox.tts.speakable import speakable
from edgevox.turn import CancelFlag
from edgevox.types import Audio, SynthesisRequest, Synthesizer


class Voice:
    """Speaks sentences, each made speakable first."""

    def __init__(self, synthesizer: Synthesizer, *, speed: float = 1.0, language: str = "en") -> None:
        self._synthesizer = synthesizer
        self._speed = speed
        self.language = language

    async def speak(self, sentence: str, cancel: CancelFlag) -> AsyncGenerator[Audio, None]:
        """The sound of one sentence; none when there is nothing in it to say. Raises EngineFailed."""
        text = speakable(sentence, self.language)
        if text:
            request = SynthesisRequest(text, self._speed)
            async with aclosing(self._synthesizer.stream(request, cancel)) as pieces:
                async for piece in pieces:
                    yield piece

    async def sound_of(self, sentence: str) -> Audio:
        """All of one sentence at once; it must hold something to say. Raises EngineFailed."""
        pieces = [piece async for piece in self.speak(sentence, CancelFlag())]
        return Audio(np.concatenate([piece.samples for piece in pieces]), pieces[0].rate_hz)
