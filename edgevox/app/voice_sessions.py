"""Voice sessions of remote clients on the same engines and tools; barge-in per duplex mode."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import assert_never

from edgevox.agents.conversation import Conversation
from edgevox.app.engines import Engines
from edgevox.app.home_context import HomeContext
from edgevox.audio.aec.canceller import EchoCanceller
from edgevox.audio.endpointing import Endpointer
from edgevox.audio.io.duplex import Duplex
from edgevox.config import Settings
from edgevox.core.events import Bus
from edgevox.dialogue import (
    BargeInDetector,
    BuiltinCommands,
    ConfirmationDialog,
    Pipeline,
    Synthesizer,
    Transcriber,
    VoiceLoop,
    WakeState,
)
from edgevox.dialogue.transcriber import TranscriptTap
from edgevox.dialogue.turn_completion import AFTER_UNFINISHED
from edgevox.llm.presets import ModelPreset
from edgevox.server.assistant import VoiceSession, VoiceSessionFactory


class BargeInSelector:
    """Another Interruption for each way; a device that was plugged in anew has a way of its own."""

    def __init__(self, duplex: Callable[[], Duplex], aggressiveness: int) -> None:
        self._duplex = duplex
        self._aggressiveness = aggressiveness
        self._of: Duplex = "half"
        self._last: BargeInDetector | None = None

    def now(self) -> BargeInDetector | None:
        """The one for this moment; None where nobody can be heard over the loudspeaker."""
        if (duplex := self._duplex()) is not self._of:
            self._of, self._last = duplex, self._made_for(duplex)
        return self._last

    def _made_for(self, duplex: Duplex) -> BargeInDetector | None:
        match duplex:
            case "half":
                return None
            case "device":
                return BargeInDetector(aggressiveness=self._aggressiveness)
            case EchoCanceller() as canceller:
                return BargeInDetector(
                    lambda: canceller.level,
                    self._aggressiveness,
                    lambda: canceller.warmup_replay,
                    canceller.hears_itself,
                )
            case _:
                assert_never(duplex)


# The segmenter has to be certain, to the block.
_MARGIN_S = 0.2


class VoiceSessionManager:
    """Opens voice sessions of remote clients; `conversation` gives a caller's history by name.

    Alarms do not ring in one, and no wake word is needed: the client has pressed a button.
    """

    def __init__(
        self,
        settings: Settings,
        preset: ModelPreset,
        engines: Engines,
        home_context: Callable[[], HomeContext],
        *,
        conversation: Callable[[str], Conversation],
        transcriber: Callable[[], Transcriber],
        voice: Callable[[], Synthesizer],
    ) -> None:
        self._settings = settings
        self._preset = preset
        self._engines = engines
        self._home_context = home_context
        self._conversation = conversation
        self._transcriber = transcriber
        self._voice = voice
        self._open: list[Pipeline] = []

    def session_factory(self, bus: Bus) -> VoiceSessionFactory:
        """For the server; on the `bus` is what happens in the room."""
        return VoiceSessionFactory(
            self.open,
            bus,
            listens="stt" in self._engines,
            speaks="tts" in self._engines,
            longest_pause_s=AFTER_UNFINISHED * self._settings.audio.hangover_ms / 1000 + _MARGIN_S,
        )

    def confirmation(self) -> list[ConfirmationDialog]:
        """Those who ask somebody there."""
        return [pipeline.confirmation for pipeline in self._open]

    @asynccontextmanager
    async def open(self, session: VoiceSession) -> AsyncIterator[VoiceLoop]:
        """A conversation, inside the block."""
        pipeline = self._pipeline(session)
        audio = self._settings.audio
        self._open.append(pipeline)
        try:
            yield VoiceLoop(
                session.audio_source,
                Endpointer(audio),
                pipeline,
                session.publish,
                barge_in=BargeInSelector(lambda: session.duplex, audio.vad_aggressiveness).now,
                wake_state=WakeState(publish=session.publish),
            )
        finally:
            self._open.remove(pipeline)
            await pipeline.close()

    def _pipeline(self, session: VoiceSession) -> Pipeline:
        home_context, publish = self._home_context(), session.publish
        confirmation = ConfirmationDialog(publish)
        conversation = self._conversation(f"line {session.caller.name}")
        confirm = session.confirm or confirmation
        return Pipeline(
            home_context.agent(self._engines.llm, conversation, confirm, publish, session.caller),
            preset=self._preset.name,
            publish=publish,
            transcriber=TranscriptTap(self._transcriber(), session.heard) if "stt" in self._engines else None,
            voice=self._voice() if session.loudspeaker else None,
            loudspeaker=session.loudspeaker,
            confirmation=confirmation,
            words=BuiltinCommands(home_context.examples()),
            rests=True,
            languages=self._engines.languages,
            ask_below=self._settings.stt.ask_below,
        )
