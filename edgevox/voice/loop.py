"""The voice loop: listens, hands each utterance to the pipeline, and does not listen to itself."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, aclosing, nullcontext
from dataclasses import replace
from typing import Protocol, TypeAlias

from edgevox.audio import segmenter as segments
from edgevox.errors import EdgevoxError
from edgevox.events import Event, SpeechDropped, SpeechStarted
from edgevox.turn import Turn
from edgevox.types import Audio
from edgevox.voice.asking import Listening
from edgevox.voice.attentive import AttentiveSegmenter
from edgevox.voice.early import EarlyTranscription
from edgevox.voice.patience import completeness, hangovers
from edgevox.voice.pipeline import Pipeline
from edgevox.voice.ringing import Ringer
from edgevox.voice.wakefulness import Wakefulness

Publish: TypeAlias = Callable[[Event], None]

# Whoever has said nothing for so long after a question does not agree.
ANSWER_WITHIN_S = 8.0
# A word that needs no model, with the silence around it. What is longer is not worth the processor's time,
# which the turn that is under way needs itself.
_LONGEST_ASIDE_S = 3.0


class Ear(Protocol):
    """Where the sound comes from: blocks of equal length, without an end for a microphone."""

    @property
    def live(self) -> bool:
        """Whether time passes while nobody reads, as in front of a microphone and not in a file."""

    @property
    def dropped_samples(self) -> int: ...

    @property
    def delay_s(self) -> float:
        """How old the end of the last block is."""

    def frames(self) -> AsyncGenerator[Audio, None]: ...


class VoiceLoop:
    """Half duplex: while the assistant speaks, what is heard is let go.

    While it works in silence it listens for the words that need no model, and after a question of its own
    for the answer. While the pause that ends an utterance still lasts, it is transcribed already: the words
    say how long that pause has to be, and the reply to them is begun. Nothing is said or done before it has
    ended. In a file nobody waits for that, and what is said is transcribed once; a turn is then over, or
    asks, before more is read, and nothing rings.
    """

    def __init__(
        self,
        ear: Ear,
        segmenter: segments.Segmenter,
        pipeline: Pipeline,
        publish: Publish,
        ringer: Ringer | None = None,
        wakefulness: Wakefulness | None = None,
    ) -> None:
        self._ear = ear
        self._ringer = ringer
        self.wakefulness = wakefulness or Wakefulness()
        self._segmenter = AttentiveSegmenter(segmenter, self.wakefulness, self._is_engaged)
        self.pipeline = pipeline
        self._publish = publish
        self._early: EarlyTranscription | None = None
        self._turn: asyncio.Task[None] | None = None
        self._aside: asyncio.Task[None] | None = None
        """What somebody said while a turn was under way is being transcribed."""
        self._reading: asyncio.Task[None] | None = None
        """The answer to a question is being transcribed."""
        self._overheard: asyncio.Task[None] | None = None
        """What somebody said is being transcribed, to know whether it was said to the assistant."""
        self._listening: Listening | None = None
        self._listened_s = 0.0

    async def run(self) -> None:
        """Answer until the sound ends; an answer that fails is told by the events, and the next is tried."""
        self.pipeline.rest()
        try:
            with self.pipeline.asking.answerable("voice"):
                async with self._ringing(), aclosing(self._ear.frames()) as frames:
                    async for block in frames:
                        if not self._ear.live:
                            await self._turn_waits()
                        self._hear(block)
                await self._end()
        finally:
            for task in (self._turn, self._aside, self._reading, self._overheard):
                if task is not None:
                    task.cancel()
                    await asyncio.gather(task, return_exceptions=True)
            if self._early is not None:
                await self._early.close()

    def _ringing(self) -> AbstractAsyncContextManager[None]:
        if self._ringer is None or not self._ear.live:
            return nullcontext()
        return self._ringer.at_work(self._is_spoken_to)

    # --- hearing

    def _hear(self, block: Audio) -> None:
        if self._is_echo():
            self._forget_speech()
            return
        self._note_question(block)
        self._weigh_pause()
        match self._segmenter.feed(block):
            case segments.SpeechStarted():
                self._tell(SpeechStarted())
            case segments.Paused(audio=audio):
                self._begin_early(audio)
            case segments.Resumed():
                self._abandon_early()
            case segments.Utterance() as utterance:
                self._sort(utterance)
            case segments.FalseStart():
                self._tell(SpeechDropped(reason="too short"))
            case None:
                pass

    def _sort(self, utterance: segments.Utterance) -> None:
        """Take what is said to the assistant; asleep, only the words can tell."""
        if self.wakefulness.is_awake:
            self._take(utterance)
        else:
            overhearing = self._overhear(utterance, self._taken_early(), self._overheard)
            self._overheard = asyncio.create_task(overhearing)

    def _is_echo(self) -> bool:
        """Whether the assistant was heard when the last block was recorded."""
        return self._ear.live and time.monotonic() - self._ear.delay_s < self.pipeline.silent_since_s

    def _note_question(self, block: Audio) -> None:
        """An answer begins after its question, and does not let itself be waited for for ever."""
        if self._listening is not (now := self.pipeline.asking.listening):
            self._listening = now
            self._listened_s = 0.0
            self._forget_speech()
        if now is None:
            return
        self._listened_s += block.duration_s
        if (
            self._listened_s > ANSWER_WITHIN_S
            and not self._segmenter.is_in_speech
            and not _is_at_work(self._reading)
        ):
            now.hear_nothing()

    def _weigh_pause(self) -> None:
        """Let the words before a pause say how long it may be, and begin with the reply to them."""
        early = self._early
        # An answer may be changed in the pause behind it, "yes … no, wait": it always has the same.
        if early is None or early.is_abandoned or self._listening is not None:
            return
        finished = completeness(early.heard)
        if early.heard and finished != "unfinished" and not self._is_in_turn:
            self.pipeline.reply_early(early)
        self._segmenter.end_after(
            hangovers(
                finished,
                is_transcribing=early.is_working,
                is_ready=self.pipeline.is_ready_for(early.turn),
            )
        )

    def _take(self, utterance: segments.Utterance) -> None:
        if not self._is_in_turn:
            self._turn = asyncio.create_task(self._answer(utterance, self._taken_early()))
        elif self._listening is not None and not _is_at_work(self._reading):
            reading = self._hear_answer(self._listening, utterance, self._taken_early())
            self._reading = asyncio.create_task(reading)
        elif self._listening is None and self._is_short(utterance.audio) and not _is_at_work(self._aside):
            self._aside = asyncio.create_task(self._hear_aside(utterance, self._taken_early()))
        else:
            self._abandon_early()

    async def _end(self) -> None:
        """The sound is over: what was being said is taken as it is, and nobody will answer a question."""
        if isinstance(rest := self._segmenter.finish(), segments.Utterance):
            self._sort(rest)
        while _is_at_work(self._turn) or _is_at_work(self._overheard):
            await self._turn_waits()
            if listening := self.pipeline.asking.listening:
                listening.hear_nothing()

    # --- what becomes of it

    async def _answer(self, utterance: segments.Utterance, early: EarlyTranscription | None) -> None:
        # The segmenter counts in samples; an utterance is handed over the moment its last block arrives.
        silence_s = utterance.ended_at_s - utterance.last_voiced_at_s + self._ear.delay_s
        try:
            result = await self.pipeline.hear(
                utterance.audio,
                early.turn if early else Turn(),
                last_voiced_s=time.monotonic() - silence_s,
                dropped_samples=self._ear.dropped_samples,
                early=early,
            )
        except EdgevoxError:
            return  # its TurnEnded has said what happened and what to do
        if result is not None:
            self.wakefulness.note_reply_ended()

    async def _overhear(
        self,
        utterance: segments.Utterance,
        early: EarlyTranscription | None,
        before: asyncio.Task[None] | None,
    ) -> None:
        """Answer what was said if it turns out to begin with the phrase; else nobody learns of it."""
        ended_s = time.monotonic()
        early = early or self.pipeline.transcribe_early(utterance.audio)
        if before is not None:
            await asyncio.wait((before,))
        heard = await early.transcript()
        if heard is not None and heard.text and not self._is_in_turn:
            waited_s = time.monotonic() - ended_s
            late = replace(utterance, ended_at_s=utterance.ended_at_s + waited_s)
            self._turn = asyncio.create_task(self._answer(late, early))
        else:
            early.abandon()
            self._tell(SpeechDropped(reason=(heard and heard.dropped) or "not understood"))

    async def _hear_answer(
        self, listening: Listening, utterance: segments.Utterance, early: EarlyTranscription | None
    ) -> None:
        text = await self.pipeline.words_in(utterance.audio, early)
        if self.pipeline.act_on_ring(text):
            # It was for what rings, and "okay" is no yes then: the question has to be asked again.
            listening.hear("")
        elif text:
            # Whoever goes on speaking has not said it all: "yes … no, wait".
            is_whole = not self._segmenter.is_in_speech and not utterance.cut
            listening.hear(text if is_whole else "")

    async def _hear_aside(self, utterance: segments.Utterance, early: EarlyTranscription | None) -> None:
        self.pipeline.act_on(await self.pipeline.words_in(utterance.audio, early))

    # --- where it stands

    @property
    def _is_in_turn(self) -> bool:
        # What a timer does when it is due is a turn too, and not one of this loop's.
        return _is_at_work(self._turn) or self.pipeline.is_in_turn

    def _is_engaged(self) -> bool:
        """Whether nobody has to call: something goes on that may be spoken to."""
        is_ringing = self.pipeline.bell is not None and self.pipeline.bell.is_ringing
        return self._is_in_turn or self._listening is not None or is_ringing

    def _is_spoken_to(self) -> bool:
        """Whether somebody is speaking, or what they said is still being understood outside a turn."""
        return self._segmenter.is_in_speech or _is_at_work(self._aside) or _is_at_work(self._reading)

    def _is_short(self, audio: Audio) -> bool:
        return audio.duration_s <= _LONGEST_ASIDE_S

    async def _turn_waits(self) -> None:
        """Returns when the turn is over, or waits for an answer that is still to be heard."""
        for task in (self._aside, self._reading, self._overheard):
            if task is not None:
                await task
        if self._turn is not None and not self._turn.done():
            asked = asyncio.create_task(self.pipeline.asking.until_listening())
            await asyncio.wait((self._turn, asked), return_when=asyncio.FIRST_COMPLETED)
            asked.cancel()

    def _tell(self, event: SpeechStarted | SpeechDropped) -> None:
        # What is said during a turn does not become one.
        if not self._is_in_turn:
            self._publish(event)

    def _forget_speech(self) -> None:
        self._segmenter.reset()
        self._abandon_early()

    def _begin_early(self, audio: Audio) -> None:
        # One at a time: what was begun at an earlier pause cannot be stopped inside one of Whisper's windows.
        is_wanted = not self._is_in_turn or self._listening is not None or self._is_short(audio)
        if self._ear.live and is_wanted and (self._early is None or not self._early.is_working):
            self._early = self.pipeline.transcribe_early(audio)

    def _abandon_early(self) -> None:
        if self._early is not None:
            self._early.abandon()

    def _taken_early(self) -> EarlyTranscription | None:
        # From here on it is its taker's: to abandon it would cancel the turn that has begun with it.
        if self._early is None or self._early.is_abandoned:
            return None
        early, self._early = self._early, None
        return early


def _is_at_work(task: asyncio.Task[None] | None) -> bool:
    return task is not None and not task.done()
