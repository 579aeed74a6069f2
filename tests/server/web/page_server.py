"""A server of the page with scripted engines, the demo home, a schedule and a satellite, in a thread of its own.

A browser needs no model for what it does by touch, so these tests take seconds.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager

import numpy as np

from edgevox.config import Settings
from edgevox.config.settings import SttSettings, TtsSettings
from edgevox.core.files import Folders
from edgevox.core.languages import ENGLISH
from edgevox.core.turn import CancelFlag
from edgevox.core.types import Audio, ChatReply, ChatRequest, VoiceEmbedding
from edgevox.dialogue import AlarmPlayer, AlarmState
from tests.satellites.harness import satellite
from tests.server.websocket.harness import RestingModel, VoiceServer, voice_server
from tests.speakers.voices import voice

BOUND_S = 30.0
RING_FOR_S = 60.0
DEFAULT_VOICE = TtsSettings().voice


class AnsweringModel(RestingModel):
    """Has an answer to what contains certain words, and a greeting for everything else."""

    def __init__(self, answers: Mapping[str, str]) -> None:
        super().__init__(())
        self._answers = answers

    async def stream(self, request: ChatRequest, cancel: CancelFlag) -> AsyncGenerator[ChatReply, None]:
        asked = request.messages[-1].content
        self._lines = iter([next((line for words, line in self._answers.items() if words in asked), "Hello there.")])
        async for reply in super().stream(request, cancel):
            yield reply


class OneVoice:
    """Embeds every sound as the voice `number`, and silence as none."""

    def __init__(self) -> None:
        self.number = 1

    async def stream(self, request: Audio, _cancel: CancelFlag) -> AsyncGenerator[VoiceEmbedding, None]:
        is_heard = np.max(np.abs(request.samples)) > 0.01
        yield VoiceEmbedding(voice(self.number) if is_heard else np.zeros(0, np.float32))


@asynccontextmanager
async def _ringing(behind: VoiceServer) -> AsyncIterator[None]:
    """The local room, in which timers ring without a sound."""
    assert behind.toolbox is not None
    state = AlarmState(snooze_minutes=9)
    pipeline = behind.lines.pipeline(behind.bus.publish, None, None, None, alarm_state=state)
    behind.lines.local = pipeline
    player = AlarmPlayer(behind.toolbox.agenda, pipeline, state, behind.bus.publish, for_s=RING_FOR_S)
    async with player.running():
        yield


@contextmanager
def page_server(
    folders: Folders,
    answers: Mapping[str, str],
    heard: str = "",
    port: int = 0,
    voices: OneVoice | None = None,
    room: str = "",
    language: str = ENGLISH,
    voice: str = DEFAULT_VOICE,
) -> Iterator[VoiceServer]:
    """A server whose model knows `answers`, and whose recogniser takes whatever is spoken for `heard`.

    With `room` a satellite stands there, which is called "shelf"; `language` is spoken at home, by that `voice`.
    """
    model = AnsweringModel(answers)
    loop = asyncio.new_event_loop()
    is_up, is_over, served = threading.Event(), asyncio.Event(), list[VoiceServer]()

    async def serve() -> None:
        async with (
            voice_server(
                folders,
                model=model,
                heard=(heard,),
                engines=frozenset({"stt"}),
                port=port,
                voices=voices,
                settings=Settings(stt=SttSettings(language=language), tts=TtsSettings(voice=voice)),
            ) as behind,
            _ringing(behind),
            AsyncExitStack() as devices,
        ):
            if room:
                shelf = await devices.enter_async_context(satellite(behind.url, "shelf", room=room))
                await shelf.connected()
            served.append(behind)
            is_up.set()
            await is_over.wait()

    thread = threading.Thread(target=lambda: loop.run_until_complete(serve()))
    thread.start()
    try:
        assert is_up.wait(BOUND_S), "the server did not start"
        yield served[0]
    finally:
        loop.call_soon_threadsafe(is_over.set)
        thread.join(BOUND_S)
        loop.close()
