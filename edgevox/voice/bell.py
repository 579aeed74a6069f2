"""The bell: what rings now, and what was said to it. A Ringer sounds it, in a pipeline people speak to it."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, assert_never

from edgevox.tools.home.agenda import Due
from edgevox.tools.home.wording import duration
from edgevox.turn import CancelFlag
from edgevox.voice.instant_words import plain_words
from edgevox.voice.ring_words import Snooze, Stop, ring_word

HeededWord: TypeAlias = Literal["stop", "snooze"]


@dataclass(frozen=True, slots=True)
class Heeded:
    """What was said to the bell, as it was understood, and what is to be said to that, if anything."""

    word: HeededWord
    said: str = ""


class Bell:
    """`snooze_minutes` is for whoever does not say how long."""

    def __init__(self, *, snooze_minutes: int, clock: Callable[[], float] = time.monotonic) -> None:
        self.word: Stop | Snooze | None = None
        """What was said to what rings."""
        self.is_talked_past = False
        """Whether somebody who heard it spoke of something else."""
        self.cut = CancelFlag()
        """Ends the sound that is heard now."""
        self._snooze_minutes = snooze_minutes
        self._clock = clock
        self._ringing: tuple[Due, ...] = ()
        self._sounded_s = -math.inf

    @property
    def is_ringing(self) -> bool:
        """Whether something rings that nobody has stopped."""
        return bool(self._ringing) and self.word is None

    def ring(self, dues: Sequence[Due]) -> None:
        """These ring, and begin to sound now; from none to some it is a new ring."""
        if not self._ringing:
            self.cut = CancelFlag()
        self._ringing = tuple(dues)
        self._sounded_s = self._clock()

    def rest(self) -> None:
        """Nothing rings any more, and what was said to it is forgotten."""
        self._ringing = ()
        self.word = None
        self.is_talked_past = False

    def has_rung_since(self, moment_s: float) -> bool:
        """Whether it rings, and was heard after that moment: what is said then is said to it."""
        return self.is_ringing and self._sounded_s > moment_s

    def heed(self, text: str) -> Heeded | None:
        """Do what `text` says, if it is said to what rings; None if it is not."""
        if not self.is_ringing:
            return None
        match ring_word(text, self._names()):
            case Stop() as stop:
                self.word = stop
                heeded = Heeded("stop")
            case Snooze(minutes):
                minutes = minutes or self._snooze_minutes
                self.word = Snooze(minutes)
                heeded = Heeded("snooze", f"Snoozed for {duration(minutes * 60)}.")
            case None:
                return None
            case unknown:
                assert_never(unknown)
        self.cut.set()
        return heeded

    def _names(self) -> set[str]:
        """What each thing that rings is called: "timer", "pasta timer"."""
        return {
            *(due.kind for due in self._ringing),
            *(" ".join((*plain_words(due.label), due.kind)) for due in self._ringing),
            *(" ".join(plain_words(due.called)) for due in self._ringing if due.kind == "timer"),
        }
