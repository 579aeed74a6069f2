"""An `AssistantService` with scripted engines and devices."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, aclosing, asynccontextmanager, nullcontext
from functools import partial

import numpy as np

from edgevox.app.control.handlers import handle_request
from edgevox.app.control.server import control_server, single_instance
from edgevox.app.runtime import AssistantRuntime
from edgevox.app.service import AssistantService, AudioDevices, ServiceSession
from edgevox.audio.io.duplex import Duplex
from edgevox.config import Settings, load_settings
from edgevox.core.errors import EdgevoxError
from edgevox.core.events import Event
from edgevox.core.files import Folders
from edgevox.core.turn import CancelFlag
from edgevox.core.types import Audio, ChatReply, ChatRequest, TranscribeRequest, Transcript
from edgevox.models import ModelStore, load_manifest
from edgevox.testing import MemorySpeaker, ScriptedModel, ToneSynthesizer

BOUND_S = 20.0
_SILENCE = Audio(np.zeros(320, dtype=np.float32), 16_000)


class QuietRoom(MemorySpeaker):
    """A microphone in a silent room, and a loudspeaker."""

    live = True
    dropped_samples = 0
    delay_s = 0.0
    duplex: Duplex = "half"
    level_dbfs = -60.0

    def __init__(self) -> None:
        super().__init__()
        self.is_muted = False

    def mute(self) -> None:
        self.is_muted = True

    def unmute(self) -> None:
        self.is_muted = False

    async def frames(self) -> AsyncGenerator[Audio, None]:
        while True:
            await asyncio.sleep(0.02)
            yield _SILENCE


class Model(ScriptedModel):
    refusal: EdgevoxError | None = None

    async def start(self) -> None:
        if self.refusal is not None:
            raise self.refusal

    async def stream(self, request: ChatRequest, cancel: CancelFlag) -> AsyncGenerator[ChatReply, None]:
        if request.prompt_only:  # what is done between turns is no line of the script
            return
        async with aclosing(super().stream(request, cancel)) as replies:
            async for reply in replies:
                yield reply

    async def close(self) -> None: ...


class Piper(ToneSynthesizer):
    async def start(self) -> None: ...
    async def close(self) -> None: ...


class Whisper:
    async def start(self) -> None: ...
    async def close(self) -> None: ...

    async def stream(self, request: TranscribeRequest, cancel: CancelFlag) -> AsyncGenerator[Transcript, None]:
        yield Transcript("nobody speaks in this room", "en", 1.0)


class ScriptedSessionFactory:
    """Makes sessions: `lines` is what the model says, `refusal` what keeps the next daemon from starting."""

    def __init__(self, folders: Folders, lines: Sequence[str | EdgevoxError] = ()) -> None:
        self.folders = folders
        self.lines = lines
        self.refusal: EdgevoxError | None = None
        self.room = QuietRoom()
        self.model: Model | None = None

    def settings(self) -> Settings:
        return load_settings(self.folders, flags={"tools.enabled": False}, environ={})

    def runtime(self, settings: Settings) -> AssistantRuntime:
        store = ModelStore(self.folders.models, load_manifest())
        runtime = AssistantRuntime(settings, self.folders, store, ("llm", "stt", "tts"))
        self.model = Model(self.lines)
        self.model.refusal, self.refusal = self.refusal, None
        vars(runtime.engines).update(llm=self.model, stt=Whisper(), tts=Piper())
        return runtime

    def sound(self, settings: Settings, publish: Callable[[Event], None]) -> AbstractAsyncContextManager[AudioDevices]:
        return nullcontext(self.room)

    def session_context(self, session: ServiceSession) -> AbstractAsyncContextManager[None]:
        return nullcontext()


@asynccontextmanager
async def running_service(
    factory: ScriptedSessionFactory, *, within_s: float = BOUND_S
) -> AsyncIterator[AssistantService]:
    """A running service with its control socket, once it listens."""
    is_ready = asyncio.Event()
    settings = factory.settings()
    service = AssistantService(factory, settings, on_ready=is_ready.set)
    async with asyncio.timeout(within_s):
        with single_instance(factory.folders.runtime) as listening:
            async with control_server(listening, partial(handle_request, service)):
                life = asyncio.create_task(service.run(factory.runtime(settings)))
                try:
                    ready = asyncio.create_task(is_ready.wait())
                    await asyncio.wait((life, ready), return_when=asyncio.FIRST_COMPLETED)
                    if life.done():
                        life.result()
                    yield service
                finally:
                    life.cancel()
                    await asyncio.gather(life, return_exceptions=True)
