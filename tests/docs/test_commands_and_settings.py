"""Checks every `edgevox` command and every setting in the documentation against the program; runs the cheap ones."""

from __future__ import annotations

import argparse
import ast
import functools
import itertools
import json
import re
import shlex
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

import pytest

from edgevox.cli.command import whole_parser
from edgevox.cli.main import main
from edgevox.config.schema import PLUGINS, catalogue, sections
from edgevox.config.settings import Settings
from edgevox.llm.tool_parsers import DETECTORS
from tests.cli.command import NO_NETWORK, environment

_ROOT = Path(__file__).resolve().parents[2]
_PAGES = (
    *_ROOT.glob("*.md"),
    *(_ROOT / "docs").rglob("*.md"),
    *(_ROOT / "examples").rglob("*.md"),
    *(_ROOT / "models").glob("*.md"),
    _ROOT / "training" / "README.md",
)
_BLOCK = re.compile(r"^```\w*\n(.*?)^```$|^((?:(?: {4}|\t)[^\n]*\n?)+)", re.DOTALL | re.MULTILINE)
_FENCED = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_TOML = re.compile(r"^```toml\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_INLINE = re.compile(r"`([^`\n]+)`")
_COMMAND = re.compile(r"^\s*(?:\$ )?(?:[A-Z_]+=\S+ )*(?:\.venv/bin/)?edgevox( .+)?$")
_END = re.compile(r"\s{2,}\S.*$|\s[<>|&;].*$")  # an explanation, or what the shell does with the output
_NAME = re.compile(rf"(?<![\w./-])({'|'.join(sections())})\.([a-z_]+)(?![\w.(/-])")
_VARIABLE = re.compile(r"\bEDGEVOX_([A-Z]+)__([A-Z_]+)\b")
# Files and scopes that look like settings.
_ENDINGS = {"json", "jsonl", "toml", "md", "py", "sqlite", "token", "password", "code", "locks", "lan"}
# Needs no model, no network, no sound and no terminal, and takes less than a second.
_CHEAP = (
    ("backup",),
    ("config",),
    ("forget", "--last"),
    ("history",),
    ("home", "list"),
    ("home", "test"),
    ("mcp", "list"),
    ("models", "list"),
    ("people", "list"),
    ("plugins", "list"),
    ("plugins", "new"),
    ("presets",),
    ("satellites", "add", "kitchen"),
    ("stats",),
    ("tokens",),
    ("tools", "call", "alarm_status"),
    ("tools", "call", "calculate"),
    ("tools", "call", "light_set"),
    ("tools", "call", "set_alarm"),
    ("tools", "call", "set_reminder"),
    ("tools", "call", "start_timer"),
    ("uninstall",),
    ("voices", "list"),
)
_REMOVES = "--yes"


class _Refused(Exception):
    """The parser does not accept a command line."""


@functools.cache
def _parser() -> argparse.ArgumentParser:
    parser = whole_parser()
    for one in _all_parsers(parser):
        one.error = _refuse  # type: ignore[method-assign]
        one.exit = lambda *_: None  # type: ignore[assignment,method-assign]
        one.print_help = lambda *_: None  # type: ignore[method-assign]
    return parser


def _refuse(message: str) -> NoReturn:
    raise _Refused(message)


def _all_parsers(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    yield parser
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for inner in action.choices.values():
                yield from _all_parsers(inner)


def _texts() -> Iterator[tuple[str, str]]:
    for page in _PAGES:
        yield str(page.relative_to(_ROOT)), page.read_text(encoding="utf-8")


@functools.cache
def _typed_commands() -> tuple[tuple[str, str], ...]:
    """The commands that stand in blocks, as a reader would copy them, each with its page."""
    found = []
    for page, text in _texts():
        for fenced, indented in _BLOCK.findall(text):
            lines = (fenced or indented).replace("\\\n", " ").splitlines()
            found += [(page, match[1] or "") for line in lines if (match := _COMMAND.match(line))]
    return tuple(found)


def _words(command: str) -> list[str]:
    return shlex.split(_END.sub("", f"{command} "), comments=True)


def _spelled_out(command: str) -> Iterator[list[str]]:
    """A command of a sentence: with and without what is in brackets, and for each of several alternatives."""
    whole = command.replace("\\|", "|").replace("…", "TEXT").replace("COMMAND", "run")
    whole = whole.removeprefix(" help")  # read before the parser
    for text in {re.sub(r"\[[^\]]*\]", "", whole), re.sub(r"[\[\]]", "", whole)}:
        yield from map(list, itertools.product(*(word.split("|") for word in shlex.split(text))))


def test_commands_that_readers_copy_are_accepted_by_the_parser() -> None:
    refused = []
    for page, command in _typed_commands():
        if re.search(r"[\[…]", _END.sub("", f"{command} ").split(" '")[0]):
            continue  # a synopsis: the next test reads it
        try:
            _parser().parse_args(_words(command))
        except _Refused as error:
            refused.append((page, f"edgevox{command}", str(error)))
    assert len(_typed_commands()) > 100
    assert not refused


def test_commands_and_options_in_sentences_exist() -> None:
    """Arguments may be left out there, and capitals stand for a value."""
    refused = []
    for page, text in _texts():
        for code in _INLINE.findall(_BLOCK.sub("", text)):
            match = _COMMAND.match(code)
            for words in _spelled_out(_END.sub("", f"{match[1] or ''} ")) if match else ():
                try:
                    _parser().parse_args(words)
                except _Refused as error:
                    if not re.search(r"are required|expected (one|at least)|'[A-Z]+'$|is required", str(error)):
                        refused.append((page, code, str(error)))
    assert not refused


def test_settings_named_in_the_documentation_exist() -> None:
    unknown = []
    for page, text in _texts():
        code = " ".join(_INLINE.findall(_TOML.sub("", text)))
        names = [f"{section}.{key}" for section, key in _NAME.findall(code) if key not in _ENDINGS]
        names += [f"{section}.{key}".lower() for section, key in _VARIABLE.findall(text)]
        unknown += [(page, name) for name in names if name not in catalogue()]
    assert not unknown


def test_settings_files_in_the_documentation_are_valid() -> None:
    wrong, count = [], 0
    for page, text in _texts():
        for block in _TOML.findall(text):
            for key, value in tomllib.loads(block).items():
                if key not in Settings.model_fields or key == PLUGINS:
                    continue
                names = {f"{key}.{inner}": one for inner, one in value.items()} if key in sections() else {key: value}
                for name, one in names.items():
                    count += 1
                    try:
                        catalogue()[name].from_toml(one)
                    except (KeyError, ValueError) as error:
                        wrong.append((page, name, str(error)))
    assert count > 50
    assert not wrong


def _check_code(language: str, block: str) -> None:
    """Raises SyntaxError and ValueError."""
    if language == "python":
        compile(block, "page", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    elif language == "json":
        rest = block
        while rest.strip():  # one value, or several below each other
            _, end = json.JSONDecoder().raw_decode(rest.lstrip())
            rest = rest.lstrip()[end:]


def test_code_blocks_of_the_documentation_are_valid() -> None:
    broken, count = [], 0
    for page, text in _texts():
        for language, block in _FENCED.findall(text):
            count += language in ("python", "json")
            try:
                _check_code(language, block)
            except (SyntaxError, ValueError) as error:
                broken.append((page, block, str(error)))
    assert count > 30
    assert not broken


def test_the_tool_calls_guide_has_every_format() -> None:
    text = (_ROOT / "docs" / "guide" / "tool-calls.md").read_text(encoding="utf-8")
    rows = [row for row in text.split("## The formats")[1].splitlines() if row.startswith("| `")]
    assert {name for row in rows for name in re.findall(r"`(\w+)`", row.split(" | ")[0])} == set(DETECTORS)


def test_options_of_the_commands_guide_exist() -> None:
    text = (_ROOT / "docs" / "guide" / "commands.md").read_text(encoding="utf-8")
    known = {option for one in _all_parsers(_parser()) for option in one._option_string_actions}
    assert not set(re.findall(r"--[a-z][a-z-]+", text)) - known


def test_cheap_commands_of_the_documentation_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, value in environment(tmp_path, **NO_NETWORK).items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(tmp_path)
    commands = sorted({tuple(_words(command)) for _, command in _typed_commands()})
    kinds = [next((cheap for cheap in _CHEAP if words[: len(cheap)] == cheap), None) for words in commands]
    assert set(kinds) - {None} == set(_CHEAP), "commands that no page has any more"
    chosen = [words for words, kind in zip(commands, kinds, strict=True) if kind and _REMOVES not in words]
    assert not [(words, capsys.readouterr().err) for words in chosen if main(words) != 0]
