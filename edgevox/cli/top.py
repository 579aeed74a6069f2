"""`edgevox top`: the assistant that runs, as it hears, thinks, acts and speaks."""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeAlias

from edgevox.cli.context import Context
from edgevox.cli.loop import run_until_done
from edgevox.cli.top_view import TopView
from edgevox.cli.voice_view import PlainView
from edgevox.control.client import request
from edgevox.control.event_notes import event_of
from edgevox.control.protocol import Watch
from edgevox.metrics import StageSpan, TurnRecord
from edgevox.platform_support import unbuffered_keys
from edgevox.types import JsonObject

Take: TypeAlias = Callable[[JsonObject], None]

_ENDS = (b"q", b"Q", b"\x03", b"\x04")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--plain", action="store_true", help="one line per happening: for logs")


def run(args: argparse.Namespace, context: Context) -> int:
    run_until_done(_watch(context, is_live=context.out.is_terminal and not args.plain))
    return 0


async def _watch(context: Context, *, is_live: bool) -> None:
    """Show what is told, until the person has seen enough. Raises NotRunning and ControlError."""
    async with request(context.folders.runtime, Watch()) as watching:
        with _on_screen(context) if is_live else _in_lines(context) as take, _keys() as is_enough:

            async def read() -> None:
                async for note in watching.notes():
                    take(note)

            reading, enough = asyncio.create_task(read()), asyncio.create_task(is_enough.wait())
            try:
                await asyncio.wait((reading, enough), return_when=asyncio.FIRST_COMPLETED)
                if reading.done():
                    reading.result()
            finally:
                for task in (reading, enough):
                    task.cancel()
                await asyncio.gather(reading, enough, return_exceptions=True)


@contextmanager
def _on_screen(context: Context) -> Iterator[Take]:
    view = TopView()

    def take(note: JsonObject) -> None:
        match note["kind"]:
            case "status":
                view.status = note
            case "level":
                view.level_dbfs = note["dbfs"]
            case "turn":
                view.record = _record(note["record"])
            case "event":
                if event := event_of(note):
                    view.note(event)

    with view.showing(context.out):
        yield take


@contextmanager
def _in_lines(context: Context) -> Iterator[Take]:
    """What happens, one line each, where there is no terminal."""
    last: TurnRecord | None = None
    view = PlainView(context.out, context.err, lambda: last)

    def take(note: JsonObject) -> None:
        nonlocal last
        match note["kind"]:
            case "turn":
                last = _record(note["record"])
            case "event":
                if event := event_of(note):
                    view(event)

    yield take


@contextmanager
def _keys() -> Iterator[asyncio.Event]:
    """Set as soon as somebody types q. Ctrl-C comes as a signal."""
    is_enough = asyncio.Event()
    if not sys.stdin.isatty():
        yield is_enough
        return
    keyboard = sys.stdin.fileno()
    loop = asyncio.get_running_loop()

    def typed() -> None:
        if os.read(keyboard, 64)[:1] in (*_ENDS, b""):
            is_enough.set()

    with unbuffered_keys(keyboard):
        loop.add_reader(keyboard, typed)
        try:
            yield is_enough
        finally:
            loop.remove_reader(keyboard)


def _record(fields: JsonObject) -> TurnRecord:
    stages = tuple(StageSpan(**stage) for stage in fields["stages"])
    return TurnRecord(**{**fields, "stages": stages})
