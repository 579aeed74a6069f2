"""Speculative work: transcript, reply and first sentence before the endpoint, prompt prefix between turns.

Nothing is played, and no tool runs, before the endpoint.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from contextlib import aclosing, contextmanager, suppress
from typing import TypeAlias

from edgevox.agents import AgentResult
from edgevox.core.errors import EdgevoxError
from edgevox.core.turn import CancelFlag, Gate, Turn, cancel_tasks
from edgevox.core.types import Audio, Transcript
from edgevox.dialogue.speech_output import Synthesizer
from edgevox.dialogue.transcriber import Transcriber


class SpeculativeTranscript:
    """A transcription in the background, for a `turn` that may not come."""

    def __init__(self, transcriber: Transcriber, audio: Audio, on_ready: Callable[[], None] = lambda: None) -> None:
        self.turn = Turn(gate=Gate(is_open=False))
        self.audio_s = audio.duration_s
        self.started_s = time.monotonic()
        self.ready_s = math.inf
        self.ready: Transcript | None = None
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
        """Wait for the transcript; None if the STT engine failed."""
        return await self._task

    def abandon(self) -> None:
        """Cancel the turn; idempotent."""
        self.turn.cancel.set()

    async def close(self) -> None:
        self.abandon()
        await cancel_tasks(self._task)

    async def _transcribe(self, transcriber: Transcriber, audio: Audio) -> Transcript | None:
        try:
            transcript = await transcriber.transcribe(audio, self.turn.cancel)
        except EdgevoxError:
            return None  # the turn tries again and reports the error
        self.ready_s = time.monotonic()
        self.ready = transcript
        return transcript


class SpeculativeReply:
    """A reply in the background, held at the gate of `turn` and cancelled with it."""

    def __init__(self, turn: Turn, reply: Callable[[], Awaitable[AgentResult]]) -> None:
        self.turn = turn
        self._task = asyncio.create_task(self._work(reply))

    @property
    def is_ready(self) -> bool:
        """Whether speech or a tool call waits at the gate."""
        return self.turn.gate.is_waited_at or self._task.done()

    async def result(self) -> AgentResult | None:
        """Wait for the result; None if it failed before the gate opened."""
        return await self._task

    async def close(self) -> None:
        await cancel_tasks(self._task)

    async def _work(self, reply: Callable[[], Awaitable[AgentResult]]) -> AgentResult | None:
        try:
            return await reply()
        except EdgevoxError:
            if self.turn.gate.is_open:
                raise
            return None


class SpeculativeSpeech:
    """Synthesizes a sentence in the background until `close`, or `cancel` of its turn."""

    def __init__(self, voice: Synthesizer, text: str, cancel: CancelFlag, language: str) -> None:
        self.text = text
        self._turn_cancel = cancel
        self._cancel = CancelFlag()
        self._pieces: asyncio.Queue[Audio | None] = asyncio.Queue()
        cancel.add_listener(self._cancel.set)
        self._task = asyncio.create_task(self._make(voice, language))

    async def pieces(self) -> AsyncGenerator[Audio, None]:
        """The audio, once, as from `Synthesizer.speak`; closes it at the end. Raises what `speak` raises."""
        try:
            while (piece := await self._pieces.get()) is not None:
                yield piece
            await self._task  # raises its error
        finally:
            await self.close()

    async def close(self) -> None:
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


# The prompt changes between turns, with the home's state and the age of the conversation.
_REPEAT_S = 5.0
# How long the work of other rooms waits for a turn: then the reply is being spoken, and needs no engine.
_TURN_S = 15.0

Work: TypeAlias = Callable[[CancelFlag], Awaitable[None]]


class IdleWorkers:
    """The idle work of pipelines on the same engines: while one has a turn, that of the others waits."""

    def __init__(self) -> None:
        self._workers: set[IdleWorker] = set()
        self._running: dict[CancelFlag, IdleWorker] = {}
        self._in_turn_s: dict[IdleWorker, float] = {}
        """The pipelines that have a turn, and since when."""

    def add(self, worker: IdleWorker) -> None:
        self._workers.add(worker)

    def remove(self, worker: IdleWorker) -> None:
        self._workers.discard(worker)
        self.release(worker)

    def hold(self, worker: IdleWorker) -> None:
        """A turn needs the engines: cancel the work of the others, until `release`."""
        self._in_turn_s[worker] = time.monotonic()
        for cancel, other in tuple(self._running.items()):
            if other is not worker:
                cancel.set()

    def release(self, worker: IdleWorker) -> None:
        if self._in_turn_s.pop(worker, None) is not None:
            for other in self._workers - {worker}:
                other.wake()

    def is_alone(self, worker: IdleWorker) -> bool:
        return self._workers <= {worker}

    def may_work(self, worker: IdleWorker) -> bool:
        since_s = time.monotonic() - _TURN_S
        return all(at_s < since_s for other, at_s in self._in_turn_s.items() if other is not worker)

    @contextmanager
    def running(self, worker: IdleWorker, cancel: CancelFlag) -> Iterator[CancelFlag]:
        """A flag for the work of `worker`, which `cancel` sets too."""
        paused = CancelFlag()
        cancel.add_listener(paused.set)
        self._running[paused] = worker
        try:
            yield paused
        finally:
            del self._running[paused]
            cancel.remove_listener(paused.set)


class IdleWorker:
    """Runs `work`, if any, in the background from `begin` to `end`: at once, then every few seconds.

    With `others` on the same engines, `work_again` runs when the room is spoken to: the engine may have dropped what
    was prepared for it.
    """

    def __init__(
        self,
        work: Work | None,
        work_again: Work | None = None,
        others: IdleWorkers | None = None,
        *,
        repeat_s: float = _REPEAT_S,
    ) -> None:
        self._work = work
        self._work_again = work_again or work
        self._others = others or IdleWorkers()
        self._repeat_s = repeat_s
        self._cancel = CancelFlag()
        self._woken = asyncio.Event()
        self._is_spoken_to = False
        self._task: asyncio.Task[None] | None = None

    def begin(self) -> None:
        """Start the work. Needs a running loop."""
        self._cancel.set()
        self._others.release(self)
        if self._work is not None:
            self._others.add(self)
            self._cancel = CancelFlag()
            self._is_spoken_to = False
            self._task = asyncio.create_task(self._run(self._work, self._cancel))

    async def run_once(self) -> None:
        """Do the work in the foreground."""
        if self._work is not None:
            await self._work(CancelFlag())

    def attend(self) -> None:
        """The room is spoken to: prepare its turn once more."""
        if not self._others.is_alone(self):
            self._is_spoken_to = True
            self.wake()

    def wake(self) -> None:
        """Do not wait any longer before the work is repeated."""
        self._woken.set()

    def end(self) -> None:
        """Cancel the work, also that of others; the engine is free within milliseconds."""
        self._cancel.set()
        self._others.hold(self)

    async def close(self) -> None:
        self._cancel.set()
        self._others.remove(self)
        if self._task is not None:
            await self._task

    async def _run(self, work: Work, cancel: CancelFlag) -> None:
        cancel.add_listener(self._woken.set)
        try:
            while not cancel.is_set():
                self._woken.clear()
                if self._others.may_work(self):
                    is_again, self._is_spoken_to = self._is_spoken_to, False
                    with self._others.running(self, cancel) as paused:
                        await (self._work_again or work if is_again else work)(paused)
                with suppress(TimeoutError):
                    async with asyncio.timeout(self._repeat_s):
                        await self._woken.wait()
        except EdgevoxError:
            return  # the next turn reports the error
