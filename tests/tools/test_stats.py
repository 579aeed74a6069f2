"""Counts of tools add up over runs, in one local file without a word of what was said."""

from __future__ import annotations

from pathlib import Path

import pytest

from edgevox.errors import StateError
from edgevox.tools import ErrorCode, ToolCounts, ToolResult, ToolStats


def result(name: str = "get_time", code: ErrorCode | None = None, elapsed_s: float = 0.0) -> ToolResult:
    return ToolResult(
        tool_call_id="c",
        name=name,
        content="secret",
        is_error=code is not None,
        code=code,
        elapsed_s=elapsed_s,
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
    with pytest.raises(StateError, match="could not be written"):
        stats.save()
