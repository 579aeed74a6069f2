"""The story of one turn: sound becomes words, words a reply, and the reply is spoken while it is made."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import aclosing, contextmanager
from typing import Protocol, TypeAlias

from edgevox.agents import AgentResult, LLMAgent
from edgevox.errors import EdgevoxError
from edgevox.events import (
    AudioReady,
    EndpointReached,
    Event,
    PlaybackFinished,
    PlaybackStarted,
    SpeechEnded,
    SynthesisStarted,
    TranscriptionStarted,
    TranscriptReady,
    TurnEnded,
    TurnOutcome,
    TurnSource,
    TurnStarted,
)
from edgevox.tts.sentences import SentenceSplitter
from edgevox.turn import CancelFlag, Turn
from edgevox.types import Audio, Transcript
from edgevox.voice.early import EarlyTranscription
from edgevox.voice.hearing import Hearing
from edgevox.voice.voice import Voice

Publish: TypeAlias = Callable[[Event], None]

# One piece plays, one waits, one is being made: more would be wasted when the person interrupts.
_PIECES_AHEAD = 1


class Loudspeaker(Protocol):
    """Where the sound goes."""

    async def play(
        self, chunks: AsyncIterator[Audio], cancel: CancelFlag, on_start: Callable[[], None]
    ) -> None:
        """Play every chunk as it comes; returns when the last sample is out or `cancel` is set."""


class Pipeline:
    """One turn at a time. Without a voice and a loudspeaker the reply is text in the event stream only."""

    def __init__(
        self,
        agent: LLMAgent,
        *,
        preset: str,
        publish: Publish,
        hearing: Hearing | None = None,
        voice: Voice | None = None,
        loudspeaker: Loudspeaker | None = None,
    ) -> None:
        self._agent = agent
        self._preset = preset
        self._publish = publish
        self._hearing = hearing
        self._voice = voice
        self._loudspeaker = loudspeaker

    async def answer(self, text: str, turn: Turn, source: TurnSource = "text") -> AgentResult:
        """Answer a question in words. Raises EdgevoxError, after the turn has been closed in the events."""
        with self._closing(turn, source, time.monotonic()):
            self._publish(TranscriptReady(turn_id=turn.id, text=text, language=""))
            return await self._reply(text, turn)

    def transcribe_early(self, audio: Audio) -> EarlyTranscription:
        """Begin to transcribe what may be all of an utterance; `hear` takes it if it was."""
        assert self._hearing is not None
        return EarlyTranscription(self._hearing, audio)

    async def hear(
        self,
        audio: Audio,
        turn: Turn,
        *,
        last_voiced_s: float,
        dropped_samples: int = 0,
        early: EarlyTranscription | None = None,
    ) -> AgentResult | None:
        """Answer an utterance that ended at `last_voiced_s`; None when nobody said anything in it.

        `early` is the turn's own transcription, begun before. Raises EdgevoxError, after the turn has been
        closed in the events.
        """
        assert early is None or early.turn is turn
        with self._closing(turn, "voice", last_voiced_s):
            self._publish(SpeechEnded(turn_id=turn.id, at_s=last_voiced_s, dropped_samples=dropped_samples))
            self._publish(EndpointReached(turn_id=turn.id))
            heard = await self._early_transcript(early) if early else None
            if heard is None:
                heard = await self._transcript(audio, turn)
            if not heard.text:
                self._publish(TurnEnded(turn_id=turn.id, outcome="dropped", error=heard.dropped or ""))
                return None
            return await self._reply(heard.text, turn)

    async def _early_transcript(self, early: EarlyTranscription) -> Transcript | None:
        turn_id = early.turn.id
        self._publish(
            TranscriptionStarted(turn_id=turn_id, at_s=early.started_s, audio_s=early.audio_s, early=True)
        )
        heard = await early.transcript()
        if heard is not None:
            self._publish(_ready(heard, turn_id, early.ready_s))
        return heard

    async def _transcript(self, audio: Audio, turn: Turn) -> Transcript:
        assert self._hearing is not None
        self._publish(TranscriptionStarted(turn_id=turn.id, audio_s=audio.duration_s))
        heard = await self._hearing.transcribe(audio, turn.cancel)
        self._publish(_ready(heard, turn.id, time.monotonic()))
        return heard

    @contextmanager
    def _closing(self, turn: Turn, source: TurnSource, started_s: float) -> Iterator[None]:
        """Every turn that is opened in the event stream is closed there, however it ends."""
        self._publish(TurnStarted(turn_id=turn.id, at_s=started_s, source=source, preset=self._preset))
        try:
            yield
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

    async def _reply(self, text: str, turn: Turn) -> AgentResult:
        if self._voice is None or self._loudspeaker is None:
            result = await self._agent.run(text, turn)
        else:
            result = await self._reply_aloud(text, turn, self._voice, self._loudspeaker)
        outcome: TurnOutcome = "cancelled" if turn.cancel.is_set() else "answered"
        self._publish(TurnEnded(turn_id=turn.id, outcome=outcome, reply=result.reply))
        return result

    async def _reply_aloud(
        self, text: str, turn: Turn, voice: Voice, loudspeaker: Loudspeaker
    ) -> AgentResult:
        """Three at once: the model writes, the voice speaks what is written, the loudspeaker plays."""
        sentences: asyncio.Queue[str | None] = asyncio.Queue()
        sounds: asyncio.Queue[Audio | None] = asyncio.Queue(_PIECES_AHEAD)
        try:
            async with asyncio.TaskGroup() as group:
                writing = group.create_task(self._write(text, turn, sentences))
                group.create_task(self._speak(voice, sentences, sounds, turn))
                group.create_task(self._play(loudspeaker, sounds, turn))
        except BaseExceptionGroup as failures:
            raise failures.exceptions[0] from None
        return writing.result()

    async def _write(self, text: str, turn: Turn, sentences: asyncio.Queue[str | None]) -> AgentResult:
        splitter = SentenceSplitter()
        result: AgentResult | None = None
        async with aclosing(self._agent.stream(text, turn)) as pieces:
            async for piece in pieces:
                if isinstance(piece, AgentResult):
                    result = piece
                    continue
                for sentence in splitter.feed(piece):
                    sentences.put_nowait(sentence)
        for sentence in splitter.finish():
            sentences.put_nowait(sentence)
        sentences.put_nowait(None)
        assert result is not None, "an agent's stream ends with its result"
        return result

    async def _speak(
        self,
        voice: Voice,
        sentences: asyncio.Queue[str | None],
        sounds: asyncio.Queue[Audio | None],
        turn: Turn,
    ) -> None:
        while (sentence := await sentences.get()) is not None:
            self._publish(SynthesisStarted(turn_id=turn.id, text=sentence))
            async with aclosing(voice.speak(sentence, turn.cancel)) as pieces:
                async for sound in pieces:
                    self._publish(AudioReady(turn_id=turn.id, audio_s=sound.duration_s))
                    await sounds.put(sound)
        await sounds.put(None)

    async def _play(self, loudspeaker: Loudspeaker, sounds: asyncio.Queue[Audio | None], turn: Turn) -> None:
        async def upcoming() -> AsyncIterator[Audio]:
            while (sound := await sounds.get()) is not None:
                yield sound

        def started() -> None:
            self._publish(PlaybackStarted(turn_id=turn.id))

        await loudspeaker.play(upcoming(), turn.cancel, started)
        self._publish(PlaybackFinished(turn_id=turn.id))
        # Whoever waits for room in the queue, after a cancel, must not wait for ever.
        while turn.cancel.is_set() and await sounds.get() is not None:
            pass


def _ready(heard: Transcript, turn_id: str, at_s: float) -> TranscriptReady:
    return TranscriptReady(
        turn_id=turn_id, at_s=at_s, text=heard.text, language=heard.language, dropped=heard.dropped
    )
