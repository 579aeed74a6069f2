"""Routes an utterance: new turn, answer to a question, or built-in command."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace

from edgevox.audio.wake_gate import WakeContext, WakeState
from edgevox.core.errors import EdgevoxError
from edgevox.core.events import Publish, SpeechDropped
from edgevox.core.turn import Turn, background_task, cancel_tasks
from edgevox.core.types import Audio
from edgevox.dialogue.builtin_commands import is_backchannel
from edgevox.dialogue.confirm import AnswerListener
from edgevox.dialogue.pipeline import Pipeline
from edgevox.dialogue.speculative import SpeculativeTranscript

# The length of a built-in command with the silence around it. Transcribing longer speech would take CPU time
# from the running turn.
LONGEST_ASIDE_S = 3.0
# More utterances during one turn are not addressed to the assistant.
_MOST_WAITING = 2
# A hum is transcribed as one or two words with a lower confidence than this.
_CLEAR, _WORDS_OF_HUM = 0.5, 2


@dataclass(frozen=True, slots=True)
class Utterance:
    """A complete utterance."""

    audio: Audio
    last_voiced_s: float
    """On the monotonic clock."""
    is_whole: bool
    dropped_samples: int
    speculative: SpeculativeTranscript | None
    """Its transcription, if one was started before the endpoint."""
    context: WakeContext = "called"


class TurnQueue:
    """Runs turns one after the other and handles speech during a turn.

    `is_speaking` returns whether speech is in progress.
    """

    def __init__(
        self, pipeline: Pipeline, publish: Publish, is_speaking: Callable[[], bool], wake_state: WakeState | None = None
    ) -> None:
        self._pipeline = pipeline
        self._publish = publish
        self._is_speaking = is_speaking
        self._wake_state = wake_state or WakeState()
        self._turns: list[asyncio.Task[None]] = []
        """The running turn and those queued behind it."""
        self._aside: asyncio.Task[None] | None = None
        """Transcribes speech from during a turn."""
        self._reading: asyncio.Task[None] | None = None
        """Transcribes the answer to a question."""
        self._wake_check: asyncio.Task[None] | None = None
        """Transcribes speech to look for the wake phrase, after those before it."""
        self._wake_checks: set[asyncio.Task[None]] = set()

    @property
    def is_in_turn(self) -> bool:
        # The command of a timer is a turn too, and not in this queue.
        return self._has_turns or self._pipeline.is_in_turn

    @property
    def is_reading(self) -> bool:
        """Whether the answer to a question is being transcribed."""
        return _is_running(self._reading)

    @property
    def is_understanding(self) -> bool:
        """Whether speech is being transcribed outside a turn."""
        return _is_running(self._aside) or self.is_reading

    def take(self, utterance: Utterance, *, interrupts: bool) -> None:
        """Route an utterance; one that `interrupts` has ended the running turn."""
        listening = self._pipeline.confirmation.listening
        if not interrupts and not self._wake_state.is_awake:
            self._wake_check = asyncio.create_task(self._check_wake_phrase(utterance, self._wake_check))
            self._wake_checks.add(self._wake_check)
            self._wake_check.add_done_callback(self._wake_checks.discard)
        elif interrupts or not self.is_in_turn:
            self._answer_next(utterance)
        elif listening is not None:
            if self.is_reading:
                _abandon(utterance)
            else:
                self._reading = asyncio.create_task(self._read_answer(listening, utterance))
        elif len(self._turns) > _MOST_WAITING:
            _abandon(utterance)
            self._publish(SpeechDropped(reason="busy"))
        elif utterance.audio.duration_s <= LONGEST_ASIDE_S and not _is_running(self._aside):
            self._aside = asyncio.create_task(self._handle_aside(utterance))
        else:
            self._answer_next(utterance)

    def check_for_command(self, audio: Audio, then: Callable[[], None]) -> None:
        """Run the built-in command in `audio`, if there is one, then call `then`."""
        if _is_running(self._aside):
            then()
        else:
            self._aside = asyncio.create_task(self._run_command_in(audio, then))

    def check_for_backchannel(self, audio: Audio, resume: Callable[[], None], interrupt: Callable[[], None]) -> None:
        """Call `resume` after a built-in command, a backchannel ("mhm") or no clear words, else `interrupt`."""
        if _is_running(self._aside):
            interrupt()
        else:
            self._aside = asyncio.create_task(self._judge_backchannel(audio, resume, interrupt))

    async def until_idle(self) -> None:
        """Wait until no turn runs, or the running one waits for a spoken answer."""
        for task in (self._aside, self._reading, self._wake_check):
            if task is not None:
                await task
        if self._has_turns:
            async with background_task(self._pipeline.confirmation.until_listening()) as asked:
                await asyncio.wait((self._turns[-1], asked), return_when=asyncio.FIRST_COMPLETED)

    async def end(self) -> None:
        """Wait until every utterance is answered; questions get no more answers."""
        while self._has_turns or self.is_understanding or _is_running(self._wake_check):
            await self.until_idle()
            if listening := self._pipeline.confirmation.listening:
                listening.hear(None)

    async def close(self) -> None:
        await cancel_tasks(*self._turns, self._aside, self._reading, *self._wake_checks)

    @property
    def _has_turns(self) -> bool:
        self._turns = [task for task in self._turns if not task.done()]
        return bool(self._turns)

    def _answer_next(self, utterance: Utterance) -> None:
        before = self._turns[-1] if self._has_turns else None
        self._turns.append(asyncio.create_task(self._answer(utterance, before)))

    async def _answer(self, utterance: Utterance, before: asyncio.Task[None] | None) -> None:
        if before is not None:
            await asyncio.wait((before,))
        try:
            result = await self._pipeline.hear(
                utterance.audio,
                utterance.speculative.turn if utterance.speculative else Turn(),
                last_voiced_s=utterance.last_voiced_s,
                dropped_samples=utterance.dropped_samples,
                speculative=utterance.speculative,
                context=utterance.context,
            )
        except EdgevoxError:
            return  # reported by TurnEnded
        if result is not None:
            self._wake_state.note_reply_ended()

    async def _check_wake_phrase(self, utterance: Utterance, before: asyncio.Task[None] | None) -> None:
        """Start a turn if the utterance begins with the wake phrase, else drop it."""
        speculative = utterance.speculative or self._pipeline.transcribe_speculatively(utterance.audio)
        if before is not None:
            await asyncio.wait((before,))
        transcript = await speculative.transcript()
        if transcript is not None and transcript.text:
            self._answer_next(replace(utterance, speculative=speculative))
        else:
            speculative.abandon()
            self._publish(SpeechDropped(reason=(transcript and transcript.dropped) or "not understood"))

    async def _read_answer(self, listening: AnswerListener, utterance: Utterance) -> None:
        text, speaker = await self._pipeline.transcribe_answer(utterance.audio, utterance.speculative)
        if self._pipeline.act_on_ring(text):
            # It answered the alarm ("okay" is not a yes then): ask the question again.
            listening.hear("")
        elif text:
            # While speech continues the answer is incomplete: "yes … no, wait".
            listening.hear(text if utterance.is_whole and not self._is_speaking() else "", speaker)

    async def _handle_aside(self, utterance: Utterance) -> None:
        """Handle speech during a turn: a built-in command, or the next turn."""
        text = await self._pipeline.transcribe_text(utterance.audio, utterance.speculative)
        if text and not self._pipeline.act_on(text):
            self._answer_next(utterance)

    async def _run_command_in(self, audio: Audio, then: Callable[[], None]) -> None:
        try:
            self._pipeline.act_on(await self._pipeline.transcribe_text(audio))
        finally:
            then()

    async def _judge_backchannel(self, audio: Audio, resume: Callable[[], None], interrupt: Callable[[], None]) -> None:
        heard = await self._pipeline.transcribe_aside(audio)
        is_command = heard is not None and self._pipeline.act_on(heard.text)
        is_hum = heard is not None and heard.confidence < _CLEAR and len(heard.text.split()) <= _WORDS_OF_HUM
        if heard is None or is_command or is_hum or is_backchannel(heard.text):
            resume()
        else:
            interrupt()


def _abandon(utterance: Utterance) -> None:
    if utterance.speculative is not None:
        utterance.speculative.abandon()


def _is_running(task: asyncio.Task[None] | None) -> bool:
    return task is not None and not task.done()
