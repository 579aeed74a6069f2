"""What a pull tells its caller while it works."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

_REPORT_EVERY_S = 0.1
_RATE_WINDOW_S = 5.0


@dataclass(frozen=True, slots=True)
class PullStarted:
    """A model is being fetched; the total is rough where the manifest's is."""

    model: str
    bytes_total: int


@dataclass(frozen=True, slots=True)
class WaitingForOther:
    """Another process is fetching the same model; this one waits for it."""

    model: str


@dataclass(frozen=True, slots=True)
class BytesReceived:
    """How far one download is. `item` is a file of the model, or a package that holds some."""

    model: str
    item: str
    bytes_done: int
    bytes_total: int | None
    rate_bytes_s: float
    left_s: float | None


@dataclass(frozen=True, slots=True)
class SourceFailed:
    """One source did not work; the next is tried."""

    model: str
    file: str
    source: str
    reason: str


@dataclass(frozen=True, slots=True)
class FileStored:
    """One file of the model has been checked and has its name."""

    model: str
    file: str


@dataclass(frozen=True, slots=True)
class PullFinished:
    """Every file of the model is there."""

    model: str


PullEvent: TypeAlias = (
    PullStarted | WaitingForOther | BytesReceived | SourceFailed | FileStored | PullFinished
)
Progress: TypeAlias = Callable[[PullEvent], None]


def silent(_event: PullEvent) -> None:
    """Ignore all progress."""


class Meter:
    """Turns byte counts of one download into events with a rate, at most ten a second."""

    def __init__(
        self, model: str, item: str, progress: Progress, clock_s: Callable[[], float] = time.monotonic
    ) -> None:
        self._model = model
        self._item = item
        self._progress = progress
        self._clock_s = clock_s
        self._samples: deque[tuple[float, int]] = deque()
        self._reported_s: float | None = None

    def update(self, bytes_done: int, bytes_total: int | None) -> None:
        """Take the count so far; the first is where the download begins (not 0 when it resumes)."""
        now_s = self._clock_s()
        self._samples.append((now_s, bytes_done))
        while now_s - self._samples[0][0] > _RATE_WINDOW_S and len(self._samples) > 2:
            self._samples.popleft()
        is_last = bytes_done == bytes_total
        if self._reported_s is not None and now_s - self._reported_s < _REPORT_EVERY_S and not is_last:
            return
        self._reported_s = now_s
        rate = self._rate_bytes_s()
        left_s = (bytes_total - bytes_done) / rate if bytes_total is not None and rate > 0 else None
        self._progress(BytesReceived(self._model, self._item, bytes_done, bytes_total, rate, left_s))

    def _rate_bytes_s(self) -> float:
        (first_s, first_bytes), (last_s, last_bytes) = self._samples[0], self._samples[-1]
        elapsed_s = last_s - first_s
        return (last_bytes - first_bytes) / elapsed_s if elapsed_s > 0 else 0.0
