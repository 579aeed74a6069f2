"""Wyoming satellites: the unmodified wyoming-satellite of PyPI, in an environment and processes of its own."""

from __future__ import annotations

import asyncio
import stat
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import numpy as np
import pytest
from wyoming.info import Describe, Info
from wyoming.wake import Detect, Detection

from edgevox.config.sections import ServerSettings, WakeSettings
from edgevox.core.errors import ConfigError, ModelMissing
from edgevox.core.files import Folders
from edgevox.core.turn import background_task
from edgevox.core.types import to_pcm16
from edgevox.engines.wyoming import read_event, write_event
from edgevox.satellites.connector import SatelliteConnector
from edgevox.satellites.store import DeviceEntry, DeviceFile
from edgevox.server.engine_queues import EngineQueues
from edgevox.testing.serve import free_port
from tests.audio.sounds import Samples, espeak
from tests.dialogue.sounds import silent, voiced
from tests.satellites.wyoming_device import wyoming_device
from tests.server.websocket.harness import BOUND_S, VoiceServer, until, voice_server

ENVIRONMENT = Path(__file__).resolve().parents[2] / ".frameworks" / "wyoming-satellite"
PACKAGES = ("wyoming-satellite==1.0.0", "wyoming==1.4.1", "pyring-buffer==1.0.0")
MIC = """
import sys, time
from pathlib import Path
speech, flag = Path(sys.argv[1]).read_bytes(), Path(sys.argv[2])
block = 2048
while True:
    begun = flag.exists()
    for start in range(0, len(speech) if begun else block, block):
        sys.stdout.buffer.write(speech[start:start + block].ljust(block, bytes(1)) if begun else bytes(block))
        sys.stdout.buffer.flush()
        time.sleep(block / 32000)
    if begun:
        flag.unlink()
"""


@pytest.fixture(scope="session")
def program() -> Path:
    """The satellite's Python; it is installed once."""
    python = ENVIRONMENT / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(ENVIRONMENT)], check=True, timeout=120)
        pip = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet", "--no-deps", *PACKAGES]
        subprocess.run(pip, check=True, timeout=280)
    return python


class WakeService:
    """A Wyoming wake-word service that hears the word when the test says so."""

    def __init__(self) -> None:
        self._writer: asyncio.StreamWriter | None = None
        self.is_asked = asyncio.Event()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writer = writer
        while (event := await read_event(reader)) is not None:
            if Describe.is_type(event.type):
                await write_event(writer, Info())
            elif Detect.is_type(event.type):
                self.is_asked.set()
        writer.close()

    async def detect(self) -> None:
        await asyncio.wait_for(self.is_asked.wait(), BOUND_S)
        self.is_asked.clear()
        assert self._writer is not None
        await write_event(self._writer, Detection("okay_nabu"))


@asynccontextmanager
async def satellite(
    python: Path, folder: Path, port: int, wake_port: int | None, spoken: Samples | None = None
) -> AsyncIterator[None]:
    """Without a wake-word service it streams all the time."""
    speech = np.concatenate((voiced(0.8, 16_000) if spoken is None else spoken, silent(3.0, 16_000)))
    wake = ("--wake-uri", f"tcp://127.0.0.1:{wake_port}", "--wake-word-name", "okay_nabu") if wake_port else ()
    (folder / "speech.raw").write_bytes(to_pcm16(speech))
    (folder / "mic.py").write_text(MIC)
    mic = f"{sys.executable} {folder / 'mic.py'} {folder / 'speech.raw'} {folder / 'speak'}"
    process = await asyncio.create_subprocess_exec(
        *(str(python), "-m", "wyoming_satellite", "--name", "test", "--uri", f"tcp://127.0.0.1:{port}"),
        *("--mic-command", mic, "--snd-command", f"dd of={folder / 'played.raw'} status=none"),
        *(*wake, "--no-zeroconf"),
        stdin=asyncio.subprocess.DEVNULL,
    )
    try:
        yield
    finally:
        process.kill()
        await process.wait()


@asynccontextmanager
async def connector(server: VoiceServer, folders: Folders, *, retry_s: float = 0.01) -> AsyncIterator[DeviceFile]:
    """The server's connections to the satellites of the file, which are looked for every `retry_s`."""

    async def sleep(_seconds: float) -> None:
        await asyncio.sleep(retry_s)

    file = DeviceFile(folders)
    queues = EngineQueues(server.assistant, ServerSettings())
    running = SatelliteConnector(file, server.assistant, queues, WakeSettings(), sleep=sleep)
    async with background_task(running.run()):
        yield file


