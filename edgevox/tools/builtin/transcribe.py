"""`transcribe_audio`: transcribes an audio file from a folder that the user allows."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Annotated, TypeAlias

from pydantic import Field

from edgevox.core.errors import AudioError, EngineFailed, ToolError
from edgevox.tools.tool import Tool, tool

Transcribe: TypeAlias = Callable[[Path], Awaitable[str]]
"""Transcribes a file; "" without speech. Raises AudioError and EngineFailed."""

TOOL_NAME = "transcribe_audio"
MAX_FILE_BYTES = 200_000_000
TIMEOUT_S = 300.0
_MAX_NAMES = 10


def transcribe_tool(transcribe: Transcribe, folders: Sequence[Path]) -> Tool:
    """The tool; it reads files only from `folders`."""

    @tool(name=TOOL_NAME, timeout_s=TIMEOUT_S, examples=["what is on the recording memo dot wav"])
    async def transcribe_audio(file: Annotated[str, Field(min_length=1, max_length=255)]) -> str:
        """Write down what is said in a sound file.

        Args:
            file: the file's name
        """
        path = _allowed(file, folders)
        try:
            return await transcribe(path) or f"Nobody speaks in {path.name}."
        except (AudioError, EngineFailed) as error:
            raise ToolError(error.message) from error

    return transcribe_audio


def _allowed(name: str, folders: Sequence[Path]) -> Path:
    """The file of that name in one of the folders, symlinks resolved. Raises ToolError."""
    for folder in folders:
        try:
            root = folder.resolve()
            path = (root / name).resolve()
            if not path.is_relative_to(root) or not path.is_file():
                continue
            if path.stat().st_size > MAX_FILE_BYTES:
                raise ToolError(f"{path.name} is too big: more than {MAX_FILE_BYTES // 1_000_000} MB")
        except (OSError, ValueError, RuntimeError):  # unreadable, a NUL in the name, a symlink loop
            continue
        return path
    names = ", ".join(_names(folders)) or "none"
    raise ToolError(f"there is no sound file called {name} that may be read; there are: {names}")


def _names(folders: Sequence[Path]) -> list[str]:
    found: list[str] = []
    for folder in folders:
        try:
            found += sorted(path.name for path in folder.iterdir() if path.is_file() and path.name[:1] != ".")
        except OSError:
            continue
    return found[:_MAX_NAMES]
