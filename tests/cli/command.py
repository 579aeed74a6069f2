"""Runs the real `edgevox` command in a process of its own, with a user's folders that belong to the test."""

from __future__ import annotations

import functools
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from edgevox.core.files import user_folders
from tests.cli.fork_server import ForkServer
from tests.kept_prompts import share_prompts

BOUND_S = 120.0

# Neither the package index nor the hub can be reached.
NO_NETWORK = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": "", "HF_HUB_OFFLINE": "1"}


TALKING_PRESET = "smollm2-135m"


def environment(home: Path, **extra: str) -> dict[str, str]:
    """A fresh user in `home`, with the downloaded models of the user who runs the tests.

    The default model runs the home and says little: where a test needs talk, it needs another one.
    """
    kept = {key: value for key, value in os.environ.items() if not key.startswith("EDGEVOX_")}
    own = {
        "HOME": str(home),
        "EDGEVOX_CONFIG_DIR": str(home / "config"),
        "EDGEVOX_STATE_DIR": str(home / "state"),
        "EDGEVOX_MODELS_DIR": str(user_folders().models),
        "EDGEVOX_PRESET": TALKING_PRESET,
        "COLUMNS": "200",
    }
    return kept | own | extra


def home_environment(home: Path, **extra: str) -> dict[str, str]:
    """The same with the default model, and with the prompts that it has read in earlier tests."""
    env = environment(home, **extra)
    del env["EDGEVOX_PRESET"]
    share_prompts(home / "state")
    return env


_fork_server = functools.cache(ForkServer)


def edgevox(
    *words: str | Path, env: Mapping[str, str], stdin: str = "", bound_s: float = BOUND_S
) -> subprocess.CompletedProcess[str]:
    command = [str(word) for word in words]
    if _fork_server().can_run(env):
        result = _fork_server().run(command, env, stdin, bound_s)
    else:
        result = subprocess.run(
            [sys.executable, "-m", "edgevox", *command],
            input=stdin,
            capture_output=True,
            text=True,
            env=dict(env),
            timeout=bound_s,
            check=False,
        )
    assert "Traceback" not in result.stderr + result.stdout
    return result
