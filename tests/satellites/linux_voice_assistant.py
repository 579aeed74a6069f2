"""ESPHome's protocol against a device that is not ours, linux-voice-assistant: `make linux-voice-assistant`

It is in no package index: its source is fetched once, from a place that not every build machine reaches, so this is no
part of the long tests. It runs in an environment of its own; only its player, libmpv, is replaced.
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
from edgevox.satellites.store import DeviceEntry
from edgevox.testing import NullSinks
from tests.audio.sounds import espeak
from tests.dialogue.sounds import silent, voiced
from tests.satellites.test_wyoming import connector, free_port
from tests.server.websocket.harness import lobby, until

pytestmark = [pytest.mark.long, pytest.mark.audio_device]

ENVIRONMENT = Path(__file__).resolve().parents[2] / ".frameworks" / "linux-voice-assistant"
SOURCE = ENVIRONMENT / "source"
REPOSITORY = "https://github.com/OHF-Voice/linux-voice-assistant"
COMMIT = "1543c5df583753ab8e4248fc381d75ebaa940f76"
"""Version 1.1.15."""
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


@asynccontextmanager
async def device(python: Path, folder: Path, port: int, room: NullSinks) -> AsyncIterator[Path]:
    """The running program; yields the file of what it has played."""
    (folder / "mpv.py").write_text(PLAYER)
    played = folder / "played.wav"
    paths = {"PYTHONPATH": f"{folder}:{SOURCE}", "PLAYED": str(played)}
    process = await asyncio.create_subprocess_exec(
        *(str(python), "-m", "linux_voice_assistant", "--name", "test", "--host", "127.0.0.1", "--port", str(port)),
        *("--network-interface", "lo", "--disable-peripheral-api", "--wake-model", "okay_nabu"),
        *("--preferences-file", str(folder / "preferences.json"), "--download-dir", str(folder)),
        env=os.environ | room.environment | paths,
        stdin=asyncio.subprocess.DEVNULL,
    )
    try:
        yield played
    finally:
        process.kill()
        await process.wait()


async def test_linux_voice_assistant_is_a_room_and_comes_back_after_a_reboot(
    folders: Folders, tmp_path: Path, program: Path, room: NullSinks
) -> None:
    port = free_port()
    light_on = '<tool_call>\n{"name": "turn_on", "arguments": {"name": "lights"}}\n</tool_call>'
    call = np.concatenate((silent(1.0, 16_000), espeak("okay nabu", tmp_path), silent(0.3, 16_000)))
    spoken = np.concatenate((call, voiced(1.2, 16_000), silent(3.0, 16_000)))
    write_wav(tmp_path / "spoken.wav", [Audio(spoken.astype(np.float32), SAMPLE_RATE_HZ)])
    async with (
        lobby(folders, [light_on, "Done.", "Again."], heard=["turn on the lights", "and again"]) as server,
        connector(server, folders) as file,
    ):
        file.add("shelf", DeviceEntry(esphome=f"127.0.0.1:{port}", room="Bedroom"))
        async with device(program, tmp_path, port, room) as played:
            await until(lambda: server.hub.find("shelf") is not None)
            await asyncio.to_thread(room.speak, tmp_path / "spoken.wav")
            await until(lambda: [one.outcome for one in server.records] == ["answered"])
            await until(lambda: played.exists() and played.read_bytes().startswith(b"RIFF"))
            assert server.toolbox is not None
            house = server.toolbox.home.house()
            bedroom = next(area.id for area in house.areas if area.name == "Bedroom")
            lights = [one for one in house.entities if one.domain == "light" and one.area == bedroom]
            assert {one.state for one in lights} == {"on"}
            before = played.stat().st_size
            assert await server.hub.say("Dinner is ready.") == 1
            assert played.stat().st_size > before
        await until(lambda: server.hub.find("shelf") is None)
        async with device(program, tmp_path, port, room):
            await until(lambda: server.hub.find("shelf") is not None)
            await asyncio.to_thread(room.speak, tmp_path / "spoken.wav")
            await until(lambda: len(server.records) == 2)
