"""`edgevox run` (by microphone, audio file or text) and `edgevox demo` (one example turn)."""

from __future__ import annotations

import argparse
import asyncio
import os
import stat
import sys
import tempfile
from contextlib import AsyncExitStack
from pathlib import Path
from typing import get_args

from rich.markup import escape
from rich.status import Status

from edgevox.app.local_sessions import serve_if_enabled
from edgevox.app.runtime import AssistantRuntime
from edgevox.audio.files import WavMicrophone, WavSpeaker
from edgevox.audio.io.microphone import Microphone
from edgevox.audio.io.speaker import Speaker
from edgevox.cli.assistant import open_runtime, open_view, ready_lines, report_record_error, run_service, terminal_view
from edgevox.cli.command import MCP_OPTIONS, MODEL_OPTIONS, Command, argument, setting, switch
from edgevox.cli.context import Context, run_until_done, stdin_lines
from edgevox.cli.ui.keyboard import keyboard, print_question
from edgevox.cli.ui.mcp_approval import approve_servers
from edgevox.cli.ui.voice_view import alarm_note, waterfall
from edgevox.config.sections import WakeMode
from edgevox.core import events
from edgevox.core.errors import ConfigError, DeviceUnavailable, EdgevoxError, EngineFailed
from edgevox.core.turn import Turn
from edgevox.dialogue import Loudspeaker, Pipeline


@Command(
    "run",
    "Start the assistant",
    *MODEL_OPTIONS,
    *MCP_OPTIONS,
    setting("--mic", "audio.microphone", "NAME", "microphone (see edgevox devices)"),
    setting("--speaker", "audio.speaker", "NAME", "loudspeaker (see edgevox devices)"),
    setting(
        "--wake",
        "wake.mode",
        None,
        "listen only after the wake word (wake.word, such as okay nabu) or your wake phrase; off: listen always",
        nargs="?",
        const="word",
        choices=get_args(WakeMode),
    ),
    argument("--text", action="store_true", help="read questions from standard input, not the microphone"),
    argument("--input", type=Path, metavar="FILE", help="listen to an audio file, then exit"),
    argument("--output", type=Path, metavar="FILE.wav", help="write speech to a WAV file"),
    argument("--plain", action="store_true", help="no live status line, for logs"),
    switch("--no-speech", "tts.enabled", "print replies, do not speak them", value=False),
)
def run(args: argparse.Namespace, context: Context) -> int:
    if args.output and not context.settings.tts.enabled:
        raise ConfigError("--output needs speech", hint="remove --no-speech, or set tts.enabled = true")
    speaker = WavSpeaker(args.output) if args.output else _speaker(context)
    audio_source = _audio_source(args, context)
    if isinstance(audio_source, Microphone) and not args.output:
        silent = {} if speaker else {"tts.enabled": False}
        context = context.with_flags(silent)  # of which there must be one: the view ends its loading line
        return run_service(context, terminal_view(context, plain=args.plain))
    wanted: dict[events.EngineName, bool] = {"llm": True, "tts": speaker is not None, "stt": audio_source is not None}
    engines = [name for name, is_wanted in wanted.items() if is_wanted]
    approve_servers(context)
    runtime = open_runtime(context, engines)
    if audio_source is None:
        exit_code = run_until_done(_run_text(runtime, context, speaker))
    else:
        exit_code = run_until_done(_run_voice(runtime, context, audio_source, speaker, plain=args.plain))
    if isinstance(speaker, WavSpeaker):
        speaker.save()
    return exit_code or report_record_error(context, runtime)


def _speaker(context: Context) -> Speaker | None:
    if not context.settings.tts.enabled:
        return None
    try:
        return context.speaker()
    except DeviceUnavailable as error:
        context.report_error(error)
        context.note("  replies are only printed")
        return None


def _audio_source(args: argparse.Namespace, context: Context) -> Microphone | WavMicrophone | None:
    """Return the audio source, or None for text input."""
    if args.input:
        return WavMicrophone(args.input)
    if args.text or _has_piped_input():
        return None
    try:
        return Microphone(context.settings.audio.microphone)
    except DeviceUnavailable as error:
        if not sys.stdin.isatty():
            raise
        context.report_error(error)
        context.note("  type your questions instead")
        return None


def _has_piped_input() -> bool:
    mode = os.fstat(sys.stdin.fileno()).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISREG(mode) or stat.S_ISSOCK(mode)


async def _run_voice(
    runtime: AssistantRuntime,
    context: Context,
    audio_source: Microphone | WavMicrophone,
    speaker: Loudspeaker | None,
    *,
    plain: bool,
) -> int:
    """Answer speech until the audio source ends."""
    async with AsyncExitStack() as running:
        with context.err.status(f"loading {runtime.preset.name} …"):
            await running.enter_async_context(runtime)
        await serve_if_enabled(runtime, context.err, running)
        microphone = audio_source if isinstance(audio_source, Microphone) else None
        if microphone:
            await running.enter_async_context(microphone)
            name = context.settings.audio.microphone or "the default microphone"
            context.note(*ready_lines(runtime.settings, runtime.preset.name, name))
        view = open_view(context, runtime, microphone, running, plain=plain)
        running.enter_context(runtime.bus.listening(view))
        loop = runtime.voice_loop(audio_source, speaker)
        if microphone:
            await running.enter_async_context(keyboard(loop.pipeline, view.prompt, on_enter=loop.wake_state.talk))
        await loop.run()
    return EngineFailed.exit_code if view.failed else 0


