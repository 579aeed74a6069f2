"""`edgevox serve` as a process: it says where it is, serves, and ends at a signal."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from edgevox.testing.serve import HTTP, edgevox_serve
from tests.cli.command import BOUND_S, edgevox, environment

pytestmark = [pytest.mark.engine]


def test_it_serves_until_it_is_told_to_end(tmp_path: Path, smollm2_path: Path) -> None:
    assert smollm2_path.exists()
    env = environment(tmp_path)
    with edgevox_serve(env, "--no-audio") as server:
        with urllib.request.urlopen(f"{server.address}/v1/models", timeout=BOUND_S) as response:
            names = [one["id"] for one in json.load(response)["data"]]
        assert names == ["smollm2-135m"]
        tokens = tmp_path / "config" / "server_tokens.toml"
        assert tokens.stat().st_mode & 0o077 == 0
        taken = edgevox("serve", "--no-audio", "--port", server.address.rpartition(":")[2], env=env)
        assert (taken.returncode, "server.port" in taken.stderr) == (2, True)
    assert server.process.returncode == 130


def test_run_serves_while_it_talks(tmp_path: Path, smollm2_path: Path) -> None:
    assert smollm2_path.exists()
    env = environment(tmp_path, EDGEVOX_SERVER__ENABLED="true", EDGEVOX_SERVER__PORT="0")
    words = [sys.executable, "-m", "edgevox", "run", "--no-speech", "--max-tokens", "8"]
    with subprocess.Popen(
        words, env=env, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stderr is not None
        url = next(found[0] for line in process.stderr if (found := re.search(HTTP, line)))
        with urllib.request.urlopen(f"{url}/v1/models", timeout=BOUND_S) as response:
            assert json.load(response)["data"][0]["id"] == "smollm2-135m"
        said, _told = process.communicate("Hello.\n", timeout=BOUND_S)
    assert (process.returncode, bool(said.strip())) == (0, True)
