"""Taking the assistant's own voice out of what the microphone hears, and saying how well that went."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from edgevox.audio.beginning import Beginning
from edgevox.audio.levels import dbfs
from edgevox.audio.moved_echo import MovedEcho
from edgevox.audio.played_sound import PlayedSound
from edgevox.audio.sample_clock import SampleClock
from edgevox.audio.webrtc import FRAME_SAMPLES, LATENCY_SAMPLES, FrameCanceller, cancelled
from edgevox.types import WHISPER_RATE_HZ

LEAD_S = 0.04
"""How much too late drivers may say that a sound is heard. A canceller cannot look into the future."""

# What is quieter than this says nothing about the echo: it is the room.
_ROOM_DBFS = -60.0
# Of the way to what the last block says, in the direction that is good and in the other: somebody who speaks
# must not pass for a canceller that does badly.
_BETTER_BY, _WORSE_BY = 0.05, 0.005
# What is left of the echo alone goes up and down by less.
_ABOVE_USUAL_DB = 12.0
_LEAST_ERLE_DB = 10.0
# Of sound from the loudspeaker: in its first second a canceller is now and then wrong.
_LEARNS_FOR_S = 1.0
# A sound server that is starved once will be again. Whoever cannot tell an echo from a person is half duplex.
_LONGEST_DOUBT_S = 4.0
_NEGLIGIBLE_DBFS = -45.0


@dataclass(frozen=True, slots=True)
class EchoLevel:
    """One block in which the loudspeaker could be heard."""

    heard_dbfs: float
    left_dbfs: float
    """What is left of it."""
    erle_db: float
    """How much is taken away when nobody else speaks (echo return loss enhancement), as learnt so far."""
    usual_left_dbfs: float
    """How much is left then."""
    learnt_for_s: float
    """How much it has learnt from: sound from the loudspeaker since the reply began, or since a jump."""
    losses: int = 0
    """How often sound was lost since the room was silent: devices then say wrongly where the echo is."""

    @property
    def is_learnt(self) -> bool:
        """Whether the room is known, or gives back so little, that what is left means something."""
        is_enough = self.learnt_for_s >= min(_LEARNS_FOR_S * (1 + self.losses), _LONGEST_DOUBT_S)
        return is_enough and (self.erle_db >= _LEAST_ERLE_DB or self.usual_left_dbfs <= _NEGLIGIBLE_DBFS)

    @property
    def has_others(self) -> bool:
        """Whether there is more in it than an echo: somebody speaks, or something clatters."""
        return self.is_learnt and self.left_dbfs >= self.usual_left_dbfs + _ABOVE_USUAL_DB


class EchoCanceller:
    """Block after block of the microphone in, the same a little later and without what is played out.

    While nothing plays, nothing is computed. Every reply is learnt anew, and so is what comes after a device
    has lost sound: a canceller that knows nothing takes everything away at first, and one that remembers an
    echo of another delay takes away next to nothing.
    """

    delay_s = LATENCY_SAMPLES / WHISPER_RATE_HZ
    """How much later a sample comes out than it went in, whether something plays or not."""

    def __init__(self, played: PlayedSound, new_frames: Callable[[], FrameCanceller]) -> None:
        self.played = played
        self.level: EchoLevel | None = None
        """How the last block went; None while nothing plays."""
        self._new_frames = new_frames
        self._clock = SampleClock()
        self._late = np.zeros(LATENCY_SAMPLES, dtype=np.float32)
        self._begin()

    def cancel(self, block: NDArray[np.float32], ended_at_s: float) -> NDArray[np.float32]:
        """Clean a block of 16 kHz sound; its last sample was in the air at `ended_at_s` (monotonic)."""
        if len(block) % FRAME_SAMPLES:
            raise ValueError(f"{len(block)} samples are not a multiple of 10 ms at 16 kHz")
        began_at_s = ended_at_s - len(block) / WHISPER_RATE_HZ
        first = self._clock.place(len(block), began_at_s, may_jump=self.level is None)
        played = self.played.take(first + round(LEAD_S * WHISPER_RATE_HZ) - self._moved, len(block))
        both = np.concatenate((self._late, block))
        late_block, self._late = both[: len(block)], both[len(block) :]
        if played is None:
            self.level = None
            return late_block
        if self.level is None:
            self._begin()
        elif self._jumps != self._jumps_so_far:
            self._begin(losses=self._losses + self._losses_so_far - self._losses_before)
        if self.beginning.has_begun or dbfs(played) > _ROOM_DBFS:
            self.beginning.add(played, block)
        cleaned = cancelled(self._frames, played, block)
        if self.level is None:
            # It has nothing to begin with, and the first sound is still to come.
            cleaned[:LATENCY_SAMPLES] = late_block[:LATENCY_SAMPLES]
        self.level = self._measured(played, late_block, cleaned)
        self._moved_echo.add(played, block)
        return cleaned

    def hears_itself(self) -> bool:
        """Whether what is left is the echo, come at another moment than before; it is then found there."""
        moved = self._moved_echo.moved_samples() if self.level is not None else 0
        if moved:
            self._begin(losses=self._losses + 1, moved=self._moved + moved)
        return moved != 0

    def forget(self) -> None:
        """The microphone has lost sound: what it hears next is somewhere else."""
        self._clock.forget("lost")

    @property
    def _jumps_so_far(self) -> int:
        return self._clock.jumps + self.played.jumps

    @property
    def _losses_so_far(self) -> int:
        return self._clock.losses + self.played.losses

    def _begin(self, *, losses: int = 0, moved: int = 0) -> None:
        """Learn the room anew: a reply begins, or its echo is somewhere else."""
        self._frames = self._new_frames()
        self.beginning = Beginning(self._new_frames, is_spoilt=losses > 0)
        """Of the reply that sounds, or sounded last."""
        self._moved_echo = MovedEcho()
        self._moved = moved
        """By how many samples the echo comes later than the devices say."""
        self._losses = losses
        self._jumps, self._losses_before = self._jumps_so_far, self._losses_so_far
        self._learnt = 0
        self._erle_db = 0.0
        self._usual_left_dbfs = 0.0

    def _measured(
        self, played: NDArray[np.float32], heard: NDArray[np.float32], left: NDArray[np.float32]
    ) -> EchoLevel:
        heard_dbfs, left_dbfs = dbfs(heard), dbfs(left)
        if dbfs(played) > _ROOM_DBFS:
            self._learnt += len(played)
        if heard_dbfs > _ROOM_DBFS:
            better_db = heard_dbfs - left_dbfs - self._erle_db
            self._erle_db += better_db * (_BETTER_BY if better_db > 0 else _WORSE_BY)
        worse_db = max(left_dbfs, _ROOM_DBFS) - self._usual_left_dbfs
        self._usual_left_dbfs += worse_db * (_WORSE_BY if worse_db > 0 else _BETTER_BY)
        return EchoLevel(
            heard_dbfs=heard_dbfs,
            left_dbfs=left_dbfs,
            erle_db=self._erle_db,
            usual_left_dbfs=self._usual_left_dbfs,
            learnt_for_s=self._learnt / WHISPER_RATE_HZ,
            losses=self._losses,
        )
