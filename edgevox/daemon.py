"""The assistant put together: this module alone builds engines and wires them to each other."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping
from contextlib import AsyncExitStack
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import TypeAlias, assert_never

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
from edgevox.bus import Bus
from edgevox.engine import EngineLimits, LocalEngine, SupervisedEngine
from edgevox.engine.threads import plan_threads
from edgevox.errors import StateError
from edgevox.events import EngineName
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
)

_Hosted: TypeAlias = SupervisedEngine[RequestT, ReplyT] | LocalEngine[RequestT, ReplyT]


class Daemon:
    """The engines that a command needs, and what is built on them. Use it with `async with`.

    The models must be in the store (`needed_models` names them). Entering raises ModelError or EngineFailed.
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
        self.last_record: TurnRecord | None = None
        self.record_problem: StateError | None = None
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

    def conversation(self) -> Conversation:
        """The conversation that goes on from one run to the next, as far as the settings let it."""
        assert self._memory is not None, "inside `async with`"
        return self._memory.conversation(max_turns=self.preset.max_turns)

    def pipeline(
        self,
        loudspeaker: Loudspeaker | None = None,
        conversation: Conversation | None = None,
    ) -> Pipeline:
        """Turns of a conversation, by default of a new one; spoken aloud where there is a loudspeaker.

        In a conversation that goes on, the words that need no model are taken out, and what rings is heard.
        """
        asking = Asking(self.bus.publish)
        pipeline = Pipeline(
            self._agent(conversation, asking),
            preset=self.preset.name,
            publish=self.bus.publish,
            hearing=self.hearing() if "whisper" in self._engines else None,
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
        self, ear: Ear, loudspeaker: Loudspeaker | None = None, duplex: Duplex = "half"
    ) -> VoiceLoop:
        """The conversation by voice; `duplex` says whether it can be interrupted."""
        pipeline = self.pipeline(loudspeaker, self.conversation())
        segmenter = Segmenter(self.settings.audio)
        if ear.live:
            self._give_signs(pipeline, lambda: segmenter.is_in_speech)
        return VoiceLoop(
            ear,
            segmenter,
            pipeline,
            self.bus.publish,
            self.ringer(pipeline),
            interruption=_interruption(duplex, self.settings.audio.vad_aggressiveness),
        )

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
            hearing_name=stt.model,
            voice=(lambda speed: Voice(self._piper, speed=speed)) if "piper" in self._engines else None,
            voice_name=self.settings.tts.voice,
            voice_language=self.voice_languages[0],
            states=lambda: {engine: self._state(engine) for engine in self._engines},
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

    def pid(self, engine: EngineName) -> int | None:
        """The process of an engine, while it has one of its own."""
        hosted = self._hosted(engine)
        return hosted.pid if isinstance(hosted, SupervisedEngine) else None

    # --- building

    async def _open_state(self) -> None:
        """What is read from disk while the engines start: the memory, the tools and their plugins."""
        self._memory = await asyncio.to_thread(
            ConversationStore.open, self._folders.state, self.settings.memory
        )
        if "llama" in self._engines and self.preset.calls_tools and self.settings.tools.enabled:
            transcribe = self._transcribe if "whisper" in self._engines else None
            self._toolbox = await asyncio.to_thread(
                Toolbox, self.settings, self._folders, transcribe=transcribe
            )
            self._told_home = ToldHome(
                self._toolbox.home.house,
                max_things=self.settings.home.max_things,
                before=self.settings.llm.instructions,
            )
            await self._toolbox.start()

    def _give_signs(self, pipeline: Pipeline, is_spoken_to: Callable[[], bool]) -> None:
        sounds = self.settings.sounds
        if pipeline.mouth is not None and (sounds.chimes or sounds.acknowledge_after_s):
            signs = Signs(
                pipeline, pipeline.mouth, sounds, languages=self.languages, is_spoken_to=is_spoken_to
            )
            self._signs.push_async_callback(signs.close)
            self._signs.enter_context(self.bus.listening(signs))

    def _agent(self, conversation: Conversation | None, confirm: Confirm) -> LLMAgent:
        preset, llm, toolbox = self.preset, self.settings.llm, self._toolbox
        return LLMAgent(
            "edgevox",
            instructions=self._told_home or llm.instructions,
            tools=toolbox.executor if toolbox else (),
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
        publish: Publish,
        client: str,
    ) -> LLMAgent:
        preset, toolbox = self.preset, self._toolbox
        assert toolbox is not None
        return LLMAgent(
            "edgevox",
            instructions=FollowedBy(self._told_home or self.settings.llm.instructions, instructions),
            tools=toolbox.executor,
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
            publish=publish,
            client=client,
        )

    def _state(self, engine: EngineName) -> str:
        hosted = self._hosted(engine)
        is_up = isinstance(hosted, LocalEngine) or hosted.pid is not None
        return "ready" if is_up else "restarting"

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

    async def _transcribe(self, path: Path) -> str:
        sound = await asyncio.to_thread(read_audio, path)
        return (await self.hearing().transcribe(sound, CancelFlag())).text

    @cached_property
    def _llama(self) -> _Hosted[ChatRequest, ChatReply]:
        llm, limits = self.settings.llm, self.settings.engines
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
        return self._host(
            "llama",
            engine,
            EngineLimits(limits.start_timeout_s, limits.first_token_timeout_s, limits.token_timeout_s),
        )

    @cached_property
    def _whisper(self) -> _Hosted[TranscribeRequest, Transcript]:
        stt, limits = self.settings.stt, self.settings.engines
        engine = WhisperEngine(
            self._store.path(stt.model),
            threads=_threads(stt.threads, self._plan.whisper),
            adapter=self._store.path(self._hearing_id) if self._hearing_id else None,
        )
        return self._host(
            "whisper",
            engine,
            EngineLimits(limits.start_timeout_s, limits.stt_timeout_s, limits.stt_timeout_s),
        )

    @cached_property
    def _piper(self) -> _Hosted[SynthesisRequest, Audio]:
        tts, limits = self.settings.tts, self.settings.engines
        paths = {language: self._store.path(voice) for language, voice in self._voices.items()}
        engine = PiperEngine(
            # The voice that most replies need is read at once, and speaks for languages that have none.
            paths.get(self.languages.reply_to(""), paths[self.voice_languages[0]]),
            others=paths,
            threads=_threads(tts.threads, self._plan.piper),
        )
        return self._host(
            "piper",
            engine,
            EngineLimits(limits.start_timeout_s, limits.tts_timeout_s, limits.tts_timeout_s),
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
        return None if self.settings.llm.model or self._adapter_path else self.preset.adapter

    def _host(
        self, name: EngineName, engine: Engine[RequestT, ReplyT], limits: EngineLimits
    ) -> _Hosted[RequestT, ReplyT]:
        if self.settings.engines.in_process:
            return LocalEngine(engine)
        return SupervisedEngine(name, engine, limits=limits, publish=self.bus.publish)

    def _hosted(
        self, engine: EngineName
    ) -> (
        _Hosted[ChatRequest, ChatReply]
        | _Hosted[TranscribeRequest, Transcript]
        | _Hosted[SynthesisRequest, Audio]
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
                return self.settings.stt.model, self._hearing_id
            case "piper":
                return tuple(self._voices.values())
            case _:
                assert_never(engine)

    @property
    def _hearing_id(self) -> str | None:
        """The adapter of the recogniser, which has learnt English alone."""
        stt = self.settings.stt
        return self._store.manifest.adapter_of(stt.model) if stt.adapted and stt.language == ENGLISH else None

    @property
    def _llama_id(self) -> str | None:
        return None if self.settings.llm.model else self.preset.model

    @cached_property
    def _voices(self) -> Mapping[str, str]:
        return chosen_voices(self.settings.tts, self._store.manifest)

    # --- ending

    def _record(self, record: TurnRecord) -> None:
        self.last_record = record
        try:
            self._log.append(record)
        except StateError as error:
            self.record_problem = error

    async def _close(self) -> None:
        await self._signs.aclose()
        for pipeline in self._resting:
            await pipeline.close()
        if self._toolbox is not None:
            await self._toolbox.stop()
        if self._memory is not None:
            await asyncio.to_thread(self._memory.close)
            self.record_problem = self.record_problem or self._memory.problem
        for name in ("_llama", "_whisper", "_piper"):
            hosted = self.__dict__.get(name)  # a cached property that was never asked for has no engine
            if hosted is not None:
                await hosted.close()
        self._recording.__exit__(None, None, None)


def _interruption(duplex: Duplex, aggressiveness: int) -> Interruption | None:
    match duplex:
        case "half":
            return None
        case "device":
            return Interruption(aggressiveness=aggressiveness)
        case EchoCanceller() as canceller:
            return Interruption(lambda: canceller.level, aggressiveness)
        case _:
            assert_never(duplex)


def _threads(wanted: int | str, planned: int) -> int:
    """The setting, or what the plan for this machine says where it is "auto"."""
    return wanted if isinstance(wanted, int) else planned
