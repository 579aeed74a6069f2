"""Makes packages with an engine importable, as pip would, here and in child processes."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest


def install_engine(
    folder: Path, monkeypatch: pytest.MonkeyPatch, group: str, name: str, module: str, code: str
) -> None:
    """Put a package into `folder` whose entry point `name` is the function `create` of `module`."""
    (folder / f"{module}.py").write_text(code, encoding="utf-8")
    about = folder / f"edgevox_{module}-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: edgevox-{module}\nVersion: 1.0\n", encoding="utf-8")
    (about / "entry_points.txt").write_text(f"[{group}]\n{name} = {module}:create\n", encoding="utf-8")
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.delitem(sys.modules, module, raising=False)
    paths = (str(folder), os.environ.get("PYTHONPATH", ""))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, paths)))