async def _run_text(runtime: AssistantRuntime, context: Context, speaker: Loudspeaker | None) -> int:
    """Answer line by line; a failed turn is reported and does not affect the next one."""
    exit_code = 0
    async with AsyncExitStack() as running:
        with context.err.status(f"loading {runtime.preset.name} …"):
            await running.enter_async_context(runtime)
        await serve_if_enabled(runtime, context.err, running)
        thinking = context.err.status("thinking …")
        running.callback(thinking.stop)

        def show(event: events.Event) -> None:
            if isinstance(
                event, events.ReplyDelta | events.TurnEnded | events.ConfirmationRequired | events.RingStarted
            ):
                thinking.stop()
            _print_reply(context, event)

        running.enter_context(runtime.bus.listening(show))
        pipeline = runtime.pipeline(speaker, runtime.conversation())
        pipeline.start_idle_work()
        if alarm_player := runtime.alarm_player(pipeline):
            await running.enter_async_context(alarm_player.running())
        if sys.stdin.isatty():
            await _run_interactive_text(pipeline, context, thinking)
        else:
            async for line in stdin_lines(lambda: None):
                exit_code = await _one_turn(pipeline, context, line)
    return exit_code


async def _run_interactive_text(pipeline: Pipeline, context: Context, thinking: Status) -> None:
    """Answer typed lines; during a turn, lines can also answer a confirmation or stop the reply."""
    lines: asyncio.Queue[str | None] = asyncio.Queue()

    def prompt() -> None:
        context.err.print("[bold cyan]you ›[/] ", end="")

    context.note("Type a question. Ctrl-D or Ctrl-C ends.")
    async with keyboard(pipeline, lambda text: context.err.print(text, end=" "), lines.put_nowait):
        prompt()
        while (line := await lines.get()) is not None:
            thinking.start()
            await _one_turn(pipeline, context, line)
            prompt()


async def _one_turn(pipeline: Pipeline, context: Context, line: str) -> int:
    try:
        await pipeline.answer(line, Turn())
    except EdgevoxError as error:
        context.report_error(error)
        return error.exit_code
    return 0


def _print_reply(context: Context, event: events.Event) -> None:
    match event:
        case events.ReplyDelta(text=text):
            context.out.print(text, end="", markup=False, soft_wrap=True)
        case events.RingStarted(text=text):
            context.print(f"\n{text}")
        case events.RingEnded() | events.RingTrouble():
            text, style = alarm_note(event)
            context.note(text, style=style)
        case events.TurnEnded():
            context.out.print()
        case events.ConfirmationRequired(question=question):
            print_question(context, question)
        case events.EngineChanged(engine=engine, state="restarting", detail=detail):
            context.note(f"{engine} is restarting ({detail})", style="yellow")
        case _:
            pass


_QUESTION = "Turn on the kitchen light."


@Command(
    "demo",
    "Run one example turn by voice and show its latencies",
    argument("question", nargs="*", help=f'default: "{_QUESTION}"'),
    *MODEL_OPTIONS,
)
def demo(args: argparse.Namespace, context: Context) -> int:
    question = " ".join(args.question) or _QUESTION
    runtime = open_runtime(context, ["llm", "tts", "stt"])
    with tempfile.TemporaryDirectory() as scratch:
        run_until_done(_run_demo(runtime, question, _speaker_or_silent(context, Path(scratch))))
    record = runtime.records.last
    if record is None or record.outcome != "answered":
        raise EngineFailed("the demo got no answer", hint="edgevox doctor")
    context.out.print(f"[cyan]asked ›[/] {escape(question)}")
    context.out.print(f"[cyan]heard ›[/] {escape(record.heard)}")
    context.out.print(f"[green]answered ›[/] {escape(record.reply)}")
    context.out.print(waterfall(record))
    return report_record_error(context, runtime)


def _speaker_or_silent(context: Context, scratch: Path) -> Loudspeaker:
    """Return the loudspeaker; without one, a file that is discarded, so that the same loop runs."""
    try:
        return context.speaker()
    except DeviceUnavailable as error:
        context.report_error(error)
        return WavSpeaker(scratch / "unheard.wav")


async def _run_demo(runtime: AssistantRuntime, question: str, loudspeaker: Loudspeaker) -> None:
    async with runtime:
        sound = await runtime.voice().sound_of(question)
        loop = runtime.voice_loop(WavMicrophone(sound), loudspeaker)
        await loop.pipeline.warm_up()  # an assistant that runs has done so before the first question
        await loop.run()
