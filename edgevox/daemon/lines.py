"""Conversations with those who speak from elsewhere, on the same engines and with the same tools."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from edgevox.agents.conversation import Conversation
from edgevox.audio.segmenter import Segmenter
from edgevox.bus import Bus
from edgevox.daemon.engines import Engines
from edgevox.daemon.household import Household
from edgevox.daemon.interruptions import Interruptions
from edgevox.llm.presets import ModelPreset
from edgevox.server.voice.line import Line, Switchboard
from edgevox.settings import Settings
from edgevox.voice import (
    Asking,
    Hearing,
    InstantWords,
    Pipeline,
    Voice,
    VoiceLoop,
    Wakefulness,
)
from edgevox.voice.patience import AFTER_UNFINISHED
from edgevox.voice.told_hearing import ToldHearing

# The segmenter has to be certain, to the block.
_MARGIN_S = 0.2


class Lines:
    """Opens lines. `conversation` gives that of a caller, by name; `hearing` and `voice` are made for each.

    Nothing rings on a line, and nobody has to call first: whoever presses a button there speaks to us.
    """

    def __init__(
        self,
        settings: Settings,
        preset: ModelPreset,
        engines: Engines,
        household: Callable[[], Household],
        *,
        conversation: Callable[[str], Conversation],
        hearing: Callable[[], Hearing],
        voice: Callable[[], Voice],
    ) -> None:
        self._settings = settings
        self._preset = preset
        self._engines = engines
        self._household = household
        self._conversation = conversation
        self._hearing = hearing
        self._voice = voice
        self._open: list[Pipeline] = []

    def switchboard(self, bus: Bus) -> Switchboard:
        """For the server; on the `bus` is what happens in the room."""
        return Switchboard(
            self.open,
            bus,
            listens="whisper" in self._engines,
            speaks="piper" in self._engines,
            longest_pause_s=AFTER_UNFINISHED * self._settings.audio.hangover_ms / 1000 + _MARGIN_S,
        )

    def asking(self) -> list[Asking]:
        """Those who ask somebody there."""
        return [pipeline.asking for pipeline in self._open]

    @asynccontextmanager
    async def open(self, line: Line) -> AsyncIterator[VoiceLoop]:
        """A conversation, inside the block."""
        pipeline = self._pipeline(line)
        audio = self._settings.audio
        self._open.append(pipeline)
        try:
            yield VoiceLoop(
                line.ear,
                Segmenter(audio),
                pipeline,
                line.publish,
                interruption=Interruptions(lambda: line.duplex, audio.vad_aggressiveness).now,
                wakefulness=Wakefulness(publish=line.publish),
            )
        finally:
            self._open.remove(pipeline)
            await pipeline.close()

    def _pipeline(self, line: Line) -> Pipeline:
        household, publish = self._household(), line.publish
        asking = Asking(publish)
        conversation = self._conversation(f"line {line.caller.name}")
        confirm = line.confirm or asking
        return Pipeline(
            household.agent(self._engines.llama, conversation, confirm, publish, line.caller),
            preset=self._preset.name,
            publish=publish,
            hearing=ToldHearing(self._hearing(), line.heard) if "whisper" in self._engines else None,
            voice=self._voice() if line.loudspeaker else None,
            loudspeaker=line.loudspeaker,
            asking=asking,
            words=InstantWords(household.examples()),
            rests=True,
            languages=self._engines.languages,
            ask_below=self._settings.stt.ask_below,
        )
