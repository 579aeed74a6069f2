"""The default models over the socket: a spoken command changes the home, and the answer comes as sound."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from difflib import SequenceMatcher

import numpy as np
import pytest

from edgevox.app.runtime import AssistantRuntime
from edgevox.config import ServerSettings, load_settings
from edgevox.core.files import Folders
from edgevox.eval.synthetic_speech import AssistantVoice
from edgevox.models import ModelStore
from edgevox.server.app import create_app
from edgevox.server.http.listener import http_listener
from tests.dialogue.sounds import silent
from tests.kept_prompts import share_prompts
from tests.server.websocket.harness import TOKENS, connected

pytestmark = [pytest.mark.engine]

BOUND_S = 240
COMMAND = "Turn on the kitchen light."
# It is not the speed that is tested here.
PATIENT = {f"engines.{name}_timeout_s": float(BOUND_S) for name in ("start", "stt", "first_token", "token", "tts")}


@asynccontextmanager
async def serving_real_engines(folders: Folders, store: ModelStore) -> AsyncIterator[tuple[AssistantRuntime, str]]:
    """The server's URL, with the default models behind it."""
    share_prompts(folders.state)
    settings = load_settings(folders, flags=PATIENT, environ={})
    runtime = AssistantRuntime(settings, folders, store, ["llm", "stt", "tts"])
    store.ensure(runtime.models.needed(), lambda _progress: None)
    async with (
        asyncio.timeout(BOUND_S),
        runtime,
        http_listener(create_app(runtime.assistant(), ServerSettings(), TOKENS), "127.0.0.1", 0) as url,
    ):
        yield runtime, url


async def test_a_spoken_command_over_the_socket_changes_the_home(folders: Folders, store: ModelStore) -> None:
    async with (
        serving_real_engines(folders, store) as (runtime, url),
        connected(url, rate_hz=16_000, play_rate_hz=48_000) as client,
    ):
        toolbox = runtime.home_context.toolbox
        assert toolbox is not None
        sound = await AssistantVoice(runtime.engines.tts).synthesize(COMMAND, 1.0)
        await client.sound(np.concatenate((silent(0.3), sound.samples, silent(1.5))))
        done = await client.until("done", within_s=BOUND_S)
        light = toolbox.home.house().entity("light.kitchen")
        assert light is not None
    assert SequenceMatcher(None, done["heard"].casefold(), COMMAND.casefold()).ratio() > 0.6
    assert (done["outcome"], light.state) == ("answered", "on"), done
    assert done["reply"]
    seconds = sum(client.samples.values()) / 48_000
    assert 0.3 < seconds < 20
    assert {"tool_call", "tool_result", "audio_end"} <= set(client.kinds())
    stages = {stage["name"] for stage in done["waterfall"]["stages"]}
    assert {"endpoint", "first_token", "first_audio", "speak"} <= stages
