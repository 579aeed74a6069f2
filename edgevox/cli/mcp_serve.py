"""`edgevox mcp serve`: the assistant as an MCP server, on standard input and output."""

from __future__ import annotations

import argparse
from contextlib import AsyncExitStack

from mcp.server.stdio import stdio_server

from edgevox.audio.microphone import Microphone
from edgevox.cli.context import Context
from edgevox.cli.loop import run_until_done
from edgevox.cli.session import open_daemon, report_unrecorded
from edgevox.daemon import Daemon
from edgevox.events import EngineName
from edgevox.server.mcp_server import ServedTools, create_mcp_server
from edgevox.server.mcp_tools import ask_tool, file_tool, room_tools
from edgevox.turn import Turn
from edgevox.voice.intercom import Intercom


def serve(args: argparse.Namespace, context: Context) -> int:
    engines: list[EngineName] = ["llama"]
    if not args.no_audio:
        engines += ["whisper", "piper"]
    daemon = open_daemon(context, engines)
    run_until_done(_serve(daemon, context, has_audio=not args.no_audio))
    return report_unrecorded(context, daemon)


async def _serve(daemon: Daemon, context: Context, *, has_audio: bool) -> None:
    """Until the client closes our input."""
    async with AsyncExitStack() as running:
        # Standard output belongs to the protocol.
        with context.err.status(f"loading {daemon.preset.name} …"):
            await running.enter_async_context(daemon)
        pipeline = daemon.pipeline()

        async def ask(question: str) -> str:
            return (await pipeline.answer(question, Turn())).reply

        own = [ask_tool(ask)]
        if has_audio:
            intercom = _intercom(daemon, context)
            await running.enter_async_context(intercom.answering(pipeline.asking))
            own += [*room_tools(intercom), file_tool(daemon.transcribe, context.settings.tools.sound_folders)]
        server = create_mcp_server(ServedTools(daemon.assistant().executor, own, pipeline.asking))
        context.err.print("serving MCP on standard input and output", markup=False)
        read, write = await running.enter_async_context(stdio_server())
        await server.run(read, write, server.create_initialization_options())


def _intercom(daemon: Daemon, context: Context) -> Intercom:
    audio = context.settings.audio
    return Intercom(
        daemon.voice(),
        context.speaker(),
        daemon.hearing(),
        lambda: Microphone(audio.microphone),
        audio,
        language=daemon.engines.voice_languages[0],
    )
