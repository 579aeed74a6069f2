"""Starts the engines that the settings choose: in child processes, in this process, or on other machines."""

from __future__ import annotations

import asyncio
import json
import os
from collections import Counter
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, assert_never

from edgevox.app.model_selection import ModelSelection
from edgevox.config import Settings
from edgevox.config.sections import AUTO
from edgevox.core.events import EngineChanged, EngineName, Event
from edgevox.core.files import PROMPTS_FOLDER, Folders
from edgevox.core.types import (
    Audio,
    ChatReply,
    ChatRequest,
    Engine,
    JsonObject,
    ReplyT,
    RequestT,
    SynthesisRequest,
    TranscribeRequest,
    Transcript,
)
from edgevox.dialogue import ReplyLanguages
from edgevox.engines import EngineLimits, HostedEngine, LocalEngine, SupervisedEngine
from edgevox.engines.threads import plan_threads
from edgevox.llm.engine import LlamaEngine, TextScorer
from edgevox.llm.presets import ModelPreset
from edgevox.stt.engines import STT_ENGINES, SttContext
from edgevox.tts.engines import TTS_ENGINES, TtsContext


class EngineHealth:
    """A listener on the bus. `states` are those of this moment."""

    def __init__(self, states: Callable[[], Mapping[str, str]]) -> None:
        self._states = states
        self._details: dict[str, str] = {}
        self._restarts: Counter[str] = Counter()

    def __call__(self, event: Event) -> None:
        if isinstance(event, EngineChanged):
            self._details[event.engine] = event.detail
            self._restarts[event.engine] += event.state == "restarting"

    def report(self) -> Mapping[str, JsonObject]:
        """By the names of the engines."""
        return {
            name: {"state": state, "detail": self._details.get(name, ""), "restarts": self._restarts[name]}
            for name, state in self._states().items()
        }


if TYPE_CHECKING:
    from edgevox.llm.remote import RemoteModel

ALL: tuple[EngineName, ...] = ("llm", "stt", "tts")


