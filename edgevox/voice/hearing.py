"""The ear: a recogniser with the language and the names that it is to expect, its mishearings put right."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from contextlib import aclosing

from edgevox.tools.home.heard_names import as_named
from edgevox.turn import CancelFlag
from edgevox.types import Audio, Transcriber, TranscribeRequest, Transcript

_ENGLISH = "en"


class Hearing:
    """Writes down what is said. `language` None means: find out.

    `names` gives those that are to be spelt as given when they are heard, the most important first. They are
    asked for at every utterance, and the recogniser takes as many as it has room for. `house_names` gives all
    that the house has: one that was misheard in English is put right.
    """

    def __init__(
        self,
        transcriber: Transcriber,
        *,
        language: str | None = None,
        names: Callable[[], tuple[str, ...]] = lambda: (),
        house_names: Callable[[], tuple[str, ...]] = lambda: (),
    ) -> None:
        self._transcriber = transcriber
        self._language = language
        self._names = names
        self._house_names = house_names

    async def transcribe(self, audio: Audio, cancel: CancelFlag) -> Transcript:
        """What is said in `audio`; nothing when the turn was cancelled first. Raises EngineFailed."""
        request = TranscribeRequest(audio, self._language, self._names())
        async with aclosing(self._transcriber.stream(request, cancel)) as transcripts:
            async for transcript in transcripts:
                return self._put_right(transcript)
        return Transcript("", self._language or "", audio.duration_s, dropped="cancelled")

    def _put_right(self, transcript: Transcript) -> Transcript:
        if transcript.language != _ENGLISH:
            return transcript
        return dataclasses.replace(transcript, text=as_named(transcript.text, self._house_names()))
