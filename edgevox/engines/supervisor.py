"""Runs an engine in a child process: spawns it, detects crashes and hangs, and restarts it."""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import itertools
import logging
import mmap
import os
import pickle
import socket
import subprocess
import sys
from collections import deque
from collections.abc import AsyncGenerator, Iterator
from typing import IO, Any, Generic, NoReturn, cast

from edgevox.core.errors import EngineFailed, ModelError
from edgevox.core.events import EngineChanged, EngineState, Publish
from edgevox.core.platform import anonymous_file, inheritable_socket_pair, open_unix_streams
from edgevox.core.turn import CancelFlag
from edgevox.core.types import Busy, Engine, ReplyT, RequestT
from edgevox.engines.base import EngineLimits
from edgevox.engines.ipc import (
    FLAG_BYTES,
    HEARTBEAT_OFFSET,
    HEARTBEAT_S,
    LENGTH,
    MAX_FRAME_BYTES,
    SHARED_BYTES,
    ChildFrame,
    Failed,
    Finished,
    HeartbeatMonitor,
    Load,
    Ready,
    Reply,
    Run,
    decode,
    encode,
    flag_slot,
)

_STDERR_TAIL_LINES = 20


class _Gone:
    """The child has closed its end."""


class _Cancelled:
    """The caller cancelled the request."""


