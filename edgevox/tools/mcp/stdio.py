"""A server's process, and the messages on its standard output and input.

The SDK's own transport lets one endless line fill the memory and passes the server's errors on to our
terminal; this one bounds both. The process gets a session of its own, so that its children end with it.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.client.stdio import get_default_environment
from mcp.shared.message import SessionMessage
from mcp.types import jsonrpc_message_adapter

from edgevox.errors import ConfigError
from edgevox.platform_support import signal_group
from edgevox.tools.mcp.config import StdioServer, with_variables
from edgevox.tools.mcp.flow import MAX_MESSAGE_BYTES, Flood, Flow, Nonsense

if TYPE_CHECKING:
    from mcp.client._transport import TransportStreams

_log = logging.getLogger(__name__)

_LAST_WORDS_BYTES = 2_000
_CHUNK_BYTES = 65_536
# A server that floods its error output is read no faster than this allows.
_CHUNK_PAUSE_S = 0.01
_END_S = 1.0


class Process:
    """What is known of a server's process once it runs."""

    def __init__(self) -> None:
        self.problem = ""
        self._errors = b""

    @property
    def last_words(self) -> str:
        """The last line that it wrote to its error output."""
        lines = self._errors.decode("utf-8", "replace").strip().splitlines()
        return lines[-1].strip()[:200] if lines else ""

    def add_errors(self, chunk: bytes) -> None:
        self._errors = (self._errors + chunk)[-_LAST_WORDS_BYTES:]


@asynccontextmanager
async def stdio_transport(
    spec: StdioServer, process: Process, on_end: Callable[[], None]
) -> AsyncGenerator[TransportStreams, None]:
    """Start the server and speak to it inside the block. `on_end` is called when it says no more.

    Raises ConfigError when the program cannot be started.
    """
    child = await _started(spec)
    assert child.stdout is not None
    assert child.stderr is not None
    assert child.stdin is not None
    inbox, received = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    outbox, to_send = anyio.create_memory_object_stream[SessionMessage](0)
    tasks = [
        asyncio.create_task(_read(child.stdout, inbox, process, on_end)),
        asyncio.create_task(_write(child.stdin, to_send)),
        asyncio.create_task(_read_errors(child.stderr, process)),
    ]
    try:
        yield received, outbox
    finally:
        for stream in (inbox, received, outbox, to_send):
            stream.close()
        # Shielded: whoever gives up waiting must not leave a process behind.
        await asyncio.shield(_ended(child, tasks))


async def _started(spec: StdioServer) -> asyncio.subprocess.Process:
    environment = get_default_environment() | with_variables(spec.env)
    try:
        return await asyncio.create_subprocess_exec(
            spec.command,
            *spec.args,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=environment,
            cwd=spec.cwd,
            start_new_session=True,
            limit=MAX_MESSAGE_BYTES,
        )
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ConfigError(
            f"{spec.command} cannot be started: {reason}", hint="is it installed, and in the PATH?"
        ) from error


async def _read(
    output: asyncio.StreamReader,
    inbox: MemoryObjectSendStream[SessionMessage | Exception],
    process: Process,
    on_end: Callable[[], None],
) -> None:
    flow = Flow()
    try:
        while line := await output.readline():
            try:
                message = jsonrpc_message_adapter.validate_json(line, by_name=False)
            except ValueError:
                flow.count(len(line), is_message=False)
                _log.debug("no message: %r", line[:200])
                continue
            flow.count(len(line))
            await inbox.send(SessionMessage(message))
    except (Flood, Nonsense) as error:
        process.problem = str(error)
    except ValueError:  # the line is longer than the limit
        process.problem = f"one of its messages has more than {MAX_MESSAGE_BYTES:,} bytes"
    except (anyio.BrokenResourceError, anyio.ClosedResourceError):
        pass  # nobody listens any more
    finally:
        inbox.close()
        on_end()


async def _write(input_: asyncio.StreamWriter, to_send: MemoryObjectReceiveStream[SessionMessage]) -> None:
    # Where the process has ended, its output has too, and who reads that knows.
    with contextlib.suppress(ConnectionError):
        async for message in to_send:
            text = message.message.model_dump_json(by_alias=True, exclude_unset=True)
            input_.write(f"{text}\n".encode())
            await input_.drain()


async def _read_errors(errors: asyncio.StreamReader, process: Process) -> None:
    while chunk := await errors.read(_CHUNK_BYTES):
        process.add_errors(chunk)
        await asyncio.sleep(_CHUNK_PAUSE_S)


async def _ended(child: asyncio.subprocess.Process, tasks: list[asyncio.Task[None]]) -> None:
    """Let it end by itself, then make it; with it whatever it started."""
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    assert child.stdin is not None
    child.stdin.close()
    if not await _is_over(child):
        signal_group(child.pid, "SIGTERM")
        await _is_over(child)
    signal_group(child.pid, "SIGKILL")  # also those that it left behind
    await _is_over(child)
    # A grandchild that fled its session may hold the pipes open: without this, Python warns of them.
    child._transport.close()  # type: ignore[attr-defined]  # nothing public closes it


async def _is_over(child: asyncio.subprocess.Process) -> bool:
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_END_S):
            await child.wait()
    return child.returncode is not None
