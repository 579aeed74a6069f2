"""Starts the engines that the settings choose: in child processes, in this process, or on other machines."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Generic

from edgevox.app.model_selection import ModelSelection
from edgevox.config import Settings
from edgevox.config.sections import AUTO
from edgevox.core import types
from edgevox.core.events import EngineChanged, EngineName, Event, Publish
from edgevox.core.files import PROMPTS_FOLDER, Folders
from edgevox.core.turn import CancelFlag
from edgevox.dialogue import ReplyLanguages
from edgevox.embedding.minilm import DIMENSIONS, MODEL_ID, MiniLmEngine
from edgevox.engines import EngineLimits, HostedEngine, LocalEngine, SupervisedEngine
from edgevox.engines.threads import ThreadPlan, plan_threads
from edgevox.home.rules.languages.templates import LANGUAGES as HOME_LANGUAGES
from edgevox.llm.engine import LlamaEngine, TextScorer
from edgevox.llm.presets import ModelPreset
from edgevox.speakers.ge2e import Ge2eEngine
from edgevox.stt.engines import STT_ENGINES, SttContext
from edgevox.tts.engines import TtsContext, create_tts


class EngineHealth:
    """A listener on the bus: the last state of each engine, its detail, and how often it was restarted."""

    def __init__(self) -> None:
        self._known: dict[str, types.JsonObject] = {}

    def __call__(self, event: Event) -> None:
        if isinstance(event, EngineChanged):
            restarts = self._known.get(event.engine, {}).get("restarts", 0) + (event.state == "restarting")
            self._known[event.engine] = {"state": event.state, "detail": event.detail, "restarts": restarts}

    def report(self, states: Mapping[str, str] | None = None) -> dict[str, types.JsonObject]:
        """Return the facts by engine name; `states`, if given, are those of this moment."""
        if states is None:
            return dict(self._known)
        unknown = {"detail": "", "restarts": 0}
        return {name: {**self._known.get(name, unknown), "state": state} for name, state in states.items()}


# An embedding model takes memory that few need for long.
_UNUSED_S = 300.0
_SPEAKER_UNUSED_S = 86_400.0


class OnDemandEngine(Generic[types.RequestT, types.ReplyT]):
    """Starts an engine in a process of its own for the first request; ends it when it is long unused."""

    def __init__(
        self, host: Callable[[], HostedEngine[types.RequestT, types.ReplyT]], *, unused_s: float = _UNUSED_S
    ) -> None:
        """`host` returns the engine; it raises ModelMissing."""
        self._host = host
        self._unused_s = unused_s
        self._hosted: HostedEngine[types.RequestT, types.ReplyT] | None = None
        self._users = 0
        self._changing = asyncio.Lock()
        """Held while the engine is started or closed."""
        self._unused: asyncio.TimerHandle | None = None
        self._closing: asyncio.Task[None] | None = None

    @property
    def is_up(self) -> bool:
        return self._hosted is not None

    async def stream(self, request: types.RequestT, cancel: CancelFlag) -> AsyncGenerator[types.ReplyT, None]:
        """Raises ModelMissing, ModelError, EngineFailed and ContextOverflow."""
        self._users += 1
        try:
            self._stop_timer()
            async with aclosing((await self._started()).stream(request, cancel)) as replies:
                async for reply in replies:
                    yield reply
        finally:
            self._users -= 1
            if not self._users:
                self._unused = asyncio.get_running_loop().call_later(self._unused_s, self._begin_closing)

    async def close(self) -> None:
        self._stop_timer()
        async with self._changing:
            await self._end()

    async def _end(self) -> None:
        if self._hosted is not None:
            await self._hosted.close()
            self._hosted = None

    def _begin_closing(self) -> None:
        self._closing = asyncio.create_task(self._close_unused())

    async def _close_unused(self) -> None:
        async with self._changing:
            if not self._users:  # a request may have come with the timer
                await self._end()

    def _stop_timer(self) -> None:
        if self._unused is not None:
            self._unused.cancel()

    async def start(self) -> None:
        """Start the engine before its first request. Raises ModelMissing, ModelError and EngineFailed."""
        await self._started()

    async def _started(self) -> HostedEngine[types.RequestT, types.ReplyT]:
        async with self._changing:
            if self._hosted is None:
                hosted = self._host()
                await hosted.start()
                self._hosted = hosted
            return self._hosted


class OnDemandEmbedder(OnDemandEngine[types.EmbedRequest, types.Embedding]):
    """The embedding model of texts."""

    name = MODEL_ID
    dimensions = DIMENSIONS


ALL: tuple[EngineName, ...] = ("llm", "stt", "tts")


@dataclass(eq=False)
class Engines:
    """The three engines, each built at its first use; the models say which are needed."""

    settings: Settings
    preset: ModelPreset
    folders: Folders
    models: ModelSelection
    publish: Publish
    threads: ThreadPlan = field(default_factory=plan_threads)
    _handed_over: set[EngineName] = field(default_factory=set)
    """Engines that belong to the next session; requests of this one still use them."""

    def __contains__(self, engine: EngineName) -> bool:
        return engine in self.models.engines

    async def start(self) -> None:
        """Start all that are needed. Raises a group of EngineFailed, ModelError and ConfigError."""
        async with asyncio.TaskGroup() as group:
            for name in self.models.engines:
                group.create_task(self._hosted(name).start())

    async def close(self) -> None:
        await self.embedder.close()
        await self.speaker.close()
        for name in ALL:
            hosted = self.__dict__.get(name)  # a cached property, if it was used
            if hosted is not None and name not in self._handed_over:
                await hosted.close()

    def take_over(self, before: Engines) -> None:
        """Take over the running engines of `before` where the configuration is the same.

        Must be called before these start; `before` is then closed without them. Until then both use them: its last
        requests would start engines of their own.
        """
        for name in self.models.engines:
            old, new = before.__dict__.get(name), self._hosted(name)
            if not isinstance(old, SupervisedEngine) or not isinstance(new, SupervisedEngine):
                continue
            if new.is_equivalent_to(old):
                old.publish_to(self.publish)
                self.__dict__[name] = old
                before._handed_over.add(name)

    def states(self) -> dict[str, str]:
        return {name: self._state(name) for name in self.models.engines}

    def pid(self, engine: EngineName) -> int | None:
        """Return the process id of an engine, if it has its own process."""
        hosted = self._hosted(engine)
        return hosted.pid if isinstance(hosted, SupervisedEngine) else None

    def remote_addresses(self) -> dict[EngineName, str]:
        settings, models = self.settings, self.models
        addresses: dict[EngineName, str | None] = {"llm": settings.llm.remote_url if "llm" in self else None}
        if "stt" in self and models.stt_choice.is_remote:
            addresses["stt"] = settings.stt.remote
        if "tts" in self and models.tts_choice.is_remote:
            addresses["tts"] = settings.tts.remote
        return {name: address for name, address in addresses.items() if address}

    async def probe(self, engine: EngineName) -> None:
        """Check an engine on another machine. Raises EngineFailed and ConfigError."""
        hosted = self._hosted(engine)
        await hosted.start()
        await hosted.close()

    @cached_property
    def llm(self) -> HostedEngine[types.ChatRequest, types.ChatReply]:
        llm = self.settings.llm
        if llm.remote_url is not None:
            # Imported here because few use it.
            from edgevox.llm.remote import RemoteModel, read_key

            return RemoteModel(
                llm.remote_url,
                llm.remote_model,
                kind=llm.remote_kind,
                key=read_key(llm, os.environ),
                extra=json.loads(llm.remote_extra),
                limits=self._llm_limits,
            )
        files = self.models.llm()
        engine = LlamaEngine(
            files.model,
            context_tokens=llm.context_tokens,
            threads=_threads(llm.threads, self.threads.llm),
            prompt_threads=_threads(llm.threads, self.threads.llm_prompt),
            chat_template=self.preset.chat_template,
            adapter_path=files.adapter,
            adapter_scale=files.adapter_scale,
            kv_type=llm.kv_type,
            snapshot_dir=self.folders.state / PROMPTS_FOLDER if llm.keep_prompts else None,
            constraint_engine=llm.constraint_engine,
        )
        return self._host("llm", engine, self._llm_limits)

    @cached_property
    def stt(self) -> HostedEngine[types.TranscribeRequest, types.Transcript]:
        stt, limits = self.settings.stt, self.settings.engines
        bounds = EngineLimits(limits.start_timeout_s, limits.stt_timeout_s, limits.stt_timeout_s)
        model, adapter = self.models.stt()
        context = SttContext(
            stt,
            threads=_threads(stt.threads, self.threads.stt),
            limits=bounds,
            model=model,
            adapter=adapter,
            text_scorer=self._text_scorer if model else None,
            languages=self.models.home_languages,
        )
        return self._host("stt", STT_ENGINES.factory(self.models.stt_choice.engine)(context), bounds)

    @property
    def _text_scorer(self) -> TextScorer | None:
        stt = self.settings.stt
        path = self.models.text_scorer() if stt.rescoring else None
        return TextScorer(path, threads=_threads(stt.threads, self.threads.stt)) if path else None

    @cached_property
    def tts(self) -> HostedEngine[types.SynthesisRequest, types.Audio]:
        tts, limits = self.settings.tts, self.settings.engines
        bounds = EngineLimits(limits.start_timeout_s, limits.tts_timeout_s, limits.tts_timeout_s)
        context = TtsContext(
            tts,
            threads=_threads(tts.threads, self.threads.tts),
            limits=bounds,
            voices=self.models.voices,
            files=self.models.tts(),
            language=self.languages.reply_to(""),
        )
        return self._host("tts", create_tts(self.models.tts_choice, context), bounds)

    @cached_property
    def embedder(self) -> OnDemandEmbedder:
        def host() -> HostedEngine[types.EmbedRequest, types.Embedding]:
            engine = MiniLmEngine(self.models.embedding())
            if self.settings.engines.in_process:
                return LocalEngine(engine)
            limits = EngineLimits(self.settings.engines.start_timeout_s)
            return SupervisedEngine("embedding", engine, limits=limits)

        return OnDemandEmbedder(host)

    @cached_property
    def speaker(self) -> OnDemandEngine[types.Audio, types.VoiceEmbedding]:
        """The voice encoder; it stays, once somebody who is enrolled has spoken, for every utterance needs it."""

        def host() -> HostedEngine[types.Audio, types.VoiceEmbedding]:
            engine = Ge2eEngine(self.models.speaker())
            if self.settings.engines.in_process:
                return LocalEngine(engine)
            return SupervisedEngine("speaker", engine, limits=EngineLimits(self.settings.engines.start_timeout_s))

        return OnDemandEngine(host, unused_s=_SPEAKER_UNUSED_S)

    @property
    def voice_languages(self) -> tuple[str, ...]:
        """The languages of the voices, the default one first."""
        return tuple(self.models.voices)

    @property
    def languages_with_pitch(self) -> tuple[str, ...]:
        """The languages whose voice can be made higher and lower."""
        return self.models.tts_choice.with_pitch if "tts" in self else ()

    @property
    def expected_language(self) -> str | None:
        """The configured input language; None if it is detected."""
        language = self.settings.stt.language
        return None if language == AUTO else language

    @cached_property
    def languages(self) -> ReplyLanguages:
        """The possible languages of a reply, by the preset and the voices; the home answers in all of its own."""
        return ReplyLanguages(
            model=None if self.preset.languages is None else {*self.preset.languages, *HOME_LANGUAGES},
            voices=self.voice_languages if "tts" in self else (),
            expected=self.expected_language,
        )

    def _host(
        self,
        name: EngineName,
        engine: types.Engine[types.RequestT, types.ReplyT] | HostedEngine[types.RequestT, types.ReplyT],
        limits: EngineLimits,
    ) -> HostedEngine[types.RequestT, types.ReplyT]:
        if isinstance(engine, HostedEngine):
            return engine
        if self.settings.engines.in_process:
            return LocalEngine(engine)
        return SupervisedEngine(name, engine, limits=limits, publish=self.publish)

    def _hosted(self, engine: EngineName) -> HostedEngine[Any, Any]:
        hosted: HostedEngine[Any, Any] = getattr(self, engine)
        return hosted

    def _state(self, engine: EngineName) -> str:
        hosted = self._hosted(engine)
        if hosted.is_up:
            return "ready"
        return "restarting" if isinstance(hosted, SupervisedEngine) else "unreachable"

    @property
    def _llm_limits(self) -> EngineLimits:
        limits = self.settings.engines
        return EngineLimits(limits.start_timeout_s, limits.first_token_timeout_s, limits.token_timeout_s)


def _threads(wanted: int | str, planned: int) -> int:
    """Return the setting, or the plan for this machine if it is "auto"."""
    return wanted if isinstance(wanted, int) else planned
