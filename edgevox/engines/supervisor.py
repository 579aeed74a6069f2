"""Runs an engine in a child process: spawns it, detects crashes and hangs, and restarts it."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import logging
import mmap
import os
import pickle
import signal
import subprocess
import sys
from collections import deque
from collections.abc import AsyncGenerator
from typing import Any, Generic, NoReturn

from edgevox.core.errors import EdgevoxError, EngineFailed, ModelError
from edgevox.core.events import EngineChanged, EngineState, Publish
from edgevox.core.platform import Streams, anonymous_file, inheritable_socket_pair, kill_child, open_unix_streams
from edgevox.core.turn import CancelFlag, cancel_tasks
from edgevox.core.types import Busy, Engine, ReplyT, RequestT
from edgevox.engines import ipc
from edgevox.engines.base import EngineLimits
from edgevox.engines.ipc import LENGTH, LOAD, End, HeartbeatMonitor, ProcessorShare, Reply, Request, encode

_STDERR_TAIL_LINES, _STDERR_BYTES = 20, 65_536
# How many time limits a child may exceed while other programs take the processor: a restart would need even more of it.
_STARVED_LIMITS = 5
_RESTARTING = "it is restarting: try again in a moment; `edgevox doctor` checks it"
_WRONG_PROCESSOR = (
    "its library was compiled for another processor: install that anew with "
    "`pip install --force-reinstall --no-cache-dir`, llama-cpp-python for the language model"
)


class _Gone:
    """The child has closed its end."""


class _Cancelled:
    """The caller cancelled the request."""


class EngineProcess:
    """One child, from spawn to exit. Not reusable: once `broken` is true it can only be killed."""

    def __init__(
        self, name: str, process: asyncio.subprocess.Process, streams: Streams, memory: mmap.mmap, engine: object
    ) -> None:
        self._name = name
        self._process = process
        self._reader, self._writer = streams
        self._memory = memory
        self._request_id = LOAD
        self._inbox: asyncio.Queue[Reply | _Gone | _Cancelled] = asyncio.Queue()
        self._stderr_tail: deque[str] = deque(maxlen=_STDERR_TAIL_LINES)
        self._tasks = [asyncio.create_task(self._read_replies()), asyncio.create_task(self._read_stderr())]
        self.gone = asyncio.Event()
        self.broken = False
        self.failure = f"{name} stopped while idle"
        self._has_hung = False
        self._writer.write(encode(Request(LOAD, engine)))

    @classmethod
    async def spawn(cls, name: str, engine: object) -> EngineProcess:
        """Start a child that loads the engine.

        Raises EngineFailed if no process can be created, and PlatformUnsupported.
        """
        try:
            ours, theirs = inheritable_socket_pair()
            with contextlib.ExitStack() as on_failure, anonymous_file(f"edgevox-{name}") as shared, theirs:
                on_failure.enter_context(ours)
                os.ftruncate(shared.fileno(), ipc.SHARED_BYTES)
                memory = mmap.mmap(shared.fileno(), ipc.SHARED_BYTES)
                fds = (theirs.fileno(), shared.fileno())
                process = await asyncio.create_subprocess_exec(
                    *(sys.executable, "-m", "edgevox.engines.child", *map(str, fds)),
                    pass_fds=fds,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.PIPE,
                    # On a busy machine numpy's threads wait for each other at every small product: 17 s for what takes
                    # 0.6 s with one. The engines' own libraries have their own threads.
                    env={"OPENBLAS_NUM_THREADS": "1", **os.environ},
                    # A session of its own is a scheduling group of its own (autogroup): the engine gets half of the
                    # cores of a busy desktop, however many processes that runs.
                    start_new_session=True,
                )
                on_failure.pop_all()
            return cls(name, process, await open_unix_streams(ours), memory, engine)
        except OSError as error:
            raise EngineFailed(
                f"the {name} engine cannot be started: {error.strerror or error}",
                hint="it is retried; close other programs, or use a smaller model",
            ) from error

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def alive(self) -> bool:
        return not self.broken and self._process.returncode is None

    async def wait_ready(self, limits: EngineLimits) -> None:
        """Wait until the model is loaded. Raises the error of loading, or EngineFailed."""
        reply = await self._receive(limits.start_s, "did not finish loading")
        if isinstance(reply, Reply) and isinstance(reply.value, EdgevoxError):
            self.broken = True
            raise reply.value
        self._tasks.append(asyncio.create_task(self._watch_heartbeat(limits.heartbeat_s)))

    async def run(self, request: object, cancel: CancelFlag, limits: EngineLimits) -> AsyncGenerator[Any, None]:
        """Send one request and yield its replies; after a cancel it ends without waiting for the child."""
        self._request_id += 1
        request_id = self._request_id
        flag = ipc.cancel_flag(self._memory, request_id)
        flag.clear()
        loop = asyncio.get_running_loop()

        def stop() -> None:
            flag.set()
            loop.call_soon_threadsafe(self._inbox.put_nowait, _Cancelled())

        cancel.add_listener(stop)
        try:
            self._writer.write(encode(Request(request_id, request)))
            timeout_s = limits.first_reply_s
            while not cancel.is_set():
                match await self._receive(timeout_s, "stopped answering"):
                    case Reply(request_id=number) if number != request_id:
                        pass  # a late reply to a cancelled request
                    case Reply(value=Busy()) | _Cancelled():
                        pass  # restarts the silence limit
                    case Reply(value=End()):
                        return
                    case Reply(value=EdgevoxError() as error):
                        raise error
                    case Reply(value=value):
                        timeout_s = limits.next_reply_s
                        yield value
        finally:
            cancel.remove_listener(stop)
            flag.set()

    async def kill(self) -> None:
        self.broken = True
        kill_child(self._process)
        await self._process.wait()
        self._writer.close()
        await cancel_tasks(*self._tasks)
        self._tasks.clear()  # they and this object refer to each other
        with contextlib.suppress(BufferError):  # a flag still in use keeps its memory
            self._memory.close()

    async def _receive(self, timeout_s: float, complaint: str) -> Reply | _Cancelled:
        item = await self._next_item(timeout_s)
        if item is None:
            self._fail(f"{complaint} within {timeout_s:g} s")
        if isinstance(item, _Gone) and self._has_hung:
            self._fail("hung: it made no progress")
        if isinstance(item, _Gone):
            returncode = await self._process.wait()
            how = f"signal {-returncode}" if returncode < 0 else f"exit code {returncode}"
            is_illegal = returncode == -signal.SIGILL
            self._fail(f"stopped unexpectedly ({how})", _WRONG_PROCESSOR if is_illegal else _RESTARTING)
        return item

    async def _next_item(self, timeout_s: float) -> Reply | _Gone | _Cancelled | None:
        """Return None if the child says nothing for so long; a child that gets no processor time has longer."""
        for _ in range(_STARVED_LIMITS):
            share: ProcessorShare | None = None
            while True:
                try:
                    # Not wait_for: Python 3.11's loses a cancel that arrives with the frame.
                    async with asyncio.timeout(timeout_s / 2):
                        return await self._inbox.get()
                except TimeoutError:
                    if share is not None:
                        break
                share = ProcessorShare(self.pid)  # only of long waits, because most replies come at once
            if not share.is_starved():
                break
        return None

    def _fail(self, what: str, hint: str = _RESTARTING) -> NoReturn:
        self.broken = True
        self.failure = f"{self._name} {what}"
        if self._stderr_tail:
            self.failure += ": " + self._stderr_tail[-1]
        raise EngineFailed(f"the {self._name} engine {what}", hint=hint)

    async def _read_replies(self) -> None:
        with contextlib.suppress(asyncio.IncompleteReadError, OSError):
            while True:
                (length,) = LENGTH.unpack(await self._reader.readexactly(LENGTH.size))
                if length > ipc.MAX_FRAME_BYTES:
                    break
                self._inbox.put_nowait(ipc.decode(await self._reader.readexactly(length)))
        self._inbox.put_nowait(_Gone())
        self.gone.set()

    async def _watch_heartbeat(self, silent_s: float) -> None:
        """Kill a child without a heartbeat; pending requests then see that it is gone."""
        monitor = HeartbeatMonitor(self._memory, silent_s=silent_s)
        is_starved = True
        while is_starved:
            share = ProcessorShare(self.pid)
            monitor.restart()
            while monitor.is_alive():  # noqa: ASYNC110  (a stopped child sends no event)
                await asyncio.sleep(ipc.HEARTBEAT_S)
            is_starved = share.is_starved()
        self._has_hung = True
        self.failure = f"{self._name} hung while idle"
        kill_child(self._process)

    async def _read_stderr(self) -> None:
        """Read to the end: a child whose output nobody reads stops."""
        assert self._process.stderr is not None
        rest = b""
        while piece := await self._process.stderr.read(_STDERR_BYTES):
            *lines, rest = (rest + piece).split(b"\n")
            rest = rest[-_STDERR_BYTES:]  # a line may have any length
            self._stderr_tail.extend(line.decode(errors="replace").rstrip() for line in lines)
        if rest:
            self._stderr_tail.append(rest.decode(errors="replace").rstrip())


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
        self._broken: EngineProcess | None = None
        """The one before, which may not have ended yet."""
        self._starting = asyncio.Lock()
        self._one_at_a_time = asyncio.Lock()
        self._idle_watch: asyncio.Task[None] | None = None
        self._restart_task: asyncio.Task[None] | None = None
        self._closed = False

    @property
    def pid(self) -> int | None:
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
        self._publish = publish

    async def start(self) -> None:
        """Start a child and load the model. Raises ModelError, and EngineFailed if it dies or is closed meanwhile."""
        async with self._starting:
            self._check_open()
            if self._process is not None and self._process.alive:
                return
            self._change("starting")
            process: EngineProcess | None = None
            try:
                process = await EngineProcess.spawn(self.name, self._engine)
                await process.wait_ready(self._limits)
                self._check_open()
            except BaseException as error:
                if isinstance(error, (EngineFailed, ModelError)) and not self._closed:
                    self._change("failed", str(error))
                if process is not None:
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
                    self._replace(process)
                raise

    def _check_open(self) -> None:
        """Raises EngineFailed after `close`: a request that still waited would leave a child behind."""
        if self._closed:
            raise EngineFailed(f"the {self.name} engine was closed", hint="try again in a moment")

    async def close(self) -> None:
        """Kill the child at once, for good; the engine has nothing to save."""
        self._closed = True
        await cancel_tasks(self._idle_watch, self._restart_task)
        if self._broken is not None:
            await self._broken.kill()
        if self._process is not None:
            await self._process.kill()
            self._process = None
            self._change("stopped")

    async def _watch_idle(self, process: EngineProcess) -> None:
        await process.gone.wait()
        # A request in flight detects the death itself and has replaced the process when it releases the lock.
        async with self._one_at_a_time:
            if self._process is process:
                self._replace(process)

    def _replace(self, process: EngineProcess) -> None:
        """Restart in a task of its own: the request that has found the fault may be cancelled meanwhile."""
        self._process, self._broken = None, process
        log.warning("%s: %s", self.name, process.failure)
        if not self._closed:
            self._change("restarting", process.failure)
            self._restart_task = asyncio.create_task(self._restart(process))

    async def _restart(self, broken: EngineProcess) -> None:
        """Restart until it succeeds; requests retry on their own and report their errors."""
        async with self._starting:  # there is not always room for two
            await broken.kill()
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
