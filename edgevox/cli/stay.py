"""The assistant that stays, put together: `edgevox run` at a microphone, and the installed service."""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import (
    AbstractAsyncContextManager,
    AsyncExitStack,
    ExitStack,
    asynccontextmanager,
    contextmanager,
)
from functools import partial
from typing import TypeAlias

from edgevox.audio.found_sound import find_sound
from edgevox.audio.lasting_sound import LastingSound
from edgevox.cli.context import Context
from edgevox.cli.keyboard import keyboard
from edgevox.cli.loop import run_until_done
from edgevox.cli.mcp_approval import approve_servers
from edgevox.cli.session import open_daemon, serve_too
from edgevox.cli.voice_view import LiveView, PlainView
from edgevox.control.instance import only_instance
from edgevox.control.lasting_server import lasting_server
from edgevox.daemon import Daemon
from edgevox.errors import EdgevoxError, ModelMissing, SoundStuck, StateError
from edgevox.events import EngineChanged, EngineName, Event, SoundChanged, StateChanged, TurnEnded
from edgevox.modelstore import open_store
from edgevox.new_process import begin_anew
from edgevox.platform_support import on_signal
from edgevox.resident.resident import Resident, Session
from edgevox.service.notify import ServiceManager
from edgevox.settings import Settings, load_settings

log = logging.getLogger(__name__)

Publish: TypeAlias = Callable[[Event], None]
Shown: TypeAlias = Callable[[Session], AbstractAsyncContextManager[None]]


def stay(context: Context, shown: Shown) -> int:
    """Listen until a signal ends it. Raises AlreadyRunning, and what keeps it from starting."""
    with _instance(context) as listening:
        approve_servers(context)
        daemon = open_daemon(context, engines(context.settings))
        run_until_done(_live(HomeTrade(context, shown), daemon, listening))
    return 0


def engines(settings: Settings) -> tuple[EngineName, ...]:
    """What a conversation by voice needs."""
    return ("llama", "whisper", "piper") if settings.tts.enabled else ("llama", "whisper")


class HomeTrade:
    """Makes sessions of the real engines and devices."""

    def __init__(self, context: Context, shown: Shown) -> None:
        self.folders = context.folders
        self.reload: Callable[[], None] | None = None
        """Has the settings read again, while there is somebody who does that."""
        self._context = context
        self._shown = shown

    def settings(self) -> Settings:
        return load_settings(self.folders, flags=self._context.flags)

    def daemon(self, settings: Settings) -> Daemon:
        store = open_store(self.folders)
        daemon = Daemon(settings, self.folders, store, engines(settings))
        for model_id in daemon.models.needed():
            if not store.has(model_id):
                raise ModelMissing(f"{model_id} is not downloaded", hint=f"edgevox models pull {model_id}")
        return daemon

    def sound(self, settings: Settings, publish: Publish) -> LastingSound:
        return LastingSound(partial(find_sound, settings.audio, speaks=settings.tts.enabled), publish)

    @asynccontextmanager
    async def around(self, session: Session) -> AsyncIterator[None]:
        async with AsyncExitStack() as running:
            await serve_too(session.daemon, self._context, running, self.reload)
            await running.enter_async_context(self._shown(session))
            yield


@contextmanager
def _instance(context: Context) -> Iterator[socket.socket | None]:
    """The socket of the only instance; None, and a word about it, where there is no folder for one."""
    with ExitStack() as held:
        try:
            listening = held.enter_context(only_instance(context.folders.runtime))
        except StateError as error:
            context.complain(error)
            listening = None
        yield listening


async def _live(trade: HomeTrade, daemon: Daemon, listening: socket.socket | None) -> None:
    manager = ServiceManager()
    resident = Resident(trade, daemon.settings, on_ready=lambda: manager.tell(READY="1", STATUS="listening"))
    reloading: set[asyncio.Task[None]] = set()

    def reload() -> None:
        task = asyncio.create_task(_reload(resident))
        reloading.add(task)
        task.add_done_callback(reloading.discard)

    trade.reload = reload
    on_signal("SIGHUP", reload)
    try:
        async with AsyncExitStack() as running:
            if listening is not None:
                server = lasting_server(trade.folders.runtime, listening, resident.handle)
                await running.enter_async_context(server)
            await running.enter_async_context(manager.signs_of_life())
            await resident.run(daemon)
    except SoundStuck as error:
        log.error("%s", error)
        begin_anew()
    finally:
        manager.tell(STOPPING="1")


async def _reload(resident: Resident) -> None:
    try:
        await resident.reload()
    except EdgevoxError as error:
        log.error("the settings cannot be used, the old ones hold: %s (%s)", error, error.hint)


# --- what a person sees of it


def on_terminal(context: Context, *, plain: bool) -> Shown:
    """A session as a person at a terminal sees it, and types into it."""

    @asynccontextmanager
    async def shown(session: Session) -> AsyncIterator[None]:
        daemon, sound = session.daemon, session.sound
        async with AsyncExitStack() as running:
            view = PlainView(context.out, context.err, lambda: daemon.records.last)
            if context.err.is_terminal and not plain and isinstance(sound, LastingSound):
                live = LiveView(
                    context.out, context.err, lambda: daemon.records.last, lambda: sound.level_dbfs
                )
                running.enter_context(live.showing())
                view = live
            running.enter_context(daemon.bus.listening(view))
            running.enter_context(daemon.bus.listening(partial(_print_trouble, context)))

            def talk() -> None:
                if not session.loop.wakefulness.talk():
                    context.err.print("(muted: edgevox unmute)", style="dim")

            await running.enter_async_context(keyboard(session.loop.pipeline, view.ask_again, on_enter=talk))
            yield

    return shown


def _print_trouble(context: Context, event: Event) -> None:
    match event:
        case SoundChanged(device="microphone", is_there=True):
            context.err.print("listening")
        case StateChanged(detail=detail, hint=hint) if detail:
            context.err.print(f"{detail}\n  → {hint}", style="yellow", markup=False, soft_wrap=True)
        case SoundChanged(is_there=False, detail=detail):
            context.err.print(f"{detail}; it is looked for", style="yellow", markup=False, soft_wrap=True)
        case _:
            pass


@asynccontextmanager
async def in_log(session: Session) -> AsyncIterator[None]:
    """A session as the service's log has it: that something was said, and not what."""
    with session.daemon.bus.listening(_log_event):
        log.info("listening with %s", session.daemon.preset.name)
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
            log.info("the %s can be kept again", part)
        case _:
            pass
