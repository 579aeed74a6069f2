"""A daemon whose engines are all on other machines: it needs no model, and turns go as they do at home."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from pathlib import Path

import numpy as np
import pytest

from edgevox.app.runtime import AssistantRuntime
from edgevox.config import Settings, load_settings
from edgevox.core.errors import ConfigError, EngineFailed
from edgevox.core.events import Event, ModelFinished, ToolFinished
from edgevox.core.files import Folders
from edgevox.core.turn import CancelFlag, Turn
from edgevox.core.types import Audio
from edgevox.models import ModelStore
from edgevox.server.assistant import Assistant
from edgevox.testing import MemorySpeaker, ToneSynthesizer
from tests.llm.remote.scripted_server import ScriptedServer, call, scripted, talk, whole
from tests.server import test_wyoming as wyoming
from tests.server.test_audio import Stenographer, sounding

BOUND_S = 30


def settings(folders: Folders, **flags: object) -> Settings:
    named = {name.replace("__", "."): value for name, value in flags.items()}
    return load_settings(folders, flags=named, environ={})


async def test_a_whole_turn_with_every_engine_elsewhere(folders: Folders, store: ModelStore) -> None:
    events: list[Event] = []
    async with AsyncExitStack() as running:
        await running.enter_async_context(asyncio.timeout(BOUND_S))
        llm = await running.enter_async_context(
            scripted(call("turn_on", name="kitchen light"), talk("The light |is on."))
        )
        sound = await running.enter_async_context(wyoming.served(sounding(Stenographer(), ToneSynthesizer())))
        chosen = settings(folders, llm__remote_url=llm.url, stt__remote=sound, tts__remote=sound)
        runtime = AssistantRuntime(chosen, folders, store, ["llm", "stt", "tts"])
        assert (runtime.models.needed(), chosen.preset) == ((), "remote")
        await running.enter_async_context(runtime)
        running.enter_context(runtime.bus.listening(events.append))
        silence = Audio(np.zeros(32_000, dtype=np.float32), 16_000)
        assert (await runtime.transcriber().transcribe(silence, CancelFlag())).text == "2 s"
        speaker = MemorySpeaker()
        result = await runtime.pipeline(speaker).answer("Turn on the kitchen light.", Turn())
        assistant = runtime.assistant()
    assert [one.name for one in result.calls] == ["turn_on"]
    assert result.reply
    assert [event.code for event in events if isinstance(event, ToolFinished)] == [None]
    assert next(event.prompt_tokens for event in events if isinstance(event, ModelFinished)) == 30
    assert speaker.heard_s > 0.1
    assert {tool["function"]["name"] for tool in llm.bodies[0]["tools"]} >= {"turn_on", "get_state"}
    assert (assistant.resumes, dict(assistant.states())) == (False, {"llm": "ready", "tts": "ready", "stt": "ready"})


async def test_a_server_that_is_down_or_refuses_the_key_is_told_at_the_start(
    folders: Folders, store: ModelStore, tmp_path: Path
) -> None:
    async with scripted(talk("x")) as gone:
        pass
    with pytest.raises(EngineFailed, match="does not answer"):
        async with AssistantRuntime(settings(folders, llm__remote_url=gone.url), folders, store, ["llm"]):
            pass
    no = whole({"error": {"message": "no"}}, 401)
    async with scripted(talk("x"), models=no) as server:
        with pytest.raises(ConfigError, match="requires a key"):
            async with AssistantRuntime(settings(folders, llm__remote_url=server.url), folders, store, ["llm"]):
                pass
        file = tmp_path / "nothing"
        missing = settings(folders, llm__remote_url=server.url, llm__remote_key_file=str(file))
        with pytest.raises(ConfigError, match="no key in"):
            async with AssistantRuntime(missing, folders, store, ["llm"]):
                pass


async def test_a_server_that_went_away_is_seen_in_the_states(folders: Folders, store: ModelStore) -> None:
    async with asyncio.timeout(BOUND_S), AsyncExitStack() as running:
        served = AsyncExitStack()
        server: ScriptedServer = await served.enter_async_context(scripted(talk("x")))
        runtime = AssistantRuntime(settings(folders, llm__remote_url=server.url), folders, store, ["llm"])
        await running.enter_async_context(runtime)
        assistant: Assistant = runtime.assistant()
        await served.aclose()
        with pytest.raises(EngineFailed):
            await runtime.pipeline().answer("Hello.", Turn())
        assert dict(assistant.states()) == {"llm": "unreachable"}


@pytest.mark.parametrize("preset", ["remote", "generic"])
def test_a_preset_without_a_model_needs_one(folders: Folders, store: ModelStore, preset: str) -> None:
    with pytest.raises(ConfigError, match="no model of its own"):
        AssistantRuntime(settings(folders, preset=preset), folders, store, ["llm"])
