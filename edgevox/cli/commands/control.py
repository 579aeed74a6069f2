"""Commands for the running assistant, over its control socket: status, top, mute, unmute, talk, stop, reload."""

from __future__ import annotations

import argparse
import asyncio
import datetime as dt
import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeAlias

from rich.text import Text

from edgevox.app.control.client import request
from edgevox.app.control.protocol import Mute, Reload, Request, Status, Stop, Talk, Unmute, Watch, event_from_note
from edgevox.cli.command import Command
from edgevox.cli.context import Context, run_until_done
from edgevox.cli.ui.top_view import TopView
from edgevox.cli.ui.voice_view import PlainView
from edgevox.core.metrics import StageSpan, TurnMetrics
from edgevox.core.platform import unbuffered_keys
from edgevox.core.types import JsonObject


async def send_request(context: Context, wanted: Request) -> JsonObject:
    """Send a request and return its result. Raises NotRunning and the error that the assistant reports."""
    async with request(context.folders.runtime, wanted) as pending:
        return await pending.done()


def add_status_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print a JSON object")


def status_command(args: argparse.Namespace, context: Context) -> int:
    status = {key: value for key, value in run_until_done(send_request(context, Status())).items() if key != "kind"}
    if args.json:
        context.write(json.dumps(status, ensure_ascii=False))
    else:
        print_status(context, status)
    return 0


def print_status(context: Context, status: JsonObject) -> None:
    """Print the status, one line per part."""
    for name, text, is_ok in _status_lines(status):
        style = "" if is_ok else "yellow"
        context.out.print(Text.assemble((f"{name:<12}", "bold"), (text, style)), soft_wrap=True)


def _status_lines(status: JsonObject) -> Iterator[tuple[str, str, bool]]:
    attention = status["attention"]
    state = status["state"] if attention in ("awake", None) else f"{status['state']}, {attention}"
    yield "state", state, attention != "muted"
    up = dt.timedelta(seconds=status["up_s"])
    yield "running", f"{up} as process {status['pid']}, version {status['version']}", True
    yield "model", status["preset"], True
    for kind, device in status["devices"].items():
        yield kind, device["name"] if device["is_there"] else f"missing: {device['detail']}", device["is_there"]
    for name, engine in status["engines"].items():
        restarts = f", restarted {engine['restarts']} times" if engine["restarts"] else ""
        detail = f" ({engine['detail']})" if engine["detail"] else ""
        yield name, engine["state"] + detail + restarts, engine["state"] == "ready"
    yield "turns", f"{status['turns']}, {status['failed_turns']} failed", not status["failed_turns"]
    if last := status["last_turn"]:
        answered = f"{last['heard']!r} → {last['reply']!r}, {last['outcome']}, {last['total_ms']:.0f} ms"
        yield "last turn", answered, last["outcome"] != "failed"
    if trouble := status["trouble"]:
        yield "problem", f"{trouble['message']} → {trouble['hint']}", False
    elif last_trouble := status["last_trouble"]:
        yield "last problem", f"{last_trouble['at']}: {last_trouble['message']}", True


def mute_command(args: argparse.Namespace, context: Context) -> int:
    run_until_done(send_request(context, Mute()))
    context.err.print("microphone muted; edgevox unmute turns it back on")
    return 0


def unmute_command(args: argparse.Namespace, context: Context) -> int:
    run_until_done(send_request(context, Unmute()))
    context.err.print("microphone unmuted")
    return 0


def talk_command(args: argparse.Namespace, context: Context) -> int:
    done = run_until_done(_talk(context))
    match done["outcome"]:
        case "answered":
            context.write(done["reply"])
            return 0
        case outcome:
            context.err.print(f"({done['error'] or outcome})", style="dim", markup=False)
            return 1


async def _talk(context: Context) -> JsonObject:
    async with request(context.folders.runtime, Talk()) as pending:
        async for note in pending.notes():
            match note["kind"]:
                case "listening":
                    context.err.print("listening … (muted again afterwards)" if note["is_muted"] else "listening …")
                case "heard":
                    context.err.print(f"you › {note['text']}", markup=False, soft_wrap=True)
                case "done":
                    return note
    return {"outcome": "failed", "reply": "", "error": "no answer from the assistant"}


