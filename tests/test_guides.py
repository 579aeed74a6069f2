"""Runs the examples of the guides and checks the names in the documentation. The frameworks' are in tests/adapters."""

from __future__ import annotations

import importlib.util
import json
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.guide import play

_ROOT = Path(__file__).resolve().parents[1]
_PATH = re.compile(r"`((?:edgevox|tests|benchmarks|training|fuzz|docs|models|presets)/[\w./-]+)`")
_ADR = re.compile(r"\b\d{4}-[a-z][a-z-]+\.md\b")
_IMPORT = re.compile(r"from (edgevox[\w.]*) import ([\w, ]+)")
_INSTALL = re.compile(r"""(?:install|upgrade|reinstall|dependencies =)[ \["']+(edgevox\b[\w-]*)""")
_MAKE = re.compile(r"(?:`|^ {4}|&& )(?:[A-Z_]+=\S+ )*make ([a-z][a-z-]*)", re.MULTILINE)
_MODULE = re.compile(r"python -m ((?:benchmarks|tests|training|fuzz)[.\w]*)")
_LINK = re.compile(r"\]\(([^)#:\s]+)(?:#[^)\s]*)?\)")
_TEXTS = (
    *sorted(_ROOT.glob("*.md")),
    *sorted((_ROOT / "docs").rglob("*.md")),
    *sorted((_ROOT / "models").glob("*.md")),
    _ROOT / "training" / "README.md",
    _ROOT / "benchmarks" / "results" / "README.md",
)


def _found(pattern: re.Pattern[str], *texts: Path) -> Iterator[tuple[str, Any]]:
    """Each match with the name of its file."""
    for text in texts:
        name = str(text.relative_to(_ROOT))
        yield from ((name, match) for match in pattern.findall(text.read_text(encoding="utf-8")))


def test_modules_named_in_the_documentation_exist() -> None:
    assert not [found for found in _found(_PATH, *_TEXTS) if not (_ROOT / found[1]).exists()]


def test_make_targets_and_modules_named_in_the_documentation_exist() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (_ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    assert not [found for found in _found(_MAKE, *_TEXTS) if found[1] not in targets]
    modules = {found for found in _found(_MODULE, *_TEXTS) if found[1] != "benchmarks.NAME"}
    assert len(modules) > 50
    assert not [found for found in modules if not _is_module(_ROOT.joinpath(*found[1].split(".")))]


def _is_module(path: Path) -> bool:
    return path.with_suffix(".py").is_file() or (path / "__main__.py").is_file()


def test_links_between_pages_lead_to_files() -> None:
    assert not [
        (page, target) for page, target in _found(_LINK, *_TEXTS) if not (_ROOT / page).parent.joinpath(target).exists()
    ]


def _targets(text: str, folder: Path) -> set[tuple[Path, str]]:
    """The files that a text in a folder links to, each with its anchor."""
    links = re.findall(r"\]\(([^)#:\s]+)(?:#([^)\s]*))?\)", text)
    return {((folder / target).resolve(), anchor) for target, anchor in links}


def _anchors(page: Path) -> set[str]:
    titles = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).strip().replace(" ", "-") for title in titles}


def test_eight_questions_are_answered_one_click_from_the_readme() -> None:
    start, index = _ROOT / "README.md", _ROOT / "docs" / "README.md"
    part = index.read_text(encoding="utf-8").split("## Eight questions")[1].split("\n## ")[0]
    answers = [_targets(row, index.parent) for row in part.splitlines() if "?" in row]
    assert len(answers) == 8
    assert all(answers)
    one_click = {page for page, _ in _targets(start.read_text(encoding="utf-8"), _ROOT)} | {start}
    assert {page for each in answers for page, _ in each} <= one_click
    assert all(anchor in _anchors(page) for each in answers for page, anchor in each if anchor)


def test_every_install_command_names_our_distribution() -> None:
    """The package index has another project under the name of the command."""
    project = tomllib.loads((_ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["name"]
    sources = (path for path in (_ROOT / "edgevox").rglob("*") if path.suffix in (".py", ".txt"))
    found = {name for _, name in _found(_INSTALL, *_TEXTS, *sources)}
    assert found == {project}


def test_imports_in_the_documentation_work() -> None:
    pages = [page for page in _TEXTS if page.name != "frameworks.md"]  # tests/adapters runs that one
    names = {(module, name.strip()) for _, (module, names) in _found(_IMPORT, *pages) for name in names.split(",")}
    for module, name in names:
        package = importlib.import_module(module)
        assert hasattr(package, name) or importlib.util.find_spec(f"{module}.{name}"), f"from {module} import {name}"


def test_decisions_named_in_code_and_documentation_exist() -> None:
    known = {path.name for path in (_ROOT / "docs" / "adr").glob("*.md")}
    code = (
        path for folder in ("edgevox", "training", "benchmarks", "tests") for path in (_ROOT / folder).rglob("*.py")
    )
    assert not [found for found in _found(_ADR, *_TEXTS, *code) if found[1] not in known]


@pytest.mark.long
def test_the_first_server_of_the_mcp_guide_works_as_it_is_written(tmp_path: Path) -> None:
    seen = play("mcp.md", tmp_path)
    assert "thirsty_plants(), only reads" in seen
    assert "water_plant(name), asks before it runs" in seen
    assert '"basil, fern"' in seen
    assert "removed plants" in seen


@pytest.mark.long
def test_the_plugin_of_the_guide_works_and_so_does_its_test(tmp_path: Path) -> None:
    seen = play("plugins.md", tmp_path)
    assert "switch_lamp" in seen
    assert '"desk lamp on"' in seen
    assert "2 passed" in seen


@pytest.mark.long
@pytest.mark.engine
def test_the_tutorial_ends_with_a_plugin_that_answers(tmp_path: Path) -> None:
    seen = play("../tutorial.md", tmp_path, bound_s=240.0, EDGEVOX_PRESET="home")
    assert "Kitchen Light" in seen  # edgevox home list
    assert "guest_wifi_password" in seen  # edgevox plugins list
    assert len(re.findall(r"guest Wi-Fi password is sunflower", seen)) == 2  # the tool, and the model that calls it
    assert "1 passed" in seen


@pytest.mark.long
@pytest.mark.engine
def test_the_tuning_guide_measures_with_the_default_model(tmp_path: Path) -> None:
    seen = play("tuning.md", tmp_path, bound_s=240.0, EDGEVOX_PRESET="home")
    assert "first token" in seen  # edgevox last
    assert "turn_on" in seen  # edgevox stats
    assert json.loads((tmp_path / "before.json").read_text(encoding="utf-8"))
