"""Prepares the assistant for a command (models, approvals, single instance) and runs it in a terminal."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator, Collection
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager, closing
from functools import partial
from pathlib import Path
from typing import assert_never

from edgevox.app.control.server import single_instance
from edgevox.app.local_sessions import LocalSessionFactory, SessionView, run_sessions, voice_engines
from edgevox.app.runtime import AssistantRuntime
from edgevox.app.service import ServiceSession
from edgevox.app.service_unit import LogFile
from edgevox.audio.io.device_manager import AudioDeviceManager
from edgevox.audio.io.microphone import Microphone
from edgevox.cli.context import Context, run_until_done
from edgevox.cli.ui.keyboard import keyboard
from edgevox.cli.ui.mcp_approval import approve_servers
from edgevox.cli.ui.native_messages import native_messages_to
from edgevox.cli.ui.progress import pull_progress
from edgevox.cli.ui.voice_view import LiveView, PlainView
from edgevox.config import Settings, user_presets
from edgevox.config.sections import wake_words
from edgevox.core.errors import ConfigError, ModelError, ModelMissing, StateError
from edgevox.core.events import EngineName, Event, SoundChanged, StateChanged
from edgevox.llm.presets import all_presets
from edgevox.models import open_store


def open_runtime(context: Context, engines: Collection[EngineName], *, adapter: Path | None = None) -> AssistantRuntime:
    """Build a runtime, not started yet, and download its models. Raises ConfigError and ModelError.

    `adapter` is a GGUF file that replaces the preset's adapter.
    """
    if adapter is not None and not adapter.is_file():
        raise ConfigError(f"adapter not found: {adapter}", hint="--adapter takes a GGUF file")
    if (model := context.settings.llm.model) is not None and not model.exists():
        raise ModelMissing(f"model file not found: {model}", hint=_model_hint(context, model.name))
    store = open_store(context.folders)
    runtime = AssistantRuntime(context.settings, context.folders, store, engines, adapter_path=adapter)
    with pull_progress(context.err) as progress:
        store.ensure(runtime.models.needed(), progress)
    try:
        runtime.models.prepare(context.note)
    except ModelError as error:
        context.report_error(error)
        context.note("  continuing with the downloaded model, which is slower")
    return runtime


def _model_hint(context: Context, name: str) -> str:
    presets = all_presets(user_presets(context.folders))
    if any(name in (preset.name, *preset.aliases) for preset in presets):
        return f"{name} is a preset: write --preset {name}"
    return "llm.model (--model) takes a GGUF file; --preset takes a name of edgevox presets list"


def report_record_error(context: Context, runtime: AssistantRuntime) -> int:
    """Print the error if a turn could not be recorded; return the exit code."""
    problem = runtime.record_problem
    if problem is None:
        return 0
    context.report_error(problem)
    return problem.exit_code


def run_service(context: Context, view: SessionView) -> int:
    """Run the assistant until a signal ends it. Raises AlreadyRunning and any error during start."""
    with ExitStack() as held:
        control_socket: socket.socket | None = None
        try:
            control_socket = held.enter_context(single_instance(context.folders.runtime))
        except StateError as error:
            context.report_error(error)
        approve_servers(context)
        runtime = open_runtime(context, voice_engines(context.settings))
        held.enter_context(context.loading)
        sessions = LocalSessionFactory(context.folders, context.flags, context.err, view)
        run_until_done(run_sessions(sessions, runtime, control_socket))
    return 0


def open_view(
    context: Context,
    runtime: AssistantRuntime,
    source: Microphone | AudioDeviceManager | None,
    running: AsyncExitStack,
    *,
    plain: bool,
) -> PlainView:
    """Return the view of a conversation; on a terminal with a status line, if there is a source with a level."""
    if source is None or plain or not context.err.is_terminal:
        return PlainView(context.out, context.err, lambda: runtime.records.last)
    view = LiveView(context.out, context.err, lambda: runtime.records.last, lambda: source.level_dbfs)
    running.enter_context(native_messages_to(running.enter_context(closing(LogFile(context.folders.state)))))
    running.enter_context(view.showing())
    return view


def terminal_view(context: Context, *, plain: bool) -> SessionView:
    """Return a view that prints a session to the terminal and reads typed input."""

    @asynccontextmanager
    async def show(session: ServiceSession) -> AsyncIterator[None]:
        runtime, sound = session.runtime, session.sound
        context.loading.stop()
        async with AsyncExitStack() as running:
            source = sound if isinstance(sound, AudioDeviceManager) else None
            view = open_view(context, runtime, source, running, plain=plain)
            running.enter_context(runtime.bus.listening(view))
            running.enter_context(runtime.bus.listening(partial(_print_device_change, context, runtime)))

            def talk() -> None:
                if not session.loop.wake_state.talk():
                    context.note("(muted: edgevox unmute)", style="dim")

            await running.enter_async_context(keyboard(session.loop.pipeline, view.prompt, on_enter=talk))
            yield

    return show


def ready_lines(settings: Settings, preset: str, microphone: str) -> tuple[str, ...]:
    """What the assistant listens with, and an example of what to say."""
    wake = settings.wake
    match wake.mode:
        case "word":
            word = wake.model.stem if wake.model else wake_words()[wake.word].phrase
            opening = f'"{word}", then '
        case "phrase":
            opening = f'"{wake.phrase}", then '
        case "off":
            opening = ""
        case _:
            assert_never(wake.mode)
    example = "Turn on the kitchen light." if settings.home.kind == "demo" else "What time is it?"
    return f"listening with {preset} on {microphone}", f'  say {opening}"{example}"'


def _print_device_change(context: Context, runtime: AssistantRuntime, event: Event) -> None:
    match event:
        case SoundChanged(device="microphone", is_there=True, name=name):
            context.note(*ready_lines(runtime.settings, runtime.preset.name, name or "the microphone"))
        case StateChanged(detail=detail, hint=hint) if detail:
            context.note(detail, f"  → {hint}", style="yellow")
        case SoundChanged(is_there=False, detail=detail):
            context.note(f"{detail}; waiting for it to return", style="yellow")
        case _:
            pass
