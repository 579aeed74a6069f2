"""Work started before it is certain to be needed.

At a possible end of speech the transcript and the reply are begun, and the first sentence is synthesized;
between turns the agent's prompt prefix is evaluated. Nothing is played, and no tool runs, before the
endpoint.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing, suppress

from edgevox.agents import AgentResult
from edgevox.core.errors import EdgevoxError
from edgevox.core.turn import CancelFlag, Gate, Turn
from edgevox.core.types import Audio, Transcript
from edgevox.dialogue.speech_output import Synthesizer
from edgevox.dialogue.transcriber import Transcriber


class SpeculativeTranscript:
    """Works in the background from the moment it is made, on behalf of `turn`, which may never come."""

    def __init__(self, transcriber: Transcriber, audio: Audio, on_ready: Callable[[], None] = lambda: None) -> None:
        self.turn = Turn(gate=Gate(is_open=False))
        self.audio_s = audio.duration_s
        self.started_s = time.monotonic()
        self.ready_s = math.inf
        """When the transcript was ready: never, until it is."""
        self.heard: Transcript | None = None
        """The transcript, once it is ready."""
        self._task = asyncio.create_task(self._transcribe(transcriber, audio))
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

    async def _transcribe(self, transcriber: Transcriber, audio: Audio) -> Transcript | None:
        try:
            transcript = await transcriber.transcribe(audio, self.turn.cancel)
        except EdgevoxError:
            return None  # asked again after the endpoint, it says in the turn what is wrong
        self.ready_s = time.monotonic()
        self.heard = transcript
        return transcript


class SpeculativeReply:
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


class SpeculativeSpeech:
    """Works in the background from the moment it is made, until it is closed."""

    def __init__(self, voice: Synthesizer, text: str, cancel: CancelFlag, language: str) -> None:
        """It ends with `cancel`, which is its turn's."""
        self.text = text
        self._turn_cancel = cancel
        self._cancel = CancelFlag()
        self._pieces: asyncio.Queue[Audio | None] = asyncio.Queue()
        cancel.add_listener(self._cancel.set)
        self._task = asyncio.create_task(self._make(voice, language))

    async def pieces(self) -> AsyncGenerator[Audio, None]:
        """The sound, once, as `Synthesizer.speak` gives it. Raises what that does. It is closed with this."""
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

    async def _make(self, voice: Synthesizer, language: str) -> None:
        try:
            async with aclosing(voice.speak(self.text, self._cancel, language)) as pieces:
                async for piece in pieces:
                    self._pieces.put_nowait(piece)
        finally:
            self._pieces.put_nowait(None)


# A home may change, and a conversation become old, while nobody speaks.
_LOOK_AGAIN_S = 5.0


class IdleWorker:
    """Runs `rest` in the background from `begin` to `end`: at once, and every few seconds again."""

    def __init__(self, rest: Callable[[CancelFlag], Awaitable[None]], *, look_again_s: float = _LOOK_AGAIN_S) -> None:
        self._rest = rest
        self._look_again_s = look_again_s
        self._cancel = CancelFlag()
        self._task: asyncio.Task[None] | None = None

    def begin(self) -> None:
        """The turn is over. Needs a running loop."""
        self.end()
        self._cancel = CancelFlag()
        self._task = asyncio.create_task(self._run(self._cancel))

    def end(self) -> None:
        """Somebody has said something: the engine is free within milliseconds."""
        self._cancel.set()

    async def close(self) -> None:
        """End it, and wait until nothing of it is left."""
        self.end()
        if self._task is not None:
            await self._task

    async def _run(self, cancel: CancelFlag) -> None:
        ended = asyncio.Event()
        cancel.add_listener(ended.set)
        try:
            while not ended.is_set():
                await self._rest(cancel)
                with suppress(TimeoutError):
                    async with asyncio.timeout(self._look_again_s):
                        await ended.wait()
        except EdgevoxError:
            return  # nobody waits for this, and the next turn says what is wrong
