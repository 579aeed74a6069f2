"""The service as systemd runs it: real engines and devices, and a service manager of the test's own."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

from edgevox.core.types import JsonObject
from edgevox.testing import NullSinks
from tests.cli.command import BOUND_S, edgevox, environment

pytestmark = [pytest.mark.engine, pytest.mark.audio_device]

# Where PortAudio itself hangs, the assistant starts again, models and all.
BACK_WITHIN_S = 60.0
ENDED_BY_SIGNAL = 130


@pytest.fixture(autouse=True)
def _models(smollm2_path: Path, piper_voice_path: Path, whisper_base_dir: Path) -> None:
    """The default models are there."""


@contextmanager
def service(env: Mapping[str, str], folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    """The service, once it has notified its manager that it is ready."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(str(folder / "notify"))
        manager.settimeout(BOUND_S)
        told = {"NOTIFY_SOCKET": str(folder / "notify"), "WATCHDOG_USEC": "5000000"}
        with subprocess.Popen(
            [sys.executable, "-m", "edgevox", "service", "run"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=dict(env) | told,
        ) as process:
            try:
                while not manager.recv(1024).startswith(b"READY=1"):
                    pass
                yield process
            finally:
                process.kill()


def until(env: Mapping[str, str], is_so: Callable[[JsonObject], bool]) -> JsonObject:
    """The status as soon as it is so."""
    give_up_s = time.monotonic() + BACK_WITHIN_S
    while time.monotonic() < give_up_s:
        asked = edgevox("status", "--json", env=env)
        if asked.returncode == 0:
            status: JsonObject = json.loads(asked.stdout)
            if is_so(status):
                return status
    raise TimeoutError(asked.stdout + asked.stderr)


def hears(status: JsonObject) -> bool:
    return bool(status["devices"].get("microphone", {}).get("is_there"))


def test_the_service_listens_answers_and_outlives_its_sound_server(tmp_path: Path) -> None:
    with NullSinks() as room:
        env = environment(tmp_path, EDGEVOX_LLM__MAX_TOKENS="20") | room.environment
        with service(env, tmp_path) as process:
            status = until(env, hears)
            assert (status["pid"], status["attention"]) == (process.pid, "asleep")
            assert {engine["state"] for engine in status["engines"].values()} == {"ready"}

            second = edgevox("service", "run", env=env)
            assert second.returncode == 7
            assert f"process {process.pid}" in second.stderr

            assert edgevox("ask", "What is the capital of France?", env=env).stdout.strip()

            room.kill_server()
            until(env, lambda status: not hears(status))
            room.start_server()
            assert until(env, hears)["pid"] == process.pid

            process.send_signal(signal.SIGTERM)
            assert process.wait(BOUND_S) == ENDED_BY_SIGNAL
    log = edgevox("service", "logs", "-n", "100", env=env).stdout
    assert "the microphone is mic" in log
    assert "was answered" in log
    assert "France" not in log
    assert edgevox("status", env=env).returncode == 7
