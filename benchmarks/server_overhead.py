"""What the server costs per streamed token: `python -m benchmarks.server_overhead`.

A model that takes no time writes single words; the time per word from it to a client on loopback is the
server's own, with the client in the same process (so it is too much rather than too little).
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import time
from collections.abc import AsyncGenerator

import aiohttp

from benchmarks.hardware import describe
from edgevox.agents.asked_model import AskedModel
from edgevox.server.app import create_app
from edgevox.server.assistant import Assistant
from edgevox.server.serving import serving
from edgevox.server.tokens import Tokens
from edgevox.settings import ServerSettings
from edgevox.turn import CancelFlag
from edgevox.types import ChatDelta, ChatDone, ChatReply, ChatRequest

WORDS = 2000
ROUNDS = 7
TOOL = {"type": "function", "function": {"name": "get_time", "parameters": {"type": "object"}}}


class Instant:
    """A model that takes no time."""

    async def stream(self, _request: ChatRequest, _cancel: CancelFlag) -> AsyncGenerator[ChatReply, None]:
        for _ in range(WORDS):
            yield ChatDelta("word ")
            await asyncio.sleep(0)
        yield ChatDone("stop", 1, 0, WORDS)


async def alone_s() -> float:
    started_s = time.perf_counter()
    async for _reply in Instant().stream(ChatRequest(()), CancelFlag()):
        pass
    return time.perf_counter() - started_s


async def served_s(url: str, **more: object) -> float:
    body = {"model": "default", "messages": [{"role": "user", "content": "?"}], "stream": True, **more}
    started_s = time.perf_counter()
    async with (
        aiohttp.ClientSession() as session,
        session.post(f"{url}/v1/chat/completions", json=body) as got,
    ):
        got.raise_for_status()
        async for _piece in got.content.iter_any():
            pass
    return time.perf_counter() - started_s


async def measured() -> dict[str, float]:
    settings = ServerSettings()
    app = create_app(Assistant("instant", AskedModel(Instant(), ("hermes",))), settings, Tokens({}))
    async with serving(app, "127.0.0.1", 0) as url:
        await served_s(url)
        figures: dict[str, list[float]] = {"alone": [], "plain": [], "with_tools": []}
        for _ in range(ROUNDS):
            figures["alone"].append(await alone_s())
            figures["plain"].append(await served_s(url))
            figures["with_tools"].append(await served_s(url, tools=[TOOL]))
    return {f"{name}_us_per_token": statistics.median(all_s) / WORDS * 1e6 for name, all_s in figures.items()}


def main() -> None:
    argparse.ArgumentParser(description=__doc__).parse_args()
    print(json.dumps({"hardware": describe(), **asyncio.run(measured())}, indent=1))


if __name__ == "__main__":
    main()
