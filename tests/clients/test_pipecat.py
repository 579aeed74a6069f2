"""Pipecat's OpenAI Realtime service, unmodified, in a pipeline of its own against /v1/realtime."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import numpy as np
from pipecat.adapters.schemas.function_schema import FunctionSchema
from pipecat.adapters.schemas.tools_schema import ToolsSchema
from pipecat.frames.frames import (
    EndFrame,
    ErrorFrame,
    Frame,
    InputAudioRawFrame,
    LLMFullResponseEndFrame,
    LLMRunFrame,
    TTSAudioRawFrame,
    TTSTextFrame,
)
from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.runner import PipelineRunner
from pipecat.pipeline.task import PipelineTask
from pipecat.processors.aggregators.llm_context import LLMContext
from pipecat.processors.aggregators.llm_response_universal import LLMContextAggregatorPair
from pipecat.processors.frame_processor import FrameDirection, FrameProcessor
from pipecat.services.llm_service import FunctionCallParams
from pipecat.services.openai.realtime import events
from pipecat.services.openai.realtime.llm import OpenAIRealtimeLLMService

from edgevox.core.files import Folders
from edgevox.core.types import to_pcm16
from tests.dialogue.sounds import silent, voiced
from tests.server.harness import written
from tests.server.websocket.harness import LIGHT_ON, OWNER, voice_server

BOUND_S = 30.0
RATE_HZ = 24_000
ASKED: Any = {"role": "user", "content": "hello"}


class Collector(FrameProcessor):
    """Keeps the frames that the service sends on, of both directions."""

    def __init__(self) -> None:
        super().__init__()
        self.frames: list[Frame] = []
        self._changed = asyncio.Event()

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        await super().process_frame(frame, direction)
        self.frames.append(frame)
        self._changed.set()
        await self.push_frame(frame, direction)

    async def until(self, kind: type[Frame], count: int = 1) -> None:
        async with asyncio.timeout(BOUND_S):
            while len(self.of(kind)) < count:
                self._changed.clear()
                await self._changed.wait()

    def of(self, kind: type[Frame]) -> list[Any]:
        return [frame for frame in self.frames if isinstance(frame, kind)]


@asynccontextmanager
async def talking_pipeline(
    url: str, context: LLMContext, *, get_weather: Any = None
) -> AsyncIterator[tuple[PipelineTask, Collector]]:
    """A running pipeline: the user's messages, the service, what it says."""
    properties = events.SessionProperties(
        audio=events.AudioConfiguration(
            input=events.AudioInput(transcription=events.InputAudioTranscription(model="whisper-1"))
        )
    )
    service = OpenAIRealtimeLLMService(
        api_key=OWNER,
        base_url=f"{url.replace('http', 'ws')}/v1/realtime",
        settings=OpenAIRealtimeLLMService.Settings(session_properties=properties),
    )
    if get_weather is not None:
        service.register_function("get_weather", get_weather)
    collector, pair = Collector(), LLMContextAggregatorPair(context)
    task = PipelineTask(Pipeline([pair.user(), service, collector, pair.assistant()]))
    running = asyncio.create_task(PipelineRunner(handle_sigint=False).run(task))
    try:
        yield task, collector
        assert not collector.of(ErrorFrame)
        await task.queue_frame(EndFrame())
        async with asyncio.timeout(BOUND_S):
            await running
    finally:
        running.cancel()


async def test_a_message_is_answered_aloud(folders: Folders) -> None:
    async with (
        voice_server(folders, ["Hello to you."], has_tools=False) as behind,
        talking_pipeline(behind.url, LLMContext([ASKED])) as (task, heard),
    ):
        await task.queue_frame(LLMRunFrame())
        await heard.until(LLMFullResponseEndFrame)
    assert "".join(frame.text for frame in heard.of(TTSTextFrame)).strip() == "Hello to you."
    assert sum(len(frame.audio) for frame in heard.of(TTSAudioRawFrame)) > RATE_HZ // 10
    assert behind.model.requests[-1].messages[-1].content == "hello"


async def test_a_spoken_command_changes_the_home(folders: Folders) -> None:
    async with (
        voice_server(folders, [LIGHT_ON]) as behind,
        talking_pipeline(behind.url, LLMContext([])) as (task, heard),
    ):
        samples = np.concatenate((voiced(0.8, RATE_HZ), silent(2.0, RATE_HZ)))
        for start in range(0, len(samples), RATE_HZ // 10):
            pcm = to_pcm16(samples[start : start + RATE_HZ // 10])
            await task.queue_frame(InputAudioRawFrame(audio=pcm, sample_rate=RATE_HZ, num_channels=1))
        await heard.until(LLMFullResponseEndFrame)
        assert behind.state("light.kitchen") == "on"
    assert heard.of(TTSAudioRawFrame)


async def test_its_function_is_called_and_the_answer_uses_the_result(folders: Folders) -> None:
    asked: list[dict[str, Any]] = []

    async def get_weather(params: FunctionCallParams) -> None:
        asked.append(dict(params.arguments))
        await params.result_callback({"weather": "sunny"})

    city = {"city": {"type": "string"}}
    weather = FunctionSchema("get_weather", "The weather in a city.", properties=city, required=["city"])
    lines = [written("get_weather", '{"city": "Rome"}'), "It is sunny."]
    async with (
        voice_server(folders, lines, has_tools=False) as behind,
        talking_pipeline(behind.url, LLMContext([ASKED], tools=ToolsSchema([weather])), get_weather=get_weather) as (
            task,
            heard,
        ),
    ):
        await task.queue_frame(LLMRunFrame())
        await heard.until(TTSTextFrame)
        await heard.until(LLMFullResponseEndFrame, 2)
    assert asked == [{"city": "Rome"}]
    assert "sunny" in behind.model.requests[-1].messages[-1].content