class Engines:
    """The three engines, each built when it is first asked for; the models say which are needed."""

    def __init__(
        self,
        settings: Settings,
        preset: ModelPreset,
        folders: Folders,
        models: ModelSelection,
        publish: Callable[[Event], None],
    ) -> None:
        self._settings = settings
        self._preset = preset
        self._folders = folders
        self._models = models
        self._publish = publish
        self.threads = plan_threads()

    def __contains__(self, engine: EngineName) -> bool:
        return engine in self._models.engines

    async def start(self) -> None:
        """Start all that are needed. Raises a group of EngineFailed, ModelError and ConfigError."""
        async with asyncio.TaskGroup() as group:
            for name in self._models.engines:
                group.create_task(self._hosted(name).start())

    async def close(self) -> None:
        """End those that were ever asked for."""
        for name in ALL:
            hosted = self.__dict__.get(name)  # a cached property that was never asked for has no engine
            if hosted is not None:
                await hosted.close()

    def take_over(self, before: Engines) -> None:
        """Have the engines of others, as they run, where these, not yet started, would be the same."""
        for name in self._models.engines:
            old, new = before.__dict__.get(name), self._hosted(name)
            if not isinstance(old, SupervisedEngine) or not isinstance(new, SupervisedEngine):
                continue
            if new.is_equivalent_to(old):
                old.publish_to(self._publish)
                self.__dict__[name] = before.__dict__.pop(name)

    def states(self) -> dict[str, str]:
        """How each engine that is needed is."""
        return {name: self._state(name) for name in self._models.engines}

    def pid(self, engine: EngineName) -> int | None:
        """The process of an engine, while it has one of its own."""
        hosted = self._hosted(engine)
        return hosted.pid if isinstance(hosted, SupervisedEngine) else None

    def remote_addresses(self) -> dict[EngineName, str]:
        """Where the engines are that are on other machines."""
        settings, models = self._settings, self._models
        addresses: dict[EngineName, str | None] = {"llm": settings.llm.remote_url if "llm" in self else None}
        if "stt" in self and models.stt_choice.is_remote:
            addresses["stt"] = settings.stt.remote
        if "tts" in self and models.tts_choice.is_remote:
            addresses["tts"] = settings.tts.remote
        return {name: address for name, address in addresses.items() if address}

    async def probe(self, engine: EngineName) -> None:
        """See whether an engine on another machine can be used. Raises EngineFailed and ConfigError."""
        hosted = self._hosted(engine)
        await hosted.start()
        await hosted.close()

    @cached_property
    def llm(self) -> HostedEngine[ChatRequest, ChatReply]:
        """The language model."""
        llm = self._settings.llm
        if llm.remote_url is not None:
            return self._remote_model(llm.remote_url)
        files = self._models.llm()
        engine = LlamaEngine(
            files.model,
            context_tokens=llm.context_tokens,
            threads=_threads(llm.threads, self.threads.llm),
            prompt_threads=_threads(llm.threads, self.threads.llm_prompt),
            chat_template=self._preset.chat_template,
            adapter_path=files.adapter,
            adapter_scale=files.adapter_scale,
            kv_type=llm.kv_type,
            snapshot_dir=self._folders.state / PROMPTS_FOLDER if llm.keep_prompts else None,
            constraint_engine=llm.constraint_engine,
        )
        return self._host("llm", engine, self._llm_limits)

    @cached_property
    def stt(self) -> HostedEngine[TranscribeRequest, Transcript]:
        """The recogniser."""
        stt, limits = self._settings.stt, self._settings.engines
        bounds = EngineLimits(limits.start_timeout_s, limits.stt_timeout_s, limits.stt_timeout_s)
        model, adapter = self._models.stt()
        context = SttContext(
            stt,
            threads=_threads(stt.threads, self.threads.stt),
            limits=bounds,
            model=model,
            adapter=adapter,
            text_scorer=self._text_scorer if model else None,
        )
        return self._host("stt", STT_ENGINES.factory(self._models.stt_choice.engine)(context), bounds)

    @property
    def _text_scorer(self) -> TextScorer | None:
        stt = self._settings.stt
        path = self._models.text_scorer() if stt.rescoring else None
        return TextScorer(path, threads=_threads(stt.threads, self.threads.stt)) if path else None

    @cached_property
    def tts(self) -> HostedEngine[SynthesisRequest, Audio]:
        """The voices."""
        tts, limits = self._settings.tts, self._settings.engines
        bounds = EngineLimits(limits.start_timeout_s, limits.tts_timeout_s, limits.tts_timeout_s)
        context = TtsContext(
            tts,
            threads=_threads(tts.threads, self.threads.tts),
            limits=bounds,
            voices=self._models.voices,
            files=self._models.tts(),
            language=self.languages.reply_to(""),
        )
        return self._host("tts", TTS_ENGINES.factory(self._models.tts_choice.engine)(context), bounds)

    @property
    def voice_languages(self) -> tuple[str, ...]:
        """What the voices speak, the default one first."""
        return tuple(self._models.voices)

    @cached_property
    def languages(self) -> ReplyLanguages:
        """Which language a reply is in, by the preset and the voices."""
        stt = self._settings.stt
        return ReplyLanguages(
            model=self._preset.languages,
            voices=self.voice_languages if "tts" in self else (),
            expected=None if stt.language == AUTO else stt.language,
        )

    def _host(
        self, name: EngineName, engine: Engine[RequestT, ReplyT] | HostedEngine[RequestT, ReplyT], limits: EngineLimits
    ) -> HostedEngine[RequestT, ReplyT]:
        if isinstance(engine, HostedEngine):
            return engine
        if self._settings.engines.in_process:
            return LocalEngine(engine)
        return SupervisedEngine(name, engine, limits=limits, publish=self._publish)

    def _hosted(
        self, engine: EngineName
    ) -> (
        HostedEngine[ChatRequest, ChatReply]
        | HostedEngine[TranscribeRequest, Transcript]
        | HostedEngine[SynthesisRequest, Audio]
    ):
        match engine:
            case "llm":
                return self.llm
            case "stt":
                return self.stt
            case "tts":
                return self.tts
            case _:
                assert_never(engine)

    def _state(self, engine: EngineName) -> str:
        hosted = self._hosted(engine)
        if hosted.is_up:
            return "ready"
        return "restarting" if isinstance(hosted, SupervisedEngine) else "unreachable"

    @property
    def _llm_limits(self) -> EngineLimits:
        limits = self._settings.engines
        return EngineLimits(limits.start_timeout_s, limits.first_token_timeout_s, limits.token_timeout_s)

    def _remote_model(self, url: str) -> RemoteModel:
        from edgevox.llm.remote import RemoteModel, read_key

        llm = self._settings.llm
        return RemoteModel(
            url,
            llm.remote_model,
            kind=llm.remote_kind,
            key=read_key(llm, os.environ),
            extra=json.loads(llm.remote_extra),
            limits=self._llm_limits,
        )


def _threads(wanted: int | str, planned: int) -> int:
    """The setting, or what the plan for this machine says where it is "auto"."""
    return wanted if isinstance(wanted, int) else planned
