"""What a tool call costs beside the tool itself: `python -m benchmarks.tool_executor`.

Schemas of 50 tools, made once and read again; and calls through the executor, of tools that do nothing. Wall
time is what a user waits, the way to a thread and back included; processor time is what the machine does.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from benchmarks.hardware import describe
from edgevox.core.types import ToolCall
from edgevox.tools import Target, Tool, ToolExecutor, ToolRegistry, tool

TOOLS = 50
ROUNDS = 2000
BAR_MS = 1.0
ARGUMENTS = '{"room": "kitchen", "on": true, "brightness": 40}'


def set_light(
    room: Literal["kitchen", "hall", "bath"],
    on: bool,
    brightness: Annotated[int, Field(ge=0, le=100, description="per cent")] = 100,
    colour: str | None = None,
) -> str:
    """Switch a light.

    Args:
        room: where it is
        on: whether it shall be on
        colour: a colour's name
    """
    return f"{room} light on"


async def set_light_async(
    room: Literal["kitchen", "hall", "bath"], on: bool, brightness: Annotated[int, Field(ge=0, le=100)] = 100
) -> str:
    """Switch a light."""
    return f"{room} light on"


def targets(arguments: object) -> list[Target]:
    return [Target("light", name="kitchen")]


def make_tools() -> list[Tool]:
    return [tool(name=f"set_light_{n}", side_effects=True, targets=targets)(set_light) for n in range(TOOLS)]


def run_schemas(report: dict[str, Any]) -> None:
    started = time.perf_counter()
    registry = ToolRegistry(make_tools())
    registry.openai_schemas()
    made_ms = (time.perf_counter() - started) * 1000
    cached_us = _median_us(registry.openai_schemas)
    report["schemas"] = {"tools": TOOLS, "made_ms": round(made_ms, 1), "cached_us": round(cached_us, 2)}
    print(f"schemas of {TOOLS} tools: made {made_ms:.1f} ms, read again {cached_us:.2f} µs (bar {BAR_MS:g} ms)")


async def run_calls(report: dict[str, Any]) -> None:
    made = [
        *make_tools(),
        tool(side_effects=True, targets=targets)(set_light_async),
        tool(name="remembered", memoize_s=600)(set_light),
    ]
    executor = ToolExecutor(ToolRegistry(made))
    cases = {
        "async tool": ToolCall("c", "set_light_async", ARGUMENTS),
        "sync tool, on a thread": ToolCall("c", "set_light_0", ARGUMENTS),
        "memoized": ToolCall("c", "remembered", ARGUMENTS),
        "invalid arguments": ToolCall("c", "set_light_0", '{"room": "attic"}'),
    }
    print(f"\n{'one call':26}{'median ms':>11}{'p95 ms':>9}{'processor ms':>14}   (bar {BAR_MS:g} ms)")
    for name, call in cases.items():
        row = await _measure(lambda call=call: executor.dispatch(call))  # type: ignore[misc]
        report.setdefault("calls", {})[name] = row
        print(f"{name:26}{row['median_ms']:11.3f}{row['p95_ms']:9.3f}{row['processor_ms']:14.3f}")
    four = [cases["async tool"]] * 4
    row = await _measure(lambda: executor.dispatch_all(four))
    report["calls"]["four at once"] = row
    print(f"{'four at once':26}{row['median_ms']:11.3f}{row['p95_ms']:9.3f}{row['processor_ms']:14.3f}")


async def _measure(work: Callable[[], Awaitable[object]]) -> dict[str, float]:
    await work()
    waited_s = []
    processor_s = time.process_time()
    for _ in range(ROUNDS):
        started = time.perf_counter()
        await work()
        waited_s.append(time.perf_counter() - started)
    processor_s = time.process_time() - processor_s
    return {
        "median_ms": round(statistics.median(waited_s) * 1000, 3),
        "p95_ms": round(statistics.quantiles(waited_s, n=20)[-1] * 1000, 3),
        "processor_ms": round(processor_s / ROUNDS * 1000, 3),
    }


def _median_us(work: Callable[[], object]) -> float:
    times = []
    for _ in range(ROUNDS):
        started = time.perf_counter_ns()
        work()
        times.append(time.perf_counter_ns() - started)
    return statistics.median(times) / 1000


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--out", type=Path, help="write the figures as JSON too")
    chosen = options.parse_args()
    report: dict[str, Any] = {"hardware": describe()}
    run_schemas(report)
    asyncio.run(run_calls(report))
    if chosen.out is not None:
        chosen.out.write_text(json.dumps(report, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
