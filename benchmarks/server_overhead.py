"""What the server costs per streamed token: `python -m benchmarks.server_overhead [--llama-server FOLDER]`.

Two ways, in one run. The server's own time per token, with a model that takes none: over the time in which
the default model makes one. And the default model's decoding through `/v1` beside the same requests to its
engine without a server, round by round. The client is in the server's process, so it is too much rather than
too little.

With FOLDER, the same file and the same requests through llama-cpp-python's own server. That needs packages
which this project does not: `pip install --target FOLDER fastapi sse-starlette starlette-context
pydantic-settings`.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import socket
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp

from benchmarks.hardware import describe
from edgevox.agents.model_profile import ModelProfile
from edgevox.app.runtime import AssistantRuntime
from edgevox.config import ServerSettings, load_settings
from edgevox.core.files import Folders, user_folders
from edgevox.core.turn import CancelFlag
from edgevox.core.types import API_CLIENT, ChatDelta, ChatDone, ChatModel, ChatReply, ChatRequest, Message, Sampling
from edgevox.models import open_store
from edgevox.server.app import create_app
from edgevox.server.assistant import Assistant
from edgevox.server.http.listener import http_listener
from edgevox.server.http.tokens import Tokens

OVERHEAD_BAR = 0.05
WORDS = 2000
MAX_TOKENS = 120
QUESTION = "Tell me a long story about a dog that lives by the sea."
TOOL = {"type": "function", "function": {"name": "get_time", "parameters": {"type": "object"}}}
STARTS_WITHIN_S = 60.0


class Instant:
    """A model that takes no time."""

    async def stream(self, _request: ChatRequest, _cancel: CancelFlag) -> AsyncGenerator[ChatReply, None]:
        for _ in range(WORDS):
            yield ChatDelta("word ")
            await asyncio.sleep(0)
        yield ChatDone("stop", 1, 0, WORDS)


@dataclass(frozen=True, slots=True)
class Told:
    """One answer: when its pieces came, and how many tokens it had."""

    pieces_s: list[float]
    tokens: int
    took_s: float

    @property
    def tokens_per_s(self) -> float:
        """Of decoding: from the first piece to the last."""
        return (self.tokens - 1) / (self.pieces_s[-1] - self.pieces_s[0])


async def asked(url: str, **more: object) -> Told:
    """One answer through a server, streamed."""
    body = {
        "model": "default",
        "messages": [{"role": "user", "content": QUESTION}],
        "stream": True,
        "stream_options": {"include_usage": True},
        "temperature": 0,
        "max_tokens": MAX_TOKENS,
        "tool_choice": "none",
        **more,
    }
    pieces_s, tokens = list[float](), 0
    begun_s = time.perf_counter()
    async with aiohttp.ClientSession() as session, session.post(f"{url}/v1/chat/completions", json=body) as got:
        got.raise_for_status()
        async for line in got.content:
            if line.startswith(b"data: {"):
                chunk: dict[str, Any] = json.loads(line[6:])
                if any(choice["delta"].get("content") for choice in chunk["choices"]):
                    pieces_s.append(time.perf_counter())
                tokens = (chunk.get("usage") or {}).get("completion_tokens", tokens)
    return Told(pieces_s, tokens or len(pieces_s), time.perf_counter() - begun_s)


async def asked_directly(model: ChatModel, number: int) -> Told:
    """The same without a server."""
    request = ChatRequest(
        (Message("user", QUESTION),),
        sampling=Sampling(temperature=0.0, max_tokens=MAX_TOKENS),
        tool_choice="none",
        client=f"{API_CLIENT}{number}",
    )
    pieces_s, tokens = list[float](), 0
    begun_s = time.perf_counter()
    async for reply in model.stream(request, CancelFlag()):
        match reply:
            case ChatDelta():
                pieces_s.append(time.perf_counter())
            case ChatDone():
                tokens = reply.generated_tokens
    return Told(pieces_s, tokens, time.perf_counter() - begun_s)


# --- the server alone


async def own_us(rounds: int) -> dict[str, float]:
    """Microseconds of the server's own per token."""
    settings = ServerSettings()
    app = create_app(Assistant("instant", ModelProfile(Instant(), ("hermes",))), settings, Tokens({}))
    async with http_listener(app, "127.0.0.1", 0) as url:
        await asked(url)
        plain = [(await asked(url)).took_s for _ in range(rounds)]
        with_tools = [(await asked(url, tools=[TOOL], tool_choice="auto")).took_s for _ in range(rounds)]
    return {
        name: round(statistics.median(all_s) / WORDS * 1e6, 1)
        for name, all_s in (("plain", plain), ("with_tools", with_tools))
    }


