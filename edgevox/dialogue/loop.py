"""The voice loop: endpoints the audio, hands each utterance to the turn queue, and handles barge-in."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, aclosing, nullcontext

from edgevox.audio import endpointing as segments
from edgevox.audio.aec.canceller import AecWarmupReplay
from edgevox.audio.io.microphone import AudioSource
from edgevox.audio.wake_gate import WakeGatedEndpointer, WakeState
from edgevox.core.events import Publish, SpeechDropped, SpeechStarted
from edgevox.core.turn import cancel_tasks
from edgevox.core.types import Audio
from edgevox.dialogue.alarm_player import AlarmPlayer
from edgevox.dialogue.barge_in import BargeInDetector
from edgevox.dialogue.confirm import ANSWER_WITHIN_S, AnswerListener
from edgevox.dialogue.pipeline import Pipeline
from edgevox.dialogue.speculative import SpeculativeTranscript
from edgevox.dialogue.turn_completion import AFTER_UNFINISHED, completion_of, hangovers
from edgevox.dialogue.turn_queue import LONGEST_ASIDE_S, TurnQueue, Utterance


class VoiceLoop:
    """Runs turns on an audio source until it ends.

    With `barge_in`, speech over the assistant stops it and is kept from the first word. Without it the loop is
    half duplex: input is dropped during playback. A question cannot be interrupted; its answer is expected after
    its end. Speech during a silent turn runs a built-in command at once, or becomes the next turn.

    A pause starts a speculative transcript, which sets the required silence, and a speculative reply. Neither
    has an effect before the endpoint. For a source that is not live there is no speculation and no alarm, and
    each turn finishes (or asks) before more audio is read.
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
        """Called for each block: another microphone can have another detector."""
        self._is_sounding = False
        """Whether the previous block was recorded during playback."""
        self._has_floor = False
        """Whether a barge-in is still being spoken."""
        self._has_interrupted = False
        """Whether it ended a turn."""
        self.wake_state = wake_state or WakeState()
        self._endpointer = WakeGatedEndpointer(endpointer, self.wake_state, self._is_engaged)
        self.pipeline = pipeline
        self._publish = publish
        self._replay_check: asyncio.Task[None] | None = None
        self._speculative: SpeculativeTranscript | None = None
        self._pending_audio: Audio | None = None
        """The next speculative transcription, as soon as the STT engine is free."""
        self._turn_queue = TurnQueue(pipeline, publish, lambda: endpointer.is_in_speech, self.wake_state)
        self._listening: AnswerListener | None = None
        self._listened_s = 0.0

    async def run(self) -> None:
        """Run turns until the audio ends; a failed turn is reported by its events."""
        self.pipeline.start_idle_work()
        try:
            with self.pipeline.confirmation.answerable("voice"):
                async with self._ringing(), aclosing(self._audio_source.frames()) as frames:
                    async for block in frames:
                        if not self._audio_source.live:
                            await self._turn_queue.until_idle()
                        self._process(block)
                if isinstance(last := self._endpointer.finish(), segments.SpeechSegment):
                    self._take(last)
                await self._turn_queue.end()
        finally:
            await cancel_tasks(self._replay_check)
            await self._turn_queue.close()
            if self._speculative is not None:
                await self._speculative.close()

    def _ringing(self) -> AbstractAsyncContextManager[None]:
        if self._alarm_player is None or not self._audio_source.live:
            return nullcontext()
        return self._alarm_player.running(self._is_spoken_to)

    @property
    def is_in_speech(self) -> bool:
        return self._endpointer.is_in_speech

    def drop_speech(self) -> None:
        """Forget the utterance that is being spoken."""
        self._forget_speech()

    # --- audio blocks

    def _process(self, block: Audio) -> None:
        if self._is_echo():
            self._process_during_playback(block)
            return
        if self._is_sounding:
            self._playback_ended()
        if not self._endpointer.is_in_speech:
            self._has_floor = self._has_interrupted = False
        self._track_question(block)
        self._segment(block)

    def _segment(self, block: Audio) -> None:
        self._update_hangover()
        match self._endpointer.feed(block):
            case segments.SpeechStarted():
                self.pipeline.note_speech()
                self._publish_speech(SpeechStarted())
            case segments.PossibleEnd(audio=audio):
                self._begin_speculation(audio)
            case segments.SpeechResumed():
                self._abandon_speculation()
            case segments.SpeechSegment() as utterance:
                self._take(utterance)
            case segments.FalseStart():
                self._publish_speech(SpeechDropped(reason="too short"))
            case None:
                pass

    def _process_during_playback(self, block: Audio) -> None:
        barge_in = self._barge_in()
        if barge_in is None:
            self._forget_speech()
            return
        if self.pipeline.confirmation.open is not None:
            # A yes before the end of the question does not answer it.
            self._resume(barge_in)
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
            case "resume" if barge_in.may_be_word:
                # The reply stays ducked until the word is transcribed: it may be "stop".
                word = Audio.joined(barge_in.buffered())
                self._turn_queue.check_for_command(word, lambda: self._duck(is_ducked=False))
            case "resume":
                self._duck(is_ducked=False)
            case "hold":
                self._hold(is_held=True)
            case "word":
                self._judge_word(barge_in)
            case "stop":
                self._give_floor(barge_in)
            case None:
                if warmup_replay := barge_in.request_replay():
                    self._replay_check = asyncio.create_task(self._check_replay(barge_in, warmup_replay))

    async def _check_replay(self, barge_in: BargeInDetector, warmup_replay: AecWarmupReplay) -> None:
        """Look for speech that was removed as echo before the canceller converged."""
        replayed = await asyncio.to_thread(warmup_replay.replay)
        is_same = barge_in is self._barge_in() and self._is_sounding and not self._has_floor
        if not barge_in.check_replay(replayed) or not is_same or self.pipeline.confirmation.open is not None:
            return
        if barge_in.is_held:
            self._hold(is_held=True)
            self._judge_word(barge_in)
        else:
            self._give_floor(barge_in)

    def _judge_word(self, barge_in: BargeInDetector) -> None:
        """Keep the reply paused until what was said is transcribed."""
        self._turn_queue.check_for_backchannel(
            Audio.joined(barge_in.buffered()), lambda: self._resume(barge_in), lambda: self._stop_for(barge_in)
        )

    def _resume(self, barge_in: BargeInDetector) -> None:
        if barge_in.is_held and not self._has_floor:
            barge_in.release()
            self._hold(is_held=False)
            self._duck(is_ducked=False)

    def _stop_for(self, barge_in: BargeInDetector) -> None:
        if barge_in.is_held and not self._has_floor:
            self._give_floor(barge_in)

    def _give_floor(self, barge_in: BargeInDetector) -> None:
        self._has_floor = True
        self._has_interrupted = self.pipeline.interrupt()
        self._endpointer.reset()
        for block in barge_in.buffered():
            self._segment(block)

    def _playback_ended(self) -> None:
        """Segment speech that began just before the end of playback."""
        self._is_sounding = False
        barge_in = self._barge_in()
        if barge_in is not None and barge_in.is_suspected and not self._has_floor:
            for block in barge_in.buffered():
                self._segment(block)

    def _duck(self, *, is_ducked: bool) -> None:
        if self.pipeline.speech_output is not None:
            self.pipeline.speech_output.duck(is_ducked)

    def _hold(self, *, is_held: bool) -> None:
        if self.pipeline.speech_output is not None:
            self.pipeline.speech_output.hold(is_held)

    def _end_speech(self) -> None:
        """Cut the utterance that is being spoken when playback begins."""
        segment = self._endpointer.finish()
        if isinstance(segment, segments.SpeechSegment) and self._turn_queue.is_in_turn:
            self._take(segment)
        self._forget_speech()

    def _is_echo(self) -> bool:
        """Whether the last block was recorded during playback."""
        return self._audio_source.live and time.monotonic() - self._audio_source.delay_s < self.pipeline.silent_since_s

    def _track_question(self, block: Audio) -> None:
        """Drop speech from before the end of a question, and time out its answer."""
        if self._listening is not (now := self.pipeline.confirmation.listening):
            self._listening = now
            self._listened_s = 0.0
            self._forget_speech()
        if now is None:
            return
        self._listened_s += block.duration_s
        if self._listened_s > ANSWER_WITHIN_S and not self._endpointer.is_in_speech and not self._turn_queue.is_reading:
            now.hear(None)

    def _update_hangover(self) -> None:
        """Set the silence that ends the utterance from its words so far, and start a speculative reply."""
        self._transcribe_pause()
        speculative = self._speculative
        if self._pending_audio is not None and self._listening is None:
            self._endpointer.end_after(AFTER_UNFINISHED)  # not transcribed yet
        # An answer always has the default hangover: "yes … no, wait".
        if speculative is None or speculative.is_abandoned or self._listening is not None:
            return
        finished = completion_of(speculative.ready)
        if speculative.ready and finished != "unfinished" and not self._turn_queue.is_in_turn:
            self.pipeline.reply_speculatively(speculative)
        self._endpointer.end_after(
            hangovers(
                finished, is_transcribing=speculative.is_working, is_ready=self.pipeline.is_ready_for(speculative.turn)
            )
        )

    def _take(self, segment: segments.SpeechSegment) -> None:
        # The endpointer counts in samples; a segment arrives with its last block.
        silence_s = segment.ended_at_s - segment.last_voiced_at_s + self._audio_source.delay_s
        utterance = Utterance(
            segment.audio,
            last_voiced_s=time.monotonic() - silence_s,
            is_whole=not segment.cut,
            dropped_samples=self._audio_source.dropped_samples,
            speculative=self._take_speculation(),
            context="called" if self._is_engaged() else self.wake_state.context,
        )
        interrupts, self._has_floor, self._has_interrupted = self._has_interrupted, False, False
        self._turn_queue.take(utterance, interrupts=interrupts)

    # --- state

    def _is_engaged(self) -> bool:
        """Whether no wake word is needed: a turn, a barge-in, a question or an alarm is active."""
        is_asked = self._listening is not None
        return self._turn_queue.is_in_turn or self._has_floor or is_asked or self.pipeline.is_ringing

    def _is_spoken_to(self) -> bool:
        """Whether speech is in progress, or is being transcribed outside a turn."""
        return self._endpointer.is_in_speech or self._turn_queue.is_understanding

    def _publish_speech(self, event: SpeechStarted | SpeechDropped) -> None:
        # Speech during a turn becomes a turn only after it.
        if not self._turn_queue.is_in_turn or self._has_interrupted:
            self._publish(event)

    def _forget_speech(self) -> None:
        self._endpointer.reset()
        self._abandon_speculation()

    def _begin_speculation(self, audio: Audio) -> None:
        is_short = audio.duration_s <= LONGEST_ASIDE_S
        is_wanted = not self._turn_queue.is_in_turn or self._listening is not None or is_short
        if self._audio_source.live and is_wanted:
            self._pending_audio = audio
            self._transcribe_pause()

    def _transcribe_pause(self) -> None:
        # One at a time: a transcription cannot be cancelled inside a Whisper window.
        if self._pending_audio is not None and (self._speculative is None or not self._speculative.is_working):
            # By callback, not with the next block: the reply starts 20 ms sooner.
            self._speculative = self.pipeline.transcribe_speculatively(self._pending_audio, self._update_hangover)
            self._pending_audio = None

    def _abandon_speculation(self) -> None:
        self._pending_audio = None
        if self._speculative is not None:
            self._speculative.abandon()

    def _take_speculation(self) -> SpeculativeTranscript | None:
        # The caller owns it now: abandoning it would cancel its turn.
        self._pending_audio = None
        if self._speculative is None or self._speculative.is_abandoned:
            return None
        speculative, self._speculative = self._speculative, None
        return speculative
