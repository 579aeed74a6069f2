"""What notices that somebody interrupts, for the way in which sound goes both ways at the moment."""

from __future__ import annotations

from collections.abc import Callable
from typing import assert_never

from edgevox.audio.duplex import Duplex
from edgevox.audio.echo import EchoCanceller
from edgevox.voice import Interruption


class Interruptions:
    """Another Interruption for each way; a device that was plugged in anew has a way of its own."""

    def __init__(self, duplex: Callable[[], Duplex], aggressiveness: int) -> None:
        self._duplex = duplex
        self._aggressiveness = aggressiveness
        self._of: Duplex = "half"
        self._last: Interruption | None = None

    def now(self) -> Interruption | None:
        """The one for this moment; None where nobody can be heard over the loudspeaker."""
        if (duplex := self._duplex()) is not self._of:
            self._of, self._last = duplex, self._made_for(duplex)
        return self._last

    def _made_for(self, duplex: Duplex) -> Interruption | None:
        match duplex:
            case "half":
                return None
            case "device":
                return Interruption(aggressiveness=self._aggressiveness)
            case EchoCanceller() as canceller:
                return Interruption(
                    lambda: canceller.level,
                    self._aggressiveness,
                    lambda: canceller.beginning,
                    canceller.hears_itself,
                )
            case _:
                assert_never(duplex)
