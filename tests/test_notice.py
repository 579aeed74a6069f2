"""NOTICE names everything that is installed or downloaded with EdgeVox, with its licence."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from edgevox.models import ModelEntry, load_manifest

ROOT = Path(__file__).resolve().parent.parent
NOTICE = (ROOT / "NOTICE").read_text(encoding="utf-8")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
DEPENDENCIES = [re.split(r"[<>=\[ ]", line)[0] for line in PROJECT["dependencies"]]


@pytest.mark.parametrize("name", DEPENDENCIES)
def test_every_dependency_is_named_with_a_licence(name: str) -> None:
    assert re.search(rf"^{re.escape(name)} +[A-Z]", NOTICE, re.MULTILINE)


@pytest.mark.parametrize("entry", load_manifest().models, ids=lambda entry: entry.id)
def test_every_model_is_named_with_its_licence(entry: ModelEntry) -> None:
    assert re.search(rf"^{re.escape(entry.id)} +{re.escape(entry.licence)}", NOTICE, re.MULTILINE)
