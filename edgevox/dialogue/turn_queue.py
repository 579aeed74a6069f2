"""Routes an utterance: new turn, answer to a question, or built-in command."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeAlias

from edgevox.audio.wake_gate import WakeState
from edgevox.core.errors import EdgevoxError
from edgevox.core.events import Event, SpeechDropped
from edgevox.core.turn import Turn
from edgevox.core.types import Audio
from edgevox.dialogue.confirm import AnswerListener
from edgevox.dialogue.pipeline import Pipeline
from edgevox.dialogue.speculative import SpeculativeTranscript

Publish: TypeAlias = Callable[[Event], None]

# A word that needs no model, with the silence around it. What is longer is not worth the processor's time,
# which the turn that is under way needs itself.
LONGEST_ASIDE_S = 3.0
# Whoever says more than this while a turn is under way is not talking to us.
_MOST_WAITING = 2


@dataclass(frozen=True, slots=True)
class Utterance:
    """An utterance that has ended."""

    audio: Audio
    last_voiced_s: float
    """On the monotonic clock."""
    is_whole: bool
    dropped_samples: int
    early: SpeculativeTranscript | None
    """Its transcription, where that was begun before it had ended."""


class TurnQueue:
    """Turns, one after the other, and what is said while one is under way.

    `is_speaking` says whether somebody speaks again.
    """

    def __init__(
        self,
        pipeline: Pipeline,
        publish: Publish,
        is_speaking: Callable[[], bool],
        wake_state: WakeState | None = None,
    ) -> None:
        self._pipeline = pipeline
        self._publish = publish
        self._is_speaking = is_speaking
        self._wake_state = wake_state or WakeState()
        self._turns: list[asyncio.Task[None]] = []
        """The turn under way, and those that wait for it."""
        self._aside: asyncio.Task[None] | None = None
        """What somebody said while a turn was under way is being transcribed."""
        self._reading: asyncio.Task[None] | None = None
        """The answer to a question is being transcribed."""
        self._overheard: asyncio.Task[None] | None = None
        """What somebody said is being transcribed, to know whether it was said to the assistant."""

    @property
    def is_in_turn(self) -> bool:
        # What a timer does when it is due is a turn too, and not one of this exchange's.
        return self._has_turns or self._pipeline.is_in_turn

    @property
    def is_reading(self) -> bool:
        """Whether the answer to a question is being transcribed."""
        return _is_at_work(self._reading)

    @property
    def is_understanding(self) -> bool:
        """Whether something that was said is still being understood outside a turn."""
        return _is_at_work(self._aside) or self.is_reading

    def take(self, said: Utterance, *, interrupts: bool) -> None:
        """An utterance; one that `interrupts` has ended the turn that is under way."""
        listening = self._pipeline.confirmation.listening
        if not interrupts and not self._wake_state.is_awake:
            self._overheard = asyncio.create_task(self._overhear(said, self._overheard))
        elif interrupts or not self.is_in_turn:
            self._answer_next(said)
        elif listening is not None:
            if self.is_reading:
                _abandon(said)
            else:
                self._reading = asyncio.create_task(self._hear_answer(listening, said))
        elif len(self._turns) > _MOST_WAITING:
            _abandon(said)
            self._publish(SpeechDropped(reason="busy"))
        elif said.audio.duration_s <= LONGEST_ASIDE_S and not _is_at_work(self._aside):
            self._aside = asyncio.create_task(self._hear_aside(said))
        else:
            self._answer_next(said)

    def take_word(self, audio: Audio, then: Callable[[], None]) -> None:
        """What may be a word that somebody said into the reply; `then` is called when it was understood."""
        if _is_at_work(self._aside):
            then()
        else:
            self._aside = asyncio.create_task(self._hear_word(audio, then))

    async def waits(self) -> None:
        """Returns when no turn is under way, or one waits for an answer that is still to be heard."""
        for task in (self._aside, self._reading, self._overheard):
            if task is not None:
                await task
        if self._has_turns:
            asked = asyncio.create_task(self._pipeline.confirmation.until_listening())
            await asyncio.wait((self._turns[-1], asked), return_when=asyncio.FIRST_COMPLETED)
            asked.cancel()

    async def end(self) -> None:
        """Nobody will say anything more; returns when everything is answered."""
        while self._has_turns or self.is_understanding or _is_at_work(self._overheard):
            await self.waits()
            if listening := self._pipeline.confirmation.listening:
                listening.hear_nothing()

    async def close(self) -> None:
        """Break off what is under way."""
        tasks = [*self._turns, *filter(None, (self._aside, self._reading, self._overheard))]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    @property
    def _has_turns(self) -> bool:
        self._turns = [task for task in self._turns if not task.done()]
        return bool(self._turns)

    def _answer_next(self, said: Utterance) -> None:
        before = self._turns[-1] if self._has_turns else None
        self._turns.append(asyncio.create_task(self._answer(said, before)))

    async def _answer(self, said: Utterance, before: asyncio.Task[None] | None) -> None:
        if before is not None:
            await asyncio.wait((before,))
        try:
            result = await self._pipeline.hear(
                said.audio,
                said.early.turn if said.early else Turn(),
                last_voiced_s=said.last_voiced_s,
                dropped_samples=said.dropped_samples,
                early=said.early,
            )
        except EdgevoxError:
            return  # its TurnEnded has said what happened and what to do
        if result is not None:
            self._wake_state.note_reply_ended()

    async def _overhear(self, said: Utterance, before: asyncio.Task[None] | None) -> None:
        """Answer what was said if it turns out to begin with the phrase; else nobody learns of it."""
        early = said.early or self._pipeline.transcribe_speculatively(said.audio)
        if before is not None:
            await asyncio.wait((before,))
        heard = await early.transcript()
        if heard is not None and heard.text:
            self._answer_next(replace(said, early=early))
        else:
            early.abandon()
            self._publish(SpeechDropped(reason=(heard and heard.dropped) or "not understood"))

    async def _hear_answer(self, listening: AnswerListener, said: Utterance) -> None:
        text = await self._pipeline.words_in(said.audio, said.early)
        if self._pipeline.act_on_ring(text):
            # It was for what rings, and "okay" is no yes then: the question has to be asked again.
            listening.hear("")
        elif text:
            # Whoever goes on speaking has not said it all: "yes … no, wait".
            listening.hear(text if said.is_whole and not self._is_speaking() else "")

    async def _hear_aside(self, said: Utterance) -> None:
        """Somebody says something while a turn is under way: to it, or what is to come next."""
        text = await self._pipeline.words_in(said.audio, said.early)
        if text and not self._pipeline.act_on(text):
            self._answer_next(said)

    async def _hear_word(self, audio: Audio, then: Callable[[], None]) -> None:
        try:
            self._pipeline.act_on(await self._pipeline.words_in(audio))
        finally:
            then()


def _abandon(said: Utterance) -> None:
    if said.early is not None:
        said.early.abandon()


def _is_at_work(task: asyncio.Task[None] | None) -> bool:
    return task is not None and not task.done()
