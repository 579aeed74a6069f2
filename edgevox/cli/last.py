"""`edgevox last`: where the time of the last turn went, drawn as a waterfall."""

from __future__ import annotations

import argparse
import dataclasses
import json

from rich.markup import escape

from edgevox.cli.context import Context
from edgevox.cli.waterfall import waterfall
from edgevox.errors import StateError
from edgevox.metrics import TurnRecord
from edgevox.turn_log import TurnLog


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="the record as one JSON object")


def run(args: argparse.Namespace, context: Context) -> int:
    record = TurnLog(context.folders.state, max_bytes=context.settings.records.max_bytes).last()
    if record is None:
        raise StateError("no turn has been recorded yet", hint='edgevox ask "What is a sonnet?"')
    if args.json:
        context.write(json.dumps(dataclasses.asdict(record) | {"timings_ms": record.timings_ms}))
    else:
        _draw(record, context)
    return 0


def _draw(record: TurnRecord, context: Context) -> None:
    context.out.print(f"[bold]{record.preset or record.source}[/] · {record.at} · {record.outcome}")
    if record.heard:
        context.out.print(f"[cyan]you ›[/] {escape(record.heard)}")
    if record.reply:
        context.out.print(f"[green]edgevox ›[/] {escape(record.reply)}")
    if record.instant_word:
        context.out.print(f"[dim]without the model: {record.instant_word}[/]")
    context.out.print(waterfall(record))
    context.out.print(
        f"[dim]{record.prompt_tokens} prompt tokens, {record.cached_tokens} of them kept from before; "
        f"{record.generated_tokens} generated[/]"
    )
