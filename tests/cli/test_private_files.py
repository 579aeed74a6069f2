"""Everything that commands write is readable by its owner only, under any umask of the shell."""

from __future__ import annotations

import stat
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.command import BOUND_S, NO_NETWORK, environment, home_environment


def run(env: dict[str, str], *words: str) -> None:
    command = (sys.executable, "-m", "edgevox", *words)
    done = subprocess.run(
        command, env=env, umask=0o022, stdin=subprocess.DEVNULL, capture_output=True, timeout=BOUND_S, check=False
    )
    assert done.returncode == 0, done.stderr.decode()


def readable_by_others(home: Path) -> list[str]:
    found = [path for path in home.rglob("*") if not path.is_symlink()]
    return sorted(str(path.relative_to(home)) for path in found if stat.S_IMODE(path.stat().st_mode) & 0o077)


def test_no_file_of_a_command_can_be_read_by_other_users(tmp_path: Path) -> None:
    env = environment(tmp_path / "home", **NO_NETWORK)
    run(env, "config", "init")
    run(env, "tools", "call", "list_add_item", '{"name": "shopping", "item": "milk"}')
    run(env, "tools", "call", "start_timer", '{"minutes": 5}')
    names = {path.name for path in (tmp_path / "home").rglob("*")}
    assert {"config.toml", "demo-home.json", "timers.json"} <= names
    assert readable_by_others(tmp_path / "home") == []


@pytest.mark.engine
def test_what_was_said_cannot_be_read_by_other_users(tmp_path: Path) -> None:
    home = tmp_path / "home"
    run(home_environment(home, **NO_NETWORK), "ask", "Turn on the kitchen light.")
    names = {path.name for path in home.rglob("*")}
    assert {"turns.jsonl", "memory.sqlite"} <= names
    assert readable_by_others(home) == []
