"""`edgevox serve`, `service` and `mcp serve`: run the assistant as a server or in the background."""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import time
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path

from mcp.server.stdio import stdio_server

from edgevox.app import service_unit
from edgevox.app.control.protocol import Status
from edgevox.app.http_server import run_http_server
from edgevox.app.local_sessions import log_session, voice_engines
from edgevox.app.runtime import AssistantRuntime
from edgevox.app.service_unit import LOG_FILE_NAME, log_to, tail
from edgevox.audio.io.microphone import Microphone
from edgevox.cli.assistant import open_runtime, report_record_error, run_service
from edgevox.cli.command import Command
from edgevox.cli.commands.control import print_status, send_request
from edgevox.cli.context import Context, add_mcp_options, add_model_options, run_until_done
from edgevox.cli.ui.mcp_approval import approve_servers
from edgevox.core.errors import NotRunning
from edgevox.core.events import EngineName
from edgevox.core.platform import user_id
from edgevox.core.turn import Turn
from edgevox.dialogue.confirm import Intercom
from edgevox.server.mcp import ServedTools, ask_tool, create_mcp_server, file_tool, room_tools


def add_serve_arguments(parser: argparse.ArgumentParser) -> None:
    add_model_options(parser)
    add_mcp_options(parser)
    parser.add_argument("--host", dest="server.host", metavar="ADDRESS", help="address to listen on")
    parser.add_argument("--port", dest="server.port", type=int, metavar="N", help="port to listen on")
    parser.add_argument(
        "--no-audio",
        dest="server.audio",
        action="store_const",
        const=False,
        help="no STT and TTS: fewer models to load",
    )

    parser.add_argument(
        "--mcp",
        dest="server.mcp",
        action="store_const",
        const=True,
        help="also serve the tools to MCP clients, at /mcp",
    )
    parser.add_argument(
        "--wyoming",
        dest="server.wyoming",
        action="store_const",
        const=True,
        help="also serve STT and TTS to Home Assistant (Wyoming)",
    )


def serve_command(_args: argparse.Namespace, context: Context) -> int:
    engines: list[EngineName] = ["llm"]
    if context.settings.server.audio:
        engines += ["stt", "tts"]
    approve_servers(context)
    runtime = open_runtime(context, engines)
    run_until_done(_serve_http(runtime, context))
    return report_record_error(context, runtime)


async def _serve_http(runtime: AssistantRuntime, context: Context) -> None:
    """Serve until a signal arrives."""
    async with AsyncExitStack() as running:
        with context.err.status(f"loading {runtime.preset.name} …"):
            await running.enter_async_context(runtime)
        if runtime.assistant().make_agent is not None:
            # Evaluates the long system prompt and stores it on disk before the first request.
            runtime.pipeline(conversation=runtime.conversation()).start_idle_work()
        await running.enter_async_context(run_http_server(runtime, context.err))
        await asyncio.Event().wait()


def serve_mcp(args: argparse.Namespace, context: Context) -> int:
    engines: list[EngineName] = ["llm"]
    if not args.no_audio:
        engines += ["stt", "tts"]
    runtime = open_runtime(context, engines)
    run_until_done(_serve_mcp(runtime, context, has_audio=not args.no_audio))
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
            intercom = _intercom(runtime, context)
            await running.enter_async_context(intercom.answering(pipeline.confirmation))
            own += [*room_tools(intercom), file_tool(runtime.transcribe, context.settings.tools.sound_folders)]
        server = create_mcp_server(ServedTools(runtime.assistant().executor, own, pipeline.confirmation))
        context.err.print("serving MCP on standard input and output", markup=False)
        read, write = await running.enter_async_context(stdio_server())
        await server.run(read, write, server.create_initialization_options())


def _intercom(runtime: AssistantRuntime, context: Context) -> Intercom:
    audio = context.settings.audio
    return Intercom(
        runtime.voice(),
        context.speaker(),
        runtime.transcriber(),
        lambda: Microphone(audio.microphone),
        audio,
        language=runtime.engines.voice_languages[0],
    )


_PATH_VARIABLES = ("EDGEVOX_CONFIG_DIR", "EDGEVOX_STATE_DIR", "EDGEVOX_MODELS_DIR", "EDGEVOX_RUNTIME_DIR")
_POLL_S = 0.5
_LINGER_HINT = "  the service runs while you are logged in; to start it at boot:\n  → loginctl enable-linger"


