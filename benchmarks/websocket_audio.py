"""First audio through the voice socket, beside that of the microphone here.

`python -m benchmarks.websocket_audio`: one daemon with the default models, one room, one client of /v1/voice.
Both are asked the same, one after the other, as fast as it is spoken. From the last voiced sample to the
first audible sample of the answer, which is heard when its frame has arrived. What a loudspeaker or a
browser's own output delays is in neither.
"""

from __future__ import annotations

import argparse
import asyncio
import dataclasses
import json
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

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
    Conversing,
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
from edgevox.core.files import user_folders
from edgevox.core.metrics import TurnMetrics
from edgevox.core.types import Audio, to_pcm16
from edgevox.models import ModelStore, open_store
from edgevox.server.app import create_app
from edgevox.server.http.listener import http_listener
from edgevox.server.http.tokens import Tokens
from edgevox.tools.policy import Caller

BAR_S = 0.15
PLAY_RATE_HZ = 48_000
_TOKEN = "token-of-the-benchmark"
_LOUDEST = 32_767


class OverSocket:
    """A client that speaks and plays, as a browser does."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse, records: list[TurnMetrics]) -> None:
        self._socket = socket
        self._records = records
        self._person = Person(live=True)
        self._audible_s: float | None = None
        self._tools = 0
        self._ended = asyncio.Event()

    @classmethod
    @asynccontextmanager
    async def with_(cls, runtime: AssistantRuntime) -> AsyncIterator[OverSocket]:
        records: list[TurnMetrics] = []
        assistant = dataclasses.replace(runtime.assistant(), keep=records.append)
        tokens = Tokens({_TOKEN: Caller("benchmark", frozenset({"*"}))})
        app = create_app(assistant, ServerSettings(), tokens)
        async with (
            http_listener(app, "127.0.0.1", 0) as url,
            aiohttp.ClientSession() as session,
            session.ws_connect(f"{url}/v1/voice") as socket,
        ):
            await socket.send_json({"type": "hello", "version": 1, "token": _TOKEN, "play_rate_hz": PLAY_RATE_HZ})
            client = cls(socket, records)
            tasks = [asyncio.create_task(client._speak()), asyncio.create_task(client._hear())]
            try:
                yield client
            finally:
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)

    async def ask(self, said: str, sound: Audio) -> Answered:
        self._audible_s, self._tools = None, 0
        self._ended.clear()
        self._person.say(sound)
        async with asyncio.timeout(ANSWERED_WITHIN_S):
            await self._ended.wait()
        return Answered(said, self._took_s(), self._tools, self._records[-1])

    def _took_s(self) -> float | None:
        audible_s, finished_s = self._audible_s, self._person.finished_s
        return audible_s - finished_s if audible_s is not None and audible_s > finished_s else None

    async def _speak(self) -> None:
        async for block in self._person.frames():
            await self._socket.send_bytes(to_pcm16(block.samples))

    async def _hear(self) -> None:
        passage = samples = 0
        async for message in self._socket:
            if message.type == aiohttp.WSMsgType.BINARY:
                heard = np.frombuffer(message.data, "<i2").astype(np.float32) / np.float32(_LOUDEST)
                sound = Audio(heard, PLAY_RATE_HZ)
                if self._audible_s is None and (quiet_s := leading_silence_s(sound)) < sound.duration_s:
                    self._audible_s = time.monotonic() + quiet_s
                samples += len(sound.samples)
                await self._socket.send_json({"type": "played", "passage": passage, "samples": samples})
                continue
            frame = json.loads(message.data)
            match frame["type"]:
                case "audio_begin":
                    passage, samples = frame["passage"], 0
                case "tool_call":
                    self._tools += 1
                case "done":
                    self._ended.set()
                case "error":
                    raise ConnectionError(frame["message"])


async def measure(folder: Path, store: ModelStore, args: argparse.Namespace) -> dict[str, object]:
    runtime = daemon_in(folder, store, args, AssistantRuntime)
    store.ensure(runtime.models.needed())
    runtime.models.prepare(print)
    here: list[Answered] = []
    there: list[Answered] = []
    async with runtime, Conversing.with_(runtime, live=True) as locally, OverSocket.with_(runtime) as remotely:
        for said, sound in await spoken(runtime, [WARM_UP]):  # everything is loaded and read once
            await locally.ask(said, sound)
            await remotely.ask(said, sound)
        asked = (*QUESTIONS[: args.questions], *COMMANDS[: args.commands])
        for said, sound in await spoken(runtime, asked):
            here.append(tell(await locally.ask(said, sound), "here"))
            await asyncio.sleep(BREATH_S)
            there.append(tell(await remotely.ask(said, sound), "over the socket"))
            await asyncio.sleep(BREATH_S)
    return {
        "hardware": describe(),
        "preset": runtime.preset.name,
        "here": figures(here),
        "over_the_socket": figures(there),
        "difference_of_medians_s": round(median_s(there) - median_s(here), 3),
    }


def main() -> None:
    parser = arguments("First audio here and over the voice socket.", questions=7, commands=10)
    parser.add_argument("--preset", default="", help="another than the default one")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        result = asyncio.run(measure(Path(scratch), open_store(user_folders()), args))
    show(result, f"bar for the difference of the medians: {BAR_S} s", args.json)


if __name__ == "__main__":
    main()
