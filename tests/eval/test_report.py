"""Results in figures: what is counted where, and how several models stand beside each other."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from rich.console import Console

from edgevox.eval import Result, read_suite, summarise
from edgevox.eval.report import ModelResults, figures, rows, tables, wrong_recordings
from edgevox.eval.suite import AS_RECORDED, SpokenInput
from tests.eval.rows import LIGHT_ON, LIGHT_ON_STATE, calls, recording, results, row, write

NO_CALL = {"no_call": True}
_DIMMED = {"name": "light_set", "arguments": {"name": "kitchen light", "brightness": 5}}


async def _results(folder: Path, *lines: str) -> list[Result]:
    rows = [row(id="a"), row(id="b", category="fans"), row(id="c", category="talk", expect=NO_CALL)]
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
    good = ModelResults("good", await _results(tmp_path, calls(LIGHT_ON), calls(LIGHT_ON), "No."))
    bad = ModelResults("bad", await _results(tmp_path, "No.", "No.", "No."))
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
    other = [dataclasses.replace(result, case=dataclasses.replace(result.case, suite="other")) for result in one]
    assert len(list(tables([ModelResults("model", [*one, *other])]))) == 2
    assert list(figures([ModelResults("model", [*one, *other])])["model"]) == ["suite", "other"]


async def _recorded(folder: Path) -> list[Result]:
    """Three recordings: one was heard right, one wrong and unsurely, and nothing of one in noise."""
    expect = {"calls": [LIGHT_ON], "state": LIGHT_ON_STATE}
    rows = [recording(folder, f"{name}.wav", speaker="Anna", expect=expect) for name in "abc"]
    asked = await results(read_suite(write(folder, *rows)), calls(LIGHT_ON), calls(_DIMMED), "No.")
    heard = [
        ("Kitchen light on.", SpokenInput("kitchen light on", "Anna", None, AS_RECORDED, 3, 0, 0.9), False),
        ("Kitchen light dim.", SpokenInput("kitchen light on", "Anna", None, AS_RECORDED, 3, 1, 0.2), True),
        ("", SpokenInput("", "Anna", None, "10 dB", 0, 0, 0.9), False),
    ]
    return [
        dataclasses.replace(
            result, case=dataclasses.replace(result.case, utterance=text, spoken=spoken), asks_first=is_asked
        )
        for result, (text, spoken, is_asked) in zip(asked, heard, strict=True)
    ]


async def test_recordings_are_counted_by_speaker_and_noise_with_those_that_are_asked_about(tmp_path: Path) -> None:
    examined = [ModelResults("model", await _recorded(tmp_path))]
    console = Console(width=200)
    with console.capture() as shown:
        for table in tables(examined):
            console.print(table)
    header, anna, noisy, _overall = shown.get().splitlines()
    assert header.split()[1:8] == ["rows", "word", "errors", "right", "asked", "asked", "right"]
    assert anna.split()[:8] == ["Anna", "2", "16.7", "50.0", "50.0", "0.0", "50.0", "50.0"]
    assert noisy.split()[:6] == ["Anna", "10", "dB", "1", "0.0", "0.0"]  # no words, and no question
    facts = figures(examined)["model"]["suite"]
    assert facts["Anna"]["asked"] == {"share": 0.5, "of": 2}
    assert facts["Anna"]["asked_right"] == {"share": 0.0, "of": 1}
    assert "word_errors" not in facts["Anna 10 dB"]
    assert [one["asked"] for one in rows(examined)] == [False, True, False]


async def test_a_wrong_recording_is_shown_with_what_was_heard_and_called(tmp_path: Path) -> None:
    shown = "\n".join(wrong_recordings([ModelResults("model", await _recorded(tmp_path))]))
    right = 'turn_on {"name": "kitchen light"}, then {"light.kitchen": {"state": "on", "brightness": 100}}'
    assert (
        shown
        == f"""\
model: 2 of 3 recordings wrong
  b.wav
    said:   kitchen light on
    heard:  Kitchen light dim.
    called: light_set {{"name": "kitchen light", "brightness": 5}} (asks "Did you say …?" first)
    right:  {right}
  c.wav, 10 dB
    heard:  nothing
    called: nothing
    right:  {right}"""
    )


async def test_nothing_was_heard_of_a_recording_that_was_asked_by_its_words(tmp_path: Path) -> None:
    asked = await results(read_suite(write(tmp_path, recording(tmp_path))), "No.")
    lines = [line.strip() for line in wrong_recordings([ModelResults("model", asked)])]
    assert lines[2:4] == ["said:   kitchen light on", "called: nothing"]


async def test_rows_that_are_no_recordings_are_not_listed(tmp_path: Path) -> None:
    assert not list(wrong_recordings([ModelResults("model", await _results(tmp_path, *["No."] * 3))]))
