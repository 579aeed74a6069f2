"""Thirty MCP servers with three hundred tools: `python -m benchmarks.mcp_servers`.

How soon the assistant is there, at the first start and when it knows the tools from before, and with some of
the servers silent; how late a timer is meanwhile; how much of a prompt the tools take; whether the tool that
a sentence is about is among those offered. Real processes, no language model.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.hardware import describe
from benchmarks.mcp_services import PARAPHRASED, SERVICES
from edgevox.app.toolbox import Toolbox
from edgevox.config import Settings
from edgevox.core.files import Folders
from edgevox.core.types import ToolCall
from edgevox.tools.mcp.approvals import APPROVALS_FILE, Approvals
from edgevox.tools.mcp.config import StdioServer, add_server

SILENT = 5
TICK_S = 0.005
READY_S = 60.0
# What this holds itself to.
START_BAR_S = 4.0
KNOWN_START_BAR_S = 3.0  # the engines take as long
FOUND_BAR = 0.9


@dataclass
class Lateness:
    """How late a timer of 5 ms is: whoever speaks waits as long."""

    late_ms: list[float] = field(default_factory=list)

    async def watch(self) -> None:
        while True:
            began_s = time.perf_counter()
            await asyncio.sleep(TICK_S)
            self.late_ms.append((time.perf_counter() - began_s - TICK_S) * 1000)

    def figures(self) -> dict[str, float]:
        ordered = sorted(self.late_ms)
        return {
            "median_ms": round(statistics.median(ordered), 2),
            "p99_ms": round(ordered[int(len(ordered) * 0.99)], 1),
            "max_ms": round(ordered[-1], 1),
        }


@dataclass
class Start:
    """One start of the assistant's tools."""

    what: str
    making_s: float = 0.0
    start_s: float = 0.0
    first_home_call_s: float = 0.0
    ready_s: float = 0.0
    ready: int = 0
    tools: int = 0
    timer: dict[str, float] = field(default_factory=dict)


def specs(*, silent: int = 0) -> list[StdioServer]:
    return [
        StdioServer(
            service.name,
            sys.executable,
            ("-m", "benchmarks.mcp_services", "silent" if place < silent else service.name),
        )
        for place, service in enumerate(SERVICES)
    ]


@asynccontextmanager
async def started(folders: Folders, what: str, expected: int) -> AsyncIterator[tuple[Toolbox, Start]]:
    start, lateness = Start(what), Lateness()
    watching = asyncio.create_task(lateness.watch())
    began_s = time.perf_counter()
    # As the daemon does it: on a thread.
    toolbox = await asyncio.to_thread(Toolbox, Settings(), folders, sources=[])
    start.making_s = time.perf_counter() - began_s
    await toolbox.start()
    start.start_s = time.perf_counter() - began_s
    result = await toolbox.executor.dispatch(ToolCall("1", "get_current_time", "{}"))
    assert not result.is_error, result.content
    start.first_home_call_s = time.perf_counter() - began_s
    async with asyncio.timeout(READY_S):
        while (ready := sum(report.status == "ready" for report in toolbox.mcp.reports())) < expected:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    start.ready_s, start.ready = time.perf_counter() - began_s, ready
    start.tools = sum(len(report.tools) for report in toolbox.mcp.reports())
    watching.cancel()
    start.timer = lateness.figures()
    try:
        yield toolbox, start
    finally:
        await toolbox.stop()


def approve(folders: Folders, servers: list[StdioServer]) -> None:
    approvals = Approvals(folders.state / APPROVALS_FILE)
    for spec in servers:
        add_server(folders.config / "mcp.json", spec)
        approvals.approve(spec)


