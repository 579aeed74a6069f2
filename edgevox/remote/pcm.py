"""Sound as Wyoming sends it: plain samples of one to four bytes, one or several channels."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from wyoming.audio import AudioChunk

from edgevox.types import Audio

WIDTH, CHANNELS = 2, 1
"""What we send."""

_INT16_MAX = 32_767
_RATES_HZ = range(4_000, 192_001)
_MAX_CHANNELS = 8
# By the bytes of a sample: its type, where its silence is, and how loud it can be.
_FORMS = {1: ("u1", 128, 2**7), 2: ("<i2", 0, 2**15), 4: ("<i4", 0, 2**31)}


class WrongSound(Exception):
    """Sound of a form that is not read."""


class PcmReader:
    """Chunks of one stream, wherever its samples are cut."""

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, chunk: AudioChunk) -> Audio:
        """What of it is whole, mixed to mono. Raises WrongSound."""
        rate, width, channels = chunk.rate, chunk.width, chunk.channels
        if width not in _FORMS or rate not in _RATES_HZ or channels not in range(1, _MAX_CHANNELS + 1):
            raise WrongSound(f"sound of {rate} Hz, {width} bytes and {channels} channels is not read")
        content = self._rest + chunk.audio
        whole = len(content) - len(content) % (width * channels)
        self._rest = content[whole:]
        kind, silence, loudest = _FORMS[width]
        samples = np.frombuffer(content[:whole], kind).astype(np.float32).reshape(-1, channels)
        return Audio(((samples - silence) / loudest).mean(axis=1, dtype=np.float32), rate)


def pcm(samples: NDArray[np.float32]) -> bytes:
    """Samples in the form that we send."""
    return np.rint(np.clip(samples, -1.0, 1.0) * _INT16_MAX).astype("<i2").tobytes()
