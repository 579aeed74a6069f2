"""A sentence that will probably be said: its sound is made before that is certain."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing

from edgevox.turn import CancelFlag
from edgevox.types import Audio
from edgevox.voice.voice import Voice


class ForeseenSentence:
    """Works in the background from the moment it is made, until it is closed."""

    def __init__(self, voice: Voice, text: str, cancel: CancelFlag, language: str) -> None:
        """It ends with `cancel`, which is its turn's."""
        self.text = text
        self._turn_cancel = cancel
        self._cancel = CancelFlag()
        self._pieces: asyncio.Queue[Audio | None] = asyncio.Queue()
        cancel.add_listener(self._cancel.set)
        self._task = asyncio.create_task(self._make(voice, language))

    async def pieces(self) -> AsyncGenerator[Audio, None]:
        """The sound, once, as `Voice.speak` gives it. Raises what that does. It is closed with this."""
        try:
            while (piece := await self._pieces.get()) is not None:
                yield piece
            await self._task  # raises what it has failed with
        finally:
            await self.close()

    async def close(self) -> None:
        """Nobody will hear (more of) it; returns when nothing of it is left in this process."""
        self._turn_cancel.remove_listener(self._cancel.set)
        self._cancel.set()
        await asyncio.gather(self._task, return_exceptions=True)

    async def _make(self, voice: Voice, language: str) -> None:
        try:
            async with aclosing(voice.speak(self.text, self._cancel, language)) as pieces:
                async for piece in pieces:
                    self._pieces.put_nowait(piece)
        finally:
            self._pieces.put_nowait(None)