# --- the default model


async def decoding(runtime: AssistantRuntime, rounds: int, llama_server: Path | None) -> dict[str, list[Told]]:
    """The same answer from the engine, through our server and through the other one, round by round."""
    told: dict[str, list[Told]] = {"engine": [], "served": [], "llama_cpp_server": []}
    app = create_app(runtime.assistant(), runtime.settings.server, Tokens({}))
    async with runtime, http_listener(app, "127.0.0.1", 0) as url, other_server(runtime, llama_server) as other:
        await asked_directly(runtime.engines.llm, 0)
        await asked(url)
        for number in range(rounds):
            told["engine"].append(await asked_directly(runtime.engines.llm, number + 1))
            told["served"].append(await asked(url))
            if other:
                told["llama_cpp_server"].append(await asked(other))
    return told


@asynccontextmanager
async def other_server(runtime: AssistantRuntime, folder: Path | None) -> AsyncIterator[str]:
    """The address of llama-cpp-python's server for the same file; "" where its packages are not there."""
    if folder is None:
        yield ""
        return
    files, plan = runtime.models.llm(), runtime.engines.threads
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    arguments = {
        "model": files.model,
        "port": port,
        "n_ctx": runtime.settings.llm.context_tokens,
        "n_threads": plan.llm_prompt,
        "n_threads_batch": plan.llm_prompt,
        **({"lora_path": files.adapter} if files.adapter else {}),
    }
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "llama_cpp.server"),
        *(part for name, value in arguments.items() for part in (f"--{name}", str(value))),
        env={**os.environ, "PYTHONPATH": os.pathsep.join((str(folder), os.environ.get("PYTHONPATH", "")))},
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        url = f"http://127.0.0.1:{port}"
        async with asyncio.timeout(STARTS_WITHIN_S):
            while not await _is_up(url):
                if process.returncode is not None:
                    raise SystemExit("llama_cpp.server did not start: see what to install in --help")
                await asyncio.sleep(0.2)
        await asked(url)
        yield url
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


async def _is_up(url: str) -> bool:
    try:
        async with aiohttp.ClientSession() as session, session.get(f"{url}/v1/models") as got:
            return got.status == 200
    except aiohttp.ClientError:
        return False


async def measure(folders: Folders, rounds: int, llama_server: Path | None) -> dict[str, object]:
    own = await own_us(rounds)
    store = open_store(folders)
    runtime = AssistantRuntime(load_settings(folders, environ={}), folders, store, ["llm"])
    store.ensure(runtime.models.needed())
    runtime.models.prepare(print)
    told = await decoding(runtime, rounds, llama_server)
    pace = {name: statistics.median(one.tokens_per_s for one in answers) for name, answers in told.items() if answers}
    token_us = 1e6 / pace["engine"]
    figures: dict[str, object] = {
        "preset": runtime.preset.name,
        "own_us_per_token": own,
        "decode_us_per_token": round(token_us),
        "own_share_of_decode": round(max(own.values()) / token_us, 4),
        "tokens_per_s": {name: round(value, 1) for name, value in pace.items()},
        "served_over_engine": round(pace["engine"] / pace["served"] - 1, 3),
    }
    if "llama_cpp_server" in pace:
        whole = {name: statistics.median(one.tokens / one.took_s for one in answers) for name, answers in told.items()}
        figures["whole_answer_tokens_per_s"] = {name: round(value, 1) for name, value in whole.items()}
        figures["beside_llama_cpp_server"] = round(whole["served"] / whole["llama_cpp_server"], 2)
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--llama-server", type=Path, metavar="FOLDER", help="where its packages are")
    parser.add_argument("--json", type=Path, metavar="FILE", help="keep the result")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as home:
        own = Folders(config=Path(home) / "config", state=Path(home) / "state", models=user_folders().models)
        result = asyncio.run(measure(own, args.rounds, args.llama_server)) | {"hardware": describe()}
    print(json.dumps(result, indent=2))
    print(f"the server's own time per token over that of decoding: bar {OVERHEAD_BAR}")
    if args.llama_server is None:
        print("not beside llama-cpp-python's server: --help says what that needs")
    if args.json:
        args.json.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
