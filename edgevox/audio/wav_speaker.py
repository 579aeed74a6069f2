"""A loudspeaker that is a file: what would be heard is written down when it closes."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from pathlib import Path

from edgevox.audio.files import write_wav
from edgevox.turn import CancelFlag
from edgevox.types import Audio


class WavSpeaker:
    """Keeps every answer, one behind the other, as fast as it comes."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.heard_s = 0.0
        self._chunks: list[Audio] = []

    async def play(
        self, chunks: AsyncIterator[Audio], cancel: CancelFlag, on_start: Callable[[], None] = lambda: None
    ) -> None:
        started = False
        self.heard_s = 0.0
        async for chunk in chunks:
            if cancel.is_set():
                return
            if not started:
                on_start()
                started = True
            self._chunks.append(chunk)
            self.heard_s += chunk.duration_s

    def duck(self, is_ducked: bool) -> None:
        """A file is not spoken over."""

    def save(self) -> None:
        """Write the file. Raises AudioError, also when nothing was said."""
        write_wav(self._path, self._chunks)
