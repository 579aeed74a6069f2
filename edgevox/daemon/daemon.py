"""The daemon: engines, tools, memory and voice of one assistant, wired to each other."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection
from contextlib import AsyncExitStack, suppress
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Literal, assert_never

from edgevox.agents.asked_model import AskedModel
from edgevox.agents.conversation import Conversation
from edgevox.agents.memory import ConversationStore
from edgevox.audio.duplex import Duplex
from edgevox.audio.files import read_audio
from edgevox.audio.segmenter import Segmenter
from edgevox.audio.wake_word import WakeWordDetector
from edgevox.bus import Bus
from edgevox.daemon.engine_health import EngineHealth
from edgevox.daemon.engines import Engines
from edgevox.daemon.household import Household
from edgevox.daemon.interruptions import Interruptions
from edgevox.daemon.lines import Lines
from edgevox.daemon.models import ChosenModels
from edgevox.daemon.records import TurnRecords
from edgevox.errors import StateError
from edgevox.events import EngineName, StateChanged
from edgevox.folders import Folders
from edgevox.llm.presets import resolve_preset
from edgevox.metrics import TurnRecorder
from edgevox.modelstore import ModelStore
from edgevox.server.assistant import Assistant
from edgevox.server.surroundings import Surroundings
from edgevox.settings import Settings, user_presets
from edgevox.settings.section import AUTO
from edgevox.turn import CancelFlag
from edgevox.turn_log import TurnLog
from edgevox.voice import (
    Asking,
    Bell,
    CalledHearing,
    Ear,
    Hearing,
    InstantWords,
    Loudspeaker,
    Pipeline,
    Ringer,
    Signs,
    Voice,
    VoiceLoop,
    Wakefulness,
    WakePhrase,
)


class Daemon:
    """The engines that a command needs, and what is built on them. Use it with `async with`.

    The models must be in the store (`models.needed` names them). Entering raises ModelError or EngineFailed,
    and ConfigError where an engine on another machine cannot be used as it is set.
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
        """With `adapter_path`, that file is applied to the model in the place of the preset's adapter."""
        self.bus = Bus()
        self.settings = settings
        self.preset = resolve_preset(settings.preset, user_presets(folders))
        self._folders = folders
        self._memory: ConversationStore | None = None
        self.household = Household(settings, self.preset)
        self._resting: list[Pipeline] = []
        self._signs = AsyncExitStack()
        self.models = ChosenModels(settings, self.preset, store, engines, adapter_path=adapter_path)
        self.engines = Engines(settings, self.preset, folders, self.models, self.bus.publish)
        log = TurnLog(
            folders.state, max_bytes=settings.records.max_bytes, keep_text=settings.records.keep_text
        )
        self.records = TurnRecords(log, partial(self._tell_state, "records"))
        self._recording = self.bus.listening(TurnRecorder(self.records.keep))
        self._health = EngineHealth(self.engines.states)
        self._watching = self.bus.listening(self._health)
        self.lines = Lines(
            settings,
            self.preset,
            self.engines,
            lambda: self.household,
            conversation=self.conversation,
            hearing=self.hearing,
            voice=self.voice,
        )

    def take_over(self, before: Daemon) -> None:
        """Have the engines of another daemon, as they run, where this one's would be the same.

        That one ends without them. This one has not begun.
        """
        self.engines.take_over(before.engines)

    async def __aenter__(self) -> Daemon:
        self._recording.__enter__()
        self._watching.__enter__()
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(self.engines.start())
                group.create_task(self._open_state())
        except BaseExceptionGroup as failures:
            await self._close()
            raise _first_of(failures) from None
        except BaseException:
            await self._close()
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._close()

    @property
    def record_problem(self) -> StateError | None:
        """What keeps turns from being recorded or remembered now, if anything does."""
        return self.records.problem or (self._memory.problem if self._memory else None)

    def try_to_record_again(self) -> None:
        """Find out whether there is room again for what could not be kept."""
        self.records.try_again()
        if self._memory is not None:
            self._memory.try_again()

    def conversation(self, name: str = "default") -> Conversation:
        """A conversation that goes on from one run to the next, as far as the settings let it."""
        assert self._memory is not None, "inside `async with`"
        return self._memory.conversation(name, max_turns=self.preset.max_turns)

    def pipeline(
        self,
        loudspeaker: Loudspeaker | None = None,
        conversation: Conversation | None = None,
        hearing: Hearing | None = None,
    ) -> Pipeline:
        """Turns of a conversation, by default of a new one; spoken aloud where there is a loudspeaker.

        In a conversation that goes on, the words that need no model are taken out, and what rings is heard.
        """
        asking = Asking(self.bus.publish)
        pipeline = Pipeline(
            self.household.agent(self.engines.llama, conversation, asking, self.bus.publish),
            preset=self.preset.name,
            publish=self.bus.publish,
            hearing=hearing or (self.hearing() if "whisper" in self.engines else None),
            voice=self.voice() if loudspeaker else None,
            loudspeaker=loudspeaker,
            asking=asking,
            words=InstantWords(self.household.examples()) if conversation is not None else None,
            bell=Bell(snooze_minutes=self.settings.ring.snooze_minutes) if conversation is not None else None,
            rests=conversation is not None,
            languages=self.engines.languages,
            ask_below=self.settings.stt.ask_below,
        )
        if conversation is not None:
            self._resting.append(pipeline)
        return pipeline

    def voice_loop(
        self,
        ear: Ear,
        loudspeaker: Loudspeaker | None = None,
        duplex: Callable[[], Duplex] = lambda: "half",
    ) -> VoiceLoop:
        """The conversation by voice; `duplex` says whether it can be interrupted at this moment.

        Raises ConfigError where the wake word cannot be used.
        """
        wakefulness, hearing = self._waking()
        pipeline = self.pipeline(loudspeaker, self.conversation(), hearing)
        loop = VoiceLoop(
            ear,
            Segmenter(self.settings.audio),
            pipeline,
            self.bus.publish,
            self.ringer(pipeline),
            interruption=Interruptions(duplex, self.settings.audio.vad_aggressiveness).now,
            wakefulness=wakefulness,
        )
        if ear.live:
            self._give_signs(pipeline, lambda: loop.is_in_speech, lambda: duplex() != "half")
        return loop

    def ringer(self, pipeline: Pipeline) -> Ringer | None:
        """What lets timers, alarms and reminders ring in a conversation that goes on; None without tools."""
        if self.household.toolbox is None or pipeline.bell is None:
            return None
        for_s = self.settings.ring.for_s
        return Ringer(self.household.toolbox.agenda, pipeline, pipeline.bell, self.bus.publish, for_s=for_s)

    def assistant(self) -> Assistant:
        """What other programs may use of this daemon."""
        preset, llm, stt = self.preset, self.settings.llm, self.settings.stt
        toolbox, language = self.household.toolbox, next(iter(self.models.voices))

        def hearing(language: str | None) -> Hearing:
            usual = None if stt.language == AUTO else stt.language
            return Hearing(self.engines.whisper, language=language or usual, names=self.household.names)

        return Assistant(
            preset.name,
            AskedModel(
                self.engines.llama,
                preset.tool_call_parsers,
                preset.tool_choice_policy,
                preset.tools_as,
                llm.sampling,
                preset.stop,
                llm.thinking,
            ),
            make_agent=self.household.agent_of_program if toolbox else None,
            executor=toolbox.executor if toolbox else None,
            hearing=hearing if "whisper" in self.engines else None,
            hearing_name=self.models.ear_name,
            voice=(lambda speed: Voice(self.engines.piper, speed=speed)) if "piper" in self.engines else None,
            voice_name=self.models.voices[language] if "piper" in self.engines else "",
            voice_language=language,
            resumes=llm.remote_url is None,
            states=self.engines.states,
            # Not on the bus: who listens there is in the room, and would take it for the room's.
            record=TurnRecorder(self.records.log),
            keep=self.records.log,
            asking=lambda: [*(pipeline.asking for pipeline in self._resting), *self.lines.asking()],
            switchboard=self.lines.switchboard(self.bus),
            surroundings=Surroundings(
                self.settings,
                self._folders,
                toolbox,
                engines=self._health.report,
                turns=self.records.between,
                problem=lambda: self.record_problem,
            ),
        )

    def voice(self) -> Voice:
        """The voices that the settings choose."""
        return Voice(self.engines.piper, speed=self.settings.tts.speed)

    def hearing(self) -> Hearing:
        """The recogniser, with the language and the names that the settings expect."""
        stt = self.settings.stt
        language = None if stt.language == AUTO else stt.language
        home = self.household
        return Hearing(self.engines.whisper, language=language, names=home.names, house_names=home.all_names)

    # --- building

    async def _open_state(self) -> None:
        """What is read from disk while the engines start: the memory, the tools and their plugins."""
        loop = asyncio.get_running_loop()

        def memory_changed(problem: StateError | None) -> None:  # from any thread
            with suppress(RuntimeError):  # the last turn is written when the loop is closed already
                loop.call_soon_threadsafe(self._tell_state, "memory", problem)

        self._memory = await asyncio.to_thread(
            ConversationStore.open, self._folders.state, self.settings.memory, on_change=memory_changed
        )
        if "llama" in self.engines and self.preset.calls_tools and self.settings.tools.enabled:
            transcribe = self.transcribe if "whisper" in self.engines else None
            self.household = await Household.open(self.settings, self.preset, self._folders, transcribe)

    def _give_signs(
        self, pipeline: Pipeline, is_spoken_to: Callable[[], bool], hears_over_itself: Callable[[], bool]
    ) -> None:
        sounds = self.settings.sounds
        if pipeline.mouth is not None and (sounds.chimes or sounds.apologise or sounds.acknowledge_after_s):
            signs = Signs(
                pipeline,
                pipeline.mouth,
                sounds,
                languages=self.engines.languages,
                is_spoken_to=is_spoken_to,
                hears_over_itself=hears_over_itself,
            )
            self._signs.push_async_callback(signs.close)
            self._signs.enter_context(self.bus.listening(signs))

    def _waking(self) -> tuple[Wakefulness, Hearing]:
        """When it listens by voice, and a hearing that leaves out what it is called by."""
        wake, hearing, publish = self.settings.wake, self.hearing(), self.bus.publish
        match wake.mode:
            case "off":
                return Wakefulness(publish=publish), hearing
            case "word":
                detector = WakeWordDetector(wake.model or wake.word, wake.threshold)
                wakefulness = Wakefulness("word", detector, follow_up_s=wake.follow_up_s, publish=publish)
                phrase = WakePhrase(detector.word.spoken)
            case "phrase":
                wakefulness = Wakefulness("phrase", follow_up_s=wake.follow_up_s, publish=publish)
                phrase = WakePhrase(wake.phrase, wake.threshold)
            case _:
                assert_never(wake.mode)
        return wakefulness, CalledHearing(hearing, phrase, wakefulness)

    async def transcribe(self, path: Path) -> str:
        """What is said in a sound file. Raises AudioError and EngineFailed."""
        sound = await asyncio.to_thread(read_audio, path)
        return (await self.hearing().transcribe(sound, CancelFlag())).text

    # --- ending

    def _tell_state(self, part: Literal["records", "memory"], problem: StateError | None) -> None:
        detail, hint = (problem.message, problem.hint) if problem else ("", "")
        self.bus.publish(StateChanged(part=part, detail=detail, hint=hint))

    async def _close(self) -> None:
        await self._signs.aclose()
        for pipeline in self._resting:
            await pipeline.close()
        await self.household.close()
        if self._memory is not None:
            await asyncio.to_thread(self._memory.close)
        await self.engines.close()
        self._watching.__exit__(None, None, None)
        self._recording.__exit__(None, None, None)


def _first_of(failures: BaseExceptionGroup[BaseException]) -> BaseException:
    """What failed first; the engines are a group of their own."""
    first = failures.exceptions[0]
    return _first_of(first) if isinstance(first, BaseExceptionGroup) else first
