"""Shared by commands: consoles, prompts, tables, settings, JSON files, running coroutines, reading stdin."""

from __future__ import annotations

import asyncio
import getpass
import json
import os
import sys
import threading
from collections.abc import AsyncGenerator, Callable, Coroutine, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any, TypeVar

from rich.console import Console
from rich.status import Status
from rich.table import Column, Table
from rich.text import Text

from edgevox.audio.io.speaker import Speaker
from edgevox.config import Settings, load_settings
from edgevox.core.errors import ConfigError, EdgevoxError
from edgevox.core.files import DISK_FULL, Folders, parse_json, user_folders
from edgevox.core.platform import on_signal


class _Console(Console):
    def on_broken_pipe(self) -> None:
        # rich would exit with 1; cli/main.py has the documented exit code.
        raise BrokenPipeError


class _Messages(_Console):
    """Takes messages for the user. One that cannot be written, to a log on a full disk, does not end the program."""

    def print(self, *objects: Any, **options: Any) -> None:  # noqa: ANN401 - as rich has it
        try:
            super().print(*objects, **options)
        except OSError as error:
            if error.errno not in DISK_FULL:
                raise


@dataclass
class Context:
    """`out` takes the results, `err` everything else; `flags` are settings from the command line."""

    out: Console = field(default_factory=lambda: _Console(highlight=False))
    err: Console = field(default_factory=lambda: _Messages(stderr=True, highlight=False))
    flags: Mapping[str, object] = field(default_factory=dict)

    @cached_property
    def folders(self) -> Folders:
        return user_folders()

    @cached_property
    def settings(self) -> Settings:
        """The settings, merged from all sources. Raises ConfigError."""
        return load_settings(self.folders, flags=self.flags)

    @cached_property
    def loading(self) -> Status:
        """Shown on a terminal while the engines start."""
        return self.err.status(f"loading {self.settings.preset} …")

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

    def with_flags(self, flags: Mapping[str, object]) -> Context:
        """Return a context with additional settings."""
        return replace(self, flags={**self.flags, **flags})

    def report_error(self, error: EdgevoxError) -> None:
        """Print the error and its hint to standard error."""
        self.note(f"edgevox: {error.message}", style="red")
        if error.hint:
            self.note(f"  → {error.hint}")

    def print(self, *lines: str, style: str = "") -> None:
        """Print lines of the result as they are, without markup or line breaks."""
        for line in lines:
            self.out.print(Text(line, style), soft_wrap=True)

    def note(self, *lines: str, style: str = "") -> None:
        """Print lines to standard error as they are, without markup or line breaks."""
        for line in lines:
            self.err.print(Text(line, style), soft_wrap=True)

    def write(self, text: str) -> None:
        """Write machine-readable text and a newline to standard output, without formatting."""
        sys.stdout.write(text + "\n")
        sys.stdout.flush()

    def write_json(self, value: object, *, indent: int | None = 2) -> None:
        self.write(json.dumps(value, default=str, indent=indent, ensure_ascii=False))

    def ask(self, question: str, *, is_hidden: bool = False) -> str:
        """Return the typed answer, or an empty string for Ctrl-D."""
        try:
            # getpass switches the echo off before it prompts; Console.input would lose what is typed in between.
            return (getpass.getpass(question) if is_hidden else self.err.input(Text(question))).strip()
        except EOFError:
            return ""

    def confirm(self, question: str) -> bool:
        """Ask for a yes; anything else is a no, and so is a missing terminal."""
        return sys.stdin.isatty() and self.ask(f"{question} [y/N] ").lower() in ("y", "yes")


left = partial(Column, no_wrap=True)
right = partial(Column, no_wrap=True, justify="right")
folded = partial(Column, overflow="fold")


def plain_table(*columns: Column | str) -> Table:
    """A table without lines."""
    return Table(*columns, box=None, pad_edge=False, header_style="bold")


def read_json(path: Path, kind: type) -> Any:  # noqa: ANN401  (parsed JSON)
    """Read a list of tools or a JSON object from a file. Raises ConfigError."""
    try:
        content = parse_json(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}", hint="check the path") from error
    except ValueError as error:
        raise ConfigError(f"{path} is not valid JSON: {error}", hint="write JSON in UTF-8") from error
    if not isinstance(content, kind):
        wanted = "a list of tools" if kind is list else "a JSON object"
        raise ConfigError(f"{path} must contain {wanted}", hint="see docs/guide/grammars.md")
    return content


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
