"""An engine in a child process of its own, watched: a crash or a hang costs a restart and nothing else."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import pickle
from collections.abc import AsyncGenerator, Callable
from typing import Generic, TypeAlias

from edgevox.engine.limits import EngineLimits
from edgevox.engine.process import EngineProcess
from edgevox.errors import EngineFailed, ModelError
from edgevox.events import EngineChanged, EngineState, Event
from edgevox.turn import CancelFlag
from edgevox.types import Engine, ReplyT, RequestT

log = logging.getLogger(__name__)

Publish: TypeAlias = Callable[[Event], None]


class SupervisedEngine(Generic[RequestT, ReplyT]):
    """A Stage that owns at most one child process and replaces it when it dies or stops answering."""

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
        self._watch: asyncio.Task[None] | None = None
        self._revival: asyncio.Task[None] | None = None
        self._closed = False

    @property
    def pid(self) -> int | None:
        """The child's process id, while there is one."""
        return self._process.pid if self._process else None

    def does_the_same_as(self, other: SupervisedEngine[RequestT, ReplyT]) -> bool:
        """Whether it makes no difference which of the two does the work, but that one may run already."""
        # An engine that is not loaded is its settings: what a child would be given.
        mine, others = pickle.dumps(self._engine), pickle.dumps(other._engine)
        return mine == others and self._limits == other._limits

    def publish_to(self, publish: Publish) -> None:
        """Tell somebody else from now on."""
        self._publish = publish

    async def start(self) -> None:
        """Have a child with the model loaded. Raises ModelError, or EngineFailed when it dies loading."""
        async with self._starting:
            if self._process is not None and self._process.alive:
                return
            self._change("starting")
            process = await EngineProcess.spawn(self.name, self._engine)
            try:
                await process.wait_ready(self._limits.start_s)
            except (EngineFailed, ModelError) as error:
                self._change("failed", str(error))
                await process.kill()
                raise
            except asyncio.CancelledError:
                await process.kill()
                raise
            self._process = process
            self._watch = asyncio.create_task(self._watch_idle(process))
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
        """End the child at once; the engine holds nothing that needs saving."""
        self._closed = True
        for task in (self._watch, self._revival):
            if task is not None:
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)
        if self._process is not None:
            await self._process.kill()
            self._process = None
            self._change("stopped")

    async def _watch_idle(self, process: EngineProcess) -> None:
        await process.gone.wait()
        # A request in flight sees the death itself and has replaced the process by the time it lets go.
        async with self._one_at_a_time:
            if self._process is process:
                await self._replace(process)

    async def _replace(self, process: EngineProcess) -> None:
        self._process = None
        await process.kill()
        log.warning("%s: %s", self.name, process.epitaph)
        if not self._closed:
            self._change("restarting", process.epitaph)
            self._revival = asyncio.create_task(self._revive())

    async def _revive(self) -> None:
        try:
            await self.start()
        except (EngineFailed, ModelError) as error:
            # The next request tries again, and its turn tells the user.
            log.error("%s did not come back: %s", self.name, error)

    def _change(self, state: EngineState, detail: str = "") -> None:
        self._publish(EngineChanged(engine=self.name, state=state, detail=detail))
