"""A daemon whose engines are all on other machines: it needs no model, and turns go as they do at home."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from pathlib import Path

import numpy as np
import pytest

from edgevox.daemon import Daemon
from edgevox.errors import ConfigError, EngineFailed
from edgevox.events import Event, ModelFinished, ToolFinished
from edgevox.folders import Folders
from edgevox.modelstore import ModelStore
from edgevox.server.assistant import Assistant
from edgevox.settings import Settings, load_settings
from edgevox.testing import MemorySpeaker, ToneSynthesizer
from edgevox.turn import CancelFlag, Turn
from edgevox.types import Audio
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
        daemon = Daemon(chosen, folders, store, ["llama", "whisper", "piper"])
        assert (daemon.models.needed(), chosen.preset) == ((), "remote")
        await running.enter_async_context(daemon)
        running.enter_context(daemon.bus.listening(events.append))
        silence = Audio(np.zeros(32_000, dtype=np.float32), 16_000)
        assert (await daemon.hearing().transcribe(silence, CancelFlag())).text == "2 s"
        speaker = MemorySpeaker()
        result = await daemon.pipeline(speaker).answer("Turn on the kitchen light.", Turn())
        assistant = daemon.assistant()
    assert [one.name for one in result.calls] == ["turn_on"]
    assert result.reply
    assert [event.code for event in events if isinstance(event, ToolFinished)] == [None]
    assert next(event.prompt_tokens for event in events if isinstance(event, ModelFinished)) == 30
    assert speaker.heard_s > 0.1
    assert {tool["function"]["name"] for tool in llm.bodies[0]["tools"]} >= {"turn_on", "get_state"}
    assert (assistant.resumes, dict(assistant.states())) == (
        False,
        {"llama": "ready", "piper": "ready", "whisper": "ready"},
    )


async def test_a_server_that_is_down_or_refuses_the_key_is_told_at_the_start(
    folders: Folders, store: ModelStore, tmp_path: Path
) -> None:
    async with scripted(talk("x")) as gone:
        pass
    with pytest.raises(EngineFailed, match="does not answer"):
        async with Daemon(settings(folders, llm__remote_url=gone.url), folders, store, ["llama"]):
            pass
    no = whole({"error": {"message": "no"}}, 401)
    async with scripted(talk("x"), models=no) as server:
        with pytest.raises(ConfigError, match="wants a key"):
            async with Daemon(settings(folders, llm__remote_url=server.url), folders, store, ["llama"]):
                pass
        file = tmp_path / "nothing"
        missing = settings(folders, llm__remote_url=server.url, llm__remote_key_file=str(file))
        with pytest.raises(ConfigError, match="there is no key"):
            async with Daemon(missing, folders, store, ["llama"]):
                pass


async def test_a_server_that_went_away_is_seen_in_the_states(folders: Folders, store: ModelStore) -> None:
    async with asyncio.timeout(BOUND_S), AsyncExitStack() as running:
        served = AsyncExitStack()
        server: ScriptedServer = await served.enter_async_context(scripted(talk("x")))
        daemon = Daemon(settings(folders, llm__remote_url=server.url), folders, store, ["llama"])
        await running.enter_async_context(daemon)
        assistant: Assistant = daemon.assistant()
        await served.aclose()
        with pytest.raises(EngineFailed):
            await daemon.pipeline().answer("Hello.", Turn())
        assert dict(assistant.states()) == {"llama": "unreachable"}


@pytest.mark.parametrize("preset", ["remote", "generic"])
def test_a_preset_without_a_model_needs_one(folders: Folders, store: ModelStore, preset: str) -> None:
    with pytest.raises(ConfigError, match="no model of its own"):
        Daemon(settings(folders, preset=preset), folders, store, ["llama"])
