"""`edgevox serve` as a process: it says where it is, serves, and ends when it is told to."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import IO

import pytest

from tests.cli.command import BOUND_S, edgevox, environment

pytestmark = [pytest.mark.engine]


def address(told: IO[str]) -> str:
    """Where a server says that it is."""
    for line in told:
        if found := re.search(r"http://\S+/v1", line):
            return found[0]
    pytest.fail("it ended")


def test_it_serves_until_it_is_told_to_end(tmp_path: Path, smollm2_path: Path) -> None:
    assert smollm2_path.exists()
    words = [sys.executable, "-m", "edgevox", "serve", "--no-audio", "--port", "0"]
    env = environment(tmp_path)
    with subprocess.Popen(words, env=env, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        try:
            url = address(process.stderr)
            with urllib.request.urlopen(f"{url}/models", timeout=BOUND_S) as response:
                names = [one["id"] for one in json.load(response)["data"]]
            assert names == ["smollm2-135m"]
            tokens = tmp_path / "config" / "server_tokens.toml"
            assert tokens.stat().st_mode & 0o077 == 0
            port = url.split(":")[2].split("/")[0]
            taken = edgevox("serve", "--no-audio", "--port", port, env=env)
            assert (taken.returncode, "server.port" in taken.stderr) == (2, True)
        finally:
            os.kill(process.pid, signal.SIGTERM)
            process.wait(30)
    assert process.returncode == 130


def test_run_serves_while_it_talks(tmp_path: Path, smollm2_path: Path) -> None:
    assert smollm2_path.exists()
    env = environment(tmp_path, EDGEVOX_SERVER__ENABLED="true", EDGEVOX_SERVER__PORT="0")
    words = [sys.executable, "-m", "edgevox", "run", "--no-speech", "--max-tokens", "8"]
    with subprocess.Popen(
        words, env=env, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stderr is not None
        url = address(process.stderr)
        with urllib.request.urlopen(f"{url}/models", timeout=BOUND_S) as response:
            assert json.load(response)["data"][0]["id"] == "smollm2-135m"
        said, _told = process.communicate("Hello.\n", timeout=BOUND_S)
    assert (process.returncode, bool(said.strip())) == (0, True)
