"""LiveKit's OpenAI Realtime model, unmodified, against /v1/realtime."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import numpy as np
from livekit import rtc
from livekit.agents import llm, utils
from livekit.plugins.openai.realtime import RealtimeModel, RealtimeSession

from edgevox.core.files import Folders
from edgevox.core.types import to_pcm16
from tests.dialogue.sounds import silent, voiced
from tests.server.harness import written
from tests.server.websocket.harness import LIGHT_ON, OWNER, voice_server

BOUND_S = 30.0
RATE_HZ = 24_000


@asynccontextmanager
async def session_of(url: str) -> AsyncIterator[RealtimeSession]:
    """A session of the model, as an agent of LiveKit opens it; its errors fail the test."""
    async with utils.http_context.open(), RealtimeModel(base_url=f"{url}/v1", api_key=OWNER, model="edgevox") as model:
        session = model.session()
        errors: list[Any] = []
        session.on("error", errors.append)
        try:
            async with asyncio.timeout(BOUND_S):
                yield session
        finally:
            await session.aclose()
        assert errors == []


async def spoken(generation: llm.GenerationCreatedEvent) -> tuple[str, int]:
    """The words of a reply, and how many samples of it came."""
    words, samples = "", 0
    async for message in generation.message_stream:
        words += "".join([str(piece) async for piece in message.text_stream])
        samples += sum([frame.samples_per_channel async for frame in message.audio_stream])
    return words.strip(), samples


async def test_a_message_is_answered_aloud(folders: Folders) -> None:
    async with voice_server(folders, ["Hello to you."], has_tools=False) as behind, session_of(behind.url) as session:
        context = llm.ChatContext.empty()
        context.add_message(role="user", content="hello")
        await session.update_chat_ctx(context)
        words, samples = await spoken(await session.generate_reply())
    assert words == "Hello to you."
    assert samples > RATE_HZ // 20
    assert behind.model.requests[-1].messages[-1].content == "hello"


async def test_a_spoken_command_changes_the_home(folders: Folders) -> None:
    async with voice_server(folders, [LIGHT_ON]) as behind, session_of(behind.url) as session:
        created: asyncio.Future[llm.GenerationCreatedEvent] = asyncio.get_running_loop().create_future()
        session.on("generation_created", created.set_result)
        samples = np.concatenate((voiced(0.8, RATE_HZ), silent(2.0, RATE_HZ)))
        for start in range(0, len(samples), RATE_HZ // 10):
            pcm = to_pcm16(samples[start : start + RATE_HZ // 10])
            session.push_audio(rtc.AudioFrame(pcm, RATE_HZ, 1, len(pcm) // 2))
        _words, heard = await spoken(await created)
        assert behind.state("light.kitchen") == "on"
    assert heard


async def test_its_function_is_called_and_the_answer_uses_the_result(folders: Folders) -> None:
    @llm.function_tool
    async def get_weather(city: str) -> str:
        """The weather in a city."""
        return f"sunny in {city}"

    lines = [written("get_weather", '{"city": "Rome"}'), "It is sunny."]
    async with voice_server(folders, lines, has_tools=False) as behind, session_of(behind.url) as session:
        await session.update_tools([get_weather])
        context = llm.ChatContext.empty()
        context.add_message(role="user", content="What is the weather in Rome?")
        await session.update_chat_ctx(context)
        generation = await session.generate_reply()
        (call,) = [call async for call in generation.function_stream]
        assert (call.name, call.arguments) == ("get_weather", '{"city": "Rome"}')
        result = llm.FunctionCallOutput(call_id=call.call_id, name=call.name, output="sunny", is_error=False)
        await session.update_chat_ctx(llm.ChatContext([*session.chat_ctx.items, result]))
        words, _samples = await spoken(await session.generate_reply())
    assert words == "It is sunny."
    assert "sunny" in behind.model.requests[-1].messages[-1].content
