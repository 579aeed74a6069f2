"""The guide's example, as it stands there."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.command import BOUND_S, environment

GUIDE = Path(__file__).resolve().parents[3] / "docs" / "guide" / "mcp.md"


@pytest.mark.slow
def test_the_first_server_of_the_guide_works_as_it_is_written(tmp_path: Path) -> None:
    text = GUIDE.read_text(encoding="utf-8")
    [server] = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    [commands] = re.findall(r"```sh\n(.*?)```", text, re.DOTALL)
    (tmp_path / "plants.py").write_text(server, encoding="utf-8")
    path = f"{Path(sys.executable).parent}:/usr/bin:/bin"
    command = f'edgevox() {{ "{sys.executable}" -m edgevox "$@"; }}\n{commands}'
    result = subprocess.run(
        ["/bin/sh", "-e", "-c", command],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=environment(tmp_path, PATH=path),
        timeout=BOUND_S,
        check=False,
    )
    assert result.returncode == 0, result.stdout + result.stderr
    assert "thirsty_plants(), only reads" in result.stdout
    assert "water_plant(name), asks before it runs" in result.stdout
    assert '"basil, fern"' in result.stdout
    assert "removed plants" in result.stdout
