"""`edgevox grammar` as a user types it."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest

from edgevox.cli.main import main
from edgevox.llm.grammar.check import compiles

TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "set_light",
            "parameters": {"type": "object", "properties": {"room": {"enum": ["hall", "attic"]}}, "required": ["room"]},
        },
    },
    {"type": "function", "function": {"name": "get_time"}},
]
CALL = '<tool_call>\n{"name": "set_light", "arguments": {"room": "hall"}}\n</tool_call>'


@pytest.fixture
def tools_file(tmp_path: Path) -> str:
    path = tmp_path / "tools.json"
    path.write_text(json.dumps(TOOLS), encoding="utf-8")
    return str(path)


def test_the_grammar_is_printed(capsys: pytest.CaptureFixture[str], tools_file: str) -> None:
    assert main(["grammar", "--tools", tools_file, "--preset", "qwen3"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("root ::= ")
    assert compiles(out)
    assert "set_light" in out
    assert "get_time" in out


def test_one_tool_can_be_chosen(capsys: pytest.CaptureFixture[str], tools_file: str) -> None:
    assert main(["grammar", "--tools", tools_file, "--tool", "get_time"]) == 0
    assert "set_light" not in capsys.readouterr().out


def test_a_preset_names_the_form(capsys: pytest.CaptureFixture[str], tools_file: str) -> None:
    assert main(["grammar", "--tools", tools_file, "--preset", "mistral-nemo"]) == 0
    assert "[TOOL_CALLS]" in capsys.readouterr().out


def test_a_tool_that_is_not_held_to_its_schema_is_named(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "tools.json"
    path.write_text(json.dumps([{"name": "odd", "parameters": False}]), encoding="utf-8")
    assert main(["grammar", "--tools", str(path)]) == 0
    assert "warning: odd: any arguments are accepted" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "words", "code", "said"),
    [
        (CALL, [], 0, "accepted"),
        (CALL.replace("hall", "cellar"), [], 1, "rejected at line 2, column 46"),
        (CALL[:30], [], 1, "incomplete"),
        (f"Sure. {CALL}", [], 1, "rejected at line 1, column 1 (character 0)"),
        (f"Sure. {CALL}", ["--auto"], 0, "accepted"),
        (f"{CALL}\n{CALL}", ["--parallel"], 0, "accepted"),
    ],
)
def test_a_text_is_tried(
    text: str,
    words: list[str],
    code: int,
    said: str,
    tools_file: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode()), encoding="utf-8"))
    words = ["grammar", "--tools", tools_file, "--preset", "qwen3", "--check", "-", *words]
    assert main(words) == code
    assert said in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--tool", "launch"], "unknown tool launch"),
        (["--check", "nowhere.txt"], "nowhere.txt cannot be read"),
        (["--preset", "nonesuch"], "nonesuch"),
    ],
)
def test_a_wrong_command_line_is_explained(
    words: list[str], message: str, tools_file: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["grammar", "--tools", tools_file, *words]) == 2
    assert message in capsys.readouterr().err
