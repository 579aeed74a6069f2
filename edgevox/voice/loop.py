"""The voice loop: listens, hands each utterance to the pipeline, and does not listen to itself."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import Protocol, TypeAlias

from edgevox.audio import segmenter as segments
from edgevox.errors import EdgevoxError
from edgevox.events import Event, SpeechDropped, SpeechStarted
from edgevox.turn import Turn
from edgevox.types import Audio
from edgevox.voice.early import EarlyTranscription
from edgevox.voice.pipeline import Pipeline

Publish: TypeAlias = Callable[[Event], None]


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
    """Half duplex: from the end of an utterance to the end of its answer, what is heard is let go.

    While the pause that ends an utterance still lasts, it is transcribed already; nothing is answered or done
    before the pause has ended. In a file nobody waits for it, and what is said is transcribed once.
    """

    def __init__(self, ear: Ear, segmenter: segments.Segmenter, pipeline: Pipeline, publish: Publish) -> None:
        self._ear = ear
        self._segmenter = segmenter
        self._pipeline = pipeline
        self._publish = publish
        self._early: EarlyTranscription | None = None

    async def run(self) -> None:
        """Answer until the sound ends; an answer that fails is told by the events, and the next is tried."""
        answering: asyncio.Task[None] | None = None
        try:
            async with aclosing(self._ear.frames()) as frames:
                async for block in frames:
                    if answering is not None:
                        if not answering.done():
                            continue
                        self._segmenter.reset()
                        self._abandon_early()
                        answering = None
                    match self._segmenter.feed(block):
                        case segments.SpeechStarted():
                            self._publish(SpeechStarted())
                        case segments.Paused(audio=audio):
                            self._begin_early(audio)
                        case segments.Resumed():
                            self._abandon_early()
                        case segments.Utterance() as utterance:
                            answering = asyncio.create_task(self._answer(utterance))
                            if not self._ear.live:
                                await answering
                        case segments.FalseStart():
                            self._publish(SpeechDropped(reason="too short"))
                        case None:
                            pass
            if isinstance(rest := self._segmenter.finish(), segments.Utterance):
                await self._answer(rest)
        finally:
            if answering is not None and not answering.done():
                answering.cancel()
                await asyncio.gather(answering, return_exceptions=True)
            if self._early is not None:
                await self._early.close()

    def _begin_early(self, audio: Audio) -> None:
        # One at a time: what was begun at an earlier pause cannot be stopped inside one of Whisper's windows.
        if self._ear.live and (self._early is None or not self._early.is_working):
            self._early = self._pipeline.transcribe_early(audio)

    def _abandon_early(self) -> None:
        if self._early is not None:
            self._early.abandon()

    async def _answer(self, utterance: segments.Utterance) -> None:
        # The segmenter counts in samples; an utterance is handed over the moment its last block arrives.
        silence_s = utterance.ended_at_s - utterance.last_voiced_at_s + self._ear.delay_s
        early = None if self._early is None or self._early.is_abandoned else self._early
        try:
            await self._pipeline.hear(
                utterance.audio,
                early.turn if early else Turn(),
                last_voiced_s=time.monotonic() - silence_s,
                dropped_samples=self._ear.dropped_samples,
                early=early,
            )
        except EdgevoxError:
            return  # its TurnEnded has said what happened and what to do
