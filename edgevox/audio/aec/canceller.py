"""Cancels the echo block by block, measures the result (ERLE), and replays the start of a reply.

The filter converges during the first seconds of a reply; those are cancelled a second time once it has.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from edgevox.audio.aec.delay_tracker import EchoDelayTracker
from edgevox.audio.aec.reference import FarEndReference, SampleClock
from edgevox.audio.aec.webrtc import FRAME_SAMPLES, LATENCY_SAMPLES, FrameCanceller, cancelled
from edgevox.audio.dsp import dbfs
from edgevox.core.types import SAMPLE_RATE_HZ

ReplayedBlock: TypeAlias = tuple[NDArray[np.float32], NDArray[np.float32]]
"""A block without the echo, and as it was."""

# As long as a canceller takes more of a person away than of an echo, and a short command beside it.
_SECONDS = 2.0
# What is left of an echo alone in the quieter moments: between words, or where it is taken away well.
_USUAL_SHARE = 20
_LEAST_USUAL_DBFS, _MOST_USUAL_DBFS = -60.0, -45.0


class AecWarmupReplay:
    """What was played and heard since a reply began, up to a length. `new_frames` makes a canceller.

    A spoilt one is never whole: sound was lost, and what is heard for a while does not fit what is played.
    """

    def __init__(self, new_frames: Callable[[], FrameCanceller], *, is_spoilt: bool = False) -> None:
        self._new_frames = new_frames
        self._blocks: list[tuple[NDArray[np.float32], NDArray[np.float32]]] = []
        self._samples = 0
        self._is_spoilt = is_spoilt

    @property
    def has_begun(self) -> bool:
        return bool(self._blocks)

    @property
    def is_whole(self) -> bool:
        return self._samples >= _SECONDS * SAMPLE_RATE_HZ and not self._is_spoilt

    def add(self, played: NDArray[np.float32], heard: NDArray[np.float32]) -> None:
        """The next block, unless it is whole."""
        if not self.is_whole and not self._is_spoilt:
            self._blocks.append((played, heard))
            self._samples += len(heard)

    def replay(self) -> list[ReplayedBlock]:
        """Every block: about 0.15 s of work."""
        frames = self._new_frames()
        for _ in range(2):  # to learn, and then to hear
            cleaned = [cancelled(frames, played, heard) for played, heard in self._blocks]
        late = np.concatenate([np.zeros(LATENCY_SAMPLES, np.float32), *(heard for _, heard in self._blocks)])
        ends = np.cumsum([len(block) for block in cleaned])
        return [(block, late[end - len(block) : end]) for block, end in zip(cleaned, ends, strict=True)]


def residual_floor_dbfs(cleaned: Sequence[NDArray[np.float32]]) -> float:
    """What is left of an echo alone, as far as that can be told from blocks in which somebody may speak."""
    usual = float(np.percentile([dbfs(block) for block in cleaned], _USUAL_SHARE))
    return min(_MOST_USUAL_DBFS, max(_LEAST_USUAL_DBFS, usual))


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
    residual_dbfs: float
    """What is left of it."""
    erle_db: float
    """How much is taken away when nobody else speaks (echo return loss enhancement), as learnt so far."""
    residual_floor_dbfs: float
    """How much is left then."""
    converged_for_s: float
    """How much it has learnt from: sound from the loudspeaker since the reply began, or since a jump."""
    losses: int = 0
    """How often sound was lost since the room was silent: devices then say wrongly where the echo is."""

    @property
    def is_converged(self) -> bool:
        """Whether the room is known, or gives back so little, that what is left means something."""
        is_enough = self.converged_for_s >= min(_LEARNS_FOR_S * (1 + self.losses), _LONGEST_DOUBT_S)
        return is_enough and (self.erle_db >= _LEAST_ERLE_DB or self.residual_floor_dbfs <= _NEGLIGIBLE_DBFS)

    @property
    def has_near_end_sound(self) -> bool:
        """Whether there is more in it than an echo: somebody speaks, or something clatters."""
        return self.is_converged and self.residual_dbfs >= self.residual_floor_dbfs + _ABOVE_USUAL_DB


class EchoCanceller:
    """Block after block of the microphone in, the same a little later and without what is played out.

    While nothing plays, nothing is computed. Every reply is learnt anew, and so is what comes after a device
    has lost sound: a canceller that knows nothing takes everything away at first, and one that remembers an
    echo of another delay takes away next to nothing.
    """

    delay_s = LATENCY_SAMPLES / SAMPLE_RATE_HZ
    """How much later a sample comes out than it went in, whether something plays or not."""

    def __init__(self, played: FarEndReference, new_frames: Callable[[], FrameCanceller]) -> None:
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
        began_at_s = ended_at_s - len(block) / SAMPLE_RATE_HZ
        first = self._clock.place(len(block), began_at_s, may_jump=self.level is None)
        played = self.played.take(first + round(LEAD_S * SAMPLE_RATE_HZ) - self._moved, len(block))
        both = np.concatenate((self._late, block))
        late_block, self._late = both[: len(block)], both[len(block) :]
        if played is None:
            self.level = None
            return late_block
        if self.level is None:
            self._begin()
        elif self._jumps != self._jumps_so_far:
            self._begin(losses=self._losses + self._losses_so_far - self._losses_before)
        if self.warmup_replay.has_begun or dbfs(played) > _ROOM_DBFS:
            self.warmup_replay.add(played, block)
        cleaned = cancelled(self._frames, played, block)
        if self.level is None:
            # It has nothing to begin with, and the first sound is still to come.
            cleaned[:LATENCY_SAMPLES] = late_block[:LATENCY_SAMPLES]
        self.level = self._measured(played, late_block, cleaned)
        self._delay_tracker.add(played, block)
        return cleaned

    def is_own_echo(self) -> bool:
        """Whether what is left is the echo, come at another moment than before; it is then found there."""
        moved = self._delay_tracker.delay_change_samples() if self.level is not None else 0
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
        self.warmup_replay = AecWarmupReplay(self._new_frames, is_spoilt=losses > 0)
        """Of the reply that sounds, or sounded last."""
        self._delay_tracker = EchoDelayTracker()
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
        heard_dbfs, residual_dbfs = dbfs(heard), dbfs(left)
        if dbfs(played) > _ROOM_DBFS:
            self._learnt += len(played)
        if heard_dbfs > _ROOM_DBFS:
            better_db = heard_dbfs - residual_dbfs - self._erle_db
            self._erle_db += better_db * (_BETTER_BY if better_db > 0 else _WORSE_BY)
        worse_db = max(residual_dbfs, _ROOM_DBFS) - self._usual_left_dbfs
        self._usual_left_dbfs += worse_db * (_WORSE_BY if worse_db > 0 else _BETTER_BY)
        return EchoLevel(
            heard_dbfs=heard_dbfs,
            residual_dbfs=residual_dbfs,
            erle_db=self._erle_db,
            residual_floor_dbfs=self._usual_left_dbfs,
            converged_for_s=self._learnt / SAMPLE_RATE_HZ,
            losses=self._losses,
        )
