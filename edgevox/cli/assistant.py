"""Prepares the assistant for a command (models, approvals, single instance), and runs it in a terminal."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator, Collection, Iterator
from contextlib import (
    AsyncExitStack,
    ExitStack,
    asynccontextmanager,
    contextmanager,
)
from functools import partial
from pathlib import Path

from edgevox.app.control.server import single_instance
from edgevox.app.local_sessions import (
    LocalSessionFactory,
    SessionView,
    run_sessions,
    voice_engines,
)
from edgevox.app.runtime import AssistantRuntime
from edgevox.app.service import ServiceSession
from edgevox.audio.io.device_manager import AudioDeviceManager
from edgevox.cli.context import Context, run_until_done
from edgevox.cli.ui.keyboard import keyboard
from edgevox.cli.ui.mcp_approval import approve_servers
from edgevox.cli.ui.progress import pull_progress
from edgevox.cli.ui.voice_view import LiveView, PlainView
from edgevox.core.errors import ConfigError, ModelError, StateError
from edgevox.core.events import EngineName, Event, SoundChanged, StateChanged
from edgevox.models import open_store


def open_runtime(context: Context, engines: Collection[EngineName], *, adapter: Path | None = None) -> AssistantRuntime:
    """A daemon that is not started yet, with its models in the store. Raises ConfigError and ModelError.

    `adapter` is a file that goes before the preset's own.
    """
    if adapter is not None and not adapter.is_file():
        raise ConfigError(f"there is no file {adapter}", hint="--adapter takes a GGUF file")
    store = open_store(context.folders)
    runtime = AssistantRuntime(context.settings, context.folders, store, engines, adapter_path=adapter)
    with pull_progress(context.err) as progress:
        store.ensure(runtime.models.needed(), progress)
    try:
        runtime.models.prepare(lambda text: context.err.print(text, markup=False, soft_wrap=True))
    except ModelError as error:
        context.report_error(error)
        context.err.print("  the model works as it was downloaded, only slower", markup=False)
    return runtime


def report_record_error(context: Context, runtime: AssistantRuntime) -> int:
    """Say that a turn could not be recorded; the exit code that follows from it."""
    problem = runtime.record_problem
    if problem is None:
        return 0
    context.report_error(problem)
    return problem.exit_code


def run_service(context: Context, shown: SessionView) -> int:
    """Listen until a signal ends it. Raises AlreadyRunning, and what keeps it from starting."""
    with _single_instance(context) as listening:
        approve_servers(context)
        runtime = open_runtime(context, voice_engines(context.settings))
        run_until_done(
            run_sessions(LocalSessionFactory(context.folders, context.flags, context.err, shown), runtime, listening)
        )
    return 0


@contextmanager
def _single_instance(context: Context) -> Iterator[socket.socket | None]:
    """The socket of the only instance; None, and a word about it, where there is no folder for one."""
    with ExitStack() as held:
        try:
            listening = held.enter_context(single_instance(context.folders.runtime))
        except StateError as error:
            context.report_error(error)
            listening = None
        yield listening


def terminal_view(context: Context, *, plain: bool) -> SessionView:
    """A session as a person at a terminal sees it, and types into it."""

    @asynccontextmanager
    async def shown(session: ServiceSession) -> AsyncIterator[None]:
        runtime, sound = session.runtime, session.sound
        async with AsyncExitStack() as running:
            view = PlainView(context.out, context.err, lambda: runtime.records.last)
            if context.err.is_terminal and not plain and isinstance(sound, AudioDeviceManager):
                live = LiveView(context.out, context.err, lambda: runtime.records.last, lambda: sound.level_dbfs)
                running.enter_context(live.showing())
                view = live
            running.enter_context(runtime.bus.listening(view))
            running.enter_context(runtime.bus.listening(partial(_print_device_change, context)))

            def talk() -> None:
                if not session.loop.wake_state.talk():
                    context.err.print("(muted: edgevox unmute)", style="dim")

            await running.enter_async_context(keyboard(session.loop.pipeline, view.ask_again, on_enter=talk))
            yield

    return shown


def _print_device_change(context: Context, event: Event) -> None:
    match event:
        case SoundChanged(device="microphone", is_there=True):
            context.err.print("listening")
        case StateChanged(detail=detail, hint=hint) if detail:
            context.err.print(f"{detail}\n  → {hint}", style="yellow", markup=False, soft_wrap=True)
        case SoundChanged(is_there=False, detail=detail):
            context.err.print(f"{detail}; it is looked for", style="yellow", markup=False, soft_wrap=True)
        case _:
            pass
