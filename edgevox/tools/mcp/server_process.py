"""The process of an MCP server: its pipes, and an end that also happens when the caller is cancelled.

asyncio's own subprocesses are reaped by a callback in the event loop. A loop that closes meanwhile leaves
them running, or dead but not reaped, so this uses `subprocess` and only connects the pipes to the loop.
"""

from __future__ import annotations

import asyncio
import contextlib
import subprocess
import time
from collections.abc import AsyncGenerator
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import IO

import anyio
from mcp.client.stdio import get_default_environment

from edgevox.core.errors import ConfigError
from edgevox.core.platform import signal_group
from edgevox.tools.mcp.config import StdioServer, expand_variables

# How long the process may take to end by itself, and again after SIGTERM.
_END_S = 1.0
# A killed process ends within milliseconds, except in an uninterruptible system call.
_REAP_S = 5.0
_POLL_S = 0.01


@dataclass(frozen=True, slots=True)
class Pipes:
    """The standard streams of a running process."""

    stdin: asyncio.StreamWriter
    stdout: asyncio.StreamReader
    stderr: asyncio.StreamReader


@asynccontextmanager
async def server_process(spec: StdioServer, max_line_bytes: int) -> AsyncGenerator[Pipes, None]:
    """Run the server inside the block; afterwards it and its children have ended, also if the task is cancelled.

    The process has a session of its own, so that its children end with it. Raises ConfigError if the program
    cannot be started.
    """
    child = _started(spec)
    assert child.stdin is not None
    assert child.stdout is not None
    assert child.stderr is not None
    input_, output = ExitStack(), ExitStack()
    try:
        stdin = await _writer(child.stdin, input_)
        stdout = await _reader(child.stdout, output, max_line_bytes)
        stderr = await _reader(child.stderr, output)
        yield Pipes(stdin, stdout, stderr)
    finally:
        try:
            input_.close()  # the sign to end
            # Shielded from the SDK's task group, which cancels again in every round of the loop.
            with anyio.CancelScope(shield=True):
                await _end(child)
        finally:
            signal_group(child.pid, "SIGKILL")  # also its remaining children
            with contextlib.suppress(subprocess.TimeoutExpired):
                child.wait(_REAP_S)  # milliseconds, and the loop may be about to close
            output.close()
            for pipe in (child.stdin, child.stdout, child.stderr):
                pipe.close()


def _started(spec: StdioServer) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(
            [spec.command, *spec.args],
            bufsize=0,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=get_default_environment() | expand_variables(spec.env),
            cwd=spec.cwd,
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ConfigError(
            f"{spec.command} cannot be started: {reason}", hint="check that it is installed and in the PATH"
        ) from error


async def _reader(pipe: IO[bytes], transports: ExitStack, max_line_bytes: int = 65_536) -> asyncio.StreamReader:
    reader = asyncio.StreamReader(limit=max_line_bytes)
    transport, _protocol = await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), pipe
    )
    transports.callback(transport.close)
    return reader


async def _writer(pipe: IO[bytes], transports: ExitStack) -> asyncio.StreamWriter:
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader()  # receives only the end of the pipe
    transport, protocol = await loop.connect_write_pipe(lambda: asyncio.StreamReaderProtocol(reader), pipe)

    def close() -> None:
        if not transport.is_closing():
            transport.abort()  # unlike close, it does not wait for what is unsent

    transports.callback(close)
    return asyncio.StreamWriter(transport, protocol, reader, loop)


async def _end(child: subprocess.Popen[bytes]) -> None:
    """Let the process end by itself, then ask it to."""
    if not await _has_ended(child, _END_S):
        signal_group(child.pid, "SIGTERM")
        await _has_ended(child, _END_S)


async def _has_ended(child: subprocess.Popen[bytes], timeout_s: float) -> bool:
    deadline_s = time.monotonic() + timeout_s
    while (ended := child.poll()) is None and time.monotonic() < deadline_s:  # noqa: ASYNC110 - no event
        await asyncio.sleep(_POLL_S)
    return ended is not None
