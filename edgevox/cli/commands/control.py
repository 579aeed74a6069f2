"""Commands for the running assistant, over its control socket: status, top, mute, unmute, talk, stop, reload."""

from __future__ import annotations

import argparse
import asyncio
import datetime as dt
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeAlias

from rich.text import Text

from edgevox.app.control.client import request
from edgevox.app.control.protocol import Request, SimpleRequest, event_from_note
from edgevox.cli.command import JSON, Command, argument
from edgevox.cli.context import Context, run_until_done
from edgevox.cli.ui.top_view import TopView
from edgevox.cli.ui.voice_view import PlainView
from edgevox.core.metrics import StageSpan, TurnMetrics
from edgevox.core.platform import unbuffered_keys
from edgevox.core.turn import background_task
from edgevox.core.types import JsonObject


async def send_request(context: Context, wanted: Request) -> JsonObject:
    """Send a request and return its result. Raises NotRunning and the error that the assistant reports."""
    async with request(context.folders.runtime, wanted) as pending:
        return await pending.done()


@Command("status", "Show the status of the running assistant", JSON)
def status(args: argparse.Namespace, context: Context) -> None:
    found = run_until_done(send_request(context, SimpleRequest(do="status")))
    if args.json:
        context.write_json({key: value for key, value in found.items() if key != "kind"}, indent=None)
    else:
        print_status(context, found)


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


@Command("mute", "Mute the microphone")
def mute(_args: argparse.Namespace, context: Context) -> None:
    run_until_done(send_request(context, SimpleRequest(do="mute")))
    context.note("microphone muted; edgevox unmute turns it back on")


@Command("unmute", "Unmute the microphone")
def unmute(_args: argparse.Namespace, context: Context) -> None:
    run_until_done(send_request(context, SimpleRequest(do="unmute")))
    context.note("microphone unmuted")


@Command("talk", "Listen for one utterance now, muted or not")
def talk(_args: argparse.Namespace, context: Context) -> int:
    done = run_until_done(_talk(context))
    if done["outcome"] == "answered":
        context.write(done["reply"])
        return 0
    context.note(f"({done['error'] or done['outcome']})", style="dim")
    return 1


async def _talk(context: Context) -> JsonObject:
    async with request(context.folders.runtime, SimpleRequest(do="talk")) as pending:
        async for note in pending.notes():
            match note["kind"]:
                case "listening":
                    context.note("listening … (muted again afterwards)" if note["is_muted"] else "listening …")
                case "heard":
                    context.note(f"you › {note['text']}")
                case "done":
                    return note
    return {"outcome": "failed", "reply": "", "error": "no answer from the assistant"}


@Command("stop", "Stop the current reply or alarm")
def stop(_args: argparse.Namespace, context: Context) -> None:
    done = run_until_done(send_request(context, SimpleRequest(do="stop")))
    context.note("stopped" if done["stopped"] else "nothing to stop")


@Command("reload", "Reload the settings")
def reload(_args: argparse.Namespace, context: Context) -> None:
    with context.err.status("reloading the settings …"):
        changed = run_until_done(send_request(context, SimpleRequest(do="reload")))["changed"]
    context.note(f"reloaded: {', '.join(changed)}" if changed else "nothing changed")


HandleNote: TypeAlias = Callable[[JsonObject], None]

_QUIT_KEYS = (b"q", b"Q", b"\x03", b"\x04")


@Command(
    "top",
    "Watch the running assistant: events, engines and latencies",
    argument("--plain", action="store_true", help="print one line per event, for logs"),
)
def top(args: argparse.Namespace, context: Context) -> None:
    run_until_done(_watch_events(context, is_live=context.out.is_terminal and not args.plain))


async def _watch_events(context: Context, *, is_live: bool) -> None:
    """Show events until the user quits. Raises NotRunning and ControlError."""
    async with request(context.folders.runtime, SimpleRequest(do="watch")) as pending:
        with _screen(context) if is_live else _lines(context) as handle_note, _quit_key() as quit_pressed:

            async def read() -> None:
                async for note in pending.notes():
                    handle_note(note)

            async with background_task(read()) as reading, background_task(quit_pressed.wait()) as quitting:
                await asyncio.wait((reading, quitting), return_when=asyncio.FIRST_COMPLETED)
                if reading.done():
                    reading.result()


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
                    view(event)

    with view.showing(context.out):
        yield handle_note


@contextmanager
def _lines(context: Context) -> Iterator[HandleNote]:
    """Print one line per event."""
    last: TurnMetrics | None = None
    view = PlainView(context.out, context.err, lambda: last)

    def handle_note(note: JsonObject) -> None:
        nonlocal last
        if note["kind"] == "turn":
            last = _record(note["record"])
        elif note["kind"] == "event" and (event := event_from_note(note)):
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
