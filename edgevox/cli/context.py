"""Shared by commands: consoles, paths, settings, common options, running coroutines, reading stdin."""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import threading
from collections.abc import AsyncGenerator, Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from rich.console import Console

from edgevox.audio.io.speaker import Speaker
from edgevox.config import Settings, load_settings
from edgevox.core.errors import ConfigError, EdgevoxError
from edgevox.core.files import Folders, user_folders
from edgevox.core.platform import on_signal


@dataclass
class Context:
    """`out` takes the results, `err` everything else; `flags` are settings from the command line."""

    out: Console = field(default_factory=lambda: Console(highlight=False))
    err: Console = field(default_factory=lambda: Console(stderr=True, highlight=False))
    flags: Mapping[str, object] = field(default_factory=dict)

    @cached_property
    def folders(self) -> Folders:
        return user_folders()

    @cached_property
    def settings(self) -> Settings:
        """The settings, merged from all sources. Raises ConfigError."""
        return load_settings(self.folders, flags=self.flags)

    def speaker(self) -> Speaker:
        """Open the configured loudspeaker. Raises DeviceUnavailable."""
        audio = self.settings.audio
        return Speaker(audio.speaker, lead_in_ms=audio.lead_in_ms)

    @property
    def chosen_preset(self) -> str | None:
        """The preset's name; None if the settings are invalid."""
        try:
            return self.settings.preset
        except ConfigError:
            return None

    def report_error(self, error: EdgevoxError) -> None:
        """Print the error and its hint to standard error."""
        self.err.print(f"edgevox: {error.message}", style="red", markup=False, soft_wrap=True)
        if error.hint:
            self.err.print(f"  → {error.hint}", markup=False, soft_wrap=True)

    def write(self, text: str) -> None:
        """Write machine-readable text and a newline to standard output, without formatting."""
        sys.stdout.write(text + "\n")
        sys.stdout.flush()


T = TypeVar("T")


def run_until_done(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run the coroutine and return its result. Raises KeyboardInterrupt when SIGINT or SIGTERM ended it."""

    async def watched() -> T:
        task = asyncio.current_task()
        assert task is not None
        on_signal("SIGTERM", task.cancel)
        return await coroutine

    try:
        return asyncio.run(watched())
    except asyncio.CancelledError as error:
        raise KeyboardInterrupt from error


def add_model_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--preset", help="model preset (see edgevox presets list)")
    parser.add_argument(
        "--model", dest="llm.model", type=Path, metavar="FILE", help="GGUF file to use as the language model"
    )
    parser.add_argument(
        "--remote", dest="llm.remote_url", metavar="URL", help="use a model server instead, such as http://host:8080/v1"
    )
    parser.add_argument(
        "--remote-model", dest="llm.remote_model", metavar="NAME", help="name of the model on that server"
    )
    parser.add_argument(
        "--threads", dest="llm.threads", type=int, metavar="N", help="CPU threads for the language model"
    )
    parser.add_argument("--max-tokens", dest="llm.max_tokens", type=int, metavar="N", help="maximum length of a reply")
    parser.add_argument(
        "--seed", dest="llm.seed", type=int, metavar="N", help="sampling seed, for reproducible replies"
    )


def add_mcp_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--mcp-config", dest="mcp.config", type=Path, metavar="FILE", help="MCP server configuration, like mcp.json"
    )
    parser.add_argument("--mcp-command", dest="mcp.command", metavar="PROGRAM", help="program of one MCP server")
    parser.add_argument(
        "--mcp-args",
        dest="mcp.args",
        type=lambda text: tuple(text.split(",")),
        metavar="A,B",
        help="its arguments, separated by commas",
    )
    parser.add_argument(
        "--mcp-tool-refresh-seconds",
        dest="mcp.tool_refresh_s",
        type=float,
        metavar="S",
        help="interval at which MCP tool lists are refreshed",
    )


_CHUNK_BYTES = 65536


async def stdin_lines(on_prompt: Callable[[], None], *, keeps_blank: bool = False) -> AsyncGenerator[str, None]:
    """Yield the lines of standard input; `on_prompt` is called before each. Blank lines are skipped by default."""
    loop = asyncio.get_running_loop()
    lines: asyncio.Queue[str | None] = asyncio.Queue()

    def read() -> None:
        # os.read, not sys.stdin: a thread that holds sys.stdin's lock makes the interpreter abort at exit.
        fd = sys.stdin.fileno()
        pending = b""
        while data := os.read(fd, _CHUNK_BYTES):
            *complete, pending = (pending + data).split(b"\n")
            for line in complete:
                loop.call_soon_threadsafe(lines.put_nowait, line.decode(errors="replace"))
        if pending:
            loop.call_soon_threadsafe(lines.put_nowait, pending.decode(errors="replace"))
        loop.call_soon_threadsafe(lines.put_nowait, None)

    threading.Thread(target=read, name="stdin", daemon=True).start()
    on_prompt()
    while (line := await lines.get()) is not None:
        if line.strip() or keeps_blank:
            yield line.strip()
            on_prompt()
