"""The books of the soak: every turn that begins, how it ends, and whether that is in the records."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from edgevox.core.events import Event, SpeechDropped, TurnEnded, TurnStarted
from edgevox.core.metrics import FILE_NAME


class Ledger:
    """A listener on the bus of every session. It keeps ids and counts, and no event."""

    def __init__(self, state: Path) -> None:
        self.outcomes: Counter[str] = Counter()
        self.dropped = 0
        """Speech that was none, or was lost before there was a turn."""
        self.begun: set[str] = set()
        self.ended: Counter[str] = Counter()
        self.recorded: Counter[str] = Counter()
        self.on_event: Callable[[Event], None] = lambda _event: None
        self._state = state
        self._changed = asyncio.Event()

    def __call__(self, event: Event) -> None:
        match event:
            case TurnStarted(turn_id=turn_id):
                self.begun.add(turn_id)
            case TurnEnded(turn_id=turn_id, outcome=outcome):
                self.ended[turn_id] += 1
                self.outcomes[outcome] += 1
            case SpeechDropped():
                self.dropped += 1
            case _:
                pass
        self.on_event(event)
        self._changed.set()

    @property
    def turns(self) -> int:
        return self.ended.total()

    @property
    def is_quiet(self) -> bool:
        """Whether no turn is under way."""
        return len(self.begun) == len(self.ended)

    async def changed(self) -> None:
        self._changed.clear()
        await self._changed.wait()

    def collect(self) -> None:
        """Take the records that are on the disk, before a fault deletes them."""
        path = self._state / FILE_NAME
        if path.exists():
            for line in path.read_text(encoding="utf-8").splitlines():
                record = json.loads(line)
                if record["outcome"] != "snoozed":  # it rings again, with the same id
                    self.recorded[record["turn_id"]] += 1

    def complaints(self) -> list[str]:
        """What does not add up, after everything has ended and was collected."""
        found = [f"turn {turn} has no end" for turn in self.begun - self.ended.keys()]
        found += [f"turn {turn} ended {times} times" for turn, times in self.ended.items() if times > 1]
        found += [f"turn {turn} is not recorded" for turn in self.ended.keys() - self.recorded.keys()]
        found += [f"turn {turn} is recorded {n} times" for turn, n in self.recorded.items() if n > 1]
        return found
