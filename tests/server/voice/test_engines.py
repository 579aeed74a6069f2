"""The default models over the socket: a spoken command changes the home, and the answer comes as sound."""

from __future__ import annotations

import asyncio
from difflib import SequenceMatcher

import numpy as np
import pytest

from edgevox.daemon import Daemon
from edgevox.eval.voices import PiperSpeaking
from edgevox.folders import Folders
from edgevox.modelstore import ModelStore
from edgevox.server.app import create_app
from edgevox.server.serving import serving
from edgevox.settings import ServerSettings, load_settings
from tests.kept_prompts import share_prompts
from tests.server.voice.lobby import TOKENS, connected
from tests.voice.sounds import silent

pytestmark = [pytest.mark.engine]

BOUND_S = 240
COMMAND = "Turn on the kitchen light."
# It is not the speed that is tested here.
PATIENT = {
    f"engines.{name}_timeout_s": float(BOUND_S) for name in ("start", "stt", "first_token", "token", "tts")
}


async def test_a_spoken_command_over_the_socket_changes_the_home(folders: Folders, store: ModelStore) -> None:
    share_prompts(folders.state)
    settings = load_settings(folders, flags=PATIENT, environ={})
    daemon = Daemon(settings, folders, store, ["llama", "whisper", "piper"])
    store.ensure(daemon.models.needed(), lambda _progress: None)
    async with (
        asyncio.timeout(BOUND_S),
        daemon,
        serving(create_app(daemon.assistant(), ServerSettings(), TOKENS), "127.0.0.1", 0) as url,
        connected(url, rate_hz=16_000, play_rate_hz=48_000) as client,
    ):
        toolbox = daemon.household.toolbox
        assert toolbox is not None
        sound = await PiperSpeaking(daemon.engines.piper).say(COMMAND, 1.0)
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
