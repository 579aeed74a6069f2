"""Progress of downloads and long runs: bars on a terminal, a line every ten seconds elsewhere."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from typing import assert_never

from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, TaskID, TextColumn
from rich.progress import Progress as Bars

from edgevox.models import (
    BytesReceived,
    FileStored,
    Progress,
    PullEvent,
    PullFinished,
    PullStarted,
    SourceFailed,
    WaitingForOther,
    size_text,
)

_PULL_LINE_EVERY_S = 10.0


@contextlib.contextmanager
def pull_progress(console: Console) -> Iterator[Progress]:
    """Yield a progress callback for `ModelStore.pull` that draws on `console`."""
    if not console.is_terminal:
        yield _PullLines(console).show
        return
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        DownloadColumn(),
        TextColumn("{task.fields[pace]}"),
    )
    with Bars(*columns, console=console) as bars:
        yield _PullBars(bars).show


class _PullBars:
    """One bar per download."""

    def __init__(self, bars: Bars) -> None:
        self._bars = bars
        self._tasks: dict[tuple[str, str], TaskID] = {}

    def show(self, event: PullEvent) -> None:
        match event:
            case BytesReceived():
                key = (event.model, event.item)
                if key not in self._tasks:
                    self._tasks[key] = self._bars.add_task(f"{event.model}: {event.item}", pace="")
                self._bars.update(
                    self._tasks[key], completed=event.bytes_done, total=event.bytes_total, pace=_pace(event)
                )
            case PullStarted() | WaitingForOther() | SourceFailed() | FileStored() | PullFinished():
                if text := _sentence(event):
                    self._bars.console.print(text, markup=False, soft_wrap=True)
            case _:
                assert_never(event)


class _PullLines:
    """A line at the start and end of a download, and every ten seconds."""

    def __init__(self, console: Console, clock_s: Callable[[], float] = time.monotonic) -> None:
        self._console = console
        self._clock_s = clock_s
        self._shown_s: dict[tuple[str, str], float] = {}

    def show(self, event: PullEvent) -> None:
        match event:
            case BytesReceived():
                key, now_s = (event.model, event.item), self._clock_s()
                is_due = now_s - self._shown_s.get(key, -_PULL_LINE_EVERY_S) >= _PULL_LINE_EVERY_S
                if is_due or event.bytes_done == event.bytes_total:
                    self._shown_s[key] = now_s
                    self._print(f"{event.model}: {event.item}: {_amount(event)}")
            case PullStarted() | WaitingForOther() | SourceFailed() | FileStored() | PullFinished():
                if text := _sentence(event):
                    self._print(text)
            case _:
                assert_never(event)

    def _print(self, text: str) -> None:
        self._console.print(text, markup=False, soft_wrap=True)


def _sentence(event: PullStarted | WaitingForOther | SourceFailed | FileStored | PullFinished) -> str:
    match event:
        case PullStarted():
            return f"{event.model}: downloading {size_text(event.bytes_total)}"
        case WaitingForOther():
            return f"{event.model}: waiting for another process to download it"
        case SourceFailed():
            return f"{event.model}: {event.reason}; trying the next source"
        case FileStored():
            return ""
        case PullFinished():
            return f"{event.model}: complete"
        case _:
            assert_never(event)


def _amount(event: BytesReceived) -> str:
    done, pace = size_text(event.bytes_done), _pace(event)
    text = done if event.bytes_total is None else f"{done} of {size_text(event.bytes_total)}"
    return f"{text}, {pace}" if pace else text


def _pace(event: BytesReceived) -> str:
    if event.rate_bytes_s <= 0:
        return ""
    rate = f"{size_text(event.rate_bytes_s)}/s"
    if event.left_s is None or event.bytes_done == event.bytes_total:
        return rate
    minutes, seconds = divmod(round(event.left_s), 60)
    return f"{rate}, {minutes} min {seconds:02} s left" if minutes else f"{rate}, {seconds} s left"


_LINE_EVERY_S = 10.0


class ProgressLine:
    """Counts finished items and, where known, the correct ones."""

    def __init__(self, name: str, total: int, console: Console) -> None:
        self._name = name
        self._total = total
        self._console = console
        self._done = 0
        self._right: int | None = None
        self._shown_s = time.monotonic()

    def update(self, *, is_right: bool | None) -> None:
        """Count one finished item."""
        self._done += 1
        if is_right is not None:
            self._right = (self._right or 0) + is_right
        now_s = time.monotonic()
        if not self._console.is_terminal and now_s - self._shown_s < _LINE_EVERY_S:
            return
        self._shown_s = now_s
        right = "" if self._right is None else f", {self._right} right"
        text = f"{self._name}: {self._done} of {self._total}{right}"
        self._console.print(text, markup=False, end="\r" if self._console.is_terminal else "\n")

    def end(self) -> None:
        """Finish the line."""
        if self._console.is_terminal:
            self._console.print()
