"""The voice loop: endpoints the audio, hands each utterance to the turn queue, and handles barge-in."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager, aclosing, nullcontext
from typing import TypeAlias

import numpy as np

from edgevox.audio import endpointing as segments
from edgevox.audio.aec.canceller import AecWarmupReplay
from edgevox.audio.io.microphone import AudioSource
from edgevox.audio.wake_gate import WakeGatedEndpointer, WakeState
from edgevox.core.events import Event, SpeechDropped, SpeechStarted
from edgevox.core.types import Audio
from edgevox.dialogue.alarm_player import AlarmPlayer
from edgevox.dialogue.barge_in import BargeInDetector
from edgevox.dialogue.confirm import ANSWER_WITHIN_S, AnswerListener
from edgevox.dialogue.pipeline import Pipeline
from edgevox.dialogue.speculative import SpeculativeTranscript
from edgevox.dialogue.turn_completion import AFTER_UNFINISHED, completion_of, hangovers
from edgevox.dialogue.turn_queue import LONGEST_ASIDE_S, TurnQueue, Utterance

Publish: TypeAlias = Callable[[Event], None]


class VoiceLoop:
    """Where there is an `barge_in`, whoever speaks over the assistant stops it, and is heard from their
    first word; without one it is half duplex: while the assistant speaks, what is heard is let go. Until it
    has asked a question to its end, it cannot be interrupted, and after that it listens for the answer.

    What is said while it works in silence is acted on at once, if it needs no model, else answered next.
    While the pause that ends an utterance still lasts, it is transcribed already: the words say how long that
    pause has to be, and the reply to them is begun. Nothing is said or done before it has ended. In a file
    nobody waits for that, and what is said is transcribed once; a turn is then over, or asks, before more is
    read, and nothing rings.
    """

    def __init__(
        self,
        audio_source: AudioSource,
        endpointer: segments.Endpointer,
        pipeline: Pipeline,
        publish: Publish,
        alarm_player: AlarmPlayer | None = None,
        barge_in: Callable[[], BargeInDetector | None] = lambda: None,
        wake_state: WakeState | None = None,
    ) -> None:
        self._audio_source = audio_source
        self._alarm_player = alarm_player
        self._barge_in = barge_in
        """Asked each time: with another microphone it can be another one."""
        self._is_sounding = False
        """Whether the assistant was heard in the block before."""
        self._has_floor = False
        """Whether somebody has spoken over it, and still speaks."""
        self._has_interrupted = False
        """Whether they have ended a turn with it."""
        self.wake_state = wake_state or WakeState()
        self._endpointer = WakeGatedEndpointer(endpointer, self.wake_state, self._is_engaged)
        self.pipeline = pipeline
        self._publish = publish
        self._second_hearing: asyncio.Task[None] | None = None
        self._early: SpeculativeTranscript | None = None
        self._paused: Audio | None = None
        """What is to be transcribed early, when the recogniser is free."""
        self._turn_queue = TurnQueue(pipeline, publish, lambda: endpointer.is_in_speech, self.wake_state)
        self._listening: AnswerListener | None = None
        self._listened_s = 0.0

    async def run(self) -> None:
        """Answer until the sound ends; an answer that fails is told by the events, and the next is tried."""
        self.pipeline.rest()
        try:
            with self.pipeline.confirmation.answerable("voice"):
                async with self._ringing(), aclosing(self._audio_source.frames()) as frames:
                    async for block in frames:
                        if not self._audio_source.live:
                            await self._turn_queue.waits()
                        self._hear(block)
                # The sound is over: what was being said is taken as it is, and nobody will answer a question.
                if isinstance(rest := self._endpointer.finish(), segments.SpeechSegment):
                    self._take(rest)
                await self._turn_queue.end()
        finally:
            if self._second_hearing is not None:
                self._second_hearing.cancel()
                await asyncio.gather(self._second_hearing, return_exceptions=True)
            await self._turn_queue.close()
            if self._early is not None:
                await self._early.close()

    def _ringing(self) -> AbstractAsyncContextManager[None]:
        if self._alarm_player is None or not self._audio_source.live:
            return nullcontext()
        return self._alarm_player.at_work(self._is_spoken_to)

    @property
    def is_in_speech(self) -> bool:
        """Whether somebody says something to the assistant."""
        return self._endpointer.is_in_speech

    # --- hearing

    def _hear(self, block: Audio) -> None:
        if self._is_echo():
            self._hear_over(block)
            return
        if self._is_sounding:
            self._fell_silent()
        if not self._endpointer.is_in_speech:
            self._has_floor = self._has_interrupted = False
        self._note_question(block)
        self._segment(block)

    def _segment(self, block: Audio) -> None:
        self._weigh_pause()
        match self._endpointer.feed(block):
            case segments.SpeechStarted():
                self._tell(SpeechStarted())
            case segments.PossibleEnd(audio=audio):
                self._begin_early(audio)
            case segments.SpeechResumed():
                self._abandon_early()
            case segments.SpeechSegment() as utterance:
                self._take(utterance)
            case segments.FalseStart():
                self._tell(SpeechDropped(reason="too short"))
            case None:
                pass

    def _hear_over(self, block: Audio) -> None:
        """Hear a block in which the assistant sounds."""
        barge_in = self._barge_in()
        if barge_in is None:
            self._forget_speech()
            return
        if self.pipeline.confirmation.open is not None:
            # A yes that comes before the end of the question is no answer to it.
            barge_in.reset()
            self._forget_speech()
            return
        if not self._is_sounding:
            self._is_sounding = True
            barge_in.reset()
            self._end_speech()
        if self._has_floor:
            self._segment(block)
            return
        match barge_in.feed(block):
            case "duck":
                self._duck(is_ducked=True)
            case "resume" if barge_in.was_word:
                # It stays quiet until that is understood: "stop".
                word = _joined(barge_in.heard())
                self._turn_queue.take_word(word, lambda: self._duck(is_ducked=False))
            case "resume":
                self._duck(is_ducked=False)
            case "stop":
                self._give_floor(barge_in)
            case None:
                if warmup_replay := barge_in.doubts():
                    self._second_hearing = asyncio.create_task(self._hear_again(barge_in, warmup_replay))

    async def _hear_again(self, barge_in: BargeInDetector, warmup_replay: AecWarmupReplay) -> None:
        """Whoever spoke while the canceller still learnt was perhaps taken for an echo."""
        again = await asyncio.to_thread(warmup_replay.replay)
        is_same = barge_in is self._barge_in() and self._is_sounding and not self._has_floor
        if barge_in.reconsider(again) and is_same and self.pipeline.confirmation.open is None:
            self._give_floor(barge_in)

    def _give_floor(self, barge_in: BargeInDetector) -> None:
        self._has_floor = True
        self._has_interrupted = self.pipeline.interrupt()
        self._endpointer.reset()
        for block in barge_in.heard():
            self._segment(block)

    def _fell_silent(self) -> None:
        """The assistant can no longer be heard; somebody may have begun to speak before that."""
        self._is_sounding = False
        barge_in = self._barge_in()
        if barge_in is not None and barge_in.is_suspected and not self._has_floor:
            for block in barge_in.heard():
                self._segment(block)

    def _duck(self, *, is_ducked: bool) -> None:
        if self.pipeline.speech_output is not None:
            self.pipeline.speech_output.duck(is_ducked)

    def _end_speech(self) -> None:
        """The assistant begins to speak: what somebody was saying is taken as far as it was heard."""
        rest = self._endpointer.finish()
        if isinstance(rest, segments.SpeechSegment) and self._turn_queue.is_in_turn:
            self._take(rest)
        self._forget_speech()

    def _is_echo(self) -> bool:
        """Whether the assistant was heard when the last block was recorded."""
        return self._audio_source.live and time.monotonic() - self._audio_source.delay_s < self.pipeline.silent_since_s

    def _note_question(self, block: Audio) -> None:
        """An answer begins after its question, and does not let itself be waited for for ever."""
        if self._listening is not (now := self.pipeline.confirmation.listening):
            self._listening = now
            self._listened_s = 0.0
            self._forget_speech()
        if now is None:
            return
        self._listened_s += block.duration_s
        if self._listened_s > ANSWER_WITHIN_S and not self._endpointer.is_in_speech and not self._turn_queue.is_reading:
            now.hear_nothing()

    def _weigh_pause(self) -> None:
        """Let the words before a pause say how long it may be, and begin with the reply to them."""
        self._transcribe_early()
        early = self._early
        if self._paused is not None and self._listening is None:
            self._endpointer.end_after(AFTER_UNFINISHED)  # its words are still to come
        # An answer may be changed in the pause behind it, "yes … no, wait": it always has the same.
        if early is None or early.is_abandoned or self._listening is not None:
            return
        finished = completion_of(early.heard)
        if early.heard and finished != "unfinished" and not self._turn_queue.is_in_turn:
            self.pipeline.reply_speculatively(early)
        self._endpointer.end_after(
            hangovers(
                finished,
                is_transcribing=early.is_working,
                is_ready=self.pipeline.is_ready_for(early.turn),
            )
        )

    def _take(self, utterance: segments.SpeechSegment) -> None:
        # The segmenter counts in samples; an utterance is handed over the moment its last block arrives.
        silence_s = utterance.ended_at_s - utterance.last_voiced_at_s + self._audio_source.delay_s
        said = Utterance(
            utterance.audio,
            last_voiced_s=time.monotonic() - silence_s,
            is_whole=not utterance.cut,
            dropped_samples=self._audio_source.dropped_samples,
            early=self._taken_early(),
        )
        interrupts, self._has_floor, self._has_interrupted = self._has_interrupted, False, False
        self._turn_queue.take(said, interrupts=interrupts)

    # --- where it stands

    def _is_engaged(self) -> bool:
        """Whether nobody has to call: something goes on that may be spoken to."""
        is_ringing = self.pipeline.alarm_state is not None and self.pipeline.alarm_state.is_ringing
        return self._turn_queue.is_in_turn or self._has_floor or self._listening is not None or is_ringing

    def _is_spoken_to(self) -> bool:
        """Whether somebody is speaking, or what they said is still being understood outside a turn."""
        return self._endpointer.is_in_speech or self._turn_queue.is_understanding

    def _tell(self, event: SpeechStarted | SpeechDropped) -> None:
        # What is said during a turn becomes one only after it.
        if not self._turn_queue.is_in_turn or self._has_interrupted:
            self._publish(event)

    def _forget_speech(self) -> None:
        self._endpointer.reset()
        self._abandon_early()

    def _begin_early(self, audio: Audio) -> None:
        is_short = audio.duration_s <= LONGEST_ASIDE_S
        is_wanted = not self._turn_queue.is_in_turn or self._listening is not None or is_short
        if self._audio_source.live and is_wanted:
            self._paused = audio
            self._transcribe_early()

    def _transcribe_early(self) -> None:
        # One at a time: what was begun at an earlier pause cannot be stopped inside one of Whisper's windows.
        if self._paused is not None and (self._early is None or not self._early.is_working):
            # Not with the next block: the reply to it can be begun 20 ms sooner.
            self._early = self.pipeline.transcribe_speculatively(self._paused, self._weigh_pause)
            self._paused = None

    def _abandon_early(self) -> None:
        self._paused = None
        if self._early is not None:
            self._early.abandon()

    def _taken_early(self) -> SpeculativeTranscript | None:
        # From here on it is its taker's: to abandon it would cancel the turn that has begun with it.
        self._paused = None
        if self._early is None or self._early.is_abandoned:
            return None
        early, self._early = self._early, None
        return early


def _joined(blocks: Sequence[Audio]) -> Audio:
    return Audio(np.concatenate([block.samples for block in blocks]), blocks[0].rate_hz)
