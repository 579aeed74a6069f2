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
    """Selects the barge-in detector for the current duplex mode, which changes with the audio devices."""

    def __init__(self, duplex: Callable[[], Duplex], aggressiveness: int) -> None:
        self._duplex = duplex
        self._aggressiveness = aggressiveness
        self._of: Duplex = "half"
        self._last: BargeInDetector | None = None

    def now(self) -> BargeInDetector | None:
        """Return the current detector; None in half-duplex mode."""
        if (duplex := self._duplex()) is not self._of:
            self._of, self._last = duplex, self._create(duplex)
        return self._last

    def _create(self, duplex: Duplex) -> BargeInDetector | None:
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
                    canceller.is_own_echo,
                )
            case _:
                assert_never(duplex)


# Margin for the block size of the endpointer.
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
        """Return the session factory for the server; `bus` has the events of the local room."""
        return VoiceSessionFactory(
            self.open,
            bus,
            listens="stt" in self._engines,
            speaks="tts" in self._engines,
            longest_pause_s=AFTER_UNFINISHED * self._settings.audio.hangover_ms / 1000 + _MARGIN_S,
        )

    def confirmation(self) -> list[ConfirmationDialog]:
        """Return the confirmation dialogs of the open sessions."""
        return [pipeline.confirmation for pipeline in self._open]

    @asynccontextmanager
    async def open(self, session: VoiceSession) -> AsyncIterator[VoiceLoop]:
        """Open a voice loop for the duration of the block."""
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
            warms_prefix=True,
            languages=self._engines.languages,
            ask_below=self._settings.stt.ask_below,
        )
