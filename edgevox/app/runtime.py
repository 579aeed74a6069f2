"""AssistantRuntime builds the engines, tools, memory and voice loop of one assistant and connects them."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Collection
from contextlib import AsyncExitStack, suppress
from functools import cached_property, partial
from pathlib import Path
from typing import Literal, assert_never

from edgevox import dialogue
from edgevox.agents.conversation import Conversation
from edgevox.agents.memory import ConversationStore
from edgevox.agents.model_profile import ModelProfile
from edgevox.agents.speaker_recognition import SpeakerRecognizer
from edgevox.app.engines import EngineHealth, Engines
from edgevox.app.home_context import HomeContext
from edgevox.app.model_selection import ModelSelection
from edgevox.app.toolbox import Toolbox
from edgevox.app.voice_samples import VoiceSamples
from edgevox.app.voice_sessions import BargeInSelector, VoiceSessionManager
from edgevox.audio.endpointing import Endpointer
from edgevox.audio.files import read_audio
from edgevox.audio.io.duplex import Duplex
from edgevox.audio.io.stream_ducking import StreamDucker
from edgevox.audio.wake_word import WakeWordDetector
from edgevox.config import Settings, user_presets
from edgevox.config.editing import save_changes
from edgevox.core.errors import ConfigError, ModelMissing, StateError
from edgevox.core.events import Bus, EngineName, StateChanged
from edgevox.core.files import Folders
from edgevox.core.metrics import TurnLog, TurnMetrics, TurnMetricsRecorder
from edgevox.core.platform import limit_malloc_arenas, trim_heap
from edgevox.core.turn import LOCAL, CancelFlag, background_task
from edgevox.home import WORD_STORES
from edgevox.home.backends.ducked_players import HomeWithDuckedPlayers
from edgevox.home.backends.local_player import Ducking, HomeWithLocalPlayer
from edgevox.home.backends.wrapped import PartT, home_part
from edgevox.home.resolve.name_correction import correct_entity_names
from edgevox.llm.presets import resolve_preset
from edgevox.models import ModelStore
from edgevox.satellites.hub import MUTED_FILE, SatelliteHub, SatelliteRings
from edgevox.server.assistant import Assistant, DashboardData
from edgevox.server.http.tokens import scopes_now, token_file
from edgevox.speakers.people import People
from edgevox.tools.executor import current_call

_log = logging.getLogger(__name__)


class TurnRecords:
    """Writes turn metrics to the log. `on_change` gets the error when writing starts to fail, then None."""

    def __init__(self, log: TurnLog, on_change: Callable[[StateError | None], None]) -> None:
        self.last: TurnMetrics | None = None
        """The last local turn, not of an API client."""
        self.problem: StateError | None = None
        self.turn_log = log
        self._on_change = on_change

    def keep(self, record: TurnMetrics) -> None:
        self.last = record
        self.log(record)

    def log(self, record: TurnMetrics) -> None:
        self._note(partial(self.turn_log.append, record))

    def try_again(self) -> None:
        """Retry records that could not be written."""
        if self.problem is not None:
            self._note(self.turn_log.catch_up)

    def _note(self, write: Callable[[], None]) -> None:
        before, self.problem = self.problem, None
        try:
            write()
        except StateError as error:
            self.problem = error
        if (before is None) != (self.problem is None):
            self._on_change(self.problem)


class _SavedSettings:
    """Writes settings that were changed by voice to the settings file, in order and without blocking."""

    def __init__(self, settings: Settings, folders: Folders) -> None:
        self._settings = settings
        self._folders = folders
        self._last: asyncio.Task[None] | None = None

    def save(self, name: str, value: float) -> None:
        self._last = asyncio.create_task(self._save(name, value, after=self._last))

    async def finish(self) -> None:
        """Wait until everything is written."""
        if self._last is not None:
            await self._last

    async def _save(self, name: str, value: float, after: asyncio.Task[None] | None) -> None:
        if after is not None:
            await after
        try:
            await asyncio.to_thread(save_changes, self._settings, self._folders, {name: value})
        except (ValueError, ConfigError) as error:
            _log.warning("%s = %s holds until the next start: %s", name, value, error)


_TRIM_EVERY_S = 60.0


async def _trim_heap_regularly() -> None:
    """Hours of requests leave holes in the heap that would add up."""
    while True:
        await asyncio.sleep(_TRIM_EVERY_S)
        await asyncio.to_thread(trim_heap)


class AssistantRuntime:
    """The engines that a command needs, with tools, memory and voice loop; an async context manager.

    The models must be in the store (see `models.needed`). Entering raises ModelError or EngineFailed, and
    ConfigError for an invalid remote engine.
    """

    def __init__(
        self,
        settings: Settings,
        folders: Folders,
        store: ModelStore,
        engines: Collection[EngineName],
        *,
        adapter_path: Path | None = None,
    ) -> None:
        """`adapter_path` replaces the preset's adapter."""
        self.bus = Bus()
        self.settings = settings
        self.preset = resolve_preset(settings.preset, user_presets(folders))
        self.folders = folders
        self._memory: ConversationStore | None = None
        self.home_context = HomeContext(settings, self.preset)
        self._running = AsyncExitStack()
        self.models = ModelSelection(settings, self.preset, store, engines, adapter_path=adapter_path)
        self.engines = Engines(settings, self.preset, folders, self.models, self.bus.publish)
        records = settings.records
        turn_log = TurnLog(folders.state, max_bytes=records.max_bytes, keep_text=records.keep_text)
        self.records = TurnRecords(turn_log, partial(self._publish_state, "records"))
        self.satellites = SatelliteHub(
            folders.state / MUTED_FILE, chime_volume=settings.sounds.chime_volume if settings.sounds.chimes else 0.0
        )
        self.satellites.local = lambda: self.voice_sessions.local
        self._health = EngineHealth()
        self._saved_settings = _SavedSettings(settings, folders)

    @cached_property
    def speakers(self) -> SpeakerRecognizer:
        """Raises ConfigError for an invalid passphrase file."""
        people = self.settings.people
        return SpeakerRecognizer(self.engines.speaker, People.of(self.folders, people), people)

    @cached_property
    def voice_sessions(self) -> VoiceSessionManager:
        return VoiceSessionManager(
            self.settings,
            self.preset,
            self.engines,
            lambda: self.home_context,
            conversation=self.conversation,
            transcriber=self.transcriber,
            voice=self.voice,
            speakers=self.speakers,
            duck_players=self._duck_players,
            keep=self._saved_settings.save,
        )

    async def __aenter__(self) -> AssistantRuntime:
        limit_malloc_arenas()
        try:
            async with AsyncExitStack() as running:
                running.enter_context(self.bus.listening(TurnMetricsRecorder(self.records.keep)))
                running.enter_context(self.bus.listening(self._health))
                running.push_async_callback(self.engines.close)
                running.push_async_callback(self._saved_settings.finish)
                running.push_async_callback(self._close_state)
                await running.enter_async_context(background_task(_trim_heap_regularly()))
                async with asyncio.TaskGroup() as group:
                    group.create_task(self.engines.start())
                    group.create_task(self._open_state())
                self._running = running.pop_all()
        except BaseExceptionGroup as failures:
            raise _first_of(failures) from None
        return self

    async def __aexit__(self, *_exc_info: object) -> None:
        await self._running.aclose()

    @property
    def record_problem(self) -> StateError | None:
        """The error that currently keeps turns from being stored, if any."""
        return self.records.problem or (self._memory.problem if self._memory else None)

    def retry_recording(self) -> None:
        """Retry turns that could not be stored."""
        self.records.try_again()
        if self._memory is not None:
            self._memory.retry()

    def conversation(self, name: str = "default") -> Conversation:
        """Return a conversation that persists between runs, as far as the settings allow."""
        assert self._memory is not None, "inside `async with`"
        return self._memory.conversation(name, max_turns=self.preset.max_turns)

    def pipeline(
        self,
        loudspeaker: dialogue.Loudspeaker | None = None,
        conversation: Conversation | None = None,
        transcriber: dialogue.Transcriber | None = None,
    ) -> dialogue.Pipeline:
        """Build a pipeline for a conversation, by default a new one; it speaks if there is a loudspeaker.

        Only a given conversation has built-in commands and alarms.
        """
        alarm_state = (
            dialogue.AlarmState(snooze_minutes=self.settings.ring.snooze_minutes) if conversation is not None else None
        )
        transcriber = transcriber or (self.transcriber() if "stt" in self.engines else None)
        pipeline = self.voice_sessions.pipeline(
            self.bus.publish,
            conversation,
            transcriber,
            loudspeaker,
            alarm_state=alarm_state,
            room=self.settings.home.room or "",
        )
        if conversation is not None:
            self.voice_sessions.pipelines.append(pipeline)
            self.voice_sessions.local = pipeline
        return pipeline

    def voice_loop(
        self,
        audio_source: dialogue.AudioSource,
        loudspeaker: dialogue.Loudspeaker | None = None,
        duplex: Callable[[], Duplex] = lambda: "half",
    ) -> dialogue.VoiceLoop:
        """Build the voice loop; `duplex` says whether barge-in is currently possible.

        Raises ConfigError for an invalid wake word.
        """
        wake_state, transcriber = self._wake_state()
        pipeline = self.pipeline(loudspeaker, self.conversation(), transcriber)
        loop = dialogue.VoiceLoop(
            audio_source,
            Endpointer(self.settings.audio),
            pipeline,
            self.bus.publish,
            self.alarm_player(pipeline),
            barge_in=BargeInSelector(duplex, self.settings.audio.vad_aggressiveness, can_pause=True).now,
            wake_state=wake_state,
        )
        if audio_source.live:
            self._duck_others()
        sounds, speech_output = self.settings.sounds, pipeline.speech_output
        has_earcons = bool(sounds.chimes or sounds.apologise or sounds.acknowledge_after_s)
        if audio_source.live and speech_output is not None and has_earcons:
            earcons = dialogue.Earcons(
                pipeline,
                speech_output,
                sounds,
                languages=self.engines.languages,
                is_spoken_to=lambda: loop.is_in_speech,
                hears_over_itself=lambda: duplex() != "half",
            )
            self._running.push_async_callback(earcons.close)
            self._running.enter_context(self.bus.listening(earcons))
        return loop

    def _duck_others(self) -> None:
        """Lower the local player, and the sound of other programs, while the assistant listens or speaks."""
        if self.settings.audio.duck:
            ducker = StreamDucker()
            self._running.push_async_callback(ducker.close)
            self._running.enter_context(self.bus.listening(Ducking(ducker.duck)))
        duck_players = partial(self._duck_players, self, self.settings.home.room or "")
        self._running.enter_context(self.bus.listening(Ducking(duck_players)))
        if (home := self._home_part(HomeWithLocalPlayer)) is not None:
            self._running.enter_context(self.bus.listening(Ducking(home.player.duck)))

    def _duck_players(self, reason: object, room: str, is_ducked: bool) -> None:
        if (home := self._home_part(HomeWithDuckedPlayers)) is not None:
            home.duck(reason, room, is_ducked)

    def _home_part(self, kind: type[PartT]) -> PartT | None:
        home = self.home_context.toolbox.home if self.home_context.toolbox else None
        return home_part(home, kind) if home else None

    def alarm_player(self, pipeline: dialogue.Pipeline) -> dialogue.AlarmPlayer | None:
        """Return the player for timers, alarms and reminders; None without tools."""
        if self.home_context.toolbox is None or pipeline.alarm_state is None:
            return None
        for_s = self.settings.ring.for_s
        return dialogue.AlarmPlayer(
            self.home_context.toolbox.agenda,
            pipeline,
            pipeline.alarm_state,
            self.bus.publish,
            for_s=for_s,
            places=SatelliteRings(self.satellites, pipeline),
            scopes_now=partial(scopes_now, token_file(self.folders)),
        )

    def assistant(self) -> Assistant:
        preset, llm = self.preset, self.settings.llm
        toolbox, language = self.home_context.toolbox, next(iter(self.models.voices))

        def transcriber(language: str | None) -> dialogue.Transcriber:
            language = language or self.engines.expected_language
            return dialogue.Transcriber(self.engines.stt, language=language, names=self.home_context.names)

        return Assistant(
            preset.name,
            ModelProfile(
                self.engines.llm,
                preset.tool_call_parsers,
                preset.tool_choice_policy,
                preset.tools_as,
                llm.sampling,
                preset.stop,
                llm.thinking,
                preset.languages,
            ),
            make_agent=self.home_context.agent if toolbox else None,
            executor=toolbox.executor if toolbox else None,
            transcriber=transcriber if "stt" in self.engines else None,
            stt_model_name=self.models.stt_choice.model_name if "stt" in self.engines else "",
            voice=(lambda speed: dialogue.Synthesizer(self.engines.tts, speed=speed))
            if "tts" in self.engines
            else None,
            voice_name=self.models.voices[language] if "tts" in self.engines else "",
            voice_language=language,
            embedder=self.engines.embedder,
            resumes=llm.remote_url is None,
            home_only=preset.home_only,
            states=self.engines.states,
            # Not on the bus, whose subscribers expect events of the local room only.
            record=TurnMetricsRecorder(self.records.log),
            keep=self.records.log,
            confirmation=self.voice_sessions.confirmation,
            local_confirmation=lambda: local.confirmation if (local := self.voice_sessions.local) else None,
            session_factory=self.voice_sessions.session_factory(self.bus),
            dashboard=DashboardData(
                self.settings,
                self.folders,
                toolbox,
                engines=lambda: self._health.report(self.engines.states()),
                turns=self.records.turn_log.between,
                problem=lambda: self.record_problem,
                voice_sample=VoiceSamples(self.settings, self.preset, self.folders),
            ),
            satellites=self.satellites,
            aliases=preset.aliases,
            speakers=self.speakers,
        )

    def voice(self) -> dialogue.Synthesizer:
        """Return the synthesizer with the configured voices."""
        return dialogue.Synthesizer(self.engines.tts, speed=self.settings.tts.speed)

    def transcriber(self) -> dialogue.Transcriber:
        """Return the transcriber with the configured language and entity names."""
        home = self.home_context
        transcriber = dialogue.Transcriber(
            self.engines.stt,
            language=self.engines.expected_language,
            names=home.names,
            correct=lambda text: correct_entity_names(text, home.all_names()),
            likeliest=home.likeliest,
        )
        return dialogue.SpeakerTranscriber(transcriber, self.speakers)

    async def _open_state(self) -> None:
        """Open memory, tools and plugins while the engines start."""
        if "stt" in self.engines and self.speakers.is_active:
            with suppress(ModelMissing):  # each utterance warns: its speaker is a guest
                await self.engines.speaker.start()
        loop = asyncio.get_running_loop()

        def memory_changed(problem: StateError | None) -> None:  # from any thread
            with suppress(RuntimeError):  # the last turn may be written after the loop has closed
                loop.call_soon_threadsafe(self._publish_state, "memory", problem)

        self._memory = await asyncio.to_thread(
            ConversationStore.open,
            self.folders.state,
            self.settings.memory,
            on_change=memory_changed,
            stores=WORD_STORES,
        )
        if "llm" in self.engines and self.preset.calls_tools and self.settings.tools.enabled:
            transcribe = self.transcribe if "stt" in self.engines else None
            toolbox = await asyncio.to_thread(
                Toolbox,
                self.settings,
                self.folders,
                transcribe=transcribe,
                forgettings=self._memory.forgettings,
                announce_there=self._announce_there,
            )
            home_context = HomeContext(self.settings, self.preset, toolbox)
            await toolbox.start()
            self.home_context = home_context

    def _announce_there(self, message: str) -> int:
        """Speak in the other rooms, for the tool call that runs now."""
        call = current_call()
        return self.satellites.announce(message, call.caller if call else LOCAL)

    def _wake_state(self) -> tuple[dialogue.WakeState, dialogue.Transcriber]:
        """Return the wake state and a transcriber that removes the wake phrase."""
        wake, transcriber, publish = self.settings.wake, self.transcriber(), self.bus.publish
        confirmer: dialogue.WakeWordConfirmer | None = None
        match wake.mode:
            case "off":
                return dialogue.WakeState(publish=publish), transcriber
            case "word":
                detector = WakeWordDetector(wake.model or wake.word, wake.threshold)
                wake_state = dialogue.WakeState("word", detector, follow_up_s=wake.follow_up_s, publish=publish)
                phrase = dialogue.WakePhrase(detector.word.phrase)
                if wake.confirm:
                    confirmer = dialogue.WakeWordConfirmer(transcriber, phrase, wake_state)
            case "phrase":
                wake_state = dialogue.WakeState("phrase", follow_up_s=wake.follow_up_s, publish=publish)
                phrase = dialogue.WakePhrase(wake.phrase, wake.threshold)
            case _:
                assert_never(wake.mode)
        return wake_state, dialogue.WakePhraseFilter(transcriber, phrase, wake_state, confirmer)

    async def transcribe(self, path: Path) -> str:
        """Transcribe an audio file. Raises AudioError and EngineFailed."""
        sound = await asyncio.to_thread(read_audio, path)
        return (await self.transcriber().transcribe(sound, CancelFlag())).text

    def _publish_state(self, part: Literal["records", "memory"], problem: StateError | None) -> None:
        detail, hint = (problem.message, problem.hint) if problem else ("", "")
        self.bus.publish(StateChanged(part=part, detail=detail, hint=hint))

    async def _close_state(self) -> None:
        for pipeline in self.voice_sessions.pipelines:
            await pipeline.close()
        await self.home_context.close()
        if self._memory is not None:
            await asyncio.to_thread(self._memory.close)


def _first_of(failure: BaseException) -> BaseException:
    return _first_of(failure.exceptions[0]) if isinstance(failure, BaseExceptionGroup) else failure
