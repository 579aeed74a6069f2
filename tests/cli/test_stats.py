"""`edgevox stats`, and that commands which need no tools do not wait for them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from edgevox.cli.main import main
from edgevox.tools import ToolResult, ToolStats
from tests.cli.command import BOUND_S, environment


@pytest.fixture
def counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("COLUMNS", "120")
    stats = ToolStats(tmp_path / "state")
    stats.count_offered(["turn_on", "turn_off"])
    stats.count_offered(["turn_on", "turn_off"])
    stats.count_result(ToolResult(tool_call_id="1", name="turn_on", content="", elapsed_s=0.25))
    stats.count_result(ToolResult(tool_call_id="2", name="turn_off", content="", is_error=True, code="tool_denied"))
    stats.save()
    return tmp_path


def test_before_the_first_turn_there_is_nothing_to_count(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["stats"]) == 0
    assert capsys.readouterr().out == "No tool has been offered to the model yet.\n"


@pytest.mark.usefixtures("counted")
def test_the_table_shows_what_was_offered_chosen_and_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["stats"]) == 0
    shown = capsys.readouterr().out
    rows = {line.split()[0]: line.split()[1:] for line in shown.splitlines() if line.strip()}
    assert rows["turn_on"] == ["2", "1", "250", "ms", "250", "ms"]
    assert rows["turn_off"] == ["2", "1", "1", "0", "ms", "0", "ms"]
    assert "nothing is sent anywhere" in shown


@pytest.mark.usefixtures("counted")
def test_the_counts_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["stats", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["turn_on"] == {
        "offered": 2,
        "chosen": 1,
        "refused": 0,
        "failed": 0,
        "timed_out": 0,
        "total_s": 0.25,
        "longest_s": 0.25,
        "mean_s": 0.25,
    }


@pytest.mark.parametrize("command", [["--help"], ["--version"]])
def test_commands_that_need_no_tools_do_not_import_them(tmp_path: Path, command: list[str]) -> None:
    program = (
        "import sys; from edgevox.cli.main import main\n"
        f"try: main({command!r})\n"
        "except SystemExit: pass\n"
        "sys.exit(any(name.startswith('edgevox.tools') for name in sys.modules))"
    )
    result = subprocess.run(
        [sys.executable, "-c", program], env=environment(tmp_path), capture_output=True, timeout=BOUND_S, check=False
    )
    assert result.returncode == 0, result.stderr
