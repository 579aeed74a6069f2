"""`edgevox run`: the assistant. It listens to the microphone, to a sound file, or takes lines of text."""

from __future__ import annotations

import argparse
import asyncio
import os
import stat
import sys
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path
from typing import get_args

from edgevox.audio.microphone import Microphone
from edgevox.audio.speaker import Speaker
from edgevox.audio.wav_microphone import WavMicrophone
from edgevox.audio.wav_speaker import WavSpeaker
from edgevox.cli.context import Context
from edgevox.cli.keyboard import keyboard, print_question
from edgevox.cli.lines import stdin_lines
from edgevox.cli.loop import run_until_done
from edgevox.cli.mcp_approval import approve_servers
from edgevox.cli.options import add_mcp_options, add_model_options
from edgevox.cli.session import open_daemon, report_unrecorded, serve_too
from edgevox.cli.stay import on_terminal, stay
from edgevox.cli.voice_view import LiveView, PlainView, print_ring
from edgevox.daemon import Daemon
from edgevox.errors import ConfigError, DeviceUnavailable, EdgevoxError, EngineFailed
from edgevox.events import (
    ConfirmationRequired,
    EngineChanged,
    EngineName,
    Event,
    ReplyDelta,
    RingEnded,
    RingStarted,
    RingTrouble,
    TurnEnded,
)
from edgevox.settings.wake_section import WakeMode
from edgevox.turn import Turn
from edgevox.voice import Loudspeaker, Pipeline


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_model_options(parser)
    add_mcp_options(parser)
    parser.add_argument("--mic", dest="audio.microphone", metavar="NAME", help="edgevox devices lists them")
    parser.add_argument("--speaker", dest="audio.speaker", metavar="NAME", help="likewise")
    parser.add_argument(
        "--wake",
        dest="wake.mode",
        nargs="?",
        const="word",
        choices=get_args(WakeMode),
        help="listen only when called: by the wake word, or by your phrase; off: always listen",
    )
    parser.add_argument("--text", action="store_true", help="take lines of text, do not listen")
    parser.add_argument("--input", type=Path, metavar="FILE", help="listen to a sound file, then end")
    parser.add_argument("--output", type=Path, metavar="FILE.wav", help="speak into a file")
    parser.add_argument("--plain", action="store_true", help="no live line: for logs")
    parser.add_argument(
        "--no-speech",
        dest="tts.enabled",
        action="store_const",
        const=False,
        help="print the answers, do not speak them",
    )


def run(args: argparse.Namespace, context: Context) -> int:
    if args.output and not context.settings.tts.enabled:
        raise ConfigError("--output needs speech", hint="leave out --no-speech, or set tts.enabled")
    speaker = WavSpeaker(args.output) if args.output else _speaker(context)
    ear = _ear(args, context)
    if isinstance(ear, Microphone) and not args.output:
        silent = {} if speaker else {"tts.enabled": False}
        return stay(
            replace(context, flags={**context.flags, **silent}), on_terminal(context, plain=args.plain)
        )
    engines: list[EngineName] = ["llama"]
    if speaker:
        engines.append("piper")
    if ear:
        engines.append("whisper")
    approve_servers(context)
    daemon = open_daemon(context, engines)
    if ear is None:
        exit_code = run_until_done(_take_lines(daemon, context, speaker))
    else:
        exit_code = run_until_done(_listen(daemon, context, ear, speaker, plain=args.plain))
    if isinstance(speaker, WavSpeaker):
        speaker.save()
    return exit_code or report_unrecorded(context, daemon)


def _speaker(context: Context) -> Speaker | None:
    if not context.settings.tts.enabled:
        return None
    try:
        return context.speaker()
    except DeviceUnavailable as error:
        context.complain(error)
        context.err.print("  answers are printed only")
        return None