def stop_command(args: argparse.Namespace, context: Context) -> int:
    done = run_until_done(send_request(context, Stop()))
    context.err.print("stopped" if done["stopped"] else "nothing to stop")
    return 0


def reload_command(args: argparse.Namespace, context: Context) -> int:
    with context.err.status("reloading the settings …"):
        done = run_until_done(send_request(context, Reload()))
    changed = done["changed"]
    context.err.print(f"reloaded: {', '.join(changed)}" if changed else "no settings changed")
    return 0


HandleNote: TypeAlias = Callable[[JsonObject], None]

_QUIT_KEYS = (b"q", b"Q", b"\x03", b"\x04")


def add_top_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--plain", action="store_true", help="print one line per event, for logs")


def top_command(args: argparse.Namespace, context: Context) -> int:
    run_until_done(_watch_events(context, is_live=context.out.is_terminal and not args.plain))
    return 0


async def _watch_events(context: Context, *, is_live: bool) -> None:
    """Show events until the user quits. Raises NotRunning and ControlError."""
    async with request(context.folders.runtime, Watch()) as pending:
        with _screen(context) if is_live else _lines(context) as handle_note, _quit_key() as quit_pressed:

            async def read() -> None:
                async for note in pending.notes():
                    handle_note(note)

            reading, quitting = asyncio.create_task(read()), asyncio.create_task(quit_pressed.wait())
            try:
                await asyncio.wait((reading, quitting), return_when=asyncio.FIRST_COMPLETED)
                if reading.done():
                    reading.result()
            finally:
                for task in (reading, quitting):
                    task.cancel()
                await asyncio.gather(reading, quitting, return_exceptions=True)


@contextmanager
def _screen(context: Context) -> Iterator[HandleNote]:
    view = TopView()

    def handle_note(note: JsonObject) -> None:
        match note["kind"]:
            case "status":
                view.status = note
            case "level":
                view.level_dbfs = note["dbfs"]
            case "turn":
                view.record = _record(note["record"])
            case "event":
                if event := event_from_note(note):
                    view.note(event)

    with view.showing(context.out):
        yield handle_note


@contextmanager
def _lines(context: Context) -> Iterator[HandleNote]:
    """Print one line per event."""
    last: TurnMetrics | None = None
    view = PlainView(context.out, context.err, lambda: last)

    def handle_note(note: JsonObject) -> None:
        nonlocal last
        match note["kind"]:
            case "turn":
                last = _record(note["record"])
            case "event":
                if event := event_from_note(note):
                    view(event)

    yield handle_note


@contextmanager
def _quit_key() -> Iterator[asyncio.Event]:
    """Yield an event that is set when q is typed; Ctrl-C arrives as a signal."""
    quit_pressed = asyncio.Event()
    if not sys.stdin.isatty():
        yield quit_pressed
        return
    keyboard = sys.stdin.fileno()
    loop = asyncio.get_running_loop()

    def typed() -> None:
        if os.read(keyboard, 64)[:1] in (*_QUIT_KEYS, b""):
            quit_pressed.set()

    with unbuffered_keys(keyboard):
        loop.add_reader(keyboard, typed)
        try:
            yield quit_pressed
        finally:
            loop.remove_reader(keyboard)


def _record(fields: JsonObject) -> TurnMetrics:
    stages = tuple(StageSpan(**stage) for stage in fields["stages"])
    return TurnMetrics(**{**fields, "stages": stages})


COMMANDS = (
    Command("status", "Show the status of the running assistant", status_command, add_status_arguments),
    Command("top", "Watch the running assistant: events, engines and latencies", top_command, add_top_arguments),
    Command("mute", "Mute the microphone", mute_command),
    Command("unmute", "Unmute the microphone", unmute_command),
    Command("talk", "Listen for one utterance now, muted or not", talk_command),
    Command("stop", "Stop the current reply or alarm", stop_command),
    Command("reload", "Reload the settings", reload_command),
)
