"""First audio through the Realtime API, beside that through the voice socket.

`python -m benchmarks.realtime`: one assistant with the default models, a client of /v1/voice and one of /v1/realtime,
both at 24 kHz. They are asked the same, one after the other and each first in every other round, as fast as it is
spoken. From the last voiced sample to the first audible sample of the answer, heard when its frame has arrived.
With `--simulated`, the engines answer at once: what is left is the endpointing, the sockets and their adapters.
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import dataclasses
import json
import tempfile
import time
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import numpy as np

from benchmarks.audio_onset import leading_silence_s
from benchmarks.command_turns import COMMANDS
from benchmarks.first_audio import (
    ANSWERED_WITHIN_S,
    BREATH_S,
    QUESTIONS,
    WARM_UP,
    Answered,
    Person,
    arguments,
    daemon_in,
    figures,
    median_s,
    show,
    spoken,
    tell,
)
from benchmarks.hardware import describe
from edgevox.app.runtime import AssistantRuntime
from edgevox.config import ServerSettings
from edgevox.core.files import Folders, user_folders
from edgevox.core.metrics import TurnMetrics
from edgevox.core.types import SAMPLE_RATE_HZ, Audio, to_pcm16
from edgevox.models import ModelStore, open_store
from edgevox.server.app import create_app
from edgevox.server.http.listener import http_listener
from edgevox.server.http.tokens import Tokens
from edgevox.tools.policy import Caller
from tests.dialogue.sounds import voiced
from tests.server.websocket.harness import OWNER, voice_server

BAR_S = 0.02
RATE_HZ = 24_000
_TOKEN = OWNER
_LOUDEST = 32_767


class Client(ABC):
    """A client that speaks and listens over a WebSocket."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse, records: list[TurnMetrics]) -> None:
        self.socket = socket
        self._records = records
        self._person = Person(live=True)
        self._audible_s: float | None = None
        self._ended = asyncio.Event()

    async def ask(self, said: str, sound: Audio) -> Answered:
        self._audible_s = None
        self._ended.clear()
        turns = len(self._records)
        self._person.say(sound)
        async with asyncio.timeout(ANSWERED_WITHIN_S):
            await self._ended.wait()
            while len(self._records) == turns:  # noqa: ASYNC110  (until it counts as played)
                await asyncio.sleep(0.05)
        return Answered(said, self._took_s(), 0, self._records[-1])

    def _took_s(self) -> float | None:
        audible_s, finished_s = self._audible_s, self._person.finished_s
        return audible_s - finished_s if audible_s is not None and audible_s > finished_s else None

    async def speak(self) -> None:
        async for block in self._person.frames():
            places = np.arange(len(block.samples) * RATE_HZ // block.rate_hz) * block.rate_hz / RATE_HZ
            raised = np.interp(places, np.arange(len(block.samples)), block.samples).astype(np.float32)
            await self.send_sound(to_pcm16(raised))

    def heard(self, pcm: bytes) -> None:
        samples = np.frombuffer(pcm, "<i2").astype(np.float32) / np.float32(_LOUDEST)
        sound = Audio(samples, RATE_HZ)
        if self._audible_s is None and (quiet_s := leading_silence_s(sound)) < sound.duration_s:
            self._audible_s = time.monotonic() + quiet_s

    def answered(self) -> None:
        self._ended.set()

    @abstractmethod
    async def send_sound(self, pcm: bytes) -> None: ...

    @abstractmethod
    async def listen(self) -> None: ...


class VoiceClient(Client):
    """A client of /v1/voice."""

    async def send_sound(self, pcm: bytes) -> None:
        await self.socket.send_bytes(pcm)

    async def listen(self) -> None:
        hello = {"type": "hello", "version": 1, "token": _TOKEN, "rate_hz": RATE_HZ, "play_rate_hz": RATE_HZ}
        await self.socket.send_json(hello)
        passage = samples = 0
        async for message in self.socket:
            if message.type == aiohttp.WSMsgType.BINARY:
                self.heard(message.data)
                samples += len(message.data) // 2
                await self.socket.send_json({"type": "played", "passage": passage, "samples": samples})
                continue
            frame = json.loads(message.data)
            match frame["type"]:
                case "audio_begin":
                    passage, samples = frame["passage"], 0
                case "done":
                    self.answered()
                case "error":
                    raise ConnectionError(frame["message"])


class RealtimeClient(Client):
    """A client of /v1/realtime."""

    async def send_sound(self, pcm: bytes) -> None:
        audio = base64.b64encode(pcm).decode()
        await self.socket.send_json({"type": "input_audio_buffer.append", "audio": audio})

    async def listen(self) -> None:
        async for message in self.socket:
            event = json.loads(message.data)
            match event["type"]:
                case "response.output_audio.delta":
                    self.heard(base64.b64decode(event["delta"]))
                case "response.done":
                    self.answered()
                case "error":
                    raise ConnectionError(event["error"]["message"])


@asynccontextmanager
async def served(runtime: AssistantRuntime) -> AsyncIterator[tuple[Client, Client]]:
    records: list[TurnMetrics] = []
    assistant = dataclasses.replace(runtime.assistant(), keep=records.append)
    app = create_app(assistant, ServerSettings(), Tokens({_TOKEN: Caller("benchmark", frozenset({"*"}))}))
    async with http_listener(app, "127.0.0.1", 0) as url, clients_of(url, records) as clients:
        yield clients


@asynccontextmanager
async def clients_of(url: str, records: list[TurnMetrics]) -> AsyncIterator[tuple[Client, Client]]:
    headers = {"Authorization": f"Bearer {_TOKEN}"}
    async with (
        aiohttp.ClientSession(headers=headers) as session,
        session.ws_connect(f"{url}/v1/voice") as voice,
        session.ws_connect(f"{url}/v1/realtime") as realtime,
    ):
        clients = VoiceClient(voice, records), RealtimeClient(realtime, records)
        works: list[Any] = [client.listen() for client in clients] + [client.speak() for client in clients]
        tasks = [asyncio.create_task(work) for work in works]
        try:
            yield clients
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)


