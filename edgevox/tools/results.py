"""The result of a tool call, and per-tool counters in one local file.

The counters contain no arguments and no results, and nothing is sent anywhere.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal, TypeAlias

from pydantic import ConfigDict, RootModel
from pydantic_core import to_jsonable_python

from edgevox.core.languages import ENGLISH
from edgevox.core.state_file import StateFile
from edgevox.core.types import Message
from edgevox.tools.policy import PendingConfirmation
from edgevox.tools.sanitize import sanitize_tool_json, sanitize_tool_output
from edgevox.tools.tool import Speech

ErrorCode: TypeAlias = Literal[
    "bad_request",
    "timeout",
    "internal_error",
    "requires_confirmation",
    "token_scope_insufficient",
    "tool_error",
    "tool_denied",
    "cancelled",
]
MAX_RESULT_CHARS = 4000
_DONE = "done"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult:
    """The result of one call. `content` is for the model: sanitized and of limited size.

    `speech` ends the turn with that sentence; `is_failure` if it says why nothing was done. `confirmation` is set when
    the call waits for a yes. `may_still_happen`: the tool was abandoned while running.
    """

    tool_call_id: str
    name: str
    content: str
    is_error: bool = False
    code: ErrorCode | None = None
    speech: str | None = None
    speech_language: str = ENGLISH
    is_failure: bool = False
    confirmation: PendingConfirmation | None = None
    may_still_happen: bool = False
    elapsed_s: float = 0.0

    def as_message(self) -> Message:
        """The result as a message with the role `tool`."""
        return Message("tool", self.content, tool_call_id=self.tool_call_id)


def speech_of(value: object) -> str | None:
    """The sanitized sentence of a Speech, or None."""
    return sanitize_tool_output(value.text[:MAX_RESULT_CHARS]) if isinstance(value, Speech) else None


def render(value: object, *, names: Collection[str] = (), max_chars: int = MAX_RESULT_CHARS) -> str:
    """A tool's return value as JSON text for the model, which delimits strings.

    Exceptions of the value's own code are not caught.
    """
    plain = _plain(value.text if isinstance(value, Speech) else value)
    if plain is None:
        return _DONE
    if isinstance(plain, str):
        return _quoted(plain, max_chars)
    text = sanitize_tool_json(plain, names=names, max_chars=2 * max_chars)
    return text if len(text) <= max_chars else f"{text[:max_chars]}… (cut at {max_chars:,} characters)"


def _quoted(text: str, max_chars: int) -> str:
    """A valid JSON string, even if the text is cut."""
    harmless = sanitize_tool_output(text[:max_chars])
    written = json.dumps(harmless, ensure_ascii=False)
    is_cut = len(text) > max_chars
    if (excess := len(written) - max_chars - 2) > 0:
        is_cut = True
        written = json.dumps(harmless[:-excess], ensure_ascii=False)
    return f"{written} (cut: the beginning of {len(text):,} characters)" if is_cut else written


def sentence(text: str) -> str:
    """An error text for the model, sanitized and cut."""
    return sanitize_tool_output(text if len(text) <= MAX_RESULT_CHARS else f"{text[:MAX_RESULT_CHARS]}…")


def _plain(value: object) -> Any:  # noqa: ANN401 - JSON
    """The value in JSON types. Text that is itself a JSON object or array is parsed, not quoted."""
    if not isinstance(value, str):
        return to_jsonable_python(value, fallback=str, bytes_mode="base64")
    if value.startswith(("{", "[")):
        with contextlib.suppress(ValueError, RecursionError):
            return json.loads(value)
    return value


STATS_FILE = "tools.json"


@dataclass(slots=True)
class ToolCounts:
    """Counters of one tool. `chosen` counts all calls, `refused` the denied ones, `failed` the other errors."""

    __pydantic_config__: ClassVar = ConfigDict(extra="forbid")

    offered: int = 0
    chosen: int = 0
    refused: int = 0
    failed: int = 0
    timed_out: int = 0
    total_s: float = 0.0
    longest_s: float = 0.0

    def add(self, other: ToolCounts) -> None:
        self.offered += other.offered
        self.chosen += other.chosen
        self.refused += other.refused
        self.failed += other.failed
        self.timed_out += other.timed_out
        self.total_s += other.total_s
        self.longest_s = max(self.longest_s, other.longest_s)

    @property
    def mean_s(self) -> float:
        ran = self.chosen - self.refused
        return self.total_s / ran if ran else 0.0


class _Stats(RootModel[dict[str, ToolCounts]]):
    root: dict[str, ToolCounts] = {}


class ToolStats:
    """Counts in memory; `save` adds them to the file. Without a folder they are lost at exit."""

    def __init__(self, folder: Path | None = None) -> None:
        self._file = StateFile(None if folder is None else folder / STATS_FILE, _Stats)
        self._unsaved: dict[str, ToolCounts] = {}

    def count_offered(self, names: Iterable[str]) -> None:
        for name in names:
            self._counts(name).offered += 1

    def count_result(self, result: ToolResult) -> None:
        """Count one call; a call that waits for a yes is counted when it runs or is refused."""
        if result.code == "requires_confirmation":
            return
        counts = self._counts(result.name)
        counts.chosen += 1
        counts.total_s += result.elapsed_s
        counts.longest_s = max(counts.longest_s, result.elapsed_s)
        match result.code:
            case None:
                pass
            case "tool_denied" | "token_scope_insufficient":
                counts.refused += 1
            case "timeout":
                counts.timed_out += 1
            case _:
                counts.failed += 1

    def summary(self) -> dict[str, ToolCounts]:
        """All counts by name, including earlier runs. Raises StateError."""
        summary = self._file.read().model_copy(deep=True).root
        self._add_to(summary)
        return dict(sorted(summary.items()))

    def save(self) -> None:
        """Add the new counts to the file, which several processes may share. Blocks. Raises StateError."""
        if self._unsaved:
            with self._file.changing() as stats:
                self._add_to(stats.root)
            self._unsaved.clear()

    def _add_to(self, summary: dict[str, ToolCounts]) -> None:
        for name, counts in self._unsaved.items():
            summary.setdefault(name, ToolCounts()).add(counts)

    def _counts(self, name: str) -> ToolCounts:
        return self._unsaved.setdefault(name, ToolCounts())