class EngineProcess:
    """One child, from spawn to exit. Not reusable: once `broken` is true it can only be killed."""

    def __init__(
        self, name: str, process: asyncio.subprocess.Process, connection: _Connection, flags: mmap.mmap
    ) -> None:
        self._name = name
        self._process = process
        self._connection = connection
        self._flags = flags
        self._request_id = 0
        self._inbox: asyncio.Queue[ChildFrame | _Gone | _Cancelled] = asyncio.Queue()
        self._last_words: deque[str] = deque(maxlen=_STDERR_TAIL_LINES)
        self._tasks = [asyncio.create_task(self._read_frames()), asyncio.create_task(self._read_stderr())]
        self.gone = asyncio.Event()
        self.broken = False
        self.epitaph = f"{name} stopped while idle"
        self._has_hung = False

    @classmethod
    async def spawn(cls, name: str, engine: object) -> EngineProcess:
        """Start a child that loads the engine.

        Raises EngineFailed if no process can be created, and PlatformUnsupported.
        """
        try:
            return await cls._spawn(name, engine)
        except OSError as error:
            raise EngineFailed(
                f"the {name} engine cannot be started: {error.strerror or error}",
                hint="it is retried; close other programs, or use a smaller model",
            ) from error

    @classmethod
    async def _spawn(cls, name: str, engine: object) -> EngineProcess:
        ours, theirs = inheritable_socket_pair()
        with contextlib.ExitStack() as on_failure, _shared_memory(name) as shared, theirs:
            on_failure.enter_context(ours)
            flags = mmap.mmap(shared.fileno(), SHARED_BYTES)
            fds = (theirs.fileno(), shared.fileno())
            process = await asyncio.create_subprocess_exec(
                sys.executable,
                "-m",
                "edgevox.engines.child",
                *map(str, fds),
                pass_fds=fds,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                # A session of its own is a scheduling group of its own (autogroup): the engine gets half of the cores
                # of a busy desktop, however many processes that runs.
                start_new_session=True,
            )
            on_failure.pop_all()
        connection = await _Connection.open(ours)
        connection.send(encode(Load(engine)))
        return cls(name, process, connection, flags)

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def alive(self) -> bool:
        return not self.broken and self._process.returncode is None

    async def wait_ready(self, limits: EngineLimits) -> None:
        """Wait until the model is loaded. Raises the error of loading, or EngineFailed."""
        match await self._receive(limits.start_s, "did not finish loading"):
            case Ready():
                self._tasks.append(asyncio.create_task(self._watch_heartbeat(limits.heartbeat_s)))
            case Failed(error=error):
                self.broken = True
                raise error
            case frame:
                raise AssertionError(f"{self._name} sent {frame} first")

    async def run(self, request: object, cancel: CancelFlag, limits: EngineLimits) -> AsyncGenerator[Any, None]:
        """Send one request and yield its replies; after a cancel it ends without waiting for the child."""
        self._request_id += 1
        request_id = self._request_id
        flag = CancelFlag((ctypes.c_char * FLAG_BYTES).from_buffer(self._flags, flag_slot(request_id)))
        flag.clear()
        loop = asyncio.get_running_loop()

        def stop() -> None:
            flag.set()
            loop.call_soon_threadsafe(self._inbox.put_nowait, _Cancelled())

        cancel.add_listener(stop)
        try:
            self._connection.send(encode(Run(request_id, request)))
            timeout_s = limits.first_reply_s
            while not cancel.is_set():
                match await self._receive(timeout_s, "stopped answering"):
                    case Reply(request_id=number, value=Busy()) if number == request_id:
                        pass  # restarts the silence limit
                    case Reply(request_id=number, value=value) if number == request_id:
                        timeout_s = limits.next_reply_s
                        yield value
                    case Finished(request_id=number) if number == request_id:
                        return
                    case Failed(request_id=number, error=error) if number == request_id:
                        raise error
                    case _:
                        pass  # a late frame of a cancelled request
        finally:
            cancel.remove_listener(stop)
            flag.set()

    async def kill(self) -> None:
        """Kill the child and wait for its exit."""
        self.broken = True
        with contextlib.suppress(ProcessLookupError):
            self._process.kill()
        await self._process.wait()
        self._connection.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._tasks.clear()  # they and this object refer to each other
        with contextlib.suppress(BufferError):  # a flag still in use keeps its memory
            self._flags.close()

    async def _receive(self, timeout_s: float, complaint: str) -> ChildFrame | _Cancelled:
        try:
            # Not wait_for: Python 3.11's loses a cancel that arrives with the frame.
            async with asyncio.timeout(timeout_s):
                item = await self._inbox.get()
        except TimeoutError:
            self._fail(f"{complaint} within {timeout_s:g} s")
        if isinstance(item, _Gone) and self._has_hung:
            self._fail("hung: it made no progress")
        if isinstance(item, _Gone):
            returncode = await self._process.wait()
            how = f"signal {-returncode}" if returncode < 0 else f"exit code {returncode}"
            self._fail(f"stopped unexpectedly ({how})")
        return item

    def _fail(self, what: str) -> NoReturn:
        self.broken = True
        self.epitaph = f"{self._name} {what}"
        if self._last_words:
            self.epitaph += ": " + self._last_words[-1]
        raise EngineFailed(
            f"the {self._name} engine {what}",
            hint="it is restarting: try again in a moment; `edgevox doctor` checks it",
        )

    async def _read_frames(self) -> None:
        while (frame := await self._connection.receive()) is not None:
            self._inbox.put_nowait(frame)
        self._inbox.put_nowait(_Gone())
        self.gone.set()

    async def _watch_heartbeat(self, silent_s: float) -> None:
        """Kill a child without a heartbeat; pending requests then see that it is gone."""
        monitor = HeartbeatMonitor(self._flags, HEARTBEAT_OFFSET, silent_s=silent_s)
        while monitor.is_alive():  # noqa: ASYNC110  (a stopped child sends no event)
            await asyncio.sleep(HEARTBEAT_S)
        self._has_hung = True
        self.epitaph = f"{self._name} hung while idle"
        with contextlib.suppress(ProcessLookupError):
            self._process.kill()

    async def _read_stderr(self) -> None:
        assert self._process.stderr is not None
        async for line in self._process.stderr:
            self._last_words.append(line.decode(errors="replace").rstrip())


@contextlib.contextmanager
def _shared_memory(name: str) -> Iterator[IO[bytes]]:
    with anonymous_file(f"edgevox-{name}") as memory:
        os.ftruncate(memory.fileno(), SHARED_BYTES)
        yield memory