def add_service_arguments(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    install = actions.add_parser("install", help="install the service, start it now and at every login")
    install.add_argument("--no-start", action="store_true", help="do not start it now")
    install.add_argument("--print", action="store_true", help="only print the unit file")
    actions.add_parser("uninstall", help="stop and remove the service; keeps settings, models and memory")
    actions.add_parser("status", help="show whether it is installed and running, and its status")
    logs = actions.add_parser("logs", help="show the log")
    logs.add_argument("-n", "--lines", type=int, default=50, metavar="N", help="number of lines (default: 50)")
    logs.add_argument("-f", "--follow", action="store_true", help="keep printing new lines")
    actions.add_parser("run", help="run in the foreground, for other service managers")


def service_command(args: argparse.Namespace, context: Context) -> int:
    match args.action:
        case "install":
            return _install_service(args, context)
        case "uninstall":
            return _uninstall_service(context)
        case "status":
            return _print_service_status(context)
        case "logs":
            return _print_service_log(args, context)
        case _:
            return _run_in_background(context)


def _run_in_background(context: Context) -> int:
    log_to(context.folders.state)
    # A background service waits for the wake word, unless the settings say otherwise.
    if context.settings.sources["wake.mode"].layer == "default":
        context = replace(context, flags={**context.flags, "wake.mode": "word"})
    return run_service(context, log_session)


def _install_service(args: argparse.Namespace, context: Context) -> int:
    command = [sys.executable, "-m", "edgevox", "service", "run"]
    environment = {name: os.environ[name] for name in _PATH_VARIABLES if name in os.environ}
    is_mac = sys.platform == "darwin"
    if is_mac:
        text = service_unit.agent_text(command, environment, context.folders.state)
    else:
        text = service_unit.unit_text(command, environment)
    if args.print:
        context.write(text)
        return 0
    open_runtime(context, voice_engines(context.settings))  # download the models now, not at the first start
    if is_mac:
        path = service_unit.agent_path(Path.home())
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        context.err.print(f"wrote {path} (not tested on macOS yet)", soft_wrap=True)
        context.err.print(f"  → launchctl bootstrap gui/{user_id()} {path}", soft_wrap=True)
        return 0
    service_unit.install(text, start=not args.no_start)
    context.err.print(f"installed {service_unit.unit_path()}", soft_wrap=True)
    if not args.no_start:
        context.err.print("running, and waiting for the wake word; see edgevox status", soft_wrap=True)
    if service_unit.lingers() is False:
        context.err.print(_LINGER_HINT, soft_wrap=True)
    return 0


def _uninstall_service(context: Context) -> int:
    is_mac = sys.platform == "darwin"
    if is_mac:
        path = service_unit.agent_path(Path.home())
        context.err.print(f"  → launchctl bootout gui/{user_id()}/{service_unit.LABEL}", soft_wrap=True)
        path.unlink(missing_ok=True)
        return 0
    if not service_unit.uninstall():
        context.err.print("not installed")
        return 0
    folders = context.folders
    context.err.print("stopped and removed; these folders are kept:")
    for folder in (folders.config, folders.state, folders.models):
        context.err.print(f"  {folder}", markup=False, soft_wrap=True)
    return 0


def _print_service_status(context: Context) -> int:
    if sys.platform != "darwin":
        is_installed = service_unit.unit_path().exists()
        state = f"{service_unit.state('is-enabled')}, {service_unit.state('is-active')}" if is_installed else "no"
        context.out.print(f"[bold]{'installed':<12}[/]{state}")
    try:
        status = run_until_done(send_request(context, Status()))
    except NotRunning as error:
        context.report_error(error)
        return error.exit_code
    print_status(context, status)
    return 0


def _print_service_log(args: argparse.Namespace, context: Context) -> int:
    folder = context.folders.state
    lines = tail(folder, args.lines)
    for line in lines:
        context.write(line)
    if not lines:
        context.err.print(f"no log yet: {folder / LOG_FILE_NAME}", soft_wrap=True)
    if args.follow:
        _follow_log(folder / LOG_FILE_NAME, context)
    return 0


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


COMMANDS = (
    Command("serve", "Serve the OpenAI, Anthropic and WebSocket APIs", serve_command, add_serve_arguments),
    Command("service", "Install, remove or inspect the background service", service_command, add_service_arguments),
)