@pytest.mark.long
async def test_wyoming_satellite_is_a_room_and_comes_back_after_a_reboot(
    folders: Folders, tmp_path: Path, program: Path
) -> None:
    port, wake = free_port(), WakeService()
    light_on = '<tool_call>\n{"name": "turn_on", "arguments": {"name": "lights"}}\n</tool_call>'
    lines = [light_on, "Done.", "Again."]
    async with (
        voice_server(folders, lines, heard=["turn on the lights", "and again"]) as server,
        connector(server, folders) as file,
        await asyncio.start_server(wake.serve, "127.0.0.1", 0) as wake_server,
    ):
        wake_port = wake_server.sockets[0].getsockname()[1]
        file.add("shelf", DeviceEntry(uri=f"tcp://127.0.0.1:{port}", room="Bedroom"))
        async with satellite(program, tmp_path, port, wake_port):
            await until(lambda: server.hub.find("shelf") is not None)
            await wake.detect()
            (tmp_path / "speak").touch()
            await until(lambda: [one.outcome for one in server.records] == ["answered"])
            await until(lambda: (tmp_path / "played.raw").exists() and (tmp_path / "played.raw").stat().st_size > 1_000)
            assert server.toolbox is not None
            house = server.toolbox.home.house()
            bedroom = next(area.id for area in house.areas if area.name == "Bedroom")
            lights = [one for one in house.entities if one.domain == "light" and one.area == bedroom]
            assert {one.state for one in lights} == {"on"}
        await until(lambda: server.hub.find("shelf") is None)
        assert [one["problem"] for one in server.hub.report()] != [None]
        async with satellite(program, tmp_path, port, wake_port):
            await until(lambda: server.hub.find("shelf") is not None)
            await wake.detect()
            (tmp_path / "speak").touch()
            await until(lambda: len(server.records) == 2)
        file.remove("shelf")
        await until(lambda: server.hub.report() == [])


@pytest.mark.long
async def test_the_server_hears_the_wake_word_of_a_satellite_that_has_none(
    folders: Folders, tmp_path: Path, program: Path
) -> None:
    port = free_port()
    spoken = np.concatenate((silent(1.5, 16_000), espeak("okay nabu", tmp_path), voiced(0.8, 16_000)))
    async with (
        voice_server(folders, ["Yes."], has_tools=False, heard=["good morning"]) as server,
        connector(server, folders) as file,
        satellite(program, tmp_path, port, None, spoken),
    ):
        file.add("shelf", DeviceEntry(uri=f"tcp://127.0.0.1:{port}", room="Bedroom"))
        await until(lambda: server.hub.find("shelf") is not None)
        (tmp_path / "speak").touch()
        await until(lambda: [one.outcome for one in server.records] == ["answered"])
        await until(lambda: (tmp_path / "played.raw").exists() and (tmp_path / "played.raw").stat().st_size > 1_000)


async def test_a_satellite_that_stops_reading_in_a_reply_is_given_up_and_connected_again(
    folders: Folders, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("edgevox.satellites.wyoming._PING_EVERY_S", 0.05)
    monkeypatch.setattr("edgevox.satellites.wyoming._PONG_WITHIN_S", 0.3)
    monkeypatch.setattr("edgevox.satellites.device._AHEAD_S", 1_000.0)
    async with (
        wyoming_device() as (address, device),
        voice_server(folders, has_tools=False) as server,
        connector(server, folders) as file,
    ):
        file.add("shelf", DeviceEntry(uri=f"tcp://{address}", room="Bedroom"))
        await until(lambda: device.is_ready)
        device.reads.clear()
        async with asyncio.timeout(BOUND_S):
            assert await server.hub.say("a long announcement " * 500) == 0
        device.reads.set()
        await until(lambda: len(device.connections) > 1 and device.is_ready)


async def test_a_satellite_whose_wake_word_cannot_be_loaded_is_connected_once_it_can(
    folders: Folders, monkeypatch: pytest.MonkeyPatch
) -> None:
    served = asyncio.Event()
    missing = [ModelMissing("the speech embeddings are not downloaded")]

    async def serve(_connector: SatelliteConnector, _name: str, _entry: DeviceEntry) -> None:
        if missing:
            raise missing.pop()
        served.set()
        await asyncio.Event().wait()

    monkeypatch.setattr(SatelliteConnector, "_serve", serve)
    async with voice_server(folders, []) as server, connector(server, folders) as file:
        file.add("hall", DeviceEntry(uri="tcp://127.0.0.1:1"))
        async with asyncio.timeout(BOUND_S):
            await served.wait()
        assert "not downloaded" in server.hub.configured()["hall"]["problem"]


def test_keys_are_kept_like_tokens(folders: Folders) -> None:
    file = DeviceFile(folders)
    entry = DeviceEntry(esphome="voice.lan", key="c2VjcmV0", room='The "old" room')
    file.add("voice", entry)
    assert stat.S_IMODE(file.path.stat().st_mode) == 0o600
    assert file.read() == {"voice": entry}
    assert "c2VjcmV0" not in repr(entry)
    with pytest.raises(ConfigError, match="already"):
        file.add("voice", entry)
    file.remove("voice")
    assert file.read() == {}
