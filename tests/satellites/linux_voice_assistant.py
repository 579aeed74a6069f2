"""ESPHome's protocol against a device that is not ours, linux-voice-assistant: `make linux-voice-assistant`

It is in no package index: its source is fetched once, from a place that not every build machine reaches, so this is no
part of the long tests. It runs in an environment of its own; only its player, libmpv, is replaced. The messages of both
sides are recorded, and `test_esphome.py` replays those of the device everywhere.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import numpy as np
import pytest

from edgevox.audio.files import write_wav
from edgevox.core.files import Folders
from edgevox.core.types import SAMPLE_RATE_HZ, Audio
from edgevox.testing import NullSinks
from edgevox.testing.serve import free_port
from tests.audio.sounds import espeak
from tests.dialogue.sounds import silent, voiced
from tests.satellites.esphome_recording import HEARD, LINES, Recorder, converse
from tests.satellites.test_esphome import RECORDING
from tests.satellites.test_wyoming import connector
from tests.server.websocket.harness import until, voice_server

pytestmark = [pytest.mark.long, pytest.mark.audio_device]

ENVIRONMENT = Path(__file__).resolve().parents[2] / ".frameworks" / "linux-voice-assistant"
SOURCE = ENVIRONMENT / "source"
REPOSITORY = "https://github.com/OHF-Voice/linux-voice-assistant"
VERSION = "1.1.15"
COMMIT = "1543c5df583753ab8e4248fc381d75ebaa940f76"
PACKAGES = (
    *("aioesphomeapi==45.3.1", "netifaces2==0.0.22", "soundcard<1", "numpy>=2,<3", "pymicro-wakeword>=2,<3"),
    *("pyopen-wakeword>=1,<2", "zeroconf<1", "getmac<1", "websockets==12"),
)
PLAYER = """
import os, threading, urllib.request
from types import SimpleNamespace

class MPV:
    def __init__(self, **options):
        self.callbacks, self.pause, self.volume = {}, False, 100.0

    def __setitem__(self, name, value):
        pass

    def event_callback(self, name):
        return lambda callback: self.callbacks.setdefault(name, callback)

    def play(self, url):
        threading.Thread(target=self.fetch, args=(url,), daemon=True).start()

    def stop(self):
        pass

    def fetch(self, url):
        self.callbacks["start-file"](SimpleNamespace(data=None))
        if url.startswith("http"):
            with open(os.environ["PLAYED"], "ab") as file:
                file.write(urllib.request.urlopen(url, timeout=20).read())
        self.callbacks["end-file"](SimpleNamespace(data=SimpleNamespace(reason=0)))
"""


@pytest.fixture(scope="module")
def program() -> Path:
    """The program's Python; it is installed once."""
    python = ENVIRONMENT / "bin" / "python"
    if not (SOURCE / "linux_voice_assistant").exists():
        _fetch_source()
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(ENVIRONMENT)], check=True, timeout=120)
        pip = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet", *PACKAGES]
        subprocess.run(pip, check=True, timeout=280)
    return python


def _fetch_source() -> None:
    SOURCE.mkdir(parents=True, exist_ok=True)
    for words in (("init", "--quiet"), ("fetch", "--quiet", "--depth=1", REPOSITORY, COMMIT), ("checkout", COMMIT)):
        done = subprocess.run(["git", "-C", SOURCE, *words], capture_output=True, text=True, timeout=120, check=False)
        if done.returncode:
            pytest.fail(f"no package index has it, and {REPOSITORY} cannot be reached: {done.stderr.strip()}")


@pytest.fixture(scope="module")
def room() -> Iterator[NullSinks]:
    with NullSinks() as sinks:
        yield sinks


class Shelf:
    """The running program, with a person before its microphone; `played` is the file of what it has played."""

    def __init__(self, python: Path, folder: Path, room: NullSinks) -> None:
        self._python, self._folder, self._room = python, folder, room
        self._port = free_port()
        self._process: asyncio.subprocess.Process | None = None
        self.recorder = Recorder(self._port)
        self.address = ""
        self.played = folder / "played.wav"
        (folder / "mpv.py").write_text(PLAYER)
        call = np.concatenate((silent(1.0, 16_000), espeak("okay nabu", folder), silent(0.3, 16_000)))
        spoken = np.concatenate((call, voiced(1.2, 16_000), silent(3.0, 16_000)))
        write_wav(folder / "spoken.wav", [Audio(spoken.astype(np.float32), SAMPLE_RATE_HZ)])

    async def speak(self) -> None:
        await asyncio.to_thread(self._room.speak, self._folder / "spoken.wav")

    async def wait_for_runs(self, count: int) -> None:
        await until(lambda: self.recorder.ended_runs == count)

    async def plug_in(self) -> None:
        paths = {"PYTHONPATH": f"{self._folder}:{SOURCE}", "PLAYED": str(self.played)}
        self._process = await asyncio.create_subprocess_exec(
            *(str(self._python), "-m", "linux_voice_assistant", "--name", "test"),
            *("--host", "127.0.0.1", "--port", str(self._port)),
            *("--network-interface", "lo", "--disable-peripheral-api", "--wake-model", "okay_nabu"),
            *("--preferences-file", str(self._folder / "preferences.json"), "--download-dir", str(self._folder)),
            env=os.environ | self._room.environment | paths,
            stdin=asyncio.subprocess.DEVNULL,
        )

    async def unplug(self) -> None:
        assert self._process is not None
        self._process.kill()
        await self._process.wait()

    @asynccontextmanager
    async def recorded(self) -> AsyncIterator[None]:
        async with self.recorder.listening() as self.address:
            await self.plug_in()
            try:
                yield
            finally:
                await self.unplug()


async def test_linux_voice_assistant_is_a_room_and_comes_back_after_a_reboot(
    folders: Folders, tmp_path: Path, program: Path, room: NullSinks
) -> None:
    shelf = Shelf(program, tmp_path, room)
    async with (
        voice_server(folders, LINES, heard=HEARD) as server,
        connector(server, folders) as file,
        shelf.recorded(),
    ):
        await converse(server, file, shelf)
        assert shelf.played.read_bytes().count(b"RIFF") == 3
        shelf.recorder.write(
            RECORDING,
            program="linux-voice-assistant",
            version=VERSION,
            commit=COMMIT,
            source=REPOSITORY,
            licence="Apache-2.0",
            packages=" ".join(PACKAGES),
        )
