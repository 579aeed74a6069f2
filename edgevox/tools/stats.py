"""Which tools are offered, chosen and refused, and how long they take: counts in one local file, no words.

Nothing is sent anywhere, and no argument and no result is kept.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock, Timeout

from edgevox.errors import StateError
from edgevox.tools.results import ToolResult
from edgevox.whole_file import write_whole

FILE_NAME = "tools.json"
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
        self._path = None if folder is None else folder / FILE_NAME
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
        summary = {} if self._path is None else _read(self._path)
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
                _write(self._path, self.summary())
        except (OSError, Timeout) as error:
            raise StateError(
                f"the counts of the tools could not be written to {self._path}: {error}",
                hint="make that folder writable, free some space, or set EDGEVOX_STATE_DIR to another folder",
            ) from error
        self._unsaved.clear()

    def _counts(self, name: str) -> ToolCounts:
        return self._unsaved.setdefault(name, ToolCounts())


def _read(path: Path) -> dict[str, ToolCounts]:
    try:
        written = json.loads(path.read_text(encoding="utf-8"))
        return {name: ToolCounts(**counts) for name, counts in written.items()}
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise StateError(f"{path} cannot be read: {error.strerror}", hint="check its permissions") from error
    except (ValueError, TypeError, AttributeError):
        return {}  # of another version, or cut by a power failure: counting begins again


def _write(path: Path, summary: dict[str, ToolCounts]) -> None:
    text = json.dumps({name: dataclasses.asdict(counts) for name, counts in summary.items()}, indent=1)
    write_whole(path, text)
