"""The interface between server and application: model, tools, STT, TTS, voice sessions, dashboard data."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Protocol

from edgevox.agents import LLMAgent, ReplyAgent
from edgevox.agents.conversation import Conversation
from edgevox.agents.instructions import Instructions
from edgevox.agents.model_profile import ModelProfile
from edgevox.agents.speaker_recognition import SpeakerRecognizer
from edgevox.agents.tool_loop import Confirm
from edgevox.audio.io.duplex import Duplex
from edgevox.config import Settings
from edgevox.core.errors import StateError
from edgevox.core.events import Bus, Publish
from edgevox.core.files import Folders
from edgevox.core.languages import ENGLISH
from edgevox.core.metrics import TurnMetrics
from edgevox.core.types import Audio, ChatModel, Embedding, EmbedRequest, JsonObject, Sampling, Stage, Transcript
from edgevox.dialogue import AudioSource, Loudspeaker, VoiceLoop
from edgevox.dialogue.confirm import ConfirmationDialog
from edgevox.dialogue.speech_output import Synthesizer
from edgevox.dialogue.transcriber import Transcriber
from edgevox.home.alarms.scheduled_commands import ScheduledCommands
from edgevox.home.entities import ConnectedHome
from edgevox.satellites.hub import SatelliteHub
from edgevox.tools.executor import ToolExecutor
from edgevox.tools.policy import Caller
from edgevox.tools.registry import ToolRegistry
from edgevox.tools.results import ToolStats


@dataclass(frozen=True, slots=True)
class ProgramSession:
    """What the program of a voice session decides: history, instructions after those of the assistant, and the agent.

    `agent` gets that of the assistant and returns the one to ask. There are no built-in commands.
    """

    conversation: Conversation
    instructions: Instructions
    agent: Callable[[LLMAgent], ReplyAgent]


@dataclass(frozen=True, slots=True)
class VoiceSession:
    """A remote client: its audio source and loudspeaker, its caller, and the sink for its events.

    Without `confirm`, the client itself is asked, by voice and on its screen. `on_transcript` gets every
    transcript, including provisional ones. `duplex` is the echo handling of the client, `room` where it stands.
    `hangover_scale` scales the silence that ends an utterance.
    By default it shares the conversation of its token; with `program`, it is a program that has its own.
    """

    audio_source: AudioSource
    loudspeaker: Loudspeaker | None
    caller: Caller
    publish: Publish
    confirm: Confirm | None = None
    on_transcript: Callable[[Transcript], None] = lambda _transcript: None
    duplex: Callable[[], Duplex] = lambda: "device"
    hangover_scale: Callable[[], float] = lambda: 1.0
    room: str = ""
    program: ProgramSession | None = None


@dataclass(frozen=True, slots=True)
class VoiceSessionFactory:
    """Opens voice sessions of remote clients, each for the duration of a block.

    `longest_pause_s` is the longest silence before an endpoint; the `bus` has the events of the local room.
    """

    open: Callable[[VoiceSession], AbstractAsyncContextManager[VoiceLoop]]
    bus: Bus
    listens: bool
    speaks: bool
    longest_pause_s: float


class DashboardTools(Protocol):
    """The parts of the toolbox that the dashboard shows."""

    home: ConnectedHome
    scheduled: ScheduledCommands
    registry: ToolRegistry
    stats: ToolStats
    not_offered: dict[str, str]


@dataclass(frozen=True, slots=True)
class DashboardData:
    """Data of one runtime. `turns` returns those that ended in an interval; it blocks, and raises StateError.

    `problem` returns the error that keeps turns from being stored. `voice_sample` lets an installed voice say a
    sentence; it raises ConfigError, ModelError and EngineFailed.
    """

    settings: Settings
    folders: Folders
    toolbox: DashboardTools | None
    engines: Callable[[], Mapping[str, JsonObject]]
    turns: Callable[[float, float], list[TurnMetrics]]
    problem: Callable[[], StateError | None] = lambda: None
    voice_sample: Callable[[str], Awaitable[list[Audio]]] | None = None


class Embedder(Stage[EmbedRequest, Embedding], Protocol):
    """An embedding model, by its name. Its stream raises ModelMissing, too."""

    name: str
    dimensions: int


class MakeAgent(Protocol):
    """Makes an agent that acts with the assistant's own tools, for one request.

    `instructions` are the program's own and follow those of the assistant; `client` names its place in the
    model's memory, and `room` is where the speaker is, if that is known.
    """

    def __call__(
        self,
        *,
        model: ChatModel,
        instructions: str,
        sampling: Sampling,
        stop: tuple[str, ...],
        conversation: Conversation,
        caller: Caller,
        confirm: Confirm,
        publish: Publish,
        client: str,
        room: str = "",
    ) -> LLMAgent: ...


@dataclass(frozen=True, slots=True)
class Assistant:
    """What a server may use of a running assistant. `name` is the name of its preset, which may have `aliases`.

    Without `make_agent` and `executor` the assistant has no tools of its own. The transcriber is made per
    language; None means detection. A model that `resumes` can continue an interrupted reply; one that is
    `home_only` was trained on the home tools. `record` gets the events of turns in which the assistant acts for a
    program, `keep` the metrics of all other turns.
    `confirmation` lists the open dialogs, and `local_confirmation` is that of the local room.
    """

    name: str
    profile: ModelProfile
    make_agent: MakeAgent | None = None
    executor: ToolExecutor | None = None
    transcriber: Callable[[str | None], Transcriber] | None = None
    stt_model_name: str = ""
    voice: Callable[[float], Synthesizer] | None = None
    voice_name: str = ""
    voice_language: str = ENGLISH
    embedder: Embedder | None = None
    speakers: SpeakerRecognizer | None = None
    resumes: bool = True
    home_only: bool = False
    states: Callable[[], Mapping[str, str]] = dict
    record: Publish = lambda _event: None
    keep: Callable[[TurnMetrics], None] = lambda _record: None
    confirmation: Callable[[], Sequence[ConfirmationDialog]] = tuple
    local_confirmation: Callable[[], ConfirmationDialog | None] = lambda: None
    session_factory: VoiceSessionFactory | None = None
    dashboard: DashboardData | None = None
    satellites: SatelliteHub = field(default_factory=SatelliteHub)
    aliases: tuple[str, ...] = ()
    started_s: float = field(default_factory=time.time)

    @property
    def chat_names(self) -> tuple[str, ...]:
        """The names of the language model in requests, the preset's own first."""
        return (self.name, *self.aliases, *DEFAULT_NAMES)

    @property
    def model_names(self) -> tuple[str, ...]:
        stt = (self.stt_model_name,) if self.transcriber else ()
        tts = (self.voice_name,) if self.voice else ()
        return (self.name, *self.aliases, *stt, *tts)


DEFAULT_NAMES = ("default", "edgevox")