def prompts(toolbox: Toolbox) -> dict[str, object]:
    """How much of a prompt the tools of servers take, and whether the right one is among them."""
    registry = toolbox.registry
    of_servers = {name for report in toolbox.mcp.reports() for name in report.tools}
    sizes = {name: len(json.dumps(registry.get(name).openai_schema)) for name in of_servers}
    chars: list[int] = []
    counts: list[int] = []
    times_ms: list[float] = []
    missed: list[str] = []
    asked = [(said, f"{service.name}_{action}") for service in SERVICES for said, action in service.asked]
    for said, wanted in asked:
        began_s = time.perf_counter()
        offered = [name for name in toolbox.mcp.offered(said) if name in of_servers]
        times_ms.append((time.perf_counter() - began_s) * 1000)
        chars.append(sum(sizes[name] for name in offered))
        counts.append(len(offered))
        if wanted not in offered:
            missed.append(f"{said} > {wanted}")
    other_words = [said for said, wanted in PARAPHRASED if wanted not in toolbox.mcp.offered(said)]
    usual = [name for name in toolbox.mcp.offered("") if name in of_servers]
    return {
        "sentences": len(asked),
        "found": len(asked) - len(missed),
        "missed": missed,
        "paraphrased": len(PARAPHRASED),
        "paraphrased_found": len(PARAPHRASED) - len(other_words),
        "paraphrased_missed": other_words,
        "chars_of_all": sum(sizes.values()),
        "chars_offered_mean": round(statistics.mean(chars)),
        "chars_offered_max": max(chars),
        "tools_offered_mean": round(statistics.mean(counts), 1),
        "tools_offered_max": max(counts),
        "tools_offered_without_a_sentence": len(usual),
        "choosing_ms_median": round(statistics.median(times_ms), 2),
        "choosing_ms_max": round(max(times_ms), 2),
    }


async def calls(toolbox: Toolbox, rounds: int = 200) -> dict[str, float]:
    times_ms: list[float] = []
    for _ in range(rounds):
        result = await toolbox.executor.dispatch(ToolCall("1", "weather_air_quality", "{}"))
        assert not result.is_error, result.content
        times_ms.append(result.elapsed_s * 1000)
    return {"median_ms": round(statistics.median(times_ms), 2), "max_ms": round(max(times_ms), 2)}


async def measured(folder: Path) -> dict[str, Any]:
    folders = Folders(folder / "config", folder / "state", folder / "models")
    servers = specs()
    approve(folders, servers)
    starts: list[Start] = []
    async with started(folders, "first start, nothing known", len(servers)) as (toolbox, start):
        starts.append(start)
    async with started(folders, "tools known from before", len(servers)) as (toolbox, start):
        starts.append(start)
        prompt, call = prompts(toolbox), await calls(toolbox)
    faulty = Folders(folder / "faulty", folder / "faulty state", folder / "models")
    approve(faulty, specs(silent=SILENT))
    what = f"first start, {SILENT} of them silent"
    async with started(faulty, what, len(servers) - SILENT) as (toolbox, start):
        starts.append(start)
    return {"starts": [asdict(start) for start in starts], "prompt": prompt, "call": call}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, metavar="FILE", help="keep the figures there")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        figures = asyncio.run(measured(Path(folder)))
    figures = {"machine": describe(), **figures}
    text = json.dumps(figures, indent=1)
    print(text)
    if args.json:
        args.json.write_text(text + "\n", encoding="utf-8")
    return 0 if all(held(figures).values()) else 1


def held(figures: dict[str, Any]) -> dict[str, bool]:
    """What was promised, and whether it was kept."""
    first, known, _faulty = figures["starts"]
    prompt = figures["prompt"]
    kept = {
        "the first start is short": first["start_s"] <= START_BAR_S,
        "the next one is shorter": known["start_s"] <= KNOWN_START_BAR_S,
        "the prompt is bounded": prompt["tools_offered_max"] <= 12 and prompt["chars_offered_max"] <= 12_000,
        "the right tool is offered": prompt["found"] >= FOUND_BAR * prompt["sentences"],
    }
    for promise, is_kept in kept.items():
        print(f"{'ok' if is_kept else 'MISSED'}  {promise}")
    return kept


if __name__ == "__main__":
    sys.exit(main())
