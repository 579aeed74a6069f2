"""One turn: transcribe, reply, and speak the reply while it is generated."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import partial

from edgevox.agents import AgentResult, ReplyAgent
from edgevox.agents.conversation import mark_truncated
from edgevox.agents.speaker_recognition import SpeakerRecognizer
from edgevox.audio.io.speaker import Loudspeaker
from edgevox.audio.wake_gate import WakeContext
from edgevox.config.sections import RequestsOnly
from edgevox.core import events
from edgevox.core.errors import EdgevoxError
from edgevox.core.events import Publish, TurnOutcome, TurnSource
from edgevox.core.languages import ENGLISH, all_phrases, replying_in
from edgevox.core.turn import LOCAL, Caller, CancelFlag, Turn
from edgevox.core.types import Audio, ToolCall, Transcript
from edgevox.dialogue.alarm_state import AlarmState
from edgevox.dialogue.builtin_commands import BuiltinCommands, command_language, parse_builtin_command
from edgevox.dialogue.confirm import ConfirmationDialog
from edgevox.dialogue.replies import ReplyLanguages, ReplyRunner
from edgevox.dialogue.speculative import IdleWorker, IdleWorkers, SpeculativeReply, SpeculativeTranscript
from edgevox.dialogue.speech_output import SpeechOutput, Synthesizer, Volume
from edgevox.dialogue.transcriber import Transcriber
from edgevox.dialogue.turn_completion import is_request

ANOTHER_PERSON = "another person spoke"
NO_REQUEST = "no request"

_REQUESTS_ONLY: Mapping[RequestsOnly, frozenset[WakeContext]] = {
    "never": frozenset(),
    "follow_ups": frozenset({"follow_up"}),
    "always": frozenset({"follow_up", "open"}),
}
"""Where only a request counts, by `wake.requests_only`."""
_NOTHING_TO_STOP = "there was nothing to stop"


class Pipeline:
    """Runs one turn at a time, in `room`. Without `voice` and `loudspeaker` a reply is text in the event stream only.

    Without `words` there are no built-in commands. With `warms_prefix` the prompt of the next turn is evaluated
    between turns, and the pipeline must be closed. A transcript with a confidence under `ask_below` is
    confirmed with the user before a tool runs. With `speakers` a voice turn has the scopes of its speaker, within
    those of `caller`. `names` are those of the home, by which a request is told from talk.
    """

    def __init__(
        self,
        agent: ReplyAgent,
        *,
        preset: str,
        room: str = "",
        publish: Publish,
        transcriber: Transcriber | None = None,
        voice: Synthesizer | None = None,
        loudspeaker: Loudspeaker | None = None,
        confirmation: ConfirmationDialog | None = None,
        words: BuiltinCommands | None = None,
        alarm_state: AlarmState | None = None,
        warms_prefix: bool = False,
        languages: ReplyLanguages | None = None,
        ask_below: float = 0.0,
        speakers: SpeakerRecognizer | None = None,
        caller: Caller = LOCAL,
        idle_workers: IdleWorkers | None = None,
        requests_only: RequestsOnly = "never",
        names: Callable[[], tuple[str, ...]] = lambda: (),
    ) -> None:
        self._requests_only = requests_only
        self._names = names
        self._has_asked = False
        """Whether the last reply was a question."""
        self.last_heard = Transcript("", "", 0.0)
        """The utterance of the last voice turn."""
        self._speakers = speakers
        self._caller = caller
        self.confirmation = confirmation or ConfirmationDialog()
        self.alarm_state = alarm_state
        self._agent = agent
        self._preset = preset
        self._room = room
        self._publish = publish
        self._transcriber = transcriber
        self._words = words
        self._languages = languages or ReplyLanguages()
        self._ask_below = ask_below
        volume = words.volume if words else Volume()
        if voice and words:
            voice.rate, voice.pitch = words.rate, words.pitch
        self.speech_output = SpeechOutput(voice, loudspeaker, volume) if voice and loudspeaker else None
        self._replies = ReplyRunner(agent, self.speech_output, self.confirmation, self._languages, publish)
        self._idle_worker = IdleWorker(
            agent.warm_prefix if warms_prefix else None, partial(agent.warm_prefix, again=True), idle_workers
        )
        self._one_at_a_time = asyncio.Lock()
        self._turn: Turn | None = None
        self._opened_s = -math.inf
        self._speculative_reply: SpeculativeReply | None = None

    @property
    def silent_since_s(self) -> float:
        return self.speech_output.silent_since_s if self.speech_output else -math.inf

    @property
    def own_language(self) -> str:
        """The language of what is said without being asked."""
        return self._languages.reply_to("")

    def phrases_language(self, spoken: str) -> str:
        """The language of a fixed sentence for a person who spoke `spoken`, "" if unknown."""
        language = self._languages.reply_to(spoken)
        return language if language in all_phrases() else ENGLISH

    @property
    def is_in_turn(self) -> bool:
        return self._turn is not None

    @property
    def is_ringing(self) -> bool:
        return self.alarm_state is not None and self.alarm_state.is_ringing

    def is_turn_of(self, turn_id: str) -> bool:
        return self._turn is not None and self._turn.id == turn_id

    def has_said(self, text: str, language: str = ENGLISH) -> None:
        """Remember `text` as the last spoken reply, for "repeat that"."""
        if self._words is not None:
            self._words.last_reply, self._words.last_language = text, language

    def note_speech(self) -> None:
        """Speech has begun: prepare the turn that may follow."""
        self._idle_worker.attend()

    def start_idle_work(self) -> None:
        """Prepare the next turn in the background."""
        self._idle_worker.begin()

    async def warm_up(self) -> None:
        """Evaluate the prompt of the next turn now. Raises EngineFailed and ModelError."""
        await self._idle_worker.run_once()

    async def close(self) -> None:
        await self._drop_speculative_reply()
        await self._idle_worker.close()

    async def answer(self, text: str, turn: Turn, source: TurnSource = "text", spoken: str = "") -> AgentResult:
        """Run a text turn; `spoken` is its language, "" if unknown. Raises EdgevoxError after publishing TurnEnded."""
        async with self._one_at_a_time:
            await self._drop_speculative_reply()
            with self._open(turn, source, time.monotonic()) as is_ringing:
                self._publish(events.TranscriptReady(turn_id=turn.id, text=text, language=""))
                return await self._reply(text, turn, source, spoken=spoken, is_ringing=is_ringing)

    async def perform(self, calls: tuple[ToolCall, ...], turn: Turn) -> AgentResult:
        """Run a silent turn of calls that were chosen on a screen. Raises EdgevoxError after publishing TurnEnded."""
        async with self._one_at_a_time:
            await self._drop_speculative_reply()
            with self._open(turn, "screen", time.monotonic()):
                language = self.own_language
                with replying_in(language):
                    text = self._agent.describe(calls)
                self._publish(events.TranscriptReady(turn_id=turn.id, text=text, language=""))
                answer_in = None if language == ENGLISH else language
                result = await self._agent.perform(text, calls, turn, answer_in)
                self._end(turn, result.reply, None)
                return result

    def act_on(self, text: str) -> bool:
        """Run `text` as a command to a ringing alarm or to the running turn; returns whether it is one."""
        word = parse_builtin_command(text, is_busy=True)
        turn, speech = self._turn, self._replies.speech_to_come
        if not (turn and word == "cancel") and self.act_on_ring(text):
            return True
        if self._words is None or word is None or turn is None:
            return False
        if word in ("repeat", "help") and speech is None:
            return False
        self._publish(events.BuiltinCommandRun(turn_id=turn.id, word=word, text=text))
        reply = self._words.act(word)
        if word in ("stop", "cancel"):
            turn.cancel.set()
        elif speech is not None:
            speech.interject(reply, self._words.language_of(word))
        return True

    def cancel_turn(self, turn_id: str) -> None:
        """Cancel the running turn, if it is this one."""
        if self._turn is not None and self._turn.id == turn_id:
            self._turn.cancel.set()

    def interrupt(self) -> bool:
        """Cancel the running turn if it speaks or is about to; returns whether it was cancelled.

        An open confirmation counts as denied.
        """
        return self._turn is not None and self._replies.interrupt(self._turn)

    def act_on_ring(self, text: str) -> bool:
        """Run `text` as a command to an alarm that sounded since the running turn began; returns whether it is one."""
        since_s = self._opened_s if self._turn else -math.inf
        if self.alarm_state is None or not self.alarm_state.has_rung_since(since_s):
            return False
        language = self.phrases_language("")
        command = self.alarm_state.take_command(text, language)
        if command is None:
            return False
        if self._turn is not None:
            self._publish(events.BuiltinCommandRun(turn_id=self._turn.id, word=command.word, text=text))
        if (reply := command.reply(language)) and (speech := self._replies.speech_to_come):
            speech.interject(reply, language)
        return True

    async def transcribe_text(self, audio: Audio, speculative: SpeculativeTranscript | None = None) -> str:
        """Transcribe speech outside a turn; "" if it cannot be transcribed."""
        return (await self.transcribe_answer(audio, speculative))[0]

    async def transcribe_answer(
        self, audio: Audio, speculative: SpeculativeTranscript | None = None
    ) -> tuple[str, str]:
        """The text and the speaker of speech outside a turn, each "" if unknown."""
        transcript = await speculative.transcript() if speculative else None
        transcript = transcript or await self.transcribe_aside(audio)
        return (transcript.text, transcript.speaker) if transcript else ("", "")

    async def transcribe_aside(self, audio: Audio) -> Transcript | None:
        """Transcribe speech outside a turn; None if it cannot be transcribed."""
        assert self._transcriber is not None
        try:
            return await self._transcriber.transcribe(audio, CancelFlag())
        except EdgevoxError:
            return None  # the next turn reports the error

    def transcribe_speculatively(
        self, audio: Audio, on_ready: Callable[[], None] = lambda: None
    ) -> SpeculativeTranscript:
        """Start to transcribe an utterance that may be complete; pass the result to `hear` if it was."""
        assert self._transcriber is not None
        return SpeculativeTranscript(self._transcriber, audio, on_ready)

    def reply_speculatively(self, speculative: SpeculativeTranscript) -> None:
        """Start the reply to an utterance that may be complete, once; `hear` continues it if it was.

        Until then nothing is spoken, published or remembered, and no tool runs.
        """
        before = self._speculative_reply
        if before is not None and before.turn is speculative.turn:
            return
        ready = speculative.ready
        text, spoken = (ready.text, ready.language) if ready else ("", "")
        is_instant = self._words is not None and parse_builtin_command(text) is not None
        if not text or self.is_ringing or is_instant or self._one_at_a_time.locked() or speculative.is_abandoned:
            return
        self._idle_worker.end()

        async def reply() -> AgentResult:
            if before is not None:
                await before.close()
            words, turn = self._of_speaker(text, speculative.turn, ready.speaker if ready else "")
            return await self._replies.run_agent(words, turn, "voice", spoken, is_doubted=self._doubts(ready))

        self._speculative_reply = SpeculativeReply(speculative.turn, reply)

    def is_ready_for(self, turn: Turn) -> bool:
        """Whether the speculative reply to this turn, if any, can be spoken at once."""
        reply = self._speculative_reply
        return reply is None or reply.turn is not turn or reply.is_ready

    async def hear(
        self,
        audio: Audio,
        turn: Turn,
        *,
        last_voiced_s: float,
        dropped_samples: int = 0,
        speculative: SpeculativeTranscript | None = None,
        context: WakeContext = "called",
    ) -> AgentResult | None:
        """Run a voice turn; returns None if the utterance holds no words or is not addressed to the assistant.

        `context` says why it was heard: another person's follow-up is dropped, and where `requests_only` says so, what
        is no request. `speculative` is the turn's transcription, if already started. Opens the turn's gate.
        Raises EdgevoxError after publishing TurnEnded.
        """
        assert speculative is None or speculative.turn is turn
        async with self._one_at_a_time:
            if self._speculative_reply is not None and self._speculative_reply.turn is not turn:
                await self._drop_speculative_reply()
            with self._open(turn, "voice", last_voiced_s) as is_ringing:
                self._publish(events.SpeechEnded(turn_id=turn.id, at_s=last_voiced_s, dropped_samples=dropped_samples))
                self._publish(events.EndpointReached(turn_id=turn.id))
                transcript = await self._transcript(audio, turn, speculative)
                if not transcript.text:
                    self._publish(events.TurnEnded(turn_id=turn.id, outcome="dropped", error=transcript.dropped or ""))
                    return None
                if reason := self._not_addressed(transcript, context):
                    await self._drop_speculative_reply()
                    self._publish(events.TurnEnded(turn_id=turn.id, outcome="dropped", error=reason))
                    return None
                self.last_heard = transcript
                if is_ringing:
                    await self._drop_speculative_reply()  # the utterance may be a command to the alarm
                turn.gate.open()
                result = await self._reply(
                    transcript.text,
                    turn,
                    "voice",
                    spoken=transcript.language,
                    speaker=transcript.speaker,
                    is_ringing=is_ringing,
                    is_doubted=self._doubts(transcript),
                )
                self._has_asked = result.reply.rstrip().endswith("?")
                return result

    def _not_addressed(self, transcript: Transcript, context: WakeContext) -> str:
        """Why an utterance is not for the assistant; "" if it is."""
        is_follow_up = context == "follow_up"
        if is_follow_up and self._speakers and not self._speakers.may_follow_up(transcript, self.last_heard):
            return ANOTHER_PERSON
        # After a question of the assistant every answer counts: "the blue one".
        if self._has_asked or self.is_ringing or context not in _REQUESTS_ONLY[self._requests_only]:
            return ""
        is_asked = is_request(transcript, self._names(), is_follow_up=is_follow_up)
        return "" if is_asked else NO_REQUEST

    async def _transcript(self, audio: Audio, turn: Turn, speculative: SpeculativeTranscript | None) -> Transcript:
        assert self._transcriber is not None
        if speculative is not None:
            started_s, audio_s = speculative.started_s, speculative.audio_s
            self._publish(events.TranscriptionStarted(turn_id=turn.id, at_s=started_s, audio_s=audio_s, early=True))
            if (transcript := await speculative.transcript()) is not None:
                self._publish(_ready(transcript, turn.id, speculative.ready_s))
                return transcript
        self._publish(events.TranscriptionStarted(turn_id=turn.id, audio_s=audio.duration_s))
        transcript = await self._transcriber.transcribe(audio, turn.cancel)
        self._publish(_ready(transcript, turn.id, time.monotonic()))
        return transcript

    @contextmanager
    def _open(self, turn: Turn, source: TurnSource, started_s: float) -> Iterator[bool]:
        """Publish TurnStarted, and TurnEnded on an error; yields whether an alarm rings."""
        self._publish(
            events.TurnStarted(turn_id=turn.id, at_s=started_s, source=source, preset=self._preset, room=self._room)
        )
        self._turn = turn
        self._opened_s = time.monotonic()
        self._idle_worker.end()
        try:
            yield source != "timer" and self.is_ringing
        except EdgevoxError as error:
            self._publish(
                events.TurnEnded(
                    turn_id=turn.id, outcome="failed", error_code=error.code, error=error.message, hint=error.hint
                )
            )
            raise
        except asyncio.CancelledError:
            turn.cancel.set()
            self._publish(events.TurnEnded(turn_id=turn.id, outcome="cancelled"))
            raise
        except Exception as error:  # a bug; programs wait until the turn is over
            turn.cancel.set()
            self._publish(events.TurnEnded(turn_id=turn.id, outcome="failed", error=f"{type(error).__name__}: {error}"))
            raise
        finally:
            self._turn = None
            self.start_idle_work()

    async def _reply(
        self,
        text: str,
        turn: Turn,
        source: TurnSource,
        *,
        spoken: str = "",
        speaker: str = "",
        is_ringing: bool = False,
        is_doubted: bool = False,
    ) -> AgentResult:
        """Reply to `text`; `spoken` is its language, "" if unknown, and so is `speaker`."""
        if is_ringing and self.alarm_state:
            language = self.phrases_language(spoken)
            if command := self.alarm_state.take_command(text, language):
                reply = command.reply(language)
                return await self._reply_to_command(command.word, reply, text, turn, language=language)
            self.alarm_state.is_ignored = True
        word = parse_builtin_command(text) if self._words else None
        if self._words and word:
            said_in = self._languages.reply_to(command_language(text, spoken))
            reply, language = self._words.act(word, said_in), self._words.language_of(word, said_in)
            return await self._reply_to_command(word, reply, text, turn, language=language, is_dropped=not reply)
        speculative, self._speculative_reply = self._speculative_reply, None
        result = await speculative.result() if speculative else None
        if result is None:
            words, by = self._of_speaker(text, turn, speaker) if source == "voice" else (text, turn)
            result = await self._replies.run_agent(words, by, source, spoken, is_doubted=is_doubted)
        if result.reply:
            self.has_said(result.reply, self._languages.reply_to(spoken))
        self._end(turn, result.reply, result.spoken_prefix)
        return result

    def _of_speaker(self, text: str, turn: Turn, speaker: str) -> tuple[str, Turn]:
        """The words and the turn of a recognised speaker, with that person's list and scopes."""
        caller = self._speakers.caller_for(speaker, self._caller) if self._speakers else None
        if self._speakers is None or caller is None:
            return text, turn
        return self._speakers.personal(text, speaker), replace(turn, caller=caller)

    def _doubts(self, transcript: Transcript | None) -> bool:
        return transcript is not None and transcript.confidence < self._ask_below

    async def _drop_speculative_reply(self) -> None:
        if self._speculative_reply is not None:
            speculative, self._speculative_reply = self._speculative_reply, None
            await speculative.close()

    async def _reply_to_command(
        self, word: str, reply: str, text: str, turn: Turn, *, language: str = ENGLISH, is_dropped: bool = False
    ) -> AgentResult:
        """Reply to a command without a model call; nothing is stored in the conversation."""
        self._publish(events.BuiltinCommandRun(turn_id=turn.id, word=word, text=text))
        if is_dropped:
            self._publish(events.TurnEnded(turn_id=turn.id, outcome="dropped", error=_NOTHING_TO_STOP))
        else:
            self._end(turn, reply, await self._replies.say(reply, turn, language) if reply else None)
        return AgentResult(reply, (), "stop")

    def _end(self, turn: Turn, reply: str, spoken_prefix: str | None) -> None:
        """Publish TurnEnded; `spoken_prefix` is that of an interrupted reply."""
        outcome: TurnOutcome = self._replies.cut_by(turn) if turn.cancel.is_set() else "answered"
        if spoken_prefix is not None and spoken_prefix != reply:
            reply = mark_truncated(spoken_prefix) if spoken_prefix else ""
        self._publish(events.TurnEnded(turn_id=turn.id, outcome=outcome, reply=reply))


def _ready(transcript: Transcript, turn_id: str, at_s: float) -> events.TranscriptReady:
    return events.TranscriptReady(
        turn_id=turn_id,
        at_s=at_s,
        text=transcript.text,
        language=transcript.language,
        dropped=transcript.dropped,
        confidence=transcript.confidence,
        speaker=transcript.speaker,
    )
