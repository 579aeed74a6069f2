"""The same on a real PortAudio and a real sound server: unplugged, changed, killed, and back in time."""

from __future__ import annotations

import os
import queue
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from edgevox.testing import NullSinks

pytestmark = pytest.mark.audio_device

STARTS_WITHIN_S = 60.0
# Three seconds is what is promised; a machine that tests several things at once has three times that, and
# where PortAudio itself hangs a new process has to start.
BACK_WITHIN_S = 9.0
PROGRAM = Path(__file__).with_name("lasting_listener.py")
ROOT = PROGRAM.parent.parent.parent
REMAP = ("load-module", "module-remap-source", "master=micsink.monitor")


class Listener:
    """A process of its own that listens: one whose PortAudio hangs can only be ended from outside."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._lines: queue.SimpleQueue[str] = queue.SimpleQueue()
        threading.Thread(target=self._read, args=(process,), daemon=True).start()

    def _read(self, process: subprocess.Popen[str]) -> None:
        assert process.stdout is not None
        for line in process.stdout:
            self._lines.put(line.strip())

    def until(self, state: str, *, within_s: float = BACK_WITHIN_S) -> None:
        """Raises queue.Empty when the microphone is not in this state in time."""
        while self._lines.get(timeout=within_s) != state:
            pass


@pytest.fixture
def room() -> Iterator[NullSinks]:
    with NullSinks() as room:
        yield room


@pytest.fixture
def listener(room: NullSinks) -> Iterator[Listener]:
    env = dict(os.environ) | room.environment | {"PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        [sys.executable, str(PROGRAM)], env=env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        listener = Listener(process)
        try:
            listener.until("mic", within_s=STARTS_WITHIN_S)
            yield listener
        finally:
            process.kill()
            process.wait()


def test_a_microphone_that_is_unplugged_and_back_is_listened_to_again(room: NullSinks, listener: Listener) -> None:
    room.control("unload-module", "module-remap-source")
    listener.until("gone")  # although PulseAudio gives what the loudspeaker plays in its place
    room.control(*REMAP, "source_name=mic")
    listener.until("mic")


def test_a_sound_server_that_is_killed_and_started_again_is_found(room: NullSinks, listener: Listener) -> None:
    room.kill_server()
    room.start_server()
    listener.until("mic")


def test_another_default_microphone_is_taken(room: NullSinks, listener: Listener) -> None:
    room.control(*REMAP, "source_name=headset")
    room.control("set-default-source", "headset")
    listener.until("headset")
