"""`edgevox status`: how the assistant that runs is, for people and (with --json) for programs."""

from __future__ import annotations

import argparse
import datetime as dt
import json
from collections.abc import Iterator

from rich.text import Text

from edgevox.cli.context import Context
from edgevox.cli.loop import run_until_done
from edgevox.cli.running import do
from edgevox.control.protocol import Status
from edgevox.types import JsonObject


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")


def run(args: argparse.Namespace, context: Context) -> int:
    status = {key: value for key, value in run_until_done(do(context, Status())).items() if key != "kind"}
    if args.json:
        context.write(json.dumps(status, ensure_ascii=False))
    else:
        print_status(context, status)
    return 0


def print_status(context: Context, status: JsonObject) -> None:
    """The same for a person, a line for each part."""
    for name, text, is_well in _lines(status):
        style = "" if is_well else "yellow"
        context.out.print(Text.assemble((f"{name:<12}", "bold"), (text, style)), soft_wrap=True)


def _lines(status: JsonObject) -> Iterator[tuple[str, str, bool]]:
    attention = status["attention"]
    doing = status["state"] if attention in ("awake", None) else f"{status['state']}, {attention}"
    yield "state", doing, attention != "muted"
    up = dt.timedelta(seconds=status["up_s"])
    yield "running", f"{up} as process {status['pid']}, version {status['version']}", True
    yield "model", status["preset"], True
    for kind, device in status["devices"].items():
        yield kind, device["name"] if device["is_there"] else f"gone: {device['detail']}", device["is_there"]
    for name, engine in status["engines"].items():
        restarts = f", restarted {engine['restarts']} times" if engine["restarts"] else ""
        detail = f" ({engine['detail']})" if engine["detail"] else ""
        yield name, engine["state"] + detail + restarts, engine["state"] == "ready"
    yield "turns", f"{status['turns']}, {status['failed_turns']} failed", not status["failed_turns"]
    if last := status["last_turn"]:
        answered = f"{last['heard']!r} → {last['reply']!r}, {last['outcome']}, {last['total_ms']:.0f} ms"
        yield "last turn", answered, last["outcome"] != "failed"
    if trouble := status["trouble"]:
        yield "trouble", f"{trouble['message']} → {trouble['hint']}", False
