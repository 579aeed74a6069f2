"""Threads of each engine, and llama.cpp's batch size and flash attention, on this processor.

`python -m benchmarks.threads`: each engine as the assistant starts it, with the default models: tokens per second of a
prompt that was never seen and of a reply, alone and beside a voice that is speaking; seconds to write down a command;
seconds to the first sound of a sentence. Then llama.cpp alone on the language model. `edgevox/engines/threads.py` is
written from the result.
"""

from __future__ import annotations

import asyncio
import statistics
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext
from pathlib import Path

from benchmarks.command_turns import report
from edgevox.app.runtime import AssistantRuntime
from edgevox.config import load_settings
from edgevox.core.files import Folders
from edgevox.core.platform import usable_cores
from edgevox.core.turn import CancelFlag
from edgevox.core.types import Audio, ChatDelta, ChatDone, ChatRequest, Message, Sampling, SynthesisRequest
from edgevox.engines.threads import limit_omp_spin
from edgevox.models import open_store

PROMPT = "Here is a list of things that are in the house and what they are good for. " * 24
SPEECH = "The weather will be fine tomorrow, with a light wind from the west and some sun in the afternoon."
COMMAND = "Turn off the hallway light and set the thermostat to nineteen degrees."
RUNS = 5
BATCH_TOKENS = (64, 128, 256, 512)
LONG_PROMPT_TOKENS, QUESTION_TOKENS, REPLY_TOKENS = 1450, 13, 16


@asynccontextmanager
async def speaking(runtime: AssistantRuntime) -> AsyncIterator[None]:
    """The voice at work for as long as the block runs."""

    async def talk() -> None:
        while True:
            async for _ in runtime.engines.tts.stream(SynthesisRequest(SPEECH), CancelFlag()):
                pass

    task = asyncio.create_task(talk())
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def token_rates(runtime: AssistantRuntime, number: int) -> tuple[float, float]:
    """Prompt and reply tokens per second of one request whose prompt was never seen."""
    request = ChatRequest(
        (Message("user", f"Number {number}. {PROMPT}"),), sampling=Sampling(temperature=0.0, max_tokens=48)
    )
    started_s = time.monotonic()
    first_s = started_s
    async for reply in runtime.engines.llm.stream(request, CancelFlag()):
        match reply:
            case ChatDelta() if first_s == started_s:
                first_s = time.monotonic()
            case ChatDone():
                took_s = max(time.monotonic() - first_s, 1e-6)
                prompt = (reply.prompt_tokens - reply.cached_tokens) / (first_s - started_s)
                return prompt, (reply.generated_tokens - 1) / took_s
    raise RuntimeError("the model did not finish")


async def first_sound_s(runtime: AssistantRuntime) -> float:
    started_s = time.monotonic()
    took_s = 0.0
    async for _ in runtime.engines.tts.stream(SynthesisRequest(SPEECH), CancelFlag()):
        took_s = took_s or time.monotonic() - started_s
    return took_s


async def transcription_s(runtime: AssistantRuntime, command: Audio) -> float:
    started_s = time.monotonic()
    await runtime.transcriber().transcribe(command, CancelFlag())
    return time.monotonic() - started_s


async def engines_row(folders: Folders, threads: int) -> dict[str, object]:
    """The figures of all engines with this many threads each."""
    flags = {"llm.threads": threads, "stt.threads": threads, "tts.threads": threads, "llm.keep_prompts": False}
    store = open_store(folders)
    settings = load_settings(folders, flags=flags, environ={})
    runtime = AssistantRuntime(settings, folders, store, ["llm", "stt", "tts"])
    store.ensure(runtime.models.needed())
    runtime.models.prepare(print)
    row: dict[str, object] = {"threads": threads}
    async with runtime:
        command = await runtime.voice().sound_of(COMMAND)
        await transcription_s(runtime, command)
        row["transcription_s"] = round(
            statistics.median([await transcription_s(runtime, command) for _ in range(RUNS)]), 3
        )
        row["first_sound_s"] = round(statistics.median([await first_sound_s(runtime) for _ in range(RUNS)]), 3)
        for beside, context in (("alone", nullcontext()), ("beside_the_voice", speaking(runtime))):
            async with context:
                rates = [await token_rates(runtime, number) for number in range(RUNS)]
            row[f"llm_{beside}"] = {
                "prompt_tokens_s": round(statistics.median(prompt for prompt, _ in rates), 1),
                "reply_tokens_s": round(statistics.median(reply for _, reply in rates), 1),
            }
    print(row, flush=True)
    return row


def llama_row(model: Path, batch_tokens: int, *, has_flash: bool, threads: int) -> dict[str, object]:
    """Times of llama.cpp alone: a long prompt, a question behind it, and tokens behind both."""
    from llama_cpp import Llama  # imported late: limit_omp_spin comes first

    llama = Llama(
        str(model),
        n_ctx=2048,
        n_batch=batch_tokens,
        n_ubatch=batch_tokens,
        n_threads=threads,
        n_threads_batch=threads,
        flash_attn=has_flash,
        verbose=False,
    )
    word = llama.tokenize(b"house", add_bos=False)[:1]
    took_s: dict[str, list[float]] = {"prompt": [], "question": [], "token": []}
    for _ in range(3):
        llama.reset()
        for name, tokens, times in (
            ("prompt", LONG_PROMPT_TOKENS, 1),
            ("question", QUESTION_TOKENS, 1),
            ("token", 1, REPLY_TOKENS),
        ):
            started_s = time.monotonic()
            for _ in range(times):
                llama.eval(word * tokens)
            took_s[name].append((time.monotonic() - started_s) / times)
    llama.close()
    row: dict[str, object] = {"batch_tokens": batch_tokens, "has_flash_attention": has_flash}
    row |= {f"{name}_ms": round(statistics.median(each) * 1000, 1) for name, each in took_s.items()}
    print(row, flush=True)
    return row


async def measure(folders: Folders) -> dict[str, object]:
    cores = usable_cores()
    engines = [await engines_row(folders, threads) for threads in range(1, min(cores, 4) + 1)]
    limit_omp_spin()
    runtime = AssistantRuntime(load_settings(folders, environ={}), folders, open_store(folders), ["llm"])
    model = runtime.models.llm().model
    llama = [
        llama_row(model, batch_tokens, has_flash=has_flash, threads=min(cores, 4))
        for has_flash in (False, True)
        for batch_tokens in BATCH_TOKENS
    ]
    return {"engines": engines, "llama_cpp": llama}


def main() -> None:
    report(__doc__, measure, "the fastest row of each column is what edgevox/engines/threads.py should choose")


if __name__ == "__main__":
    main()
