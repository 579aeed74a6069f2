"""What goes wrong in the soak, one thing after the other, and how it is put right."""

from __future__ import annotations

import asyncio
import os
import random
import resource
import shutil
import signal
import socket
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TypeAlias, get_args

from edgevox.app.control.client import request
from edgevox.app.control.protocol import SOCKET_NAME, Ask, Request, SimpleRequest, line_of
from edgevox.app.service import AssistantService
from edgevox.core.errors import ControlError, EngineFailed
from edgevox.core.events import EndpointReached, EngineName, Event, PlaybackStarted, SynthesisStarted, TurnStarted
from edgevox.core.types import JsonObject
from tests.soak.ledger import Ledger
from tests.soak.room import SoakSessionFactory

Undo: TypeAlias = Callable[[], Awaitable[None]]

_MOMENTS: tuple[type[Event], ...] = (TurnStarted, EndpointReached, SynthesisStarted, PlaybackStarted)
# More than an engine's process shares with its parent, less than a record after a few turns.
_FULL_BYTES = 4096


class Faults:
    """Each fault is a coroutine that does it, and returns what puts it right after the turn."""

    def __init__(
        self, factory: SoakSessionFactory, service: AssistantService, ledger: Ledger, chance: random.Random
    ) -> None:
        self._factory = factory
        self._service = service
        self._ledger = ledger
        self._chance = chance
        self.kinds: dict[str, Callable[[], Awaitable[Undo]]] = {
            "engine killed": lambda: self._strike(signal.SIGKILL),
            "engine hung": lambda: self._strike(signal.SIGSTOP),
            "microphone pulled out": self._unplug,
            "disk full": self._fill_disk,
            "state folder deleted": self._delete_state,
            "client vanished": self._vanish,
            "question by socket": self._ask,
            "settings reloaded": self._reload,
            "muted and unmuted": self._mute,
            "told to stop": self._stop,
        }

    async def _strike(self, how: signal.Signals) -> Undo:
        """Hit an engine: now, or at a moment of the turn that comes."""
        engine: EngineName = self._chance.choice(get_args(EngineName))
        moment = self._chance.choice((None, *_MOMENTS))

        def hit() -> None:
            self._ledger.on_event = lambda _event: None
            session = self._service.session
            pid = session.runtime.engines.pid(engine) if session else None
            if pid is not None:
                os.kill(pid, how)

        if moment is None:
            hit()
        else:
            self._ledger.on_event = lambda event: hit() if isinstance(event, moment) else None
        return self._nothing

    async def _unplug(self) -> Undo:
        room = self._factory.soak_room
        room.is_plugged_in = False

        async def plug_in() -> None:
            room.is_plugged_in = True
            room.server.tell()

        return plug_in

    async def _fill_disk(self) -> Undo:
        """No file grows beyond a page, in this whole process: a mount cannot be made everywhere."""
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (_FULL_BYTES, hard))

        async def empty() -> None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
            await self._do(SimpleRequest(do="status"))  # a status request writes pending records

        return empty

    async def _delete_state(self) -> Undo:
        self._ledger.collect()
        shutil.rmtree(self._factory.folders.state, ignore_errors=True)  # SQLite deletes files of its own
        return self._nothing

    async def _vanish(self) -> Undo:
        """Clients that end in the middle of a request or an answer, or cannot be understood."""
        wanted = (SimpleRequest(do="watch"), Ask(text="Is anybody there?"))
        lines = (*(line_of(one.model_dump()) for one in wanted), b'{"v": 1, "do"', b"\0\n")
        path = str(self._factory.folders.runtime / SOCKET_NAME)
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
            client.setblocking(False)
            loop = asyncio.get_running_loop()
            await loop.sock_connect(client, path)
            await loop.sock_sendall(client, self._chance.choice(lines))
            await asyncio.sleep(self._chance.random() * 0.1)
        return self._nothing

    async def _ask(self) -> Undo:
        with suppress(EngineFailed):  # that is in the books as well
            await self._do(Ask(text="What is four?"))
        return self._nothing

    async def _reload(self) -> Undo:
        speed = self._chance.choice((0.9, 1.0, 1.1, 1.2))
        follow_up_s = self._chance.choice((3.0, 5.0))
        folders = self._factory.folders
        folders.config.mkdir(parents=True, exist_ok=True)
        folders.config_file.write_text(f"[tts]\nspeed = {speed}\n[wake]\nfollow_up_s = {follow_up_s}\n")
        with suppress(ControlError):  # the one before is still under way
            await self._do(SimpleRequest(do="reload"))
        return self._nothing

    async def _mute(self) -> Undo:
        await self._do(SimpleRequest(do="mute"))
        await asyncio.sleep(self._chance.random() * 0.2)
        await self._do(SimpleRequest(do="unmute"))
        return self._nothing

    async def _stop(self) -> Undo:
        moment = self._chance.choice(_MOMENTS)
        told: set[asyncio.Task[JsonObject]] = set()

        def tell(event: Event) -> None:
            if isinstance(event, moment):
                self._ledger.on_event = lambda _event: None
                told.add(asyncio.create_task(self._do(SimpleRequest(do="stop"))))

        self._ledger.on_event = tell

        async def is_told() -> None:
            await asyncio.gather(*told, return_exceptions=True)

        return is_told

    async def _nothing(self) -> None: ...

    async def _do(self, wanted: Request) -> JsonObject:
        async with request(self._factory.folders.runtime, wanted) as asking:
            return await asking.done()
