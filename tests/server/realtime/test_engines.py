"""The default models behind the Realtime API: a function of the client in text, and speech answered by speech."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import openai
import pytest

from edgevox.audio.dsp import Resampler
from edgevox.core.files import Folders
from edgevox.eval.synthetic_speech import AssistantVoice
from edgevox.models import ModelStore
from tests.dialogue.sounds import silent
from tests.server.realtime.test_session import RATE_HZ, WEATHER, Talker
from tests.server.websocket.harness import OWNER
from tests.server.websocket.test_engines import BOUND_S, COMMAND, serving_real_engines

pytestmark = [pytest.mark.engine]


async def test_speech_and_functions_with_the_default_models(folders: Folders, store: ModelStore) -> None:
    async with (
        serving_real_engines(folders, store) as (runtime, url),
        openai.AsyncOpenAI(base_url=f"{url}/v1", api_key=OWNER) as client,
        client.realtime.connect(model="gpt-realtime") as connection,
    ):
        talker = Talker(connection, within_s=BOUND_S)
        toolbox = runtime.home_context.toolbox
        assert toolbox is not None
        sound = await AssistantVoice(runtime.engines.tts).synthesize(COMMAND, 1.0)
        resampler = Resampler(sound.rate_hz, RATE_HZ)
        raised = (resampler.feed(sound.samples), resampler.finish())
        await talker.sound(np.concatenate((silent(0.3, RATE_HZ), *raised, silent(1.5, RATE_HZ))))
        spoken = await talker.until("response.done")
        light = toolbox.home.house().entity("light.kitchen")
        assert light is not None
        assert (spoken.response.status, light.state) == ("completed", "on")
        assert spoken.response.output[0].content[0].transcript
        assert 0.3 < talker.audio_s() < 20

        await talker.update(output_modalities=["text"], tools=[WEATHER], tool_choice="required")
        await talker.type("What is the weather in Rome?")
        await connection.response.create()
        (call,) = (await talker.until("response.done")).response.output
        assert call.name == "get_weather"
        assert isinstance(json.loads(call.arguments)["city"], str)
        output: Any = {"type": "function_call_output", "call_id": call.call_id, "output": "sunny, 21 degrees"}
        await connection.conversation.item.create(item=output)
        await connection.response.create(response={"tool_choice": "none"})
        last = (await talker.until("response.done")).response
        assert last.output[0].content[0].text
        assert last.usage.output_tokens