async def measure(folder: Path, store: ModelStore, args: argparse.Namespace) -> dict[str, object]:
    runtime = daemon_in(folder, store, args, AssistantRuntime)
    store.ensure(runtime.models.needed())
    runtime.models.prepare(print)
    async with runtime, served(runtime) as clients:
        asked = (*QUESTIONS[: args.questions], *COMMANDS[: args.commands])
        sounds = [*(await spoken(runtime, [WARM_UP])), *(await spoken(runtime, asked))]
        return {"preset": runtime.preset.name, **await compare(*clients, sounds)}


async def simulate(folder: Path, args: argparse.Namespace) -> dict[str, object]:
    rounds = 1 + args.questions + args.commands
    folders = Folders(folder / "config", folder / "state", folder / "models", folder / "run")
    lines = ["It is noon here, and the sun is out."] * (2 * rounds)
    sound = Audio(voiced(0.8), SAMPLE_RATE_HZ)
    async with (
        voice_server(folders, lines, heard=["what time is it"], has_tools=False) as behind,
        clients_of(behind.url, behind.records) as clients,
    ):
        return {"engines": "simulated", **await compare(*clients, [("what time is it", sound)] * rounds)}


async def compare(voice: Client, realtime: Client, sounds: Sequence[tuple[str, Audio]]) -> dict[str, object]:
    """Ask both clients; the first round does not count: everything is loaded and read once."""
    answers: dict[Client, list[Answered]] = {voice: [], realtime: []}
    for number, (said, sound) in enumerate(sounds):
        for client in (voice, realtime) if number % 2 else (realtime, voice):
            name = "voice" if client is voice else "realtime"
            answered = tell(await client.ask(said, sound), name)
            answers[client] += [answered] if number else []
            await asyncio.sleep(BREATH_S)
    return {
        "hardware": describe(),
        "voice": figures(answers[voice]),
        "realtime": figures(answers[realtime]),
        "difference_of_medians_s": round(median_s(answers[realtime]) - median_s(answers[voice]), 3),
    }


def main() -> None:
    parser = arguments("First audio over the Realtime API and over the voice socket.", questions=7, commands=10)
    parser.add_argument("--preset", default="", help="another than the default one")
    parser.add_argument("--simulated", action="store_true", help="engines that answer at once")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        if args.simulated:
            result = asyncio.run(simulate(Path(scratch), args))
        else:
            result = asyncio.run(measure(Path(scratch), open_store(user_folders()), args))
    show(result, f"bar for the difference of the medians: {BAR_S} s", args.json)


if __name__ == "__main__":
    main()
