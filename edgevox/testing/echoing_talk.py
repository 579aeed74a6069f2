"""A conversation between a real loudspeaker and a real microphone that hears it, with a scripted model."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from edgevox.agents import LLMAgent
from edgevox.agents.conversation import Conversation
from edgevox.audio.duplex import cancel_echo
from edgevox.audio.echo import EchoCanceller
from edgevox.audio.microphone import Microphone
from edgevox.audio.portaudio import look_again
from edgevox.audio.sample_clock import Hole
from edgevox.audio.segmenter import Segmenter
from edgevox.audio.speaker import Speaker
from edgevox.events import Event
from edgevox.settings import AudioSettings
from edgevox.testing.null_sinks import NullSinks
from edgevox.testing.scripted import ScriptedModel
from edgevox.types import Synthesizer, Transcriber
from edgevox.voice import Hearing, InstantWords, Interruption, Pipeline, Voice, VoiceLoop

# -60 dBFS: what is quieter nobody hears beside a voice.
_AUDIBLE = 0.001
# A busy machine lets a shorter loop run dry, and the echo then comes later, which no loudspeaker's does.
_DELAY_MS = 120


@contextmanager
def echoing_room() -> Iterator[NullSinks]:
    """Null sinks that this process uses, and whose microphone hears the loudspeaker."""
    before = dict(os.environ)
    try:
        with NullSinks() as sinks:
            os.environ.update(sinks.environment)
            look_again()
            with sinks.echo(delay_ms=_DELAY_MS):
                yield sinks
    finally:
        os.environ.clear()
        os.environ.update(before)
        look_again()


@dataclass
class EchoingTalk:
    """What is said and what happens in it."""

    pipeline: Pipeline
    conversation: Conversation
    speaker: Speaker
    events: list[Event] = field(default_factory=list)
    audible_until_s: float = 0.0
    """When the last sample that is not silence was, or will be, in the air (monotonic)."""
    _changed: asyncio.Event = field(default_factory=asyncio.Event)

    def note(self, event: Event) -> None:
        self.events.append(event)
        self._changed.set()

    def hear(self, samples: NDArray[np.float32], heard_at_s: float) -> None:
        """The loudspeaker's tap."""
        (loud,) = np.nonzero(np.abs(samples) > _AUDIBLE)
        if len(loud):
            self.audible_until_s = heard_at_s + float(loud[-1]) / self.speaker.device.rate_hz

    def of(self, kind: type[Event]) -> list[Event]:
        return [event for event in self.events if isinstance(event, kind)]

    async def until(self, kind: type[Event], count: int = 1) -> None:
        """Returns when `count` events of this kind have happened."""
        while len(self.of(kind)) < count:
            self._changed.clear()
            await self._changed.wait()


@asynccontextmanager
async def echoing_talk(
    transcriber: Transcriber, synthesizer: Synthesizer, replies: list[str]
) -> AsyncIterator[EchoingTalk]:
    """The loop at work, with a model that gives these replies."""
    speaker, microphone = Speaker(lead_in_ms=100), Microphone()
    canceller = cancel_echo("on", microphone, speaker)
    assert isinstance(canceller, EchoCanceller)

    def publish(event: Event) -> None:
        talk.note(event)

    conversation = Conversation()
    pipeline = Pipeline(
        LLMAgent("test", model=ScriptedModel(replies), conversation=conversation, publish=publish),
        preset="p",
        publish=publish,
        hearing=Hearing(transcriber, language="en"),
        voice=Voice(synthesizer),
        loudspeaker=speaker,
        words=InstantWords(()),
    )
    talk = EchoingTalk(pipeline, conversation, speaker)
    cancelled = speaker.tap
    assert cancelled is not None

    def tap(samples: NDArray[np.float32], heard_at_s: float, hole: Hole | None) -> None:
        cancelled(samples, heard_at_s, hole)
        talk.hear(samples, heard_at_s)

    speaker.tap = tap
    interruption = Interruption(
        lambda: canceller.level,
        beginning=lambda: canceller.beginning,
        hears_itself=canceller.hears_itself,
    )
    async with microphone:
        loop = VoiceLoop(
            microphone,
            Segmenter(AudioSettings()),
            pipeline,
            publish,
            interruption=lambda: interruption,
        )
        running = asyncio.create_task(loop.run())
        try:
            yield talk
        finally:
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)
            await pipeline.close()
