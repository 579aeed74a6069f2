"""Memory after one turn with the default models, and the cold start: `python -m benchmarks.footprint`."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import statistics
import tempfile
import time
from pathlib import Path

from benchmarks.hardware import describe
from edgevox.app.runtime import AssistantRuntime
from edgevox.config import load_settings
from edgevox.core.events import EngineName
from edgevox.core.files import Folders, user_folders
from edgevox.core.platform import anonymous_bytes
from edgevox.core.turn import CancelFlag, Turn
from edgevox.models import open_store

ENGINES: tuple[EngineName, ...] = ("llm", "tts", "stt")
BAR_MB = 800


async def measure(folders: Folders) -> tuple[float, dict[str, float]]:
    """Seconds from nothing to all engines ready, and MB per process after one spoken turn."""
    store = open_store(folders)
    runtime = AssistantRuntime(load_settings(folders, environ={}), folders, store, ENGINES)
    store.ensure(runtime.models.needed())
    started_s = time.monotonic()
    async with runtime:
        ready_s = time.monotonic() - started_s
        question = await runtime.voice().sound_of("What is the capital of France?")
        transcript = await runtime.transcriber().transcribe(question, CancelFlag())
        reply = await runtime.pipeline().answer(transcript.text, Turn())
        await runtime.voice().sound_of(reply.reply)
        pids = {"main": os.getpid()} | {name: pid for name in ENGINES if (pid := runtime.engines.pid(name))}
        return ready_s, {name: anonymous_bytes(pid) / 1e6 for name, pid in pids.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--json", type=Path, metavar="FILE", help="keep the result")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folders = Folders(Path(scratch) / "config", Path(scratch) / "state", user_folders().models)
        results = [asyncio.run(measure(folders)) for _ in range(args.runs)]
    ready_s = statistics.median(seconds for seconds, _ in results)
    memory_mb = {name: round(max(mb[name] for _, mb in results), 1) for name in results[0][1]}
    total_mb = round(sum(memory_mb.values()), 1)
    print(f"hardware: {describe()}")
    print(f"cold start to ready, all three engines (median of {args.runs}): {ready_s:.2f} s")
    for name, mb in memory_mb.items():
        print(f"  RssAnon {name:<8} {mb:7.1f} MB")
    print(f"  RssAnon total    {total_mb:7.1f} MB  (bar: {BAR_MB} MB)")
    if args.json:
        result = {"hardware": describe(), "ready_s": round(ready_s, 2), "memory_mb": memory_mb, "total_mb": total_mb}
        args.json.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
