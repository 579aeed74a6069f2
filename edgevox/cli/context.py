"""What commands share: consoles, paths and settings, common options, coroutines and standard input."""

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
    """`out` is for what was asked for, `err` for all else; `flags` are settings from the command line."""

    out: Console = field(default_factory=lambda: Console(highlight=False))
    err: Console = field(default_factory=lambda: Console(stderr=True, highlight=False))
    flags: Mapping[str, object] = field(default_factory=dict)

    @cached_property
    def folders(self) -> Folders:
        return user_folders()

    @cached_property
    def settings(self) -> Settings:
        """Every setting, from all of its sources. Raises ConfigError."""
        return load_settings(self.folders, flags=self.flags)

    def speaker(self) -> Speaker:
        """The loudspeaker that the settings choose. Raises DeviceUnavailable."""
        audio = self.settings.audio
        return Speaker(audio.speaker, lead_in_ms=audio.lead_in_ms)

    @property
    def chosen_preset(self) -> str | None:
        """The preset's name, or None while the settings cannot be read."""
        try:
            return self.settings.preset
        except ConfigError:
            return None

    def report_error(self, error: EdgevoxError) -> None:
        """Tell a person what went wrong and what to do."""
        self.err.print(f"edgevox: {error.message}", style="red", markup=False, soft_wrap=True)
        if error.hint:
            self.err.print(f"  → {error.hint}", markup=False, soft_wrap=True)

    def write(self, text: str) -> None:
        """Put text for a program on standard output, as it is and with a line end."""
        sys.stdout.write(text + "\n")
        sys.stdout.flush()


T = TypeVar("T")


def run_until_done(story: Coroutine[Any, Any, T]) -> T:
    """The coroutine's result. Raises KeyboardInterrupt when a signal ended it."""

    async def watched() -> T:
        task = asyncio.current_task()
        assert task is not None
        on_signal("SIGTERM", task.cancel)
        return await story

    try:
        return asyncio.run(watched())
    except asyncio.CancelledError as error:
        raise KeyboardInterrupt from error


def add_model_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--preset", help="the model to use (edgevox presets list)")
    parser.add_argument("--model", dest="llm.model", type=Path, metavar="FILE", help="a GGUF file")
    parser.add_argument(
        "--remote",
        dest="llm.remote_url",
        metavar="URL",
        help="a server that has the model, such as …:8080/v1",
    )
    parser.add_argument("--remote-model", dest="llm.remote_model", metavar="NAME", help="its name there")
    parser.add_argument("--threads", dest="llm.threads", type=int, metavar="N", help="processor threads")
    parser.add_argument("--max-tokens", dest="llm.max_tokens", type=int, metavar="N", help="longest reply")
    parser.add_argument("--seed", dest="llm.seed", type=int, metavar="N", help="the same replies every time")


def add_mcp_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--mcp-config", dest="mcp.config", type=Path, metavar="FILE", help="MCP servers: a file like mcp.json"
    )
    parser.add_argument("--mcp-command", dest="mcp.command", metavar="PROGRAM", help="one MCP server: its program")
    parser.add_argument(
        "--mcp-args",
        dest="mcp.args",
        type=lambda text: tuple(text.split(",")),
        metavar="A,B",
        help="what that program is started with",
    )
    parser.add_argument(
        "--mcp-tool-refresh-seconds",
        dest="mcp.tool_refresh_s",
        type=float,
        metavar="S",
        help="how often MCP servers are asked for their tools",
    )


_CHUNK_BYTES = 65536


async def stdin_lines(on_prompt: Callable[[], None], *, keeps_blank: bool = False) -> AsyncGenerator[str, None]:
    """Every line until the end of the input; `on_prompt` is called when one is wanted.

    Blank ones are left out, unless they are to be kept.
    """
    loop = asyncio.get_running_loop()
    lines: asyncio.Queue[str | None] = asyncio.Queue()

    def read() -> None:
        # os.read, not sys.stdin: a thread inside that file's lock makes the interpreter abort at exit.
        fd = sys.stdin.fileno()
        pending = b""
        while data := os.read(fd, _CHUNK_BYTES):
            *whole, pending = (pending + data).split(b"\n")
            for line in whole:
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
