"""`edgevox ask` with tools or a schema: what is printed is valid, and what is wrong is named."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from edgevox.cli.commands.ask import print_answer
from edgevox.cli.context import Context
from tests.cli.command import edgevox, environment

LIGHT = {
    "type": "function",
    "function": {
        "name": "set_light",
        "description": "Switch a light.",
        "parameters": {
            "type": "object",
            "properties": {"room": {"enum": ["hall", "kitchen"]}, "on": {"type": "boolean"}},
            "required": ["room", "on"],
            "additionalProperties": False,
        },
    },
}


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    path = tmp_path / "tools.json"
    path.write_text(json.dumps([LIGHT]))
    return path


@pytest.mark.engine
def test_a_named_tool_is_called_and_the_call_is_printed(tmp_path: Path, tools: Path) -> None:
    result = edgevox(
        *("ask", "--json", "--tools", tools, "--tool-choice", "set_light", "Kitchen light on, please."),
        env=environment(tmp_path),
    )
    assert result.returncode == 0, result.stderr
    answer = json.loads(result.stdout)
    (call,) = answer["tool_calls"]
    assert call["name"] == "set_light"
    assert set(call["arguments"]) == {"room", "on"}
    assert call["arguments"]["room"] in ("hall", "kitchen")
    assert answer["finish_reason"] == "tool_calls"


@pytest.mark.parametrize(
    ("are_result", "out", "err"), [(True, "Done.\nLight on\n", ""), (False, "Done.\n", "Light on\n")]
)
def test_calls_that_were_run_are_a_remark_and_not_the_answer(
    are_result: bool, out: str, err: str, capsys: pytest.CaptureFixture[str]
) -> None:
    answer = {"reply": "Done.", "tool_calls": [{"name": "turn_on", "arguments": {}, "summary": "Light on"}]}
    print_answer(Context(), answer, calls_are_result=are_result)
    assert capsys.readouterr() == (out, err)


@pytest.mark.engine
def test_an_answer_can_be_held_to_a_schema(tmp_path: Path) -> None:
    schema = tmp_path / "schema.json"
    schema.write_text(json.dumps({"type": "object", "properties": {"n": {"enum": [1, 2]}}, "required": ["n"]}))
    result = edgevox("ask", "--json-schema", schema, "How many?", env=environment(tmp_path))
    assert json.loads(result.stdout)["n"] in (1, 2)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("[", "is not valid JSON"),
        ("{}", "must contain a list of tools"),
        ("[1]", "invalid tool definition"),
        (json.dumps([{"name": "bare"}]), "invalid tool definition"),
    ],
)
def test_a_file_that_holds_no_tools_is_named(tmp_path: Path, content: str, says: str) -> None:
    (tmp_path / "tools.json").write_text(content)
    result = edgevox("ask", "--tools", tmp_path / "tools.json", "Hello?", env=environment(tmp_path))
    assert result.returncode == 2
    assert says in result.stderr
    assert "→" in result.stderr


def test_a_tool_that_is_not_there_cannot_be_chosen(tmp_path: Path, tools: Path) -> None:
    result = edgevox("ask", "--tools", tools, "--tool-choice", "set_lamp", "On!", env=environment(tmp_path))
    assert result.returncode == 2
    assert "set_light" in result.stderr


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    result = edgevox("ask", "--tools", tmp_path / "none.json", "Hello?", env=environment(tmp_path))
    assert result.returncode == 2
    assert "none.json" in result.stderr
