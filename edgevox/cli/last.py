"""`edgevox last`: where the time of the last turn went, drawn as a waterfall."""

from __future__ import annotations

import argparse
import dataclasses
import json

from rich.table import Table
from rich.text import Text

from edgevox.cli.context import Context
from edgevox.errors import StateError
from edgevox.metrics import StageSpan, TurnRecord
from edgevox.turn_log import TurnLog

_BAR_CHARS = 48


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
    context.out.print(f"[bold]{record.preset}[/] · {record.at} · {record.outcome}")
    if record.heard:
        context.out.print(f"[cyan]you ›[/] {record.heard}", markup=True)
    if record.reply:
        context.out.print(f"[green]edgevox ›[/] {record.reply}")
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(justify="right", style="dim")
    table.add_column()
    table.add_column(justify="right")
    for stage in record.stages:
        table.add_row(stage.name.replace("_", " "), _bar(stage, record.total_ms), f"{stage.ms:,.0f} ms")
    table.add_row("total", "", f"{record.total_ms:,.0f} ms", style="bold")
    context.out.print(table)
    context.out.print(
        f"[dim]{record.prompt_tokens} prompt tokens, {record.cached_tokens} of them kept from before; "
        f"{record.generated_tokens} generated[/]"
    )


def _bar(stage: StageSpan, total_ms: float) -> Text:
    scale = _BAR_CHARS / total_ms if total_ms > 0 else 0.0
    start = min(round(stage.start_ms * scale), _BAR_CHARS - 1)
    length = max(1, min(round(stage.ms * scale), _BAR_CHARS - start))
    return Text(" " * start + "█" * length, style="blue")
