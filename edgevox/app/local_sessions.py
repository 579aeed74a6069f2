"""Builds voice sessions from the real engines and devices, and runs them until the process ends."""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from functools import partial
from typing import TypeAlias

from rich.console import Console

from edgevox.app.control.handlers import handle_request
from edgevox.app.control.server import persistent_server
from edgevox.app.runtime import AssistantRuntime
from edgevox.app.service import AssistantService, ServiceSession
from edgevox.app.service_unit import SystemdNotifier
from edgevox.audio.io.device_manager import AudioDeviceManager
from edgevox.audio.io.duplex import resolve_devices
from edgevox.config import Settings, load_settings
from edgevox.core.errors import EdgevoxError, ModelMissing, SoundStuck
from edgevox.core.events import EngineChanged, EngineName, Event, Publish, StateChanged, TurnEnded
from edgevox.core.files import Folders
from edgevox.core.platform import on_signal, reexec
from edgevox.models import open_store

log = logging.getLogger(__name__)

SessionView: TypeAlias = Callable[[ServiceSession], AbstractAsyncContextManager[None]]


def voice_engines(settings: Settings) -> tuple[EngineName, ...]:
    """Return the engines of a voice conversation."""
    return ("llm", "stt", "tts") if settings.tts.enabled else ("llm", "stt")


class LocalSessionFactory:
    """Builds sessions with the real engines and devices."""

    def __init__(self, folders: Folders, flags: Mapping[str, object], console: Console, view: SessionView) -> None:
        self.folders = folders
        self.reload: Callable[[], None] | None = None
        """Reloads the settings; set while a service runs."""
        self._flags = flags
        self._console = console
        self._view = view

    def settings(self) -> Settings:
        return load_settings(self.folders, flags=self._flags)

    def runtime(self, settings: Settings) -> AssistantRuntime:
        store = open_store(self.folders)
        runtime = AssistantRuntime(settings, self.folders, store, voice_engines(settings))
        for model_id in runtime.models.needed():
            if not store.has(model_id):
                raise ModelMissing(f"{model_id} is not downloaded", hint=f"edgevox models pull {model_id}")
        return runtime

    def sound(self, settings: Settings, publish: Publish) -> AudioDeviceManager:
        return AudioDeviceManager(partial(resolve_devices, settings.audio, speaks=settings.tts.enabled), publish)

    @asynccontextmanager
    async def session_context(self, session: ServiceSession) -> AsyncIterator[None]:
        async with AsyncExitStack() as running:
            await serve_if_enabled(session.runtime, self._console, running, self.reload)
            await running.enter_async_context(self._view(session))
            yield


async def run_sessions(
    factory: LocalSessionFactory, runtime: AssistantRuntime, control_socket: socket.socket | None
) -> None:
    manager = SystemdNotifier()
    service = AssistantService(
        factory, runtime.settings, on_ready=lambda: manager.notify(READY="1", STATUS="listening")
    )
    reloading: set[asyncio.Task[None]] = set()

    def reload() -> None:
        task = asyncio.create_task(_reload(service))
        reloading.add(task)
        task.add_done_callback(reloading.discard)

    factory.reload = reload
    on_signal("SIGHUP", reload)
    try:
        async with AsyncExitStack() as running:
            if control_socket is not None:
                server = persistent_server(factory.folders.runtime, control_socket, partial(handle_request, service))
                await running.enter_async_context(server)
            await running.enter_async_context(manager.watchdog_pings())
            await service.run(runtime)
    except SoundStuck as error:
        log.error("%s", error)
        reexec()
    finally:
        manager.notify(STOPPING="1")


async def _reload(service: AssistantService) -> None:
    try:
        await service.reload()
    except EdgevoxError as error:
        log.error("invalid settings, keeping the old ones: %s (%s)", error, error.hint)


@asynccontextmanager
async def log_session(session: ServiceSession) -> AsyncIterator[None]:
    """Log a session, without the words of its turns."""
    with session.runtime.bus.listening(_log_event):
        log.info("listening with %s", session.runtime.preset.name)
        yield


def _log_event(event: Event) -> None:
    match event:
        case TurnEnded(turn_id=turn_id, outcome="failed", error=error):
            log.error("turn %s failed: %s", turn_id, error)
        case TurnEnded(turn_id=turn_id, outcome=outcome):
            log.info("turn %s was %s", turn_id, outcome)
        case EngineChanged(engine=engine, state=state, detail=detail):
            level = logging.WARNING if state in ("restarting", "failed") else logging.INFO
            log.log(level, "%s is %s %s", engine, state, detail)
        case StateChanged(detail=detail, hint=hint) if detail:
            log.error("%s (%s)", detail, hint)
        case StateChanged(part=part):
            log.info("the %s can be written again", part)
        case _:
            pass


async def serve_if_enabled(
    runtime: AssistantRuntime, console: Console, running: AsyncExitStack, reload: Callable[[], None] | None = None
) -> None:
    """Start the HTTP server if the settings enable it; `reload` reloads the settings."""
    if runtime.settings.server.enabled:
        # Imported here because the server is slow to import and optional.
        from edgevox.app.http_server import run_http_server

        await running.enter_async_context(run_http_server(runtime, console, reload))