class _Connection:
    """Frames over the parent's end of the socket pair."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    @classmethod
    async def open(cls, ours: socket.socket) -> _Connection:
        return cls(*await open_unix_streams(ours))

    def send(self, data: bytes) -> None:
        self._writer.write(data)

    async def receive(self) -> ChildFrame | None:
        """Return the next frame, or None when the child is gone."""
        try:
            (length,) = LENGTH.unpack(await self._reader.readexactly(LENGTH.size))
            if length > MAX_FRAME_BYTES:
                return None
            frame = cast("ChildFrame", decode(await self._reader.readexactly(length)))
        except (asyncio.IncompleteReadError, OSError):
            return None
        return frame

    def close(self) -> None:
        self._writer.close()


log = logging.getLogger(__name__)


# If memory is short, an engine may fit once another program has ended.
_RETRY_S = (1.0, 2.0, 5.0, 15.0, 30.0)


class SupervisedEngine(Generic[RequestT, ReplyT]):
    """A Stage that owns at most one child process and replaces it when it dies or hangs."""

    def __init__(
        self,
        name: str,
        engine: Engine[RequestT, ReplyT],
        *,
        limits: EngineLimits | None = None,
        publish: Publish = lambda _event: None,
    ) -> None:
        self.name = name
        self._engine = engine
        self._limits = limits or EngineLimits()
        self._publish = publish
        self._process: EngineProcess | None = None
        self._starting = asyncio.Lock()
        self._one_at_a_time = asyncio.Lock()
        self._idle_watch: asyncio.Task[None] | None = None
        self._restart_task: asyncio.Task[None] | None = None
        self._closed = False

    @property
    def pid(self) -> int | None:
        """Return the child's process id, if it runs."""
        return self._process.pid if self._process else None

    @property
    def is_up(self) -> bool:
        return self._process is not None

    def is_equivalent_to(self, other: SupervisedEngine[RequestT, ReplyT]) -> bool:
        """Whether both would run the same engine, so that one that already runs can be reused."""
        # An unloaded engine is just its settings: what a child would receive.
        mine, others = pickle.dumps(self._engine), pickle.dumps(other._engine)
        return mine == others and self._limits == other._limits

    def publish_to(self, publish: Publish) -> None:
        """Publish to another bus from now on."""
        self._publish = publish

    async def start(self) -> None:
        """Start a child and load the model. Raises ModelError, or EngineFailed if it dies while loading."""
        async with self._starting:
            if self._process is not None and self._process.alive:
                return
            self._change("starting")
            try:
                process = await EngineProcess.spawn(self.name, self._engine)
            except EngineFailed as error:
                self._change("failed", str(error))
                raise
            try:
                await process.wait_ready(self._limits)
            except (EngineFailed, ModelError) as error:
                self._change("failed", str(error))
                await process.kill()
                raise
            except asyncio.CancelledError:
                await process.kill()
                raise
            self._process = process
            self._idle_watch = asyncio.create_task(self._watch_idle(process))
            self._change("ready")

    async def stream(self, request: RequestT, cancel: CancelFlag) -> AsyncGenerator[ReplyT, None]:
        async with self._one_at_a_time:
            await self.start()
            process = self._process
            assert process is not None
            try:
                async with contextlib.aclosing(process.run(request, cancel, self._limits)) as replies:
                    async for reply in replies:
                        yield reply
            except EngineFailed:
                if process.broken:
                    await self._replace(process)
                raise

    async def close(self) -> None:
        """Kill the child at once; the engine has nothing to save."""
        self._closed = True
        for task in (self._idle_watch, self._restart_task):
            if task is not None:
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)
        if self._process is not None:
            await self._process.kill()
            self._process = None
            self._change("stopped")

    async def _watch_idle(self, process: EngineProcess) -> None:
        await process.gone.wait()
        # A request in flight detects the death itself and has replaced the process when it releases the lock.
        async with self._one_at_a_time:
            if self._process is process:
                await self._replace(process)

    async def _replace(self, process: EngineProcess) -> None:
        self._process = None
        await process.kill()
        log.warning("%s: %s", self.name, process.epitaph)
        if not self._closed:
            self._change("restarting", process.epitaph)
            self._restart_task = asyncio.create_task(self._restart())

    async def _restart(self) -> None:
        """Restart until it succeeds; requests retry on their own and report their errors."""
        for wait_s in itertools.chain(_RETRY_S, itertools.repeat(_RETRY_S[-1])):
            try:
                await self.start()
            except (EngineFailed, ModelError) as error:
                log.error("%s did not restart: %s", self.name, error)
            else:
                return
            await asyncio.sleep(wait_s)

    def _change(self, state: EngineState, detail: str = "") -> None:
        self._publish(EngineChanged(engine=self.name, state=state, detail=detail))
