"""Rendering of results, the result cache, and the per-tool counters."""

from __future__ import annotations

import datetime as dt
import enum
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from edgevox.core.errors import StateError
from edgevox.core.types import Message
from edgevox.tools import ErrorCode, Speech, ToolCounts, ToolResult, ToolStats
from edgevox.tools.results import render


class State(enum.Enum):
    ON = "on"


@dataclass
class Light:
    name: str
    state: State


class Forecast(BaseModel):
    day: dt.date
    highest_c: float


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("noon", '"noon"'),
        ('with "quotes"\nand lines', '"with \\"quotes\\"\\nand lines"'),
        (None, "done"),
        (3, "3"),
        (True, "true"),
        (21.5, "21.5"),
        (float("inf"), '"inf"'),
        ([1, "a"], '[1, "a"]'),
        ((1, 2), "[1, 2]"),
        ({"on": True}, '{"on": true}'),
        ('{"on": true}', '{"on": true}'),
        ("{not json}", '"{not json}"'),
        (Light("hall", State.ON), '{"name": "hall", "state": "on"}'),
        (Forecast(day=dt.date(2026, 1, 2), highest_c=3.5), '{"day": "2026-01-02", "highest_c": 3.5}'),
        (Speech("It is noon."), '"It is noon."'),
        ("café", '"café"'),
    ],
)
def test_a_value_is_shown_as_json(value: object, expected: str) -> None:
    assert render(value) == expected


def test_a_long_text_is_cut_with_a_note() -> None:
    shown = render("word " * 2000)
    assert shown.endswith('" (cut: the beginning of 10,000 characters)')
    assert len(json.loads(shown.partition(" (cut")[0])) == 4000


@pytest.mark.parametrize("piece", ['"', "\\", "<a", "\n", "[A]"])
def test_what_has_to_be_written_longer_is_still_short(piece: str) -> None:
    shown = render(piece * 1300)
    assert len(shown) < 4100
    assert isinstance(json.loads(shown.partition(" (cut")[0]), str)


def test_a_long_list_is_cut_with_a_note() -> None:
    shown = render(list(range(10_000)), max_chars=50)
    assert shown.startswith("[0, 1, 2")
    assert shown.endswith("… (cut at 50 characters)")


def test_a_cut_does_not_finish_a_call() -> None:
    shown = render([{"name": "get_time", "arguments": {"x": "y" * 100}}], names=("get_time",), max_chars=40)
    assert '"get_time"' not in shown


def test_what_holds_itself_is_the_tools_mistake() -> None:
    holds: list[Any] = []
    holds.append(holds)
    with pytest.raises(ValueError, match=r"[Cc]ircular"):
        render(holds)


def test_a_result_is_a_message_with_the_calls_id() -> None:
    result = ToolResult(tool_call_id="a1b2c3d4e", name="get_time", content='"noon"')
    assert result.as_message() == Message("tool", '"noon"', tool_call_id="a1b2c3d4e")


def result(name: str = "get_time", code: ErrorCode | None = None, elapsed_s: float = 0.0) -> ToolResult:
    return ToolResult(
        tool_call_id="c", name=name, content="secret", is_error=code is not None, code=code, elapsed_s=elapsed_s
    )


def test_each_end_of_a_call_is_counted_as_what_it_is() -> None:
    stats = ToolStats()
    stats.count_offered(["get_time", "unlock"])
    stats.count_result(result(elapsed_s=0.1))
    stats.count_result(result(elapsed_s=0.3))
    stats.count_result(result(code="timeout", elapsed_s=0.5))
    stats.count_result(result(code="bad_request"))
    stats.count_result(result("unlock", code="requires_confirmation"))
    stats.count_result(result("unlock", code="tool_denied"))
    stats.count_result(result("unlock", code="token_scope_insufficient"))
    summary = stats.summary()
    clock = summary["get_time"]
    assert (clock.offered, clock.chosen, clock.failed, clock.timed_out, clock.refused) == (1, 4, 1, 1, 0)
    assert clock.longest_s == 0.5
    assert clock.mean_s == pytest.approx(0.225)
    lock = summary["unlock"]
    assert (lock.chosen, lock.refused, lock.mean_s) == (2, 2, 0.0)


def test_counts_add_up_over_runs_and_processes(tmp_path: Path) -> None:
    first, second = ToolStats(tmp_path), ToolStats(tmp_path)
    for stats in (first, second):
        stats.count_result(result())
    first.save()
    second.save()
    first.save()
    assert ToolStats(tmp_path).summary()["get_time"].chosen == 2


def test_no_words_are_kept(tmp_path: Path) -> None:
    stats = ToolStats(tmp_path)
    stats.count_result(result())
    stats.save()
    assert "secret" not in (tmp_path / "tools.json").read_text(encoding="utf-8")


@pytest.mark.parametrize("text", ["", "{", "[]", '{"a": 3}', '{"a": {"unknown": 3}}'])
def test_a_damaged_file_begins_again(tmp_path: Path, text: str) -> None:
    (tmp_path / "tools.json").write_text(text, encoding="utf-8")
    stats = ToolStats(tmp_path)
    stats.count_result(result())
    stats.save()
    assert ToolStats(tmp_path).summary() == {"get_time": ToolCounts(chosen=1)}


def test_a_folder_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("", encoding="utf-8")
    stats = ToolStats(blocked / "folder")
    stats.count_result(result())
    with pytest.raises(StateError, match="cannot be used"):
        stats.save()
