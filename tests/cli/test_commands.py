"""Commands are found by reading the source; that must agree with the imported modules."""

from __future__ import annotations

import importlib
import json
import pkgutil
import re
import subprocess

import pytest

from edgevox.cli import commands
from edgevox.cli.command import Command, find_commands
from edgevox.cli.main import _GROUPS, main


def test_the_found_commands_are_those_of_the_modules() -> None:
    listed: list[Command] = []
    for module in pkgutil.iter_modules(commands.__path__):
        content = vars(importlib.import_module(f"{commands.__name__}.{module.name}"))
        listed += [one for one in content.values() if isinstance(one, Command)]
    found = find_commands()
    assert sorted(command.name for command in listed) == list(found)
    for command in listed:
        assert found[command.name].summary == command.summary
        assert found[command.name].load() is command


def test_the_groups_of_the_help_name_each_command_once() -> None:
    names = [name for group in _GROUPS.values() for name in group]
    assert len(names) == len(set(names))
    assert set(names) <= set(find_commands())


@pytest.mark.parametrize(
    ("words", "completed"),
    [
        (["mo"], "models"),
        (["models", "op"], "optimize"),
        (["run", "--wa"], "--wake"),
        (["run", "--wake", "p"], "phrase"),
    ],
)
def test_bash_completes_commands_actions_and_options(
    words: list[str], completed: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["completion", "bash"]) == 0
    complete = f"""
COMP_WORDS=(edgevox {" ".join(words)})
COMP_CWORD={len(words)}
_shtab_edgevox
echo "${{COMPREPLY[@]}}"
"""
    result = subprocess.run(
        ["bash"], input=capsys.readouterr().out + complete, capture_output=True, text=True, check=True
    )
    assert result.stdout.split() == [completed]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["histroy"], "did you mean edgevox history?"),
        (["xyzzy"], "edgevox --help lists the commands"),
        (["--preset", "qwen3", "ask", "hello"], "write edgevox ask --preset"),
        (["ask", ""], "the question is empty"),
        (["ask", "a" * 20_001], "more than 20,000 characters"),
        (["ask", "--json", ""], "the question is empty"),
    ],
)
def test_a_mistyped_command_line_gets_the_right_one(
    words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == 2
    shown = capsys.readouterr()
    assert message in shown.err
    if "--json" in words:
        assert json.loads(shown.out)["error"]["message"] == message


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (["ask", "--model", "qwen3", "hello"], "write --preset qwen3"),
        (["ask", "--preset", "qwen4", "hello"], "edgevox help COMMAND"),
        (["ask", "--remote", "http://127.0.0.1:9", "hello"], "should end in /v1"),
    ],
)
def test_a_wrong_choice_of_a_model_gets_a_hint_that_helps(
    words: list[str], hint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) != 0
    assert hint in capsys.readouterr().err


def test_narrow_tables_keep_the_summary_of_presets_and_the_names_of_models(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert main(["presets", "list"]) == 0
    shown = capsys.readouterr().out
    assert "summary" in shown
    assert max(map(len, shown.splitlines())) <= 80
    assert re.search(r"smollm2-135m .*98 MB", shown)


def test_a_command_with_actions_explains_them(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["models"]) == 0
    with pytest.raises(SystemExit, match="0"):
        main(["help", "models"])
    assert capsys.readouterr().out.count("optimize   ") == 2
