"""The story of one turn: a question becomes a reply, and the reply is spoken while it is still being made."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing
from typing import Protocol, TypeAlias

from edgevox.agents import AgentResult, LLMAgent
from edgevox.errors import EdgevoxError
from edgevox.events import (
    AudioReady,
    Event,
    PlaybackFinished,
    PlaybackStarted,
    SynthesisStarted,
    TranscriptReady,
    TurnEnded,
    TurnOutcome,
    TurnSource,
    TurnStarted,
)
from edgevox.tts.sentences import SentenceSplitter
from edgevox.tts.speakable import speakable
from edgevox.turn import CancelFlag, Turn
from edgevox.types import Audio, SynthesisRequest, Synthesizer

Publish: TypeAlias = Callable[[Event], None]

# One piece plays, one waits, one is being made: more would be wasted when the person interrupts.
_PIECES_AHEAD = 1


class Loudspeaker(Protocol):
    """Where the sound goes."""

    async def play(
        self, chunks: AsyncIterator[Audio], cancel: CancelFlag, on_start: Callable[[], None]
    ) -> None: ...


class Voice:
    """A synthesizer with its manner of speaking: speakable text, sentence by sentence."""

    def __init__(self, synthesizer: Synthesizer, *, speed: float = 1.0, language: str = "en") -> None:
        self._synthesizer = synthesizer
        self._speed = speed
        self._language = language

    async def speak(self, sentence: str, cancel: CancelFlag) -> AsyncGenerator[Audio, None]:
        """The sound of one sentence; none when there is nothing in it to say. Raises EngineFailed."""
        text = speakable(sentence, self._language)
        if text:
            request = SynthesisRequest(text, self._speed)
            async with aclosing(self._synthesizer.stream(request, cancel)) as pieces:
                async for piece in pieces:
                    yield piece


class Pipeline:
    """One turn at a time, from a question to an answer that was heard (or, without a loudspeaker, read)."""

    def __init__(
        self,
        agent: LLMAgent,
        *,
        preset: str,
        publish: Publish,
        voice: Voice | None = None,
        loudspeaker: Loudspeaker | None = None,
    ) -> None:
        self._agent = agent
        self._preset = preset
        self._publish = publish
        self._voice = voice
        self._loudspeaker = loudspeaker

    async def answer(self, text: str, turn: Turn, source: TurnSource = "text") -> AgentResult:
        """Answer one question. Raises EdgevoxError after the turn has been closed in the event stream."""
        self._publish(TurnStarted(turn_id=turn.id, source=source, preset=self._preset))
        self._publish(TranscriptReady(turn_id=turn.id, text=text, language=""))
        try:
            result = await self._answer(text, turn)
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
        outcome: TurnOutcome = "cancelled" if turn.cancel.is_set() else "answered"
        self._publish(TurnEnded(turn_id=turn.id, outcome=outcome, reply=result.reply))
        return result

    async def _answer(self, text: str, turn: Turn) -> AgentResult:
        if self._voice is None or self._loudspeaker is None:
            return await self._agent.run(text, turn)
        sentences: asyncio.Queue[str | None] = asyncio.Queue()
        sounds: asyncio.Queue[Audio | None] = asyncio.Queue(_PIECES_AHEAD)
        try:
            async with asyncio.TaskGroup() as group:
                thinking = group.create_task(self._think(text, turn, sentences))
                group.create_task(self._synthesize(self._voice, sentences, sounds, turn))
                group.create_task(self._play(self._loudspeaker, sounds, turn))
        except BaseExceptionGroup as failures:
            raise failures.exceptions[0] from None
        return thinking.result()

    async def _think(self, text: str, turn: Turn, sentences: asyncio.Queue[str | None]) -> AgentResult:
        splitter = SentenceSplitter()
        async with aclosing(self._agent.stream(text, turn)) as pieces:
            async for piece in pieces:
                if isinstance(piece, AgentResult):
                    break
                for sentence in splitter.feed(piece):
                    sentences.put_nowait(sentence)
        for sentence in splitter.finish():
            sentences.put_nowait(sentence)
        sentences.put_nowait(None)
        assert isinstance(piece, AgentResult)
        return piece

    async def _synthesize(
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
