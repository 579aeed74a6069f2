"""The result of a tool call, a cache of results, and per-tool counters in one local file.

The counters contain no arguments and no results, and nothing is sent anywhere.
"""

from __future__ import annotations

import dataclasses
import json
import time
from collections import OrderedDict
from collections.abc import Callable, Collection, Hashable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, Literal, TypeAlias, TypeVar

from filelock import FileLock, Timeout
from pydantic_core import to_jsonable_python

from edgevox.core.errors import StateError
from edgevox.core.files import write_atomic
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
    """The answer to one call. `content` is for the model: fenced, harmless and of limited size.

    `speech` ends the turn with that sentence. `confirmation` is there when a person has to say yes first.
    `may_still_happen` says that the tool was left behind at its work.
    """

    tool_call_id: str
    name: str
    content: str
    is_error: bool = False
    code: ErrorCode | None = None
    speech: str | None = None
    confirmation: PendingConfirmation | None = None
    may_still_happen: bool = False
    elapsed_s: float = 0.0

    def as_message(self) -> Message:
        """The result where the chat template knows the role `tool`."""
        return Message("tool", self.content, tool_call_id=self.tool_call_id)


def speech_of(value: object) -> str | None:
    """The sentence that a tool wants spoken, or None."""
    return sanitize_tool_output(value.text[:MAX_RESULT_CHARS]) if isinstance(value, Speech) else None


def render(value: object, *, names: Collection[str] = (), max_chars: int = MAX_RESULT_CHARS) -> str:
    """A tool's return value as text for the model: JSON, so that a string has a beginning and an end.

    What the value's own code raises goes through.
    """
    plain = _plain(value.text if isinstance(value, Speech) else value)
    if plain is None:
        return _DONE
    if isinstance(plain, str):
        return _quoted(plain, max_chars)
    text = sanitize_tool_json(plain, names=names, max_chars=2 * max_chars)
    return text if len(text) <= max_chars else f"{text[:max_chars]}… (cut at {max_chars:,} characters)"


def _quoted(text: str, max_chars: int) -> str:
    """A string of JSON that is whole even where the text is cut."""
    harmless = sanitize_tool_output(text[:max_chars])
    written = json.dumps(harmless, ensure_ascii=False)
    is_cut = len(text) > max_chars
    if (excess := len(written) - max_chars - 2) > 0:
        is_cut = True
        written = json.dumps(harmless[:-excess], ensure_ascii=False)
    return f"{written} (cut: the beginning of {len(text):,} characters)" if is_cut else written


def sentence(text: str, *, max_chars: int = MAX_RESULT_CHARS) -> str:
    """Words of an error for the model."""
    return sanitize_tool_output(text if len(text) <= max_chars else f"{text[:max_chars]}…")


def _plain(value: object) -> Any:  # noqa: ANN401 - JSON
    """The value in JSON's types. A text that is itself a JSON object or list is read, not quoted."""
    if isinstance(value, str):
        if value[:1] in ("{", "["):
            try:
                return json.loads(value)
            except (ValueError, RecursionError):
                return value
        return value
    return to_jsonable_python(value, fallback=str, bytes_mode="base64")


ValueT = TypeVar("ValueT")


class ResultCache(Generic[ValueT]):
    """The newest `max_entries` answers, each for its own time."""

    def __init__(self, max_entries: int = 256, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._max_entries = max_entries
        self._clock = clock
        self._entries: OrderedDict[Hashable, tuple[float, ValueT]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, key: Hashable) -> ValueT | None:
        entry = self._entries.get(key)
        if entry is None:
            return None
        expires_s, value = entry
        if self._clock() >= expires_s:
            del self._entries[key]
            return None
        self._entries.move_to_end(key)
        return value

    def put(self, key: Hashable, value: ValueT, *, ttl_s: float) -> None:
        self._entries[key] = self._clock() + ttl_s, value
        self._entries.move_to_end(key)
        while len(self._entries) > self._max_entries:
            self._entries.popitem(last=False)


STATS_FILE = "tools.json"
_LOCK_WITHIN_S = 5.0


@dataclass(slots=True)
class ToolCounts:
    """One tool. `chosen` counts all calls; `refused` those that nobody allowed, `failed` the other errors."""

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


class ToolStats:
    """Counts in memory; `save` adds them to the file. Without a folder they end with the process."""

    def __init__(self, folder: Path | None = None) -> None:
        self._path = None if folder is None else folder / STATS_FILE
        self._unsaved: dict[str, ToolCounts] = {}

    def count_offered(self, names: Iterable[str]) -> None:
        for name in names:
            self._counts(name).offered += 1

    def count_result(self, result: ToolResult) -> None:
        """Count one call. What waits for a yes is counted when it runs, or when the answer is no."""
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
        """All counts, of earlier runs too, by name. Raises StateError."""
        summary = {} if self._path is None else _read_stats(self._path)
        for name, counts in self._unsaved.items():
            summary.setdefault(name, ToolCounts()).add(counts)
        return dict(sorted(summary.items()))

    def save(self) -> None:
        """Add to the file what is new; several processes may do so. Blocks. Raises StateError."""
        if self._path is None or not self._unsaved:
            return
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with FileLock(f"{self._path}.lock", timeout=_LOCK_WITHIN_S):
                _write_stats(self._path, self.summary())
        except (OSError, Timeout) as error:
            raise StateError(
                f"the counts of the tools could not be written to {self._path}: {error}",
                hint="make that folder writable, free some space, or set EDGEVOX_STATE_DIR to another folder",
            ) from error
        self._unsaved.clear()

    def _counts(self, name: str) -> ToolCounts:
        return self._unsaved.setdefault(name, ToolCounts())


def _read_stats(path: Path) -> dict[str, ToolCounts]:
    try:
        written = json.loads(path.read_text(encoding="utf-8"))
        return {name: ToolCounts(**counts) for name, counts in written.items()}
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise StateError(f"{path} cannot be read: {error.strerror}", hint="check its permissions") from error
    except (ValueError, TypeError, AttributeError):
        return {}  # of another version, or cut by a power failure: counting begins again


def _write_stats(path: Path, summary: dict[str, ToolCounts]) -> None:
    text = json.dumps({name: dataclasses.asdict(counts) for name, counts in summary.items()}, indent=1)
    write_atomic(path, text)
