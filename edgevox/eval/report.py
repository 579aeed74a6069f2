"""What came of an evaluation: a table for each suite for people, figures and rows of JSON for programs."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rich.table import Table
from rich.text import Text

from edgevox.eval.examination import Result
from edgevox.eval.summary import ALL, Rate, Summary, by_group

_ERRORS = "word_errors"
_RATES = ("tool", "exact", "lenient", "valid", "refused", "spoken", "state")


@dataclass(slots=True)
class Examined:
    """A model and its results, as far as they are there."""

    model: str
    results: list[Result] = field(default_factory=list)

    def suites(self) -> dict[str, dict[str, Summary]]:
        """The figures by suite, and in it by category or, by ear, by voice and noise."""
        names = dict.fromkeys(result.case.suite for result in self.results)
        return {
            name: by_group([one for one in self.results if one.case.suite == name], _group) for name in names
        }


def tables(examined: Sequence[Examined]) -> Iterator[Table]:
    """A table for each suite: every group, and in it every model below the other; shares are in percent."""
    by_model = {one.model: one.suites() for one in examined}
    for suite in dict.fromkeys(suite for suites in by_model.values() for suite in suites):
        yield _table(suite, {model: suites.get(suite, {}) for model, suites in by_model.items()})


def figures(examined: Sequence[Examined]) -> dict[str, Any]:
    """Shares as a fraction, with how many they are a share of; by model, suite and group."""
    return {
        one.model: {
            suite: {group: _summary_facts(summary) for group, summary in groups.items()}
            for suite, groups in one.suites().items()
        }
        for one in examined
    }


def rows(examined: Sequence[Examined]) -> Iterator[dict[str, Any]]:
    """Every result."""
    for one in examined:
        for result in one.results:
            yield {"model": one.model, **_result_facts(result)}


def _group(result: Result) -> str:
    spoken = result.case.spoken
    return f"{spoken.voice} {spoken.noise}" if spoken else result.case.category


def _table(suite: str, by_model: Mapping[str, Mapping[str, Summary]]) -> Table:
    summaries = [summary for groups in by_model.values() for summary in groups.values()]
    has_speech = any(summary.word_errors.of for summary in summaries)
    has_models = len(by_model) > 1
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in (suite, *(["model"] if has_models else [])):
        table.add_column(Text(name), no_wrap=True)
    errors = ["word errors"] if has_speech else []
    for name in ("rows", *errors, *_RATES, "prompt", "written", "ms", "p95 ms"):
        table.add_column(name, justify="right", no_wrap=True)
    for group in dict.fromkeys(group for groups in by_model.values() for group in groups):
        for model, groups in by_model.items():
            if (summary := groups.get(group)) is not None:
                names = [Text(group), Text(model)] if has_models else [Text(group)]
                style = "bold" if group == ALL else None
                table.add_row(*names, *_shown(summary, has_speech), style=style)
    return table


def _shown(summary: Summary, has_speech: bool) -> list[str]:
    return [
        str(summary.rows),
        *([str(summary.word_errors)] if has_speech else []),
        *(str(getattr(summary, name)) for name in _RATES),
        str(summary.prompt_tokens),
        str(summary.generated_tokens),
        f"{summary.median_ms:,}",
        f"{summary.p95_ms:,}",
    ]


def _summary_facts(summary: Summary) -> dict[str, Any]:
    facts = dataclasses.asdict(summary)
    if not summary.word_errors.of:
        del facts[_ERRORS]
    for name in facts.keys() & {_ERRORS, *_RATES}:
        rate: Rate = getattr(summary, name)
        facts[name] = {"share": round(rate.ok / rate.of, 4) if rate.of else None, "of": rate.of}
    return facts


def _result_facts(result: Result) -> dict[str, Any]:
    facts: dict[str, Any] = {
        "suite": result.case.suite,
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
