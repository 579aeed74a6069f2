"""`edgevox run`: the assistant. Questions are lines of text, answers are printed and spoken aloud."""

from __future__ import annotations

import argparse
import sys
from contextlib import AsyncExitStack

from edgevox.audio.speaker import Speaker
from edgevox.cli.context import Context
from edgevox.cli.lines import stdin_lines
from edgevox.cli.loop import run_until_done
from edgevox.cli.options import add_model_options
from edgevox.cli.session import open_daemon, report_unrecorded
from edgevox.daemon import Daemon
from edgevox.errors import DeviceUnavailable, EdgevoxError
from edgevox.events import EngineChanged, Event, ReplyDelta
from edgevox.turn import Turn
from edgevox.voice.pipeline import Pipeline


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_model_options(parser)
    parser.add_argument(
        "--no-speech",
        dest="tts.enabled",
        action="store_const",
        const=False,
        help="print the answers, do not speak them",
    )


def run(args: argparse.Namespace, context: Context) -> int:
    speaker = _speaker(context)
    daemon = open_daemon(context, ["llama", "piper"] if speaker else ["llama"])
    exit_code = run_until_done(_serve(daemon, context, speaker))
    return exit_code or report_unrecorded(context, daemon)


def _speaker(context: Context) -> Speaker | None:
    settings = context.settings
    if not settings.tts.enabled:
        return None
    try:
        return Speaker(settings.audio.speaker)
    except DeviceUnavailable as error:
        context.complain(error)
        context.err.print("  answers are printed only")
        return None


async def _serve(daemon: Daemon, context: Context, speaker: Speaker | None) -> int:
    """Answer line after line; a turn that fails is reported and the next one starts afresh."""
    interactive = sys.stdin.isatty()
    exit_code = 0

    def prompt() -> None:
        if interactive:
            context.err.print("[bold cyan]you ›[/] ", end="")

    async with AsyncExitStack() as running:
        with context.err.status(f"loading {daemon.preset.name} …"):
            await running.enter_async_context(daemon)
        running.enter_context(daemon.bus.listening(lambda event: _show(context, event)))
        if interactive:
            context.err.print("Ask me something. Ctrl-D or Ctrl-C ends.")
        pipeline = daemon.pipeline(speaker)
        async for line in stdin_lines(prompt):
            exit_code = await _one_turn(pipeline, context, line)
    return 0 if interactive else exit_code


async def _one_turn(pipeline: Pipeline, context: Context, line: str) -> int:
    try:
        await pipeline.answer(line, Turn())
    except EdgevoxError as error:
        context.out.print()
        context.complain(error)
        return error.exit_code
    context.out.print()
    return 0


def _show(context: Context, event: Event) -> None:
    match event:
        case ReplyDelta(text=text):
            context.out.print(text, end="", markup=False, soft_wrap=True)
        case EngineChanged(engine=engine, state="restarting", detail=detail):
            context.err.print(f"[yellow]{engine} is being restarted[/] ({detail})")
        case _:
            pass
