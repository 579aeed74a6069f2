"""A conversation over virtual devices whose loudspeaker is heard by the microphone, as in a room."""

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
from edgevox.audio.aec.canceller import EchoCanceller
from edgevox.audio.aec.reference import Hole
from edgevox.audio.endpointing import Endpointer
from edgevox.audio.io.devices import rescan_devices
from edgevox.audio.io.duplex import cancel_echo
from edgevox.audio.io.microphone import Microphone
from edgevox.audio.io.speaker import Speaker
from edgevox.config import AudioSettings
from edgevox.core.events import Event
from edgevox.core.turn import background_task
from edgevox.core.types import SttService, TtsService
from edgevox.dialogue import BargeInDetector, BuiltinCommands, Pipeline, Synthesizer, Transcriber, VoiceLoop
from edgevox.testing import NullSinks, ScriptedModel

# -60 dBFS: anything quieter is inaudible next to speech.
_AUDIBLE = 0.001
# On a busy machine a shorter loopback underruns, and the echo delay jumps, unlike that of a real loudspeaker.
_DELAY_MS = 120


@contextmanager
def echo_sinks() -> Iterator[NullSinks]:
    """Null sinks for this process, with an echo from loudspeaker to microphone."""
    before = dict(os.environ)
    try:
        with NullSinks() as sinks:
            os.environ.update(sinks.environment)
            rescan_devices()
            with sinks.echo(delay_ms=_DELAY_MS):
                yield sinks
    finally:
        os.environ.clear()
        os.environ.update(before)
        rescan_devices()


@dataclass
class EchoConversation:
    """A running conversation and its events."""

    pipeline: Pipeline
    conversation: Conversation
    speaker: Speaker
    events: list[Event] = field(default_factory=list)
    audible_until_s: float = 0.0
    """Time (monotonic) at which the last audible sample is or will be played."""
    _changed: asyncio.Event = field(default_factory=asyncio.Event)

    def note(self, event: Event) -> None:
        self.events.append(event)
        self._changed.set()

    def hear(self, samples: NDArray[np.float32], heard_at_s: float) -> None:
        """Tap of the loudspeaker."""
        (loud,) = np.nonzero(np.abs(samples) > _AUDIBLE)
        if len(loud):
            self.audible_until_s = heard_at_s + float(loud[-1]) / self.speaker.device.rate_hz

    def of(self, kind: type[Event]) -> list[Event]:
        return [event for event in self.events if isinstance(event, kind)]

    async def until(self, kind: type[Event], count: int = 1) -> None:
        """Wait for `count` events of this kind."""
        while len(self.of(kind)) < count:
            self._changed.clear()
            await self._changed.wait()


@asynccontextmanager
async def echo_conversation(
    stt: SttService, synthesizer: TtsService, replies: list[str]
) -> AsyncIterator[EchoConversation]:
    """Run the voice loop with a model that gives these replies."""
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
        transcriber=Transcriber(stt, language="en"),
        voice=Synthesizer(synthesizer),
        loudspeaker=speaker,
        words=BuiltinCommands(()),
    )
    talk = EchoConversation(pipeline, conversation, speaker)
    cancelled = speaker.tap
    assert cancelled is not None

    def tap(samples: NDArray[np.float32], heard_at_s: float, hole: Hole | None) -> None:
        cancelled(samples, heard_at_s, hole)
        talk.hear(samples, heard_at_s)

    speaker.tap = tap
    barge_in = BargeInDetector(
        lambda: canceller.level, warmup_replay=lambda: canceller.warmup_replay, is_own_echo=canceller.is_own_echo
    )
    async with microphone:
        loop = VoiceLoop(microphone, Endpointer(AudioSettings()), pipeline, publish, barge_in=lambda: barge_in)
        try:
            async with background_task(loop.run()):
                yield talk
        finally:
            await pipeline.close()
