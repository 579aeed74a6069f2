"""The assistant put together: this module alone builds engines and wires them to each other."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Callable, Collection, Mapping
from contextlib import AsyncExitStack, suppress
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Literal, assert_never

from edgevox.agents import LLMAgent
from edgevox.agents.acting import Publish
from edgevox.agents.asked_model import AskedModel
from edgevox.agents.confirm import Confirm
from edgevox.agents.conversation import Conversation
from edgevox.agents.forgetting import PROMPTS_FOLDER
from edgevox.agents.instructions import FollowedBy
from edgevox.agents.memory import ConversationStore
from edgevox.audio.duplex import Duplex
from edgevox.audio.echo import EchoCanceller
from edgevox.audio.files import read_audio
from edgevox.audio.segmenter import Segmenter
from edgevox.audio.wake_word import WakeWordDetector
from edgevox.bus import Bus
from edgevox.engine import EngineLimits, Hosted, LocalEngine, SupervisedEngine
from edgevox.engine.threads import plan_threads
from edgevox.errors import ConfigError, StateError
from edgevox.events import EngineName, StateChanged
from edgevox.folders import Folders
from edgevox.languages import ENGLISH
from edgevox.llm.hooks_slm import default_slm_hooks
from edgevox.llm.llamacpp import LlamaEngine
from edgevox.llm.merged_copy import merge_on_first_use
from edgevox.llm.optimise import ModelFiles, model_files, optimise_on_first_use
from edgevox.llm.presets import resolve_preset
from edgevox.metrics import TurnRecord, TurnRecorder
from edgevox.modelstore import ModelStore
from edgevox.server.assistant import Assistant
from edgevox.settings import Settings, user_presets
from edgevox.settings.section import AUTO
from edgevox.stt.whisper import WhisperEngine
from edgevox.tools.home import ToldHome
from edgevox.tools.scopes import Caller
from edgevox.tools.toolbox import Toolbox
from edgevox.tts.piper import PiperEngine
from edgevox.tts.voices import chosen_voices
from edgevox.turn import CancelFlag
from edgevox.turn_log import TurnLog
from edgevox.types import (
    Audio,
    ChatModel,
    ChatReply,
    ChatRequest,
    Engine,
    ReplyT,
    RequestT,
    Sampling,
    SynthesisRequest,
    Synthesizer,
    Transcriber,
    TranscribeRequest,
    Transcript,
)
from edgevox.voice import (
    Asking,
    Bell,
    CalledHearing,
    Ear,
    Hearing,
    InstantWords,
    Interruption,
    Loudspeaker,
    Pipeline,
    ReplyLanguages,
    Ringer,
    Signs,
    Voice,
    VoiceLoop,
    Wakefulness,
    WakePhrase,
)

if TYPE_CHECKING:
    from edgevox.llm.remote import RemoteModel

_REMOTE_EAR, _REMOTE_VOICE = "remote-ear", "remote-voice"


class Daemon:
    """The engines that a command needs, and what is built on them. Use it with `async with`.

    The models must be in the store (`needed_models` names them). Entering raises ModelError or EngineFailed,
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
        if "llama" in engines and not (settings.llm.model or settings.llm.remote_url or self.preset.model):
            raise ConfigError(
                f"the preset {self.preset.name} has no model of its own",
                hint="name a file in llm.model (--model), or a server in llm.remote_url (--remote)",
            )
        self.last_record: TurnRecord | None = None
        self._log_problem: StateError | None = None
        self._folders = folders
        self._memory: ConversationStore | None = None
        self._toolbox: Toolbox | None = None
        self._told_home: ToldHome | None = None
        self._resting: list[Pipeline] = []
        self._signs = AsyncExitStack()
        self._store = store
        self._adapter_path = adapter_path
        self._engines = tuple(sorted(set(engines)))
        self._plan = plan_threads()
        self._log = TurnLog(
            folders.state, max_bytes=settings.records.max_bytes, keep_text=settings.records.keep_text
        )
        self._recording = self.bus.listening(TurnRecorder(self._record))

    def take_over(self, before: Daemon) -> None:
        """Have the engines of another daemon, as they run, where this one's would be the same.

        That one ends without them. This one has not begun.
        """
        for name in self._engines:
            old, new = before.__dict__.get(f"_{name}"), self._hosted(name)
            if not isinstance(old, SupervisedEngine) or not isinstance(new, SupervisedEngine):
                continue
            if new.does_the_same_as(old):
                old.publish_to(self.bus.publish)
                self.__dict__[f"_{name}"] = before.__dict__.pop(f"_{name}")

    def needed_models(self) -> tuple[str, ...]:
        """The ids of the models that must be in the store before the daemon starts."""
        return tuple(model for engine in self._engines for model in self._model_ids(engine) if model)

    def prepare(self, tell: Callable[[str], None]) -> None:
        """Make a faster copy of the language model, where that helps and is allowed. Raises ModelError.

        Without it, or when it fails, the daemon starts with what was downloaded.
        """
        model_id = self._llama_id
        if "llama" not in self._engines or not model_id or not self.settings.llm.optimize:
            return
        if self._adapter_id is None:
            optimise_on_first_use(self._store, model_id, tell)
        else:
            merge_on_first_use(self._store, model_id, self._adapter_id, self.preset.adapter_scale, tell)

    async def __aenter__(self) -> Daemon:
        self._recording.__enter__()
        try:
            async with asyncio.TaskGroup() as group:
                for engine in self._engines:
                    group.create_task(self._hosted(engine).start())
                group.create_task(self._open_state())
        except BaseExceptionGroup as failures:
            await self._close()
            raise failures.exceptions[0] from None
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
        return self._log_problem or (self._memory.problem if self._memory else None)

    def try_to_record_again(self) -> None:
        """Find out whether there is room again for what could not be kept."""
        if self._log_problem is not None:
            self._note_log(self._log.catch_up)
        if self._memory is not None:
            self._memory.try_again()

    def conversation(self) -> Conversation:
        """The conversation that goes on from one run to the next, as far as the settings let it."""
        assert self._memory is not None, "inside `async with`"
        return self._memory.conversation(max_turns=self.preset.max_turns)

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
            self._agent(conversation, asking),
            preset=self.preset.name,
            publish=self.bus.publish,
            hearing=hearing or (self.hearing() if "whisper" in self._engines else None),
            voice=self.voice() if loudspeaker else None,
            loudspeaker=loudspeaker,
            asking=asking,
            words=InstantWords(self._examples()) if conversation is not None else None,
            bell=Bell(snooze_minutes=self.settings.ring.snooze_minutes) if conversation is not None else None,
            rests=conversation is not None,
            languages=self.languages,
        )
        if conversation is not None:
            self._resting.append(pipeline)
        return pipeline

    @property
    def chat_model(self) -> ChatModel:
        """The language model itself, for programs that hold the conversation themselves."""
        return self._llama

    @property
    def transcriber(self) -> Transcriber:
        """The recogniser itself."""
        return self._whisper

    @property
    def synthesizer(self) -> Synthesizer:
        """The voice's engine itself."""
        return self._piper

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
            interruption=_Interruptions(duplex, self.settings.audio.vad_aggressiveness).now,
            wakefulness=wakefulness,
        )
        if ear.live:
            self._give_signs(pipeline, lambda: loop.is_in_speech, lambda: duplex() != "half")
        return loop

    def ringer(self, pipeline: Pipeline) -> Ringer | None:
        """What lets timers, alarms and reminders ring in a conversation that goes on; None without tools."""
        if self._toolbox is None or pipeline.bell is None:
            return None
        ring = self.settings.ring
        return Ringer(self._toolbox.agenda, pipeline, pipeline.bell, self.bus.publish, for_s=ring.for_s)

    def assistant(self) -> Assistant:
        """What other programs may use of this daemon."""
        preset, llm, stt = self.preset, self.settings.llm, self.settings.stt
        has_tools = self._toolbox is not None

        def hearing(language: str | None) -> Hearing:
            usual = None if stt.language == AUTO else stt.language
            return Hearing(self._whisper, language=language or usual, names=self._names)

        return Assistant(
            preset.name,
            AskedModel(
                self._llama,
                preset.tool_call_parsers,
                preset.tool_choice_policy,
                preset.tools_as,
                llm.sampling,
                preset.stop,
                llm.thinking,
            ),
            make_agent=self._agent_of_program if has_tools else None,
            executor=self._toolbox.executor if self._toolbox else None,
            hearing=hearing if "whisper" in self._engines else None,
            hearing_name=(stt.remote_model or _REMOTE_EAR) if stt.remote else stt.model,
            voice=(lambda speed: Voice(self._piper, speed=speed)) if "piper" in self._engines else None,
            voice_name=self._voices[self.voice_languages[0]] if "piper" in self._engines else "",
            voice_language=self.voice_languages[0],
            resumes=llm.remote_url is None,
            states=lambda: {engine: self._state(engine) for engine in self._engines},
            # Not on the bus: who listens there is in the room, and would take it for the room's.
            record=TurnRecorder(self._log_record),
            asking=lambda: [pipeline.asking for pipeline in self._resting],
        )

    def voice(self) -> Voice:
        """The voices that the settings choose."""
        return Voice(self._piper, speed=self.settings.tts.speed)

    @property
    def voice_languages(self) -> tuple[str, ...]:
        """What the voices speak, the default one first."""
        return tuple(self._voices)

    @cached_property
    def languages(self) -> ReplyLanguages:
        """Which language a reply is in, by the preset and the voices."""
        stt = self.settings.stt
        return ReplyLanguages(
            model=self.preset.languages,
            voices=self.voice_languages if "piper" in self._engines else (),
            expected=None if stt.language == AUTO else stt.language,
        )

    def hearing(self) -> Hearing:
        """The recogniser, with the language and the names that the settings expect."""
        stt = self.settings.stt
        language = None if stt.language == AUTO else stt.language
        return Hearing(self._whisper, language=language, names=self._names, house_names=self._house_names)

    def remote_addresses(self) -> dict[EngineName, str]:
        """Where the engines are that are on other machines."""
        settings = self.settings
        addresses: dict[EngineName, str | None] = {
            "llama": settings.llm.remote_url,
            "piper": settings.tts.remote,
            "whisper": settings.stt.remote,
        }
        return {name: address for name, address in addresses.items() if address and name in self._engines}

    async def probe(self, engine: EngineName) -> None:
        """See whether an engine on another machine can be used. Raises EngineFailed and ConfigError."""
        hosted = self._hosted(engine)
        await hosted.start()
        await hosted.close()

    def pid(self, engine: EngineName) -> int | None:
        """The process of an engine, while it has one of its own."""
        hosted = self._hosted(engine)
        return hosted.pid if isinstance(hosted, SupervisedEngine) else None

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
        if "llama" in self._engines and self.preset.calls_tools and self.settings.tools.enabled:
            transcribe = self.transcribe if "whisper" in self._engines else None
            self._toolbox = await asyncio.to_thread(
                Toolbox, self.settings, self._folders, transcribe=transcribe
            )
            self._told_home = ToldHome(
                self._toolbox.home.house,
                max_things=self.settings.home.max_things,
                before=self.settings.llm.instructions,
            )
            await self._toolbox.start()

    def _give_signs(
        self, pipeline: Pipeline, is_spoken_to: Callable[[], bool], hears_over_itself: Callable[[], bool]
    ) -> None:
        sounds = self.settings.sounds
        if pipeline.mouth is not None and (sounds.chimes or sounds.apologise or sounds.acknowledge_after_s):
            signs = Signs(
                pipeline,
                pipeline.mouth,
                sounds,
                languages=self.languages,
                is_spoken_to=is_spoken_to,
                hears_over_itself=hears_over_itself,
            )
            self._signs.push_async_callback(signs.close)
            self._signs.enter_context(self.bus.listening(signs))

    def _agent(self, conversation: Conversation | None, confirm: Confirm) -> LLMAgent:
        preset, llm, toolbox = self.preset, self.settings.llm, self._toolbox
        return LLMAgent(
            "edgevox",
            instructions=self._told_home or llm.instructions,
            tools=toolbox.executor if toolbox else (),
            offered=toolbox.mcp.offered if toolbox and toolbox.mcp.reports() else None,
            hooks=(*default_slm_hooks(toolbox.registry.only_reads), *toolbox.hooks) if toolbox else None,
            tool_choice_policy=preset.tool_choice_policy,
            model=self._llama,
            parsers=preset.tool_call_parsers,
            sampling=llm.sampling,
            stop=preset.stop,
            thinking=llm.thinking,
            tools_as=preset.tools_as,
            takes_notes=preset.takes_notes,
            conversation=conversation,
            confirm=confirm,
            publish=self.bus.publish,
        )

    def _agent_of_program(
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
    ) -> LLMAgent:
        preset, toolbox = self.preset, self._toolbox
        assert toolbox is not None
        return LLMAgent(
            "edgevox",
            instructions=FollowedBy(self._told_home or self.settings.llm.instructions, instructions),
            tools=toolbox.executor,
            offered=toolbox.mcp.offered if toolbox.mcp.reports() else None,
            hooks=(*default_slm_hooks(toolbox.registry.only_reads), *toolbox.hooks),
            tool_choice_policy=preset.tool_choice_policy,
            model=model,
            parsers=preset.tool_call_parsers,
            sampling=sampling,
            stop=stop,
            thinking=self.settings.llm.thinking,
            tools_as=preset.tools_as,
            conversation=conversation,
            caller=caller,
            confirm=confirm,
            publish=publish,
            client=client,
        )

    def _state(self, engine: EngineName) -> str:
        hosted = self._hosted(engine)
        if hosted.is_up:
            return "ready"
        return "restarting" if isinstance(hosted, SupervisedEngine) else "unreachable"

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

    def _names(self) -> tuple[str, ...]:
        of_home = self._told_home.names() if self._told_home else ()
        return tuple(dict.fromkeys((*self.settings.stt.names, *of_home)))

    def _house_names(self) -> tuple[str, ...]:
        return self._told_home.all_names() if self._told_home else ()

    def _examples(self) -> tuple[str, ...]:
        """What can be said to this home, for help."""
        if self._toolbox is None:
            return ()
        wanted = ("turn_on", "get_state", "start_timer")
        tools = [self._toolbox.registry.get(name) for name in wanted if name in self._toolbox.registry]
        return tuple(tool.examples[0] for tool in tools)

    async def transcribe(self, path: Path) -> str:
        """What is said in a sound file. Raises AudioError and EngineFailed."""
        sound = await asyncio.to_thread(read_audio, path)
        return (await self.hearing().transcribe(sound, CancelFlag())).text

    @cached_property
    def _llama(self) -> Hosted[ChatRequest, ChatReply]:
        llm = self.settings.llm
        if llm.remote_url is not None:
            return self._remote_model(llm.remote_url)
        files = self._llama_files()
        engine = LlamaEngine(
            files.model,
            context_tokens=llm.context_tokens,
            threads=_threads(llm.threads, self._plan.llama),
            prompt_threads=_threads(llm.threads, self._plan.llama_prompt),
            chat_template=self.preset.chat_template,
            adapter_path=files.adapter,
            adapter_scale=files.adapter_scale,
            kv_type=llm.kv_type,
            snapshot_dir=self._folders.state / PROMPTS_FOLDER if llm.keep_prompts else None,
            constraint_engine=llm.constraint_engine,
        )
        return self._host("llama", engine, self._llama_limits)

    @cached_property
    def _whisper(self) -> Hosted[TranscribeRequest, Transcript]:
        stt, limits = self.settings.stt, self.settings.engines
        bounds = EngineLimits(limits.start_timeout_s, limits.stt_timeout_s, limits.stt_timeout_s)
        if stt.remote is not None:
            # Here and below not at the top: who has the engines here does not wait for what it imports.
            from edgevox.stt.wyoming import WyomingTranscriber

            return WyomingTranscriber(stt.remote, model=stt.remote_model, limits=bounds)
        engine = WhisperEngine(
            self._store.path(stt.model),
            threads=_threads(stt.threads, self._plan.whisper),
            adapter=self._store.path(self._hearing_id) if self._hearing_id else None,
        )
        return self._host("whisper", engine, bounds)

    @cached_property
    def _piper(self) -> Hosted[SynthesisRequest, Audio]:
        tts, limits = self.settings.tts, self.settings.engines
        bounds = EngineLimits(limits.start_timeout_s, limits.tts_timeout_s, limits.tts_timeout_s)
        if tts.remote is not None:
            from edgevox.tts.wyoming import WyomingSynthesizer

            return WyomingSynthesizer(
                tts.remote, voice=tts.remote_voice, languages=tts.remote_languages, limits=bounds
            )
        paths = {language: self._store.path(voice) for language, voice in self._voices.items()}
        engine = PiperEngine(
            # The voice that most replies need is read at once, and speaks for languages that have none.
            paths.get(self.languages.reply_to(""), paths[self.voice_languages[0]]),
            others=paths,
            threads=_threads(tts.threads, self._plan.piper),
        )
        return self._host("piper", engine, bounds)

    @property
    def _llama_limits(self) -> EngineLimits:
        limits = self.settings.engines
        return EngineLimits(limits.start_timeout_s, limits.first_token_timeout_s, limits.token_timeout_s)

    def _remote_model(self, url: str) -> RemoteModel:
        from edgevox.llm.remote import RemoteModel, read_key

        llm = self.settings.llm
        return RemoteModel(
            url,
            llm.remote_model,
            kind=llm.remote_kind,
            key=read_key(llm, os.environ),
            extra=json.loads(llm.remote_extra),
            limits=self._llama_limits,
        )

    def _llama_files(self) -> ModelFiles:
        llm, model_id = self.settings.llm, self._llama_id
        if llm.model is not None:
            return ModelFiles(llm.model, self._adapter_path)
        assert model_id is not None
        files = model_files(
            self._store,
            model_id,
            adapter=self._adapter_id,
            adapter_scale=self.preset.adapter_scale,
            optimised=llm.optimize,
        )
        return replace(files, adapter=self._adapter_path) if self._adapter_path else files

    @property
    def _adapter_id(self) -> str | None:
        """The preset's adapter: it is for the preset's model, not for a file of the user's own."""
        return self.preset.adapter if self._llama_id and not self._adapter_path else None

    def _host(
        self, name: EngineName, engine: Engine[RequestT, ReplyT], limits: EngineLimits
    ) -> Hosted[RequestT, ReplyT]:
        if self.settings.engines.in_process:
            return LocalEngine(engine)
        return SupervisedEngine(name, engine, limits=limits, publish=self.bus.publish)

    def _hosted(
        self, engine: EngineName
    ) -> (
        Hosted[ChatRequest, ChatReply]
        | Hosted[TranscribeRequest, Transcript]
        | Hosted[SynthesisRequest, Audio]
    ):
        match engine:
            case "llama":
                return self._llama
            case "whisper":
                return self._whisper
            case "piper":
                return self._piper
            case _:
                assert_never(engine)

    def _model_ids(self, engine: EngineName) -> tuple[str | None, ...]:
        match engine:
            case "llama":
                return self._llama_id, self._adapter_id
            case "whisper":
                return () if self.settings.stt.remote else (self.settings.stt.model, self._hearing_id)
            case "piper":
                return () if self.settings.tts.remote else tuple(self._voices.values())
            case _:
                assert_never(engine)

    @property
    def _hearing_id(self) -> str | None:
        """The adapter of the recogniser, which has learnt English alone."""
        stt = self.settings.stt
        return self._store.manifest.adapter_of(stt.model) if stt.adapted and stt.language == ENGLISH else None

    @property
    def _llama_id(self) -> str | None:
        llm = self.settings.llm
        return None if llm.model or llm.remote_url else self.preset.model

    @cached_property
    def _voices(self) -> Mapping[str, str]:
        tts = self.settings.tts
        if tts.remote is not None:
            return dict.fromkeys(tts.remote_languages, tts.remote_voice or _REMOTE_VOICE)
        return chosen_voices(tts, self._store.manifest)

    # --- ending

    def _record(self, record: TurnRecord) -> None:
        self.last_record = record
        self._log_record(record)

    def _log_record(self, record: TurnRecord) -> None:
        self._note_log(partial(self._log.append, record))

    def _note_log(self, write: Callable[[], None]) -> None:
        before = self._log_problem
        try:
            write()
        except StateError as error:
            self._log_problem = error
        else:
            self._log_problem = None
        if (before is None) != (self._log_problem is None):
            self._tell_state("records", self._log_problem)

    def _tell_state(self, part: Literal["records", "memory"], problem: StateError | None) -> None:
        detail, hint = (problem.message, problem.hint) if problem else ("", "")
        self.bus.publish(StateChanged(part=part, detail=detail, hint=hint))

    async def _close(self) -> None:
        await self._signs.aclose()
        for pipeline in self._resting:
            await pipeline.close()
        if self._toolbox is not None:
            await self._toolbox.stop()
        if self._memory is not None:
            await asyncio.to_thread(self._memory.close)
        for name in ("_llama", "_whisper", "_piper"):
            hosted = self.__dict__.get(name)  # a cached property that was never asked for has no engine
            if hosted is not None:
                await hosted.close()
        self._recording.__exit__(None, None, None)


class _Interruptions:
    """What notices that somebody interrupts: another one for each way in which sound goes both ways."""

    def __init__(self, duplex: Callable[[], Duplex], aggressiveness: int) -> None:
        self._duplex = duplex
        self._aggressiveness = aggressiveness
        self._of: Duplex = "half"
        self._last: Interruption | None = None

    def now(self) -> Interruption | None:
        if (duplex := self._duplex()) is not self._of:
            self._of, self._last = duplex, self._made_for(duplex)
        return self._last

    def _made_for(self, duplex: Duplex) -> Interruption | None:
        match duplex:
            case "half":
                return None
            case "device":
                return Interruption(aggressiveness=self._aggressiveness)
            case EchoCanceller() as canceller:
                return Interruption(lambda: canceller.level, self._aggressiveness)
            case _:
                assert_never(duplex)


def _threads(wanted: int | str, planned: int) -> int:
    """The setting, or what the plan for this machine says where it is "auto"."""
    return wanted if isinstance(wanted, int) else planned
