"""Results in figures: what is counted where, and how several models stand beside each other."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from rich.console import Console

from edgevox.eval import Result, read_suite, summarise
from edgevox.eval.report import Examined, figures, rows, tables
from tests.eval_command.suites import LIGHT_ON, calls, results, row, write

NO_CALL = {"no_call": True}


async def _results(folder: Path, *lines: str) -> list[Result]:
    rows = [
        row(id="a"),
        row(id="b", category="fans"),
        row(id="c", category="talk", expect=NO_CALL),
    ]
    return await results(read_suite(write(folder, *rows)), *lines)


def _timed(result: Result, ms: float, *, was_cached: bool) -> Result:
    return dataclasses.replace(result, ms=ms, was_cached=was_cached)


async def test_calls_are_counted_where_they_are_wanted_and_refusals_where_not(tmp_path: Path) -> None:
    summary = summarise(await _results(tmp_path, calls(LIGHT_ON), "No.", calls(LIGHT_ON)))
    assert (summary.tool.ok, summary.tool.of) == (1, 2)
    assert (summary.exact.ok, summary.exact.of) == (1, 2)
    assert (summary.refused.ok, summary.refused.of) == (0, 1)
    assert (summary.valid.ok, summary.valid.of) == (2, 2)
    assert (summary.spoken.ok, summary.spoken.of) == (1, 1)
    assert (summary.state.ok, summary.state.of) == (0, 0)
    assert str(summary.state) == ""


async def test_times_are_of_questions_whose_prompt_was_known(tmp_path: Path) -> None:
    first, *others = await _results(tmp_path, *["No."] * 3)
    timed = [
        _timed(first, 9000, was_cached=False),
        *(_timed(one, ms, was_cached=True) for one, ms in zip(others, (300, 500), strict=True)),
    ]
    assert (summarise(timed).median_ms, summarise(timed).p95_ms) == (400, 500)
    assert summarise(timed[:1]).median_ms == 9000  # there is no other


async def test_models_stand_below_each_other_in_every_category(tmp_path: Path) -> None:
    good = Examined("good", await _results(tmp_path, calls(LIGHT_ON), calls(LIGHT_ON), "No."))
    bad = Examined("bad", await _results(tmp_path, "No.", "No.", "No."))
    console = Console(width=200)
    with console.capture() as shown:
        for table in tables([good, bad]):
            console.print(table)
    lines = [line.split()[:4] for line in shown.get().splitlines()]
    assert lines == [
        ["suite", "model", "rows", "tool"],
        ["lights", "good", "1", "100.0"],
        ["lights", "bad", "1", "0.0"],
        ["fans", "good", "1", "100.0"],
        ["fans", "bad", "1", "0.0"],
        ["talk", "good", "1", "100.0"],
        ["talk", "bad", "1", "100.0"],
        ["all", "good", "3", "100.0"],
        ["all", "bad", "3", "0.0"],
    ]
    assert figures([good, bad])["bad"]["suite"]["all"]["tool"] == {"share": 0.0, "of": 2}
    assert [(one["model"], one["id"]) for one in rows([good, bad])][2:4] == [("good", "c"), ("bad", "a")]


async def test_every_suite_has_a_table_of_its_own(tmp_path: Path) -> None:
    one = await _results(tmp_path, *["No."] * 3)
    other = [
        dataclasses.replace(result, case=dataclasses.replace(result.case, suite="other")) for result in one
    ]
    assert len(list(tables([Examined("model", [*one, *other])]))) == 2
    assert list(figures([Examined("model", [*one, *other])])["model"]) == ["suite", "other"]
