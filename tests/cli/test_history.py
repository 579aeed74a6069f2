"""`edgevox history` as a user types it."""

from __future__ import annotations

import dataclasses
import json
import time
from contextlib import closing
from pathlib import Path

import pytest

from edgevox.agents.conversation import TurnRecord
from edgevox.agents.memory_file import FILE_NAME, MemoryFile
from edgevox.cli.main import main
from edgevox.core.errors import StateError
from edgevox.core.types import Message, ToolCall

CALL = ToolCall("1", "turn_on", '{"name": "Küchenlicht"}')
LIGHT = (
    Message("user", "Kitchen light, please."),
    Message("assistant", "", (CALL,)),
    Message("tool", '"the light is on"', tool_call_id="1"),
    Message("assistant", "It is on."),
)


@pytest.fixture(autouse=True)
def state_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("COLUMNS", "100")
    return tmp_path / "state"


def write(folder: Path, *turns: tuple[Message, ...], source: str = "voice", ended: str = "stop") -> None:
    with closing(MemoryFile.open(folder)) as file:
        for number, messages in enumerate(turns):
            file.add(TurnRecord(f"t{number}", "default", time.time() - 60 + number, source, ended, messages))


def talk(number: int) -> tuple[Message, ...]:
    return (Message("user", f"question {number}."), Message("assistant", f"Answer {number}."))


def shown(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main(["history", *words]) == 0
    return capsys.readouterr().out


def test_a_turn_is_shown_with_its_words_calls_and_results(
    state_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(state_folder, LIGHT)
    head, *lines = shown(capsys).splitlines()
    assert head.endswith("· voice")
    assert lines[:4] == [
        "you › Kitchen light, please.",
        '  turn_on {"name": "Küchenlicht"}',
        '  turn_on → "the light is on"',
        "edgevox › It is on.",
    ]


def test_a_call_is_shown_as_what_it_did(state_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    summarised = dataclasses.replace(CALL, summary="Turn on kitchen light")
    write(state_folder, (LIGHT[0], Message("assistant", "", (summarised,)), *LIGHT[2:]))
    lines = shown(capsys).splitlines()
    assert '  Turned on kitchen light → "the light is on"' in lines
    assert "turn_on" not in "".join(lines)


def test_the_newest_turns_are_shown_last_and_no_more_than_wanted(
    state_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(state_folder, *map(talk, range(15)))
    asked = [line for line in shown(capsys).splitlines() if line.startswith("you")]
    assert asked == [f"you › question {number}." for number in range(5, 15)]
    out = shown(capsys, "--limit", "1")
    assert "question 14" in out
    assert "question 13" not in out
    assert "1 of 15 turns" in out


@pytest.mark.parametrize("text", ["KÜCHEN", "turn_on", "is on", "light, pl"])
def test_a_search_looks_at_words_calls_and_results(
    state_folder: Path, capsys: pytest.CaptureFixture[str], text: str
) -> None:
    write(state_folder, talk(1), LIGHT, talk(2))
    asked = [line for line in shown(capsys, "--search", text).splitlines() if line.startswith("you")]
    assert asked == ["you › Kitchen light, please."]


def test_a_search_does_not_find_how_turns_are_stored(state_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(state_folder, talk(1))
    assert "you ›" not in shown(capsys, "--search", "role")


def test_the_history_as_json(state_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(state_folder, LIGHT, ended="cancelled")
    facts = json.loads(shown(capsys, "--json"))
    (turn,) = facts.pop("turns")
    assert facts == {"kept": 1, "enabled": True, "retention_days": 30}
    assert turn["id"] == "t0"
    assert turn["finish_reason"] == "cancelled"
    assert turn["at"].startswith("20")
    assert turn["messages"][1]["tool_calls"] == [dataclasses.asdict(CALL)]


def test_the_retention_is_said(
    state_folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "0 of 0 turns. Turns are deleted after 30 days" in shown(capsys)
    monkeypatch.setenv("EDGEVOX_MEMORY__RETENTION_DAYS", "1")
    assert "deleted after a day" in shown(capsys)
    monkeypatch.setenv("EDGEVOX_MEMORY__ENABLED", "false")
    assert "not stored" in shown(capsys)
    assert not state_folder.exists()


def test_a_result_cannot_steer_the_terminal(state_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    hostile = Message("tool", "\x1b]0;owned\x07\x1b[2J[bold]x[/] " + "y" * 500, tool_call_id="1")
    write(state_folder, (LIGHT[0], LIGHT[1], hostile, LIGHT[3]))
    out = shown(capsys)
    assert "\x1b" not in out
    assert "\x07" not in out
    assert "[bold]x[/]" in out
    assert max(map(len, out.splitlines())) < 300


def test_a_broken_memory_gets_a_message(state_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    state_folder.mkdir()
    (state_folder / FILE_NAME).write_bytes(b"broken" * 1000)
    assert main(["history"]) == StateError.exit_code
    assert "is damaged" in capsys.readouterr().err


def test_no_turns_cannot_be_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["history", "--limit", "0"]) == 2
    assert "--limit" in capsys.readouterr().err


def test_doctor_says_how_much_is_kept_and_how_long(state_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(state_folder, talk(1), talk(2))
    (state_folder / f"{FILE_NAME}.broken").write_bytes(b"")
    main(["doctor", "--quick"])
    line = next(line for line in capsys.readouterr().out.splitlines() if "conversations" in line)
    for part in ("2 turns", "after 30 days", f"{FILE_NAME}.broken"):
        assert part in line
