"""A resident whose engines and devices follow a script."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, aclosing, asynccontextmanager, nullcontext

import numpy as np

from edgevox.audio.duplex import Duplex
from edgevox.control.instance import only_instance
from edgevox.control.server import control_server
from edgevox.daemon import Daemon
from edgevox.errors import EdgevoxError
from edgevox.events import Event
from edgevox.folders import Folders
from edgevox.modelstore import ModelStore, load_manifest
from edgevox.resident.resident import Resident, Session, Sound
from edgevox.settings import Settings, load_settings
from edgevox.testing import MemorySpeaker, ScriptedModel, ToneSynthesizer
from edgevox.turn import CancelFlag
from edgevox.types import Audio, ChatReply, ChatRequest, TranscribeRequest, Transcript

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

    async def stream(
        self, request: TranscribeRequest, cancel: CancelFlag
    ) -> AsyncGenerator[Transcript, None]:
        yield Transcript("nobody speaks in this room", "en", 1.0)


class ScriptedTrade:
    """Makes sessions: `lines` is what the model says, `refusal` what keeps the next daemon from starting."""

    def __init__(self, folders: Folders, lines: Sequence[str | EdgevoxError] = ()) -> None:
        self.folders = folders
        self.lines = lines
        self.refusal: EdgevoxError | None = None
        self.room = QuietRoom()
        self.model: Model | None = None

    def settings(self) -> Settings:
        return load_settings(self.folders, flags={"tools.enabled": False}, environ={})

    def daemon(self, settings: Settings) -> Daemon:
        store = ModelStore(self.folders.models, load_manifest())
        daemon = Daemon(settings, self.folders, store, ("llama", "whisper", "piper"))
        self.model = Model(self.lines)
        self.model.refusal, self.refusal = self.refusal, None
        vars(daemon.engines).update(llama=self.model, whisper=Whisper(), piper=Piper())
        return daemon

    def sound(
        self, settings: Settings, publish: Callable[[Event], None]
    ) -> AbstractAsyncContextManager[Sound]:
        return nullcontext(self.room)

    def around(self, session: Session) -> AbstractAsyncContextManager[None]:
        return nullcontext()


@asynccontextmanager
async def living(trade: ScriptedTrade, *, within_s: float = BOUND_S) -> AsyncIterator[Resident]:
    """A resident with its socket, from when it listens."""
    is_ready = asyncio.Event()
    settings = trade.settings()
    resident = Resident(trade, settings, on_ready=is_ready.set)
    async with asyncio.timeout(within_s):
        with only_instance(trade.folders.runtime) as listening:
            async with control_server(listening, resident.handle):
                life = asyncio.create_task(resident.run(trade.daemon(settings)))
                try:
                    ready = asyncio.create_task(is_ready.wait())
                    await asyncio.wait((life, ready), return_when=asyncio.FIRST_COMPLETED)
                    if life.done():
                        life.result()
                    yield resident
                finally:
                    life.cancel()
                    await asyncio.gather(life, return_exceptions=True)
