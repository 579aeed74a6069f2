"""`edgevox serve`: the assistant for other programs, without a microphone."""

from __future__ import annotations

import argparse
import asyncio
from contextlib import AsyncExitStack

from edgevox.cli.context import Context
from edgevox.cli.loop import run_until_done
from edgevox.cli.mcp_approval import approve_servers
from edgevox.cli.options import add_mcp_options, add_model_options
from edgevox.cli.served import served
from edgevox.cli.session import open_daemon, report_unrecorded
from edgevox.daemon import Daemon
from edgevox.events import EngineName


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_model_options(parser)
    add_mcp_options(parser)
    parser.add_argument("--host", dest="server.host", metavar="ADDRESS", help="the address to listen on")
    parser.add_argument("--port", dest="server.port", type=int, metavar="N", help="its port")
    parser.add_argument(
        "--no-audio",
        dest="server.audio",
        action="store_const",
        const=False,
        help="neither recognise nor speak: fewer models to load",
    )

    parser.add_argument(
        "--mcp",
        dest="server.mcp",
        action="store_const",
        const=True,
        help="the assistant's tools for MCP clients, too, at /mcp",
    )
    parser.add_argument(
        "--wyoming",
        dest="server.wyoming",
        action="store_const",
        const=True,
        help="ear and voice for Home Assistant, too",
    )


def run(_args: argparse.Namespace, context: Context) -> int:
    engines: list[EngineName] = ["llama"]
    if context.settings.server.audio:
        engines += ["whisper", "piper"]
    approve_servers(context)
    daemon = open_daemon(context, engines)
    run_until_done(_serve(daemon, context))
    return report_unrecorded(context, daemon)


async def _serve(daemon: Daemon, context: Context) -> None:
    """Until a signal ends it."""
    async with AsyncExitStack() as running:
        with context.err.status(f"loading {daemon.preset.name} …"):
            await running.enter_async_context(daemon)
        if daemon.assistant().make_agent is not None:
            # Its own prompt is long: it is evaluated, and kept on disk, before somebody waits for it.
            daemon.pipeline(conversation=daemon.conversation()).rest()
        await running.enter_async_context(served(daemon, context))
        await asyncio.Event().wait()
