"""`edgevox serve`, `service` and `mcp serve`: run the assistant as a server or in the background."""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import time
from contextlib import AsyncExitStack
from pathlib import Path

from mcp.server.stdio import stdio_server

from edgevox.app import service_unit
from edgevox.app.control.protocol import SimpleRequest
from edgevox.app.http_server import run_server_only
from edgevox.app.local_sessions import log_session, voice_engines
from edgevox.app.runtime import AssistantRuntime
from edgevox.app.service_unit import LOG_FILE_NAME, log_to, tail
from edgevox.audio.io.microphone import Microphone
from edgevox.cli.assistant import open_runtime, report_record_error, run_service
from edgevox.cli.command import MCP_OPTIONS, MODEL_OPTIONS, Command, argument, setting, switch
from edgevox.cli.commands.control import print_status, send_request
from edgevox.cli.context import Context, run_until_done
from edgevox.cli.ui.mcp_approval import approve_servers
from edgevox.core.platform import user_id
from edgevox.core.turn import Turn
from edgevox.dialogue.confirm import Intercom
from edgevox.server.mcp import ServedTools, ask_tool, create_mcp_server, file_tool, room_tools


@Command(
    "serve",
    "Serve the OpenAI, Anthropic and WebSocket APIs",
    *MODEL_OPTIONS,
    *MCP_OPTIONS,
    setting("--host", "server.host", "ADDRESS", "address to listen on"),
    setting("--port", "server.port", "N", "port to listen on"),
    switch("--no-audio", "server.audio", "no STT and TTS: fewer models to load", value=False),
    switch("--mcp", "server.mcp", "also serve the tools to MCP clients, at /mcp"),
    switch("--wyoming", "server.wyoming", "also serve STT, TTS and wake words to Home Assistant (Wyoming)"),
)
def serve(_args: argparse.Namespace, context: Context) -> int:
    approve_servers(context)
    runtime = _open_runtime(context, has_audio=context.settings.server.audio)
    run_until_done(_serve_http(runtime, context))
    return report_record_error(context, runtime)


def _open_runtime(context: Context, *, has_audio: bool) -> AssistantRuntime:
    return open_runtime(context, ["llm", "stt", "tts"] if has_audio else ["llm"])


async def _serve_http(runtime: AssistantRuntime, context: Context) -> None:
    """Serve until a signal arrives."""
    async with AsyncExitStack() as running:
        with context.err.status(f"loading {runtime.preset.name} …"):
            await running.enter_async_context(runtime)
        await running.enter_async_context(run_server_only(runtime, context.err))
        await asyncio.Event().wait()


def serve_mcp(context: Context, *, has_audio: bool) -> int:
    runtime = _open_runtime(context, has_audio=has_audio)
    run_until_done(_serve_mcp(runtime, context, has_audio=has_audio))
    return report_record_error(context, runtime)


async def _serve_mcp(runtime: AssistantRuntime, context: Context, *, has_audio: bool) -> None:
    """Serve until the client closes standard input."""
    async with AsyncExitStack() as running:
        # Standard output carries the protocol.
        with context.err.status(f"loading {runtime.preset.name} …"):
            await running.enter_async_context(runtime)
        pipeline = runtime.pipeline()

        async def ask(question: str) -> str:
            return (await pipeline.answer(question, Turn())).reply

        own = [ask_tool(ask)]
        if has_audio:
            audio = context.settings.audio
            intercom = Intercom(
                runtime.voice(),
                context.speaker(),
                runtime.transcriber(),
                lambda: Microphone(audio.microphone),
                audio,
                language=runtime.engines.voice_languages[0],
            )
            await running.enter_async_context(intercom.answering(pipeline.confirmation))
            own += [*room_tools(intercom), file_tool(runtime.transcribe, context.settings.tools.sound_folders)]
        toolbox = runtime.home_context.toolbox
        house = toolbox.home.house if toolbox else None
        tools = ServedTools(runtime.assistant().executor, own, pipeline.confirmation)
        server = create_mcp_server(tools, house=house)
        context.note("serving MCP on standard input and output")
        read, write = await running.enter_async_context(stdio_server())
        await server.run(read, write, server.create_initialization_options())


_PATH_VARIABLES = ("EDGEVOX_CONFIG_DIR", "EDGEVOX_STATE_DIR", "EDGEVOX_MODELS_DIR", "EDGEVOX_RUNTIME_DIR")
_POLL_S = 0.5


