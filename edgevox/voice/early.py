"""What begins at a pause that may be the end of what is said, and may not: the transcript, then the reply."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Awaitable, Callable

from edgevox.agents import AgentResult
from edgevox.errors import EdgevoxError
from edgevox.turn import Gate, Turn
from edgevox.types import Audio, Transcript
from edgevox.voice.hearing import Hearing


class EarlyTranscription:
    """Works in the background from the moment it is made, on behalf of `turn`, which may never come."""

    def __init__(self, hearing: Hearing, audio: Audio, on_ready: Callable[[], None] = lambda: None) -> None:
        self.turn = Turn(gate=Gate(is_open=False))
        self.audio_s = audio.duration_s
        self.started_s = time.monotonic()
        self.ready_s = math.inf
        """When the transcript was ready: never, until it is."""
        self.heard: Transcript | None = None
        """The transcript, once it is ready."""
        self._task = asyncio.create_task(self._transcribe(hearing, audio))
        self._task.add_done_callback(lambda _task: on_ready())

    @property
    def is_working(self) -> bool:
        return not self._task.done()

    @property
    def is_abandoned(self) -> bool:
        return self.turn.cancel.is_set()

    async def transcript(self) -> Transcript | None:
        """What was said; None when the recogniser failed, and must be asked again."""
        return await self._task

    def abandon(self) -> None:
        """Nobody will ask for the transcript (any more). May be called more than once."""
        self.turn.cancel.set()

    async def close(self) -> None:
        """Abandon it, and wait until nothing of it is left in this process."""
        self.abandon()
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    async def _transcribe(self, hearing: Hearing, audio: Audio) -> Transcript | None:
        try:
            transcript = await hearing.transcribe(audio, self.turn.cancel)
        except EdgevoxError:
            return None  # asked again after the endpoint, it says in the turn what is wrong
        self.ready_s = time.monotonic()
        self.heard = transcript
        return transcript


class EarlyReply:
    """Likewise: a reply, held at the gate of `turn`, which ends when that is cancelled."""

    def __init__(self, turn: Turn, reply: Callable[[], Awaitable[AgentResult]]) -> None:
        self.turn = turn
        self._task = asyncio.create_task(self._work(reply))

    @property
    def is_ready(self) -> bool:
        """Whether it can say or do something as soon as the gate opens."""
        return self.turn.gate.is_waited_at or self._task.done()

    async def result(self) -> AgentResult | None:
        """What came of it; None when it failed before the gate was open, and must be tried again."""
        return await self._task

    async def close(self) -> None:
        """Give it up, and wait until nothing of it is left in this process."""
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    async def _work(self, reply: Callable[[], Awaitable[AgentResult]]) -> AgentResult | None:
        try:
            return await reply()
        except EdgevoxError:
            if self.turn.gate.is_open:
                raise
            return None
