"""What goes wrong around and inside the whole program, one thing at a time, and how it is put right."""

from __future__ import annotations

import asyncio
import os
import random
import resource
import signal
import subprocess
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress

import aiohttp
import aiomqtt

from tests.soak.journal import Journal
from tests.soak.processes import family, role_of
from tests.soak.program import SENTENCES, Program

_PAUSE_S = (25.0, 70.0)
# Parts of the run in which engines are killed. Between them each has one life, long enough to show a trend of its
# memory (96 of 120 minutes).
_ENGINE_FAULTS_IN = ((0.0, 0.12), (0.92, 0.99))
_ENGINE_FAULT_SHARE = 0.7
_DISK_FULL = "disk full"
_ENGINES_READY_WITHIN_S = 90.0
_CROWD = 12
_FULL_BYTES = 4096


class ProgramFaults:
    def __init__(self, program: Program, journal: Journal, chance: random.Random, run_s: float) -> None:
        self._program = program
        self._journal = journal
        self._chance = chance
        self._run_s = run_s
        self._around: dict[str, Callable[[], Awaitable[None]]] = {
            "microphone pulled out": self._unplug,
            "sound server killed": self._kill_sound_server,
            "broker killed": self._kill_broker,
            "broker hangs": self._freeze_broker,
            "MCP server killed": self._kill_mcp_server,
            "queue full": self._crowd,
            "slow clients": self._slow_clients,
            _DISK_FULL: self._fill_disk,
        }

    async def run(self) -> None:
        """Until cancelled."""
        while True:
            await asyncio.sleep(self._chance.uniform(*_PAUSE_S))
            part = self._journal.now_s / self._run_s
            is_engines_turn = any(begin <= part < end for begin, end in _ENGINE_FAULTS_IN)
            if is_engines_turn and self._chance.random() < _ENGINE_FAULT_SHARE:
                await self._strike()
            else:
                kind = self._chance.choice(tuple(self._around))
                if kind == _DISK_FULL:  # an engine that is being started needs a shared memory file
                    await self._until_engines_are_ready()
                begun_s = self._journal.now_s
                try:
                    with self._journal.fault(kind):
                        await self._around[kind]()
                except Exception as error:  # noqa: BLE001  (the run goes on, and it is in the result)
                    self._journal.error(f"to make a fault: {kind}", begun_s, f"{type(error).__name__}: {error}")

    async def _strike(self) -> None:
        """Kill or stop an engine, idle or in the middle of a request."""
        how = self._chance.choice((signal.SIGKILL, signal.SIGSTOP))
        role = self._chance.choice(("llm", "stt", "tts"))
        with self._journal.fault("engine killed" if how == signal.SIGKILL else "engine hung", role):
            async with self._busy() if self._chance.random() < 0.5 else _nothing():
                await asyncio.sleep(self._chance.uniform(0.0, 1.5))
                self._signal(role, how)

    @asynccontextmanager
    async def _busy(self) -> AsyncIterator[None]:
        """A question is being answered meanwhile, of which nothing is expected."""
        asking = asyncio.create_task(self._ask())
        yield
        await asyncio.wait((asking,), timeout=30)
        asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)

    async def _unplug(self) -> None:
        control = self._program.room.control
        with suppress(subprocess.CalledProcessError):  # the sound server was restarted just now
            await asyncio.to_thread(control, "unload-module", "module-remap-source")
        await asyncio.sleep(self._chance.uniform(2, 15))
        words = ("module-remap-source", "source_name=mic", "master=micsink.monitor")
        await asyncio.to_thread(control, "load-module", *words)
        await asyncio.to_thread(control, "set-default-source", "mic")

    async def _kill_sound_server(self) -> None:
        await asyncio.to_thread(self._program.room.kill_server)
        await asyncio.sleep(self._chance.uniform(1, 10))
        await asyncio.to_thread(self._program.room.start_server)

    async def _kill_broker(self) -> None:
        await asyncio.to_thread(self._program.broker.stop)
        await asyncio.sleep(self._chance.uniform(2, 15))
        await self._restart_broker()

    async def _freeze_broker(self) -> None:
        self._program.broker.freeze()
        await asyncio.sleep(self._chance.uniform(2, 15))
        await asyncio.to_thread(self._program.broker.stop)
        await self._restart_broker()

    async def _restart_broker(self) -> None:
        await asyncio.to_thread(self._program.broker.start)
        with suppress(aiomqtt.MqttError, TimeoutError):
            await self._program.devices.disconnect()
        await self._program.devices.connect()

    async def _kill_mcp_server(self) -> None:
        self._signal("mcp", signal.SIGKILL)
        await asyncio.sleep(5)

    async def _crowd(self) -> None:
        """More requests than may wait; half of the clients do not wait for the answer."""

        async def impatient() -> None:
            async with asyncio.timeout(self._chance.uniform(0.5, 20)):
                await self._ask()

        await asyncio.gather(*(impatient() for _ in range(_CROWD)), return_exceptions=True)

    async def _slow_clients(self) -> None:
        """Some never finish their request, others never read their answer."""
        host, port = "127.0.0.1", self._program.port
        body = b'{"model": "default", "stream": true, "messages": [{"role": "user", "content": "Tell me a story."}]}'
        whole = f"POST /v1/chat/completions HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n"
        whole += f"Authorization: Bearer {self._program.token}\r\nContent-Length: {len(body)}\r\n\r\n"
        writers = []
        for content in (whole.encode() + body, whole.encode(), whole.encode()[:40], b""):
            _reader, writer = await asyncio.open_connection(host, port)
            writer.write(content)
            writers.append(writer)
        await asyncio.sleep(self._chance.uniform(5, 40))
        for writer in writers:
            writer.transport.abort()

    async def _fill_disk(self) -> None:
        with full_disk(self._program.pid):
            await asyncio.sleep(self._chance.uniform(5, 20))

    async def _until_engines_are_ready(self) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(_ENGINES_READY_WITHIN_S):
                while self._journal.loading:
                    await self._journal.ledger.changed()

    async def _ask(self) -> None:
        body = {"model": "default", "messages": [{"role": "user", "content": self._chance.choice(SENTENCES)}]}
        headers = {"Authorization": f"Bearer {self._program.token}"}
        with suppress(aiohttp.ClientError):
            async with (
                aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(90), headers=headers) as http,
                http.post(f"{self._program.url}/v1/chat/completions", json=body) as answer,
            ):
                await answer.read()

    def _signal(self, role: str, how: signal.Signals) -> None:
        for pid in family(self._program.pid):
            with suppress(OSError):  # it ended meanwhile
                if role_of(pid, self._program.pid) == role:
                    os.kill(pid, how)


@contextmanager
def full_disk(pid: int) -> Iterator[None]:
    """The process cannot write a file beyond a page: a mount cannot be made everywhere.

    Children that start meanwhile inherit the limit, so it is lifted from all of them.
    """
    soft, hard = resource.prlimit(pid, resource.RLIMIT_FSIZE)
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (_FULL_BYTES, hard))
    try:
        yield
    finally:
        for member in family(pid):
            with suppress(ProcessLookupError):
                resource.prlimit(member, resource.RLIMIT_FSIZE, (soft, hard))


@asynccontextmanager
async def _nothing() -> AsyncIterator[None]:
    yield
