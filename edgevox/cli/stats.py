"""`edgevox stats`: which tools are offered, chosen and refused, and how long they take."""

from __future__ import annotations

import argparse
import dataclasses
import json

from rich.table import Table
from rich.text import Text

from edgevox.cli.context import Context
from edgevox.tools.stats import ToolCounts, ToolStats


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print a JSON object")


def run(args: argparse.Namespace, context: Context) -> int:
    summary = ToolStats(context.folders.state).summary()
    if args.json:
        facts = {
            name: dataclasses.asdict(counts) | {"mean_s": counts.mean_s} for name, counts in summary.items()
        }
        context.write(json.dumps(facts, indent=2))
    elif summary:
        context.out.print(_table(summary))
        context.out.print("\nCounted on this machine; nothing is sent anywhere, and no words are kept.")
    else:
        context.out.print("No tool has been offered to the model yet.")
    return 0


def _table(summary: dict[str, ToolCounts]) -> Table:
    """The tools that are chosen most first."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("tool", no_wrap=True)
    for heading in ("offered", "chosen", "refused", "failed", "timed out", "mean", "longest"):
        table.add_column(heading, justify="right", no_wrap=True)
    for name, counts in sorted(
        summary.items(), key=lambda item: (-item[1].chosen, -item[1].offered, item[0])
    ):
        numbers = (counts.offered, counts.chosen, counts.refused, counts.failed, counts.timed_out)
        times = (_ms(counts.mean_s), _ms(counts.longest_s)) if counts.chosen else ("", "")
        table.add_row(Text(name), *(str(number) if number else "" for number in numbers), *times)
    return table


def _ms(seconds: float) -> str:
    return f"{seconds * 1000:,.0f} ms"
