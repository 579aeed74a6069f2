"""A hearing that tells somebody what it has understood, as soon as it has."""

from __future__ import annotations

from collections.abc import Callable

from edgevox.turn import CancelFlag
from edgevox.types import Audio, Transcript
from edgevox.voice.hearing import Hearing


class ToldHearing(Hearing):
    """Hears as another does. What is transcribed at a pause, before it is certain to be all, is told too."""

    def __init__(self, hearing: Hearing, tell: Callable[[Transcript], None]) -> None:
        self._hearing = hearing
        self._tell = tell

    async def transcribe(self, audio: Audio, cancel: CancelFlag) -> Transcript:
        heard = await self._hearing.transcribe(audio, cancel)
        if not cancel.is_set():
            self._tell(heard)
        return heard
