"""Sound that arrives in chunks, until the client says that it was all."""

from __future__ import annotations

import numpy as np
from wyoming.audio import AudioChunk

from edgevox.audio.resample import Resampler
from edgevox.errors import AudioError
from edgevox.remote.pcm import PcmReader, WrongSound
from edgevox.types import WHISPER_RATE_HZ, Audio


class Recording:
    """At most `max_s` of it are kept: what is longer is refused."""

    def __init__(self, max_s: float) -> None:
        self._max_s = max_s
        self._reader = PcmReader()
        self._resampler: Resampler | None = None
        self._pieces: list[np.typing.NDArray[np.float32]] = []
        self._seconds = 0.0

    def feed(self, chunk: AudioChunk) -> None:
        """Raises AudioError."""
        try:
            sound = self._reader.feed(chunk)
        except WrongSound as error:
            raise AudioError(str(error), hint="send 16 bits") from None
        if self._resampler is None:
            self._resampler = Resampler(sound.rate_hz, WHISPER_RATE_HZ)
        elif self._resampler.from_hz != sound.rate_hz:
            raise AudioError("the sound changes its rate", hint="send it in one rate")
        self._seconds += sound.duration_s
        if self._seconds > self._max_s:
            raise AudioError(f"the sound is longer than {self._max_s:g} s", hint="send it in parts")
        self._pieces.append(self._resampler.feed(sound.samples))

    def finish(self) -> Audio:
        """All of it, as the recogniser wants it."""
        if self._resampler is not None:
            self._pieces.append(self._resampler.finish())
        samples = np.concatenate([np.zeros(0, dtype=np.float32), *self._pieces])
        return Audio(samples, WHISPER_RATE_HZ)
