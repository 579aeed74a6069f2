"""One turn: transcribe, reply, and speak the reply while it is generated."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeAlias, TypeVar

from edgevox.agents import AgentResult, LLMAgent
from edgevox.agents.conversation import mark_truncated
from edgevox.core.errors import EdgevoxError
from edgevox.core.events import (
    EndpointReached,
    Event,
    InstantWordHeard,
    SpeechEnded,
    TranscriptionStarted,
    TranscriptReady,
    TurnEnded,
    TurnOutcome,
    TurnSource,
    TurnStarted,
)
from edgevox.core.languages import ENGLISH
from edgevox.core.turn import CancelFlag, Turn
from edgevox.core.types import Audio, Transcript
from edgevox.dialogue.alarm_state import AlarmReply, AlarmState
from edgevox.dialogue.builtin_commands import BuiltinCommand, BuiltinCommands, parse_builtin_command
from edgevox.dialogue.confirm import ConfirmationDialog
from edgevox.dialogue.replies import ReplyLanguages, ReplyRunner
from edgevox.dialogue.speculative import IdleWorker, SpeculativeReply, SpeculativeTranscript
from edgevox.dialogue.speech_output import Loudspeaker, SpeechOutput, Synthesizer, Volume
from edgevox.dialogue.transcriber import Transcriber

T = TypeVar("T")
Publish: TypeAlias = Callable[[Event], None]

_NOTHING_TO_STOP = "there was nothing to stop"


class Pipeline:
    """One turn at a time. Without a voice and a loudspeaker the reply is text in the event stream only.

    `confirmation` is what the agent confirms with; without `words` every utterance is the agent's. What rings at
    the `alarm_state` can be stopped. One that `rests` prepares between turns for the next one; it then has to be
    closed. `languages` say which one a reply is in. Where a transcript is less certain than `ask_below`, the
    person is asked before anything is done.
    """

    def __init__(
        self,
        agent: LLMAgent,
        *,
        preset: str,
        publish: Publish,
        transcriber: Transcriber | None = None,
        voice: Synthesizer | None = None,
        loudspeaker: Loudspeaker | None = None,
        confirmation: ConfirmationDialog | None = None,
        words: BuiltinCommands | None = None,
        alarm_state: AlarmState | None = None,
        rests: bool = False,
        languages: ReplyLanguages | None = None,
        ask_below: float = 0.0,
    ) -> None:
        self.confirmation = confirmation or ConfirmationDialog()
        self.alarm_state = alarm_state
        self._preset = preset
        self._publish = publish
        self._transcriber = transcriber
        self._words = words
        self._languages = languages or ReplyLanguages()
        self._ask_below = ask_below
        volume = words.volume if words else Volume()
        self.speech_output = SpeechOutput(voice, loudspeaker, volume) if voice and loudspeaker else None
        self._replies = ReplyRunner(agent, self.speech_output, self.confirmation, self._languages, publish)
        self._idle_worker = IdleWorker(agent.rest) if rests else None
        self._one_at_a_time = asyncio.Lock()
        self._turn: Turn | None = None
        self._opened_s = -math.inf
        self._early_reply: SpeculativeReply | None = None

    @property
    def silent_since_s(self) -> float:
        """Since when nothing is heard of the assistant; for ever to come while it speaks."""
        return self.speech_output.silent_since_s if self.speech_output else -math.inf

    @property
    def is_in_turn(self) -> bool:
        return self._turn is not None

    def is_turn_of(self, turn_id: str) -> bool:
        """Whether it is this turn that is under way here."""
        return self._turn is not None and self._turn.id == turn_id

    def has_said(self, text: str, language: str = ENGLISH) -> None:
        """This was said aloud: it is what somebody means who asks for it again."""
        if self._words is not None:
            self._words.last_reply, self._words.last_language = text, language

    def rest(self) -> None:
        """Nobody is waiting: prepare for the next turn, in the background."""
        if self._idle_worker is not None:
            self._idle_worker.begin()

    async def close(self) -> None:
        """End what is done in the background."""
        await self._drop_speculative_reply()
        if self._idle_worker is not None:
            await self._idle_worker.close()

    async def answer(self, text: str, turn: Turn, source: TurnSource = "text") -> AgentResult:
        """Answer a question in words. Raises EdgevoxError, after the turn has been closed in the events."""
        async with self._one_at_a_time:
            await self._drop_speculative_reply()
            with self._open(turn, source, time.monotonic()) as is_ringing:
                self._publish(TranscriptReady(turn_id=turn.id, text=text, language=""))
                return await self._reply(text, turn, source, is_ringing=is_ringing)

    def act_on(self, text: str) -> bool:
        """Do at once what `text` says, to what rings or to the turn under way, if it needs no model.

        Returns whether it did.
        """
        word = parse_builtin_command(text, is_busy=True)
        turn, speech = self._turn, self._replies.speech_to_come
        if not (turn and word == "cancel") and self.act_on_ring(text):
            return True
        if self._words is None or word is None or turn is None:
            return False
        if word in ("repeat", "help") and speech is None:
            return False
        self._publish(InstantWordHeard(turn_id=turn.id, word=word, text=text))
        said = self._words.act(word)
        if word in ("stop", "cancel"):
            turn.cancel.set()
        elif speech is not None:
            speech.interject(said, self._words.language_of(word))
        return True

    def interrupt(self) -> bool:
        """Somebody speaks over the assistant: end the turn under way, if it is speaking or about to.

        Returns whether it was. A question that it asked is not agreed to then.
        """
        return self._turn is not None and self._replies.interrupt(self._turn)

    def act_on_ring(self, text: str) -> bool:
        """The same for what rings alone, which does not when the turn under way has begun after it rang."""
        since_s = self._opened_s if self._turn else -math.inf
        if self.alarm_state is None or not self.alarm_state.has_rung_since(since_s):
            return False
        heeded = self.alarm_state.reply_to_command(text)
        if heeded is None:
            return False
        if self._turn is not None:
            self._publish(InstantWordHeard(turn_id=self._turn.id, word=heeded.word, text=text))
        if heeded.said and (speech := self._replies.speech_to_come):
            speech.interject(heeded.said)
        return True

    async def words_in(self, audio: Audio, early: SpeculativeTranscript | None = None) -> str:
        """What is said in a sound that is no turn of its own; "" where nothing was understood."""
        assert self._transcriber is not None
        heard = await early.transcript() if early else None
        try:
            heard = heard or await self._transcriber.transcribe(audio, CancelFlag())
        except EdgevoxError:
            return ""  # the next turn says what is wrong
        return heard.text

    def transcribe_speculatively(
        self, audio: Audio, on_ready: Callable[[], None] = lambda: None
    ) -> SpeculativeTranscript:
        """Begin to transcribe what may be all of an utterance; `hear` takes it if it was."""
        assert self._transcriber is not None
        return SpeculativeTranscript(self._transcriber, audio, on_ready)

    def reply_speculatively(self, early: SpeculativeTranscript) -> None:
        """Begin with the reply to what may be all of an utterance, once; `hear` goes on with it if it was.

        Before that nothing is said, no tool runs, and nothing is told or remembered.
        """
        before = self._early_reply
        if before is not None and before.turn is early.turn:
            return
        text, spoken = (early.heard.text, early.heard.language) if early.heard else ("", "")
        is_ringing = self.alarm_state is not None and self.alarm_state.is_ringing
        is_instant = self._words is not None and parse_builtin_command(text) is not None
        if not text or is_ringing or is_instant or self._one_at_a_time.locked() or early.is_abandoned:
            return
        if self._idle_worker is not None:
            self._idle_worker.end()

        async def reply() -> AgentResult:
            if before is not None:
                await before.close()
            return await self._replies.by_agent(text, early.turn, "voice", spoken, is_doubted=self._doubts(early.heard))

        self._early_reply = SpeculativeReply(early.turn, reply)

    def is_ready_for(self, turn: Turn) -> bool:
        """Whether nothing that was begun early for this turn would still have to be waited for."""
        reply = self._early_reply
        return reply is None or reply.turn is not turn or reply.is_ready

    async def hear(
        self,
        audio: Audio,
        turn: Turn,
        *,
        last_voiced_s: float,
        dropped_samples: int = 0,
        early: SpeculativeTranscript | None = None,
    ) -> AgentResult | None:
        """Answer an utterance that ended at `last_voiced_s`; None when nobody said anything in it.

        `early` is the turn's own transcription, begun before. The turn's gate is opened: this is all of it.
        Raises EdgevoxError, after the turn has been closed in the events.
        """
        assert early is None or early.turn is turn
        async with self._one_at_a_time:
            if self._early_reply is not None and self._early_reply.turn is not turn:
                await self._drop_speculative_reply()
            with self._open(turn, "voice", last_voiced_s) as is_ringing:
                self._publish(SpeechEnded(turn_id=turn.id, at_s=last_voiced_s, dropped_samples=dropped_samples))
                self._publish(EndpointReached(turn_id=turn.id))
                heard = await self._early_transcript(early) if early else None
                if heard is None:
                    heard = await self._transcript(audio, turn)
                if not heard.text:
                    self._publish(TurnEnded(turn_id=turn.id, outcome="dropped", error=heard.dropped or ""))
                    return None
                if is_ringing:
                    await self._drop_speculative_reply()  # what rings is spoken to first
                turn.gate.open()
                return await self._reply(
                    heard.text,
                    turn,
                    "voice",
                    spoken=heard.language,
                    is_ringing=is_ringing,
                    is_doubted=self._doubts(heard),
                )

    async def _early_transcript(self, early: SpeculativeTranscript) -> Transcript | None:
        turn_id = early.turn.id
        self._publish(TranscriptionStarted(turn_id=turn_id, at_s=early.started_s, audio_s=early.audio_s, early=True))
        heard = await early.transcript()
        if heard is not None:
            self._publish(_ready(heard, turn_id, early.ready_s))
        return heard

    async def _transcript(self, audio: Audio, turn: Turn) -> Transcript:
        assert self._transcriber is not None
        self._publish(TranscriptionStarted(turn_id=turn.id, audio_s=audio.duration_s))
        heard = await self._transcriber.transcribe(audio, turn.cancel)
        self._publish(_ready(heard, turn.id, time.monotonic()))
        return heard

    @contextmanager
    def _open(self, turn: Turn, source: TurnSource, started_s: float) -> Iterator[bool]:
        """Every turn that is opened in the event stream is closed there, however it ends.

        Yields whether something rings: a person says their words to that.
        """
        self._publish(TurnStarted(turn_id=turn.id, at_s=started_s, source=source, preset=self._preset))
        self._turn = turn
        self._opened_s = time.monotonic()
        if self._idle_worker is not None:
            self._idle_worker.end()
        try:
            yield source != "timer" and self.alarm_state is not None and self.alarm_state.is_ringing
        except EdgevoxError as error:
            self._publish(
                TurnEnded(
                    turn_id=turn.id,
                    outcome="failed",
                    error_code=error.code,
                    error=error.message,
                    hint=error.hint,
                )
            )
            raise
        except asyncio.CancelledError:
            turn.cancel.set()
            self._publish(TurnEnded(turn_id=turn.id, outcome="cancelled"))
            raise
        finally:
            self._turn = None
            self.rest()

    async def _reply(
        self,
        text: str,
        turn: Turn,
        source: TurnSource,
        *,
        spoken: str = "",
        is_ringing: bool = False,
        is_doubted: bool = False,
    ) -> AgentResult:
        """Answer `text`; `spoken` is its language, "" where that is not known."""
        if is_ringing and self.alarm_state:
            if heeded := self.alarm_state.reply_to_command(text):
                return await self._reply_to_ring(heeded, text, turn)
            self.alarm_state.is_ignored = True
        word = parse_builtin_command(text) if self._words else None
        if self._words and word:
            return await self._reply_instantly(self._words, word, text, turn)
        early, self._early_reply = self._early_reply, None
        result = await early.result() if early else None
        if result is None:
            result = await self._replies.by_agent(text, turn, source, spoken, is_doubted=is_doubted)
        if result.reply:
            self.has_said(result.reply, self._languages.reply_to(spoken))
        self._end(turn, result.reply, result.heard)
        return result

    def _doubts(self, heard: Transcript | None) -> bool:
        return heard is not None and heard.confidence < self._ask_below

    async def _drop_speculative_reply(self) -> None:
        if self._early_reply is not None:
            early, self._early_reply = self._early_reply, None
            await early.close()

    async def _reply_instantly(
        self, words: BuiltinCommands, word: BuiltinCommand, text: str, turn: Turn
    ) -> AgentResult:
        """A turn without the model, and none that the conversation remembers."""
        self._publish(InstantWordHeard(turn_id=turn.id, word=word, text=text))
        if said := words.act(word):
            return await self._say_instantly(said, turn, words.language_of(word))
        self._publish(TurnEnded(turn_id=turn.id, outcome="dropped", error=_NOTHING_TO_STOP))
        return AgentResult("", (), "stop")

    async def _reply_to_ring(self, heeded: AlarmReply, text: str, turn: Turn) -> AgentResult:
        """Likewise: it has done what was to be done, and may have something to say to it."""
        self._publish(InstantWordHeard(turn_id=turn.id, word=heeded.word, text=text))
        if heeded.said:
            return await self._say_instantly(heeded.said, turn)
        self._end(turn, "")
        return AgentResult("", (), "stop")

    async def _say_instantly(self, said: str, turn: Turn, language: str = ENGLISH) -> AgentResult:
        self._end(turn, said, await self._replies.say(said, turn, language))
        return AgentResult(said, (), "stop")

    def _end(self, turn: Turn, reply: str, heard: str | None = None) -> None:
        """`heard` is what was heard of the reply, where that is not all."""
        outcome: TurnOutcome = self._replies.cut_by(turn) if turn.cancel.is_set() else "answered"
        if heard is not None and heard != reply:
            reply = mark_truncated(heard) if heard else ""
        self._publish(TurnEnded(turn_id=turn.id, outcome=outcome, reply=reply))


def _ready(heard: Transcript, turn_id: str, at_s: float) -> TranscriptReady:
    return TranscriptReady(
        turn_id=turn_id,
        at_s=at_s,
        text=heard.text,
        language=heard.language,
        dropped=heard.dropped,
        confidence=heard.confidence,
    )