def _ear(args: argparse.Namespace, context: Context) -> Microphone | WavMicrophone | None:
    """What to listen to; None where lines of text are to be read instead."""
    if args.input:
        return WavMicrophone(args.input)
    if args.text or _something_is_piped_in():
        return None
    try:
        return Microphone(context.settings.audio.microphone)
    except DeviceUnavailable as error:
        if not sys.stdin.isatty():
            raise
        context.complain(error)
        context.err.print("  type your questions instead")
        return None


def _something_is_piped_in() -> bool:
    mode = os.fstat(sys.stdin.fileno()).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISREG(mode) or stat.S_ISSOCK(mode)


# --- by voice


async def _listen(
    daemon: Daemon,
    context: Context,
    ear: Microphone | WavMicrophone,
    speaker: Loudspeaker | None,
    *,
    plain: bool,
) -> int:
    """Answer what is heard until the sound ends."""
    view: PlainView = PlainView(context.out, context.err, lambda: daemon.records.last)
    async with AsyncExitStack() as running:
        with context.err.status(f"loading {daemon.preset.name} …"):
            await running.enter_async_context(daemon)
        await serve_too(daemon, context, running)
        if isinstance(ear, Microphone):
            await running.enter_async_context(ear)
            if context.err.is_terminal and not plain:
                live = LiveView(context.out, context.err, lambda: daemon.records.last, lambda: ear.level_dbfs)
                running.enter_context(live.showing())
                view = live
            else:
                context.err.print("listening")
        running.enter_context(daemon.bus.listening(view))
        loop = daemon.voice_loop(ear, speaker)
        if isinstance(ear, Microphone):
            await running.enter_async_context(
                keyboard(loop.pipeline, view.ask_again, on_enter=loop.wakefulness.talk)
            )
        await loop.run()
    return EngineFailed.exit_code if view.failed else 0


# --- by lines of text


async def _take_lines(daemon: Daemon, context: Context, speaker: Loudspeaker | None) -> int:
    """Answer line after line; a turn that fails is reported and the next one starts afresh."""
    exit_code = 0
    async with AsyncExitStack() as running:
        with context.err.status(f"loading {daemon.preset.name} …"):
            await running.enter_async_context(daemon)
        await serve_too(daemon, context, running)
        running.enter_context(daemon.bus.listening(lambda event: _print_reply(context, event)))
        pipeline = daemon.pipeline(speaker, daemon.conversation())
        pipeline.rest()
        if ringer := daemon.ringer(pipeline):
            await running.enter_async_context(ringer.at_work())
        if sys.stdin.isatty():
            await _converse(pipeline, context)
        else:
            async for line in stdin_lines(lambda: None):
                exit_code = await _one_turn(pipeline, context, line)
    return exit_code


async def _converse(pipeline: Pipeline, context: Context) -> None:
    """The same with a person, who may answer a question, or say stop, before the turn is over."""
    lines: asyncio.Queue[str | None] = asyncio.Queue()

    def prompt() -> None:
        context.err.print("[bold cyan]you ›[/] ", end="")

    context.err.print("Ask me something. Ctrl-D or Ctrl-C ends.")
    async with keyboard(pipeline, lambda text: context.err.print(text, end=" "), lines.put_nowait):
        prompt()
        while (line := await lines.get()) is not None:
            await _one_turn(pipeline, context, line)
            prompt()


async def _one_turn(pipeline: Pipeline, context: Context, line: str) -> int:
    try:
        await pipeline.answer(line, Turn())
    except EdgevoxError as error:
        context.complain(error)
        return error.exit_code
    return 0


def _print_reply(context: Context, event: Event) -> None:
    match event:
        case ReplyDelta(text=text):
            context.out.print(text, end="", markup=False, soft_wrap=True)
        case RingStarted(text=text):
            context.out.print(f"\n{text}", markup=False, soft_wrap=True)
        case RingEnded() | RingTrouble():
            print_ring(context.err, event)
        case TurnEnded():
            context.out.print()
        case ConfirmationRequired(question=question):
            print_question(context, question)
        case EngineChanged(engine=engine, state="restarting", detail=detail):
            context.err.print(f"{engine} is being restarted ({detail})", style="yellow", markup=False)
        case _:
            pass
