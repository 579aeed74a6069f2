"""Everything that commands write is readable by its owner only, under any umask of the shell."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.command import BOUND_S, NO_NETWORK, environment, home_environment


def run(env: dict[str, str], *words: str, prefix: tuple[str, ...] = ()) -> str:
    command = (*prefix, sys.executable, "-m", "edgevox", *words)
    done = subprocess.run(
        command, env=env, umask=0o022, stdin=subprocess.DEVNULL, capture_output=True, timeout=BOUND_S, check=False
    )
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode()


def readable_by_others(home: Path) -> list[str]:
    found = [path for path in home.rglob("*") if not path.is_symlink()]
    return sorted(str(path.relative_to(home)) for path in found if stat.S_IMODE(path.stat().st_mode) & 0o077)


def test_no_file_of_a_command_can_be_read_by_other_users(tmp_path: Path) -> None:
    env = environment(tmp_path / "home", **NO_NETWORK)
    run(env, "config", "init")
    run(env, "tools", "call", "list_add_item", '{"name": "shopping", "item": "eggs"}')
    run(env, "tools", "call", "start_timer", '{"minutes": 5}')
    names = {path.name for path in (tmp_path / "home").rglob("*")}
    assert {"config.toml", "demo-home.json", "timers.json"} <= names
    assert readable_by_others(tmp_path / "home") == []


_WITHOUT_NETWORK = ("unshare", "--map-root-user", "--net")


def _can_isolate() -> bool:
    try:
        return (
            subprocess.run([*_WITHOUT_NETWORK, "true"], capture_output=True, timeout=BOUND_S, check=False).returncode
            == 0
        )
    except OSError:
        return False


@pytest.fixture(scope="module")
def turn(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A home after a turn with the real model, without a network where the system allows that, and the answer."""
    home = tmp_path_factory.mktemp("turn") / "home"
    env = home_environment(home, **NO_NETWORK)
    return home, run(env, "ask", "Turn on the kitchen light.", prefix=_WITHOUT_NETWORK if _can_isolate() else ())


@pytest.mark.engine
def test_what_was_said_cannot_be_read_by_other_users(turn: tuple[Path, str]) -> None:
    home, _ = turn
    names = {path.name for path in home.rglob("*")}
    assert {"turns.jsonl", "memory.sqlite"} <= names
    assert readable_by_others(home) == []


@pytest.mark.engine
def test_a_whole_turn_needs_no_network(turn: tuple[Path, str]) -> None:
    if not _can_isolate():
        if "CI" in os.environ:
            pytest.fail(
                "CI must show that a turn needs no network: give its container the right to make a network namespace"
            )
        pytest.skip("this system does not allow a network namespace")
    assert turn[1].startswith("The kitchen light is on.\n")
