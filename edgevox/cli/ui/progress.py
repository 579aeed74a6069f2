"""Progress of downloads and long runs: bars on a terminal, a line every ten seconds elsewhere."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Task, TaskID, TextColumn, TimeRemainingColumn, TransferSpeedColumn
from rich.progress import Progress as Bars
from rich.text import Text

from edgevox.models import Progress, PullEvent, PullMessage, size_text

_LINE_EVERY_S = 10.0


@contextlib.contextmanager
def pull_progress(console: Console) -> Iterator[Progress]:
    """Yield a progress callback for `ModelStore.pull` that draws on `console`."""
    name = TextColumn("{task.description}", markup=False)
    columns = (name, BarColumn(), DownloadColumn(), TransferSpeedColumn(), TimeRemainingColumn(compact=True))
    with Bars(*columns, console=console, disable=not console.is_terminal) as bars:
        yield PullView(bars).show


class PullView:
    """Feeds one bar per download; where bars are disabled, prints a line every ten seconds and at the end."""

    def __init__(self, bars: Bars) -> None:
        self._bars = bars
        self._tasks: dict[str, TaskID] = {}
        self._shown_s: dict[str, float] = {}

    def show(self, event: PullEvent) -> None:
        if isinstance(event, PullMessage):
            self._print(f"{event.model}: {event.text}")
            return
        name = f"{event.model}: {event.item}"
        if name not in self._tasks:
            # Bytes of an earlier attempt do not count for the speed.
            self._tasks[name] = self._bars.add_task(name, completed=event.bytes_done, total=event.bytes_total)
        self._bars.update(self._tasks[name], completed=event.bytes_done, total=event.bytes_total)
        now_s = self._bars.get_time()
        is_due = now_s - self._shown_s.get(name, -_LINE_EVERY_S) >= _LINE_EVERY_S
        if self._bars.disable and (is_due or event.bytes_done == event.bytes_total):
            self._shown_s[name] = now_s
            self._print(f"{name}: {_amount(self._bars.tasks[self._tasks[name]])}")

    def _print(self, text: str) -> None:
        self._bars.console.print(Text(text), soft_wrap=True)


def _amount(task: Task) -> str:
    parts = [size_text(task.completed)]
    if task.total is not None:
        parts = [f"{parts[0]} of {size_text(task.total)}"]
    if task.speed:
        parts.append(f"{size_text(task.speed)}/s")
    if task.time_remaining:
        minutes, seconds = divmod(round(task.time_remaining), 60)
        parts.append(f"{minutes} min {seconds:02} s left" if minutes else f"{seconds} s left")
    return ", ".join(parts)


class ProgressLine:
    """Counts finished items and, where known, the correct ones."""

    def __init__(self, name: str, total: int, console: Console) -> None:
        self._name = name
        self._total = total
        self._console = console
        self._done = 0
        self._right: int | None = None
        self._shown_s = console.get_time()

    def update(self, *, is_right: bool | None) -> None:
        """Count one finished item."""
        self._done += 1
        if is_right is not None:
            self._right = (self._right or 0) + is_right
        now_s = self._console.get_time()
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
