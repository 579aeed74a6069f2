"""Message limits of a server, the end of its process, and the lazy import of the SDK."""

from __future__ import annotations

import asyncio
import gc
import subprocess
import sys
import warnings
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

import pytest

from edgevox.tools.mcp.config import StdioServer
from edgevox.tools.mcp.transports import (
    MAX_BYTES_PER_S,
    MAX_INVALID_MESSAGES,
    MAX_MESSAGES_PER_S,
    LimitExceeded,
    Process,
    RateLimit,
    stdio_transport,
)
from tests.tools.mcp.running import is_alive, until


class Clock:
    def __init__(self) -> None:
        self.now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


def say(flow: RateLimit, count: int, *, is_message: bool = True) -> None:
    for _ in range(count):
        flow.count(100, is_message=is_message)


def test_the_message_limit_applies_per_second() -> None:
    clock = Clock()
    flow = RateLimit(clock)
    for _ in range(5 * MAX_MESSAGES_PER_S):
        clock.now_s += 2.0 / MAX_MESSAGES_PER_S
        flow.count(100)
    with pytest.raises(LimitExceeded, match="too many messages"):
        say(flow, MAX_MESSAGES_PER_S + 1)


def test_the_byte_limit_applies_per_second() -> None:
    flow = RateLimit(Clock())
    flow.count(MAX_BYTES_PER_S)
    with pytest.raises(LimitExceeded, match="too many messages"):
        flow.count(1)


def test_occasional_invalid_lines_are_tolerated_but_not_only_invalid_ones() -> None:
    clock = Clock()
    flow = RateLimit(clock)
    for _ in range(10 * MAX_INVALID_MESSAGES):
        clock.now_s += 0.1
        flow.count(10, is_message=False)
        flow.count(10)
    with pytest.raises(LimitExceeded, match="not valid MCP"):
        say(flow, MAX_INVALID_MESSAGES + 1, is_message=False)


def test_the_sdk_is_not_imported_without_a_server() -> None:
    asked = "import sys, edgevox.app.toolbox; sys.exit('mcp' in sys.modules or 'httpx2' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", asked], timeout=60, check=False).returncode == 0


def stubborn(pid_file: Path) -> StdioServer:
    """A server that ends neither with its input nor with SIGTERM, and writes its number to a file."""
    script = f"trap '' TERM; echo $$ > {pid_file}.new; mv {pid_file}.new {pid_file}; while :; do sleep 60; done"
    return StdioServer("stubborn", "/bin/sh", ("-c", script))


async def hold(spec: StdioServer) -> None:
    async with stdio_transport(spec, Process(), lambda: None):
        await asyncio.Event().wait()


def warnings_after(main: Coroutine[Any, Any, None]) -> list[str]:
    """Run `main` in an event loop of its own and return what Python says about processes that it left."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        asyncio.run(main)
        gc.collect()
    return [str(warning.message) for warning in caught]


def test_a_server_has_ended_although_its_end_was_cancelled_and_the_loop_closed(tmp_path: Path) -> None:
    pid_file = tmp_path / "pid"

    async def main() -> None:
        holding = asyncio.create_task(hold(stubborn(pid_file)))
        async with asyncio.timeout(20.0):
            await until(pid_file.exists)
        holding.cancel()
        await asyncio.wait((holding,), timeout=0.1)  # it is now waiting for the server's end
        holding.cancel()

    assert warnings_after(main()) == []
    assert not is_alive(int(pid_file.read_text(encoding="ascii")))


@pytest.mark.long
def test_a_server_ends_at_any_moment_its_start_is_cancelled(tmp_path: Path) -> None:
    async def main(rounds: int) -> None:
        holding = asyncio.create_task(hold(stubborn(tmp_path / "pid")))
        for _ in range(rounds):
            await asyncio.sleep(0)
        holding.cancel()
        await asyncio.sleep(0)
        holding.cancel()

    assert [(rounds, found) for rounds in range(12) if (found := warnings_after(main(rounds)))] == []
