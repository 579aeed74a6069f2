"""Runs test servers as real processes."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from edgevox.config import McpSettings
from edgevox.core.types import ToolCall
from edgevox.testing.serve import free_port
from edgevox.tools import Caller, ToolExecutor, ToolRegistry, ToolResult
from edgevox.tools.mcp.approvals import Approvals
from edgevox.tools.mcp.config import ServerSpec, StdioServer
from edgevox.tools.mcp.servers import McpServers, ServerReport
from edgevox.tools.policy import LOCAL

HERE = Path(__file__).parent
BOUND_S = 40.0
IMPATIENT = McpSettings(start_timeout_s=8.0, tool_refresh_s=30.0)


def raw(fault: str = "none", log: Path | None = None, server_id: str = "raw") -> StdioServer:
    """A server that is good, or faulty in one way."""
    more = (str(log),) if log else ()
    return StdioServer(server_id, sys.executable, (str(HERE / "raw_server.py"), fault, *more))


def sdk(server_id: str = "sdk") -> StdioServer:
    return StdioServer(server_id, sys.executable, (str(HERE / "sdk_server.py"), "stdio"))


@dataclass
class Running:
    """Servers that were approved and started, and an executor for their tools."""

    servers: McpServers
    approvals: Approvals
    executor: ToolExecutor

    @property
    def registry(self) -> ToolRegistry:
        return self.executor.registry

    def report(self, server_id: str = "raw") -> ServerReport:
        return next(report for report in self.servers.reports() if report.id == server_id)

    async def call(self, name: str, arguments: str = "{}", caller: Caller = LOCAL) -> ToolResult:
        return await self.executor.dispatch(ToolCall("1", name, arguments), caller=caller)


@asynccontextmanager
async def running(
    *specs: ServerSpec,
    approvals: Approvals | None = None,
    approved: Sequence[ServerSpec] | None = None,
    settings: McpSettings = IMPATIENT,
    registry: ToolRegistry | None = None,
    answer_s: float = 10.0,
    **options: Any,
) -> AsyncIterator[Running]:
    kept = approvals or Approvals()
    for spec in specs if approved is None else approved:
        kept.approve(spec)
    registry = registry or ToolRegistry()
    servers = McpServers(specs, kept, registry, settings, answer_s=answer_s, first_pause_s=0.3)
    async with asyncio.timeout(BOUND_S):
        servers.start()
        try:
            await servers.settled(BOUND_S)
            yield Running(servers, kept, ToolExecutor(registry, **options))
        finally:
            await servers.stop()


async def until(condition: Callable[[], bool]) -> None:
    """Wait for something that will be so; the block that waits is bounded."""
    while not condition():  # noqa: ASYNC110 - what is waited for happens in another process
        await asyncio.sleep(0.02)


def logged(log: Path) -> list[str]:
    """What a server was made to do, without its starts."""
    lines = log.read_text(encoding="utf-8").splitlines() if log.exists() else []
    return [line for line in lines if not line.startswith("started")]


def starts(log: Path) -> int:
    lines = log.read_text(encoding="utf-8").splitlines() if log.exists() else []
    return sum(line.startswith("started") for line in lines)


def is_alive(pid: int) -> bool:
    return Path(f"/proc/{pid}").exists()


@asynccontextmanager
async def sdk_over_http() -> AsyncIterator[str]:
    """The address of the SDK's server over streamable HTTP."""
    port = free_port()
    process = await asyncio.create_subprocess_exec(
        sys.executable, str(HERE / "sdk_server.py"), "http", str(port), stderr=asyncio.subprocess.DEVNULL
    )
    try:
        async with asyncio.timeout(BOUND_S):
            while True:
                try:
                    _reader, writer = await asyncio.open_connection("127.0.0.1", port)
                except ConnectionRefusedError:
                    await asyncio.sleep(0.05)
                else:
                    writer.close()
                    await writer.wait_closed()
                    break
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        process.terminate()
        await process.wait()
