"""The whole program with its real engines, a real MQTT broker, an MCP server and a private sound server."""

from __future__ import annotations

import asyncio
import io
import os
import signal
import subprocess
import sys
import wave
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
import numpy as np
from numpy.typing import NDArray

from edgevox.config.toml_file import update_config_file
from edgevox.core.files import Folders
from edgevox.server.http.tokens import page_token, token_file
from edgevox.testing import NullSinks
from edgevox.testing.serve import free_port
from tests.home.backends.mqtt.devices import Devices, whole_house
from tests.home.backends.mqtt.mosquitto import PASSWORD, USER, Mosquitto

STARTS_WITHIN_S = 180.0
_MCP_SERVER = Path(__file__).parents[1] / "tools" / "mcp" / "sdk_server.py"
SENTENCES = (
    "Turn on the kitchen lamp.",
    "Turn off the kitchen lamp.",
    "Turn on the coffee machine.",
    "Close the blinds in the living room.",
    "Set the radiator to twenty one degrees.",
    "Is the front door open?",
    "What time is it?",
    "Add butter to the shopping list.",
    "What is on my shopping list?",
    "Set a timer for twenty seconds.",
    "How much time is left?",
    "Remind me in one minute to feed the cat.",
    "In thirty seconds turn off the coffee machine.",
    "Which alarms are set?",
    "Stop.",
)


class Program:
    """`edgevox run` with the server on, and everything that it is connected to.

    All files are below `folder`; stderr of every start is appended to `folder/program.log`.
    """

    def __init__(self, folder: Path) -> None:
        self.folders = Folders(folder / "config", folder / "state", folder / "models", folder / "run")
        self.log = folder / "program.log"
        self.room = NullSinks()
        (folder / "broker").mkdir()
        self.broker = Mosquitto(folder / "broker")
        self.devices = Devices(self.broker)
        self.port, self.wyoming_port = free_port(), free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.token = ""
        self.speech: dict[str, Path] = {}
        self._folder = folder
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def environment(self) -> dict[str, str]:
        names = {"STATE": self.folders.state, "CONFIG": self.folders.config, "RUNTIME": self.folders.runtime}
        own = {f"EDGEVOX_{name}_DIR": str(path) for name, path in names.items()}
        return dict(os.environ) | self.room.environment | own

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    @property
    def exit_code(self) -> int | None:
        assert self._process is not None
        return self._process.poll()

    def start(self) -> None:
        with self.log.open("ab") as log:
            command = [sys.executable, "-m", "edgevox", "run", "--plain"]
            self._process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=self.environment
            )

    async def wait_until_ready(self) -> None:
        """Raises TimeoutError, or RuntimeError where the program ends."""
        async with asyncio.timeout(STARTS_WITHIN_S), aiohttp.ClientSession() as http:
            while True:
                if self.exit_code is not None:
                    raise RuntimeError(f"the program ended with {self.exit_code}: {self.log}")
                try:
                    async with http.get(f"{self.url}/healthz") as answer:
                        if answer.status == 200 and (await answer.json())["status"] == "ok":
                            break
                except (aiohttp.ClientError, OSError):
                    pass
                await asyncio.sleep(0.5)
        self.token = page_token(token_file(self.folders))

    def stop(self) -> int:
        """Interrupt it as a user does, and return its exit code; it is killed after a minute."""
        assert self._process is not None
        self._process.send_signal(signal.SIGINT)
        try:
            return self._process.wait(60)
        except subprocess.TimeoutExpired:
            self._process.kill()
            return self._process.wait()

    def configure(self) -> None:
        server = {"enabled": True, "port": self.port, "max_waiting": 6, "voice_clients": 3, "mcp": True}
        server |= {"wyoming": True, "wyoming_port": self.wyoming_port}
        mqtt = ("--mqtt", f"127.0.0.1:{self.broker.port}", "--username", USER)
        self._command("home", "setup", *mqtt, stdin=PASSWORD)
        self._command("mcp", "add", "--yes", "demo", "--", sys.executable, str(_MCP_SERVER), "stdio")
        file = self.folders.config_file
        update_config_file(file, "server", server)
        update_config_file(file, "home", {"timeout_s": 3.0})
        update_config_file(file, "ring", {"for_s": 5.0})
        update_config_file(file, "records", {"max_bytes": 1_000_000_000})  # the records are counted

    async def synthesise_speech(self) -> None:
        """The program's own voice speaks the sentences of the test."""
        headers = {"Authorization": f"Bearer {self.token}"}
        async with aiohttp.ClientSession(headers=headers) as http:
            for number, text in enumerate(SENTENCES):
                body = {"model": "default", "input": text, "voice": "default", "response_format": "wav"}
                async with http.post(f"{self.url}/v1/audio/speech", json=body) as answer:
                    answer.raise_for_status()
                    path = self._folder / f"sentence{number}.wav"
                    path.write_bytes(_with_silence(await answer.read()))
                    self.speech[text] = path

    def _command(self, *words: str, stdin: str = "") -> None:
        command = [sys.executable, "-m", "edgevox", *words]
        subprocess.run(
            command, input=stdin, text=True, env=self.environment, timeout=120, check=True, capture_output=True
        )


def samples_of(wav: Path) -> tuple[NDArray[np.float32], int]:
    with wave.open(str(wav)) as file:
        content = np.frombuffer(file.readframes(file.getnframes()), dtype="<i2")
        return content.astype(np.float32) / np.float32(32_768), file.getframerate()


def _with_silence(content: bytes) -> bytes:
    """A second of silence behind it, whatever length the header of a stream claims."""
    with wave.open(io.BytesIO(content)) as file:
        rate_hz, frames = file.getframerate(), file.readframes(1 << 24)
    made = io.BytesIO()
    with wave.open(made, "wb") as out:
        out.setnchannels(1)
        out.setsampwidth(2)
        out.setframerate(rate_hz)
        out.writeframes(frames + bytes(2 * rate_hz))
    return made.getvalue()


@asynccontextmanager
async def running_program(folder: Path) -> AsyncIterator[Program]:
    """The program, ready, with its speech synthesised. It is stopped at the end if it still runs."""
    program = Program(folder)
    whole_house(program.devices)
    program.folders.runtime.mkdir(mode=0o700)
    with program.room:
        program.broker.start()
        await program.devices.connect()
        try:
            await asyncio.to_thread(program.configure)
            program.start()
            try:
                await program.wait_until_ready()
                await program.synthesise_speech()
                yield program
            finally:
                if program.exit_code is None:
                    await asyncio.to_thread(program.stop)
        finally:
            await program.devices.disconnect()
            program.broker.stop()
