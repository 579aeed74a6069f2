"""Hearing and speaking for programs, in pieces: between two of them it is somebody else's turn."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing

from edgevox.server.audio.cutting import pieces
from edgevox.server.work_queue import WorkQueue
from edgevox.turn import CancelFlag
from edgevox.types import Audio, Transcript
from edgevox.voice.hearing import Hearing
from edgevox.voice.voice import Voice


async def heard_in(audio: Audio, hearing: Hearing, queue: WorkQueue, who: str) -> list[Transcript]:
    """What is said in a sound, piece by piece. Raises EngineFailed."""
    cancel = CancelFlag()
    try:
        heard = []
        for piece in pieces(audio):
            async with queue.turn(who):
                heard.append(await hearing.transcribe(piece, cancel))
        return heard
    finally:
        cancel.set()


async def spoken(
    sentence: str, voice: Voice, language: str, queue: WorkQueue, who: str, cancel: CancelFlag
) -> AsyncGenerator[Audio, None]:
    """The sound of one sentence. Raises EngineFailed and ModelError."""
    async with queue.turn(who), aclosing(voice.speak(sentence, cancel, language)) as sounds:
        async for sound in sounds:
            yield sound