SERVICE = Command("service", "Install, remove or inspect the background service")


@SERVICE.action(
    "install",
    "install the service, start it now and at every login",
    argument("--no-start", action="store_true", help="do not start it now"),
    argument("--print", action="store_true", help="only print the unit file"),
)
def _install(args: argparse.Namespace, context: Context) -> None:
    if args.print:
        context.write(_service_text(context))
        return
    install_service(context, start=not args.no_start)
    is_mac = sys.platform == "darwin"
    if is_mac:
        return
    if not args.no_start:
        context.note("running, and waiting for the wake word; see edgevox status")
    if service_unit.lingers() is False:
        context.note("  the service runs while you are logged in; to start it at boot:", "  → loginctl enable-linger")


def install_service(context: Context, *, start: bool) -> None:
    """Download the models, write and enable the service, and start it if wanted. Raises EdgevoxError."""
    is_mac = sys.platform == "darwin"
    if not is_mac:
        service_unit.systemctl("show-environment")  # fails now, not after a download, where no manager answers
    open_runtime(context, voice_engines(context.settings))  # download the models now, not at the first start
    if is_mac:
        path = service_unit.agent_path(Path.home())
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(_service_text(context), encoding="utf-8")
        context.note(f"wrote {path} (not tested on macOS yet)", f"  → launchctl bootstrap gui/{user_id()} {path}")
        return
    service_unit.install(_service_text(context), start=start)
    context.note(f"installed {service_unit.unit_path()}")


def _service_text(context: Context) -> str:
    command = [sys.executable, "-m", "edgevox", "service", "run"]
    environment = {name: os.environ[name] for name in _PATH_VARIABLES if name in os.environ}
    is_mac = sys.platform == "darwin"
    if is_mac:
        return service_unit.agent_text(command, environment, context.folders.state)
    return service_unit.unit_text(command, environment)


@SERVICE.action("uninstall", "stop and remove the service; keeps settings, models and memory")
def _uninstall(_args: argparse.Namespace, context: Context) -> None:
    is_mac = sys.platform == "darwin"
    if is_mac:
        context.note(f"  → launchctl bootout gui/{user_id()}/{service_unit.LABEL}")
        service_unit.agent_path(Path.home()).unlink(missing_ok=True)
    elif not service_unit.uninstall():
        context.note("not installed")
    else:
        folders = context.folders
        kept = (folders.config, folders.state, folders.models)
        context.note("stopped and removed; these folders are kept:", *(f"  {folder}" for folder in kept))


@SERVICE.action("status", "show whether it is installed and running, and its status")
def _status(_args: argparse.Namespace, context: Context) -> None:
    if sys.platform != "darwin":
        is_installed = service_unit.unit_path().exists()
        state = f"{service_unit.state('is-enabled')}, {service_unit.state('is-active')}" if is_installed else "no"
        context.out.print(f"[bold]{'installed':<12}[/]{state}")
    print_status(context, run_until_done(send_request(context, SimpleRequest(do="status"))))


@SERVICE.action(
    "logs",
    "show the log",
    argument("-n", "--lines", type=int, default=50, metavar="N", help="number of lines (default: 50)"),
    argument("-f", "--follow", action="store_true", help="keep printing new lines"),
)
def _logs(args: argparse.Namespace, context: Context) -> None:
    folder = context.folders.state
    lines = tail(folder, args.lines)
    for line in lines:
        context.write(line)
    if not lines:
        context.note(f"no log yet: {folder / LOG_FILE_NAME}")
    if args.follow:
        _follow_log(folder / LOG_FILE_NAME, context)


def _follow_log(path: Path, context: Context) -> None:
    """Print new lines until Ctrl-C; handles rotation of the file."""
    position = path.stat().st_size if path.exists() else 0
    while True:
        time.sleep(_POLL_S)
        size = path.stat().st_size if path.exists() else 0
        if size < position:
            position = 0
        if size > position:
            with path.open(encoding="utf-8", errors="replace") as file:
                file.seek(position)
                context.write(file.read().rstrip("\n"))
                position = file.tell()


@SERVICE.action("run", "run in the foreground, for other service managers")
def _run(_args: argparse.Namespace, context: Context) -> int:
    log_to(context.folders.state)
    # A background service waits for the wake word, unless the settings say otherwise.
    if context.settings.sources["wake.mode"].layer == "default":
        context = context.with_flags({"wake.mode": "word"})
    return run_service(context, log_session)
