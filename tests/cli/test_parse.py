"""`edgevox parse` as a user types it."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest

from edgevox.cli.main import main

TOOLS = [{"type": "function", "function": {"name": "get_time", "parameters": {"type": "object", "properties": {}}}}]
RAW = 'Sure. <tool_call>{"name": "get_time", "arguments": {}}</tool_call>'


@pytest.fixture
def tools_file(tmp_path: Path) -> Path:
    path = tmp_path / "tools.json"
    path.write_text(json.dumps(TOOLS), encoding="utf-8")
    return path


@pytest.fixture(autouse=True)
def own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EDGEVOX_CONFIG_DIR", str(tmp_path / "config"))
    monkeypatch.setenv("COLUMNS", "200")


def give(text: str | bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    raw = text.encode() if isinstance(text, str) else text
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(raw), encoding="utf-8"))


def test_calls_and_text_are_shown(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tools_file: Path
) -> None:
    give(RAW, monkeypatch)
    assert main(["parse", "--parsers", "hermes", "--tools", str(tools_file)]) == 0
    out = capsys.readouterr().out
    assert "call      get_time {}" in out
    assert "text      Sure." in out


def test_a_preset_names_the_parsers(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tools_file: Path
) -> None:
    give('{"name": "get_time", "parameters": {}}', monkeypatch)
    assert main(["parse", "--preset", "llama-3.2-1b", "--tools", str(tools_file)]) == 0
    assert "call      get_time {}" in capsys.readouterr().out


def test_what_is_rejected_is_shown_with_its_reason(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tools_file: Path
) -> None:
    give('<tool_call>{"name": "launch", "arguments": {}}</tool_call>', monkeypatch)
    assert main(["parse", "--parsers", "hermes", "--tools", str(tools_file)]) == 0
    out = capsys.readouterr().out
    assert "rejected  launch: unknown_tool" in out
    assert "(empty)" in out


def test_explain_says_who_looked(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    give(RAW, monkeypatch)
    assert main(["parse", "--parsers", "qwen25,hermes", "--explain"]) == 0
    assert "'<tool_call>' may begin a call: qwen25, hermes" in capsys.readouterr().err


@pytest.mark.parametrize("more", [[], ["--stream", "1"], ["--stream", "4"]])
def test_lines_of_cases_give_lines_of_facts(
    more: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    cases = [
        {"raw": RAW, "tools": TOOLS, "parsers": ["hermes"]},
        {"raw": '<think>Hm.</think>{"name": "get_time", "arguments": {}}', "tools": TOOLS, "parsers": ["json_bare"]},
        {"raw": '<tool_call>{"name": "launch"}</tool_call>\u2028', "tools": TOOLS, "parsers": ["hermes"]},
        {"raw": "Hello."},
    ]
    give("\n".join(json.dumps(case, ensure_ascii=False) for case in cases) + "\n\n", monkeypatch)
    assert main(["parse", "--jsonl", *more]) == 0
    facts = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    time_call = {"id": "get_time_0", "type": "function", "function": {"name": "get_time", "arguments": "{}"}}
    assert facts[0] == {"calls": [time_call], "content": "Sure. ", "reasoning": "", "rejected": [], "fallback": True}
    assert (facts[1]["calls"], facts[1]["reasoning"]) == ([time_call], "Hm.")
    assert facts[2]["rejected"] == [
        {"name": "launch", "raw": '{"name": "launch"}', "reason": "unknown_tool: launch is not offered"}
    ]
    assert facts[3] == {"calls": [], "content": "Hello.", "reasoning": "", "rejected": [], "fallback": False}


def test_broken_encoding_is_read(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    give(b"caf\xe9 <tool_call>", monkeypatch)
    assert main(["parse"]) == 0
    assert "text      caf\ufffd <tool_call>" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "stdin", "message"),
    [
        (["--parsers", "nonesuch"], "", "unknown tool-call parser nonesuch"),
        (["--stream", "0"], "", "--stream must be at least 1"),
        (["--jsonl"], "{", "line 1 is not valid JSON"),
        (["--jsonl"], '{"text": "a"}', "line 1 has no string field raw"),
        (["--jsonl"], '{"raw": "a", "tools": "b"}', "line 1: tools must be an array"),
        (["--tools", "nowhere.json"], "", "nowhere.json cannot be read"),
    ],
)
def test_a_wrong_command_line_is_explained(
    words: list[str], stdin: str, message: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    give(stdin, monkeypatch)
    assert main(["parse", *words]) == 2
    assert message in capsys.readouterr().err
