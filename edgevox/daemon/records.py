"""What is kept of the turns while the daemon runs: the last one, and the log of all on disk."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from edgevox.errors import StateError
from edgevox.metrics import TurnRecord
from edgevox.turn_log import TurnLog


class TurnRecords:
    """Writes records to the log. `on_change` is told when that begins to fail; None: it works again."""

    def __init__(self, log: TurnLog, on_change: Callable[[StateError | None], None]) -> None:
        self.last: TurnRecord | None = None
        """The last turn of the room; those of programs do not count."""
        self.problem: StateError | None = None
        self._log = log
        self._on_change = on_change

    def keep(self, record: TurnRecord) -> None:
        """A turn of the room."""
        self.last = record
        self.log(record)

    def log(self, record: TurnRecord) -> None:
        """A turn of anybody."""
        self._note(partial(self._log.append, record))

    def between(self, from_s: float, until_s: float) -> list[TurnRecord]:
        """The turns that ended in a time, oldest first. Blocks. Raises StateError."""
        return self._log.between(from_s, until_s)

    def try_again(self) -> None:
        """Find out whether there is room again for what could not be written."""
        if self.problem is not None:
            self._note(self._log.catch_up)

    def _note(self, write: Callable[[], None]) -> None:
        before = self.problem
        try:
            write()
        except StateError as error:
            self.problem = error
        else:
            self.problem = None
        if (before is None) != (self.problem is None):
            self._on_change(self.problem)
