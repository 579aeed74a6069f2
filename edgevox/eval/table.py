"""The figures as a table for people and as JSON for programs."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rich.table import Table
from rich.text import Text

from edgevox.eval.examination import Result
from edgevox.eval.summary import ALL, Rate, Summary

_ERRORS = "word_errors"
_RATES = ("tool", "exact", "lenient", "valid", "refused", "spoken", "state")


@dataclass(frozen=True, slots=True)
class Column:
    """The figures of one model, by category."""

    model: str
    summaries: Mapping[str, Summary]


def summary_table(columns: Sequence[Column], heading: str = "category") -> Table:
    """Every category, and in it every model below the other; shares are in percent."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column(heading, no_wrap=True)
    has_models = len(columns) > 1
    if has_models:
        table.add_column("model", no_wrap=True)
    has_speech = any(summary.word_errors.of for column in columns for summary in column.summaries.values())
    errors = ["word errors"] if has_speech else []
    for name in ("rows", *errors, *_RATES, "prompt", "written", "ms", "p95 ms"):
        table.add_column(name, justify="right", no_wrap=True)
    for category in dict.fromkeys(name for column in columns for name in column.summaries):
        for column in columns:
            if (summary := column.summaries.get(category)) is None:
                continue
            shown = [Text(category), Text(column.model)] if has_models else [Text(category)]
            style = "bold" if category == ALL else None
            table.add_row(*shown, *_figures(summary, has_speech), style=style, end_section=category == ALL)
    return table


def summary_facts(summary: Summary) -> dict[str, Any]:
    """The figures of one category: shares as a fraction, with how many they are a share of."""
    facts = dataclasses.asdict(summary)
    if not summary.word_errors.of:
        del facts[_ERRORS]
    for name in facts.keys() & {_ERRORS, *_RATES}:
        rate: Rate = getattr(summary, name)
        facts[name] = {"share": round(rate.ok / rate.of, 4) if rate.of else None, "of": rate.of}
    return facts


def result_facts(result: Result) -> dict[str, Any]:
    """One result as a row of JSON."""
    facts: dict[str, Any] = {
        "id": result.case.id,
        "category": result.case.category,
        "utterance": result.case.utterance,
        "calls": [dataclasses.asdict(call) for call in result.calls],
        "reply": result.reply,
        **dataclasses.asdict(result.score),
        "ms": round(result.ms, 1),
        "prompt_tokens": result.prompt_tokens,
        "generated_tokens": result.generated_tokens,
    }
    if result.case.spoken is not None:
        facts["spoken"] = dataclasses.asdict(result.case.spoken)
    if result.error is not None:
        facts["error"] = result.error
    return facts


def _figures(summary: Summary, has_speech: bool) -> list[str]:
    return [
        str(summary.rows),
        *([str(summary.word_errors)] if has_speech else []),
        *(str(getattr(summary, name)) for name in _RATES),
        str(summary.prompt_tokens),
        str(summary.generated_tokens),
        f"{summary.median_ms:,}",
        f"{summary.p95_ms:,}",
    ]
