"""Voice sessions of remote clients on the same engines and tools; barge-in per duplex mode."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import assert_never

from edgevox import dialogue
from edgevox.agents.conversation import Conversation
from edgevox.agents.speaker_recognition import SpeakerRecognizer
from edgevox.agents.tool_loop import Confirm
from edgevox.app.engines import Engines
from edgevox.app.home_context import HomeContext
from edgevox.audio.aec.canceller import EchoCanceller
from edgevox.audio.endpointing import Endpointer
from edgevox.audio.io.duplex import Duplex
from edgevox.config import Settings
from edgevox.core.events import Bus, Event, Publish
from edgevox.core.types import ChatModel
from edgevox.dialogue.transcriber import TranscriptTap
from edgevox.dialogue.turn_completion import AFTER_UNFINISHED
from edgevox.home.backends.local_player import Ducking
from edgevox.llm.presets import ModelPreset
from edgevox.server.assistant import ProgramSession, VoiceSession, VoiceSessionFactory
from edgevox.server.engine_queues import ModelQueue
from edgevox.tools.policy import LOCAL, Caller


def _conversation_name(session: VoiceSession) -> str:
    """The satellites of a room share a conversation, and so do the other clients with the same token."""
    caller = session.caller
    return f"room {caller.room or caller.satellite}" if caller.satellite else f"line {caller.name}"


class BargeInSelector:
    """Selects the barge-in detector for the current duplex mode, which changes with the audio devices."""

    def __init__(self, duplex: Callable[[], Duplex], aggressiveness: int, *, can_pause: bool) -> None:
        """`can_pause` tells whether the loudspeaker can hold a reply."""
        self._duplex = duplex
        self._can_pause = can_pause
        self._aggressiveness = aggressiveness
        self._of: Duplex = "half"
        self._last: dialogue.BargeInDetector | None = None

    def now(self) -> dialogue.BargeInDetector | None:
        """Return the current detector; None in half-duplex mode."""
        if (duplex := self._duplex()) is not self._of:
            self._of, self._last = duplex, self._create(duplex)
        return self._last

    def _create(self, duplex: Duplex) -> dialogue.BargeInDetector | None:
        match duplex:
            case "half":
                return None
            case "device":
                return dialogue.BargeInDetector(aggressiveness=self._aggressiveness, can_pause=self._can_pause)
            case EchoCanceller() as canceller:
                return dialogue.BargeInDetector(
                    lambda: canceller.level,
                    self._aggressiveness,
                    lambda: canceller.warmup_replay,
                    canceller.is_own_echo,
                    can_pause=self._can_pause,
                )
            case _:
                assert_never(duplex)


# Margin for the block size of the endpointer.
_MARGIN_S = 0.2
SLICE_S = 1.0
"""How long a room writes a reply while others wait; a command is usually complete by then."""


@dataclass(eq=False)
class VoiceSessionManager:
    """Builds pipelines, and opens voice sessions of remote clients; `conversation` gives a history by its name.

    No wake word is needed in a session: the client has pressed a button. Alarms are silent there, but can be stopped.
    """

    settings: Settings
    preset: ModelPreset
    engines: Engines
    home_context: Callable[[], HomeContext]
    conversation: Callable[[str], Conversation]
    transcriber: Callable[[], dialogue.Transcriber]
    voice: Callable[[], dialogue.Synthesizer]
    speakers: SpeakerRecognizer
    duck_players: Callable[[object, str, bool], None] = lambda _reason, _room, _is_ducked: None
    """Lowers the media players of a room, as long as one reason is left."""
    keep: Callable[[str, float], None] = lambda _name, _value: None
    """Saves a setting that a built-in command has changed in the local room."""
    pipelines: list[dialogue.Pipeline] = field(default_factory=list)
    """The pipelines of the open sessions, and the local one."""
    idle_workers: dialogue.IdleWorkers = field(default_factory=dialogue.IdleWorkers)
    local: dialogue.Pipeline | None = None
    """The pipeline of the local room, in which alarms ring and delayed commands run."""

    @cached_property
    def _rooms_model(self) -> ModelQueue | None:
        """The one model for all rooms, in slices; None for one on another machine, which answers several at once.

        Not the queue of programs: that one waits while a room is spoken with.
        """
        if self.settings.llm.remote_url is not None:
            return None
        return ModelQueue(self.engines.llm, max_waiting=0, slice_s=SLICE_S)

    def _model_for(self, caller: Caller, room: str) -> ChatModel:
        if (queue := self._rooms_model) is None:
            return self.engines.llm
        return queue.model_for(room or caller.satellite or caller.name, is_first=caller is LOCAL)

    def session_factory(self, bus: Bus) -> VoiceSessionFactory:
        """Return the session factory for the server; `bus` has the events of the local room."""
        return VoiceSessionFactory(
            self.open,
            bus,
            listens="stt" in self.engines,
            speaks="tts" in self.engines,
            longest_pause_s=AFTER_UNFINISHED * self.settings.audio.hangover_ms / 1000 + _MARGIN_S,
        )

    def confirmation(self) -> list[dialogue.ConfirmationDialog]:
        """Return the confirmation dialogs of all open pipelines."""
        return [pipeline.confirmation for pipeline in self.pipelines]

    @asynccontextmanager
    async def open(self, session: VoiceSession) -> AsyncIterator[dialogue.VoiceLoop]:
        """Open a voice loop for the duration of the block."""
        ducking = Ducking(partial(self.duck_players, session, session.room), hears_only_commands=True)

        def publish(event: Event) -> None:
            ducking(event)
            session.publish(event)

        pipeline = self.pipeline(
            publish,
            session.program.conversation if session.program else self.conversation(_conversation_name(session)),
            TranscriptTap(self.transcriber(), session.on_transcript) if "stt" in self.engines else None,
            session.loudspeaker,
            caller=session.caller,
            confirm=session.confirm,
            alarm_state=self.local.alarm_state if self.local else None,
            room=session.room,
            program=session.program,
        )
        audio = self.settings.audio
        self.pipelines.append(pipeline)
        try:
            yield dialogue.VoiceLoop(
                session.audio_source,
                Endpointer(audio, session.hangover_scale),
                pipeline,
                publish,
                barge_in=BargeInSelector(session.duplex, audio.vad_aggressiveness, can_pause=False).now,
                wake_state=dialogue.WakeState(publish=publish),
            )
        finally:
            self.duck_players(session, session.room, False)
            self.pipelines.remove(pipeline)
            await pipeline.close()

    def pipeline(
        self,
        publish: Publish,
        conversation: Conversation | None,
        transcriber: dialogue.Transcriber | None,
        loudspeaker: dialogue.Loudspeaker | None,
        *,
        caller: Caller = LOCAL,
        confirm: Confirm | None = None,
        alarm_state: dialogue.AlarmState | None = None,
        room: str = "",
        program: ProgramSession | None = None,
    ) -> dialogue.Pipeline:
        """Build a pipeline. Without `confirm`, the speaker is asked; without a conversation, there are no commands."""
        home_context = self.home_context()
        dialog = dialogue.ConfirmationDialog(publish, may_confirm=self.speakers.may_confirm)
        agent = home_context.agent(
            model=self._model_for(caller, room),
            conversation=conversation,
            confirm=confirm or dialog,
            publish=publish,
            caller=caller,
            room=room,
            instructions=program.instructions if program else "",
        )
        has_commands = conversation is not None and program is None
        words = self._builtin_commands(home_context, caller) if has_commands else None
        return dialogue.Pipeline(
            program.agent(agent) if program else agent,
            preset=self.preset.name,
            room=room,
            publish=publish,
            transcriber=transcriber,
            voice=self.voice() if loudspeaker else None,
            loudspeaker=loudspeaker,
            confirmation=dialog,
            words=words,
            alarm_state=alarm_state,
            warms_prefix=conversation is not None,
            languages=self.engines.languages,
            ask_below=self.settings.stt.ask_below,
            speakers=self.speakers,
            caller=caller,
            idle_workers=self.idle_workers,
            requests_only=self.settings.wake.requests_only,
            names=home_context.all_names,
        )

    def _builtin_commands(self, home_context: HomeContext, caller: Caller) -> dialogue.BuiltinCommands:
        examples, tts = home_context.examples(), self.settings.tts
        return dialogue.BuiltinCommands(
            examples,
            tts.volume_db,
            tts.speed,
            # Those of a client last as long as its session.
            self.keep if caller is LOCAL else lambda _name, _value: None,
            pitch_semitones=tts.pitch_semitones,
            with_pitch=self.engines.languages_with_pitch,
        )
