"""`edgevox satellite` on an audio device of its own, and a real `edgevox serve` with the real engines."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from edgevox.audio.files import read_audio
from edgevox.core.files import Folders
from edgevox.server.http.tokens import Tokens, add_token, token_file
from edgevox.testing import NullSinks
from tests.audio.test_stream_ducking import FULL, LOWERED, music
from tests.cli.command import BOUND_S, home_environment
from tests.cli.test_voice import Lines

pytestmark = [pytest.mark.engine, pytest.mark.audio_device]


@contextmanager
def program(env: dict[str, str], *words: str) -> Iterator[Lines]:
    """The lines that a command writes to standard error while it runs."""
    command = [sys.executable, "-m", "edgevox", *words]
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=env) as process:
        assert process.stderr is not None
        try:
            yield Lines(process.stderr)
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(BOUND_S)


@pytest.mark.long
def test_a_command_is_heard_by_the_satellite_and_answered_aloud_there_while_other_sound_is_quieter(
    tmp_path: Path, write_speech: Callable[[str, Path], None], smollm2_path: Path, whisper_base_dir: Path
) -> None:
    env = home_environment(tmp_path)
    folders = Folders(tmp_path / "config", tmp_path / "state", tmp_path / "models", tmp_path / "run")
    Tokens.open(folders)
    token = add_token(token_file(folders), "kitchen", ("voice", "read", "act"))
    write_speech("Turn on the light.", tmp_path / "light.wav")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = str(free.getsockname()[1])
    volumes: set[int] = set()

    def is_answered() -> bool:
        volumes.add(volume())
        return bool(_answered(tmp_path))

    with NullSinks() as room, music(room) as volume:
        device = os.environ | env | room.environment | {"EDGEVOX_TOKEN": token, "EDGEVOX_AUDIO__DUCK": "true"}
        words = ("--server", f"http://127.0.0.1:{port}", "--room", "Kitchen", "--name", "k", "--wake", "off")
        with program(device, "satellite", *words) as satellite:
            satellite.until(f"edgevox: ws://127.0.0.1:{port}/v1/voice cannot be reached", within_s=BOUND_S)
            # However long it waits for its first connection: it has not been away, and says nothing when it is there.
            with program(env, "serve", "--port", port) as server:
                server.until("serving", within_s=BOUND_S)
                satellite.until("listening", within_s=BOUND_S)
                with room.record(tmp_path / "answer.wav"):
                    room.speak(tmp_path / "light.wav")
                    _until(is_answered)
            satellite.until("edgevox: the server closed the connection", within_s=BOUND_S)
        assert volumes >= {FULL, LOWERED}
        _until(lambda: volume() == FULL)
    turn = _answered(tmp_path)[0]
    assert "light" in turn["heard"].lower()
    assert any("Kitchen" in json.dumps(call) or "kitchen" in json.dumps(call) for call in turn["calls"])
    assert np.max(np.abs(read_audio(tmp_path / "answer.wav").samples)) > 0.01


def _answered(home: Path) -> list[dict[str, str]]:
    path = home / "state" / "turns.jsonl"
    turns = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    return [turn for turn in turns if turn["outcome"] == "answered"]


def _until(is_so: Callable[[], bool]) -> None:
    give_up_s = time.monotonic() + BOUND_S
    while not is_so():
        assert time.monotonic() < give_up_s
        time.sleep(0.1)
