"""How many threads llama.cpp should have, alone and beside a voice that is speaking.

`python -m benchmarks.threads`: tokens per second for the prompt and for the reply, at each thread count, idle
and while Piper synthesises in its own process. `edgevox/engines/threads.py` is written from the result.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import statistics
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from benchmarks.hardware import describe
from edgevox.core.files import user_folders
from edgevox.core.turn import CancelFlag
from edgevox.core.types import Audio, ChatDelta, ChatDone, ChatReply, ChatRequest, Message, Sampling, SynthesisRequest
from edgevox.engines import SupervisedEngine
from edgevox.llm.engine import LlamaEngine
from edgevox.models import ModelStore, open_store
from edgevox.tts.piper import PiperEngine

PROMPT = "Here is a list of things that are in the house and what they are good for. " * 24
SPEECH = "The weather will be fine tomorrow, with a light wind from the west and some sun in the afternoon."


@asynccontextmanager
async def speaking(store: ModelStore) -> AsyncIterator[None]:
    """Piper at work for as long as the block runs."""
    piper = SupervisedEngine[SynthesisRequest, Audio](
        "tts", PiperEngine(store.pull("piper-en_US-joe-medium"), threads=1)
    )
    await piper.start()

    async def talk() -> None:
        while True:
            async for _ in piper.stream(SynthesisRequest(SPEECH), CancelFlag()):
                pass

    task = asyncio.create_task(talk())
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await piper.close()


async def speeds(llama: SupervisedEngine[ChatRequest, ChatReply], number: int) -> tuple[float, float]:
    """Prompt and reply tokens per second of one request whose prompt was never seen."""
    request = ChatRequest(
        (Message("user", f"Number {number}. {PROMPT}"),), sampling=Sampling(temperature=0.0, max_tokens=48)
    )
    started_s = time.monotonic()
    first_s = started_s
    async for reply in llama.stream(request, CancelFlag()):
        match reply:
            case ChatDelta() if first_s == started_s:
                first_s = time.monotonic()
            case ChatDone():
                ended_s = time.monotonic()
                prompt = (reply.prompt_tokens - reply.cached_tokens) / (first_s - started_s)
                return prompt, (reply.generated_tokens - 1) / (ended_s - first_s)
    raise RuntimeError("the model did not finish")


async def row(store: ModelStore, threads: int, runs: int) -> tuple[float, float]:
    engine = LlamaEngine(
        store.pull("smollm2-135m-instruct"), context_tokens=2048, threads=threads, prompt_threads=threads
    )
    llama = SupervisedEngine[ChatRequest, ChatReply]("llm", engine)
    await llama.start()
    try:
        measured = [await speeds(llama, number) for number in range(runs)]
    finally:
        await llama.close()
    return statistics.median(p for p, _ in measured), statistics.median(r for _, r in measured)


async def measure(runs: int) -> list[dict[str, object]]:
    store = open_store(user_folders())
    counts = range(1, min(len(os.sched_getaffinity(0)), 4) + 1)
    rows: list[dict[str, object]] = []
    for beside in ("nothing", "piper"):
        for threads in counts:
            if beside == "piper":
                async with speaking(store):
                    prompt, reply = await row(store, threads, runs)
            else:
                prompt, reply = await row(store, threads, runs)
            rows.append(
                {
                    "beside": beside,
                    "threads": threads,
                    "prompt_tokens_s": round(prompt, 1),
                    "reply_tokens_s": round(reply, 1),
                }
            )
            print(f"beside {beside:<8} {threads} threads: prompt {prompt:6.1f}/s  reply {reply:6.1f}/s", flush=True)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description="Tokens per second by thread count.")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--json", type=Path, metavar="FILE", help="keep the result")
    args = parser.parse_args()
    print(f"hardware: {describe()}")
    rows = asyncio.run(measure(args.runs))
    if args.json:
        result = {"hardware": describe(), "rows": rows}
        args.json.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
