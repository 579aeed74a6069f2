"""A turn's stages as bars over time."""

from __future__ import annotations

from rich.table import Table
from rich.text import Text

from edgevox.metrics import StageSpan, TurnRecord

_BAR_CHARS = 48


def waterfall(record: TurnRecord) -> Table:
    """One row per stage, each bar where and as long as the stage was."""
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(justify="right", style="dim")
    table.add_column()
    table.add_column(justify="right")
    for stage in record.stages:
        table.add_row(stage.name.replace("_", " "), _bar(stage, record.total_ms), f"{stage.ms:,.0f} ms")
    table.add_row("total", "", f"{record.total_ms:,.0f} ms", style="bold")
    return table


def one_line(record: TurnRecord) -> str:
    """The same figures for a log."""
    return " · ".join(f"{name.replace('_', ' ')} {ms:.0f} ms" for name, ms in record.timings_ms.items())


def _bar(stage: StageSpan, total_ms: float) -> Text:
    scale = _BAR_CHARS / total_ms if total_ms > 0 else 0.0
    start = min(round(stage.start_ms * scale), _BAR_CHARS - 1)
    length = max(1, min(round(stage.ms * scale), _BAR_CHARS - start))
    return Text(" " * start + "█" * length, style="blue")
