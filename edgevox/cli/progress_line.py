"""How far a long run is: a line that is written over on a terminal, and now and then a line elsewhere."""

from __future__ import annotations

import time

from rich.console import Console

_LINE_EVERY_S = 10.0


class ProgressLine:
    """Counts what is done and, where that is known, how much of it was right."""

    def __init__(self, name: str, total: int, console: Console) -> None:
        self._name = name
        self._total = total
        self._console = console
        self._done = 0
        self._right: int | None = None
        self._shown_s = time.monotonic()

    def tell(self, *, is_right: bool | None) -> None:
        """One more is done."""
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
        """Leave the last line as it is."""
        if self._console.is_terminal:
            self._console.print()
