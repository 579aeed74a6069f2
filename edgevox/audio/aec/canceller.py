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
"""A block after and before echo cancellation."""

# The time in which an unconverged canceller removes more of a person than of the echo, plus a short command.
_SECONDS = 2.0
# The residual of an echo alone: the percentile of quieter moments, between words or well cancelled.
_USUAL_SHARE = 20
_LEAST_USUAL_DBFS, _MOST_USUAL_DBFS = -60.0, -45.0


class AecWarmupReplay:
    """Records the first seconds of a reply and cancels their echo again. `new_frames` creates a canceller.

    A spoilt one is never whole: samples were lost, so the recording does not match the reference.
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
        """Add the next block, unless it is whole."""
        if not self.is_whole and not self._is_spoilt:
            self._blocks.append((played, heard))
            self._samples += len(heard)

    def replay(self) -> list[ReplayedBlock]:
        """Cancel the echo in all blocks; takes about 0.15 s."""
        frames = self._new_frames()
        for _ in range(2):  # first to converge
            cleaned = [cancelled(frames, played, heard) for played, heard in self._blocks]
        late = np.concatenate([np.zeros(LATENCY_SAMPLES, np.float32), *(heard for _, heard in self._blocks)])
        ends = np.cumsum([len(block) for block in cleaned])
        return [(block, late[end - len(block) : end]) for block, end in zip(cleaned, ends, strict=True)]


def residual_floor_dbfs(cleaned: Sequence[NDArray[np.float32]]) -> float:
    """Estimate the residual of the echo alone from blocks that may hold speech."""
    usual = float(np.percentile([dbfs(block) for block in cleaned], _USUAL_SHARE))
    return min(_MOST_USUAL_DBFS, max(_LEAST_USUAL_DBFS, usual))


LEAD_S = 0.04
"""The largest error of drivers that report a playback time too late; the filter is causal."""

# Quieter blocks are room noise and say nothing about the echo.
_ROOM_DBFS = -60.0
# Smoothing factors towards a better and a worse value: near-end speech must not look like bad cancellation.
_BETTER_BY, _WORSE_BY = 0.05, 0.005
# The residual of the echo alone varies by less.
_ABOVE_USUAL_DB = 12.0
_LEAST_ERLE_DB = 10.0
# Of far-end sound: in the first second the canceller is unreliable.
_LEARNS_FOR_S = 1.0
# After lost samples more are likely, so convergence takes longer, up to this. Until then it is half duplex.
_LONGEST_DOUBT_S = 4.0
_NEGLIGIBLE_DBFS = -45.0


@dataclass(frozen=True, slots=True)
class EchoLevel:
    """Levels of one block during playback."""

    heard_dbfs: float
    residual_dbfs: float
    """After cancellation."""
    erle_db: float
    """Echo return loss enhancement without near-end speech, as estimated so far."""
    residual_floor_dbfs: float
    """The residual without near-end speech."""
    converged_for_s: float
    """Duration of far-end sound since the reply began, or since a jump."""
    losses: int = 0
    """How often samples were lost since the last silence: devices then report wrong times."""

    @property
    def is_converged(self) -> bool:
        """Whether the filter has converged, or the echo is negligible."""
        is_enough = self.converged_for_s >= min(_LEARNS_FOR_S * (1 + self.losses), _LONGEST_DOUBT_S)
        return is_enough and (self.erle_db >= _LEAST_ERLE_DB or self.residual_floor_dbfs <= _NEGLIGIBLE_DBFS)

    @property
    def has_near_end_sound(self) -> bool:
        """Whether the block holds more than echo: speech or another sound."""
        return self.is_converged and self.residual_dbfs >= self.residual_floor_dbfs + _ABOVE_USUAL_DB


class EchoCanceller:
    """Removes the played audio from microphone blocks, with a fixed latency.

    Idle while nothing plays. The filter starts anew for each reply and after lost samples: a new one removes
    everything at first, but one that has converged on another delay removes next to nothing.
    """

    delay_s = LATENCY_SAMPLES / SAMPLE_RATE_HZ
    """The latency, during playback or not."""

    def __init__(self, played: FarEndReference, new_frames: Callable[[], FrameCanceller]) -> None:
        self.played = played
        self.level: EchoLevel | None = None
        """The levels of the last block; None while nothing plays."""
        self._new_frames = new_frames
        self._clock = SampleClock()
        self._late = np.zeros(LATENCY_SAMPLES, dtype=np.float32)
        self._begin()

    def cancel(self, block: NDArray[np.float32], ended_at_s: float) -> NDArray[np.float32]:
        """Cancel the echo in a 16 kHz block whose last sample was recorded at `ended_at_s` (monotonic)."""
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
            # The new filter has no history yet, and no echo has arrived.
            cleaned[:LATENCY_SAMPLES] = late_block[:LATENCY_SAMPLES]
        self.level = self._measured(played, late_block, cleaned)
        self._delay_tracker.add(played, block)
        return cleaned

    def is_own_echo(self) -> bool:
        """Whether the residual is echo with a changed delay; the new delay is then used."""
        moved = self._delay_tracker.delay_change_samples() if self.level is not None else 0
        if moved:
            self._begin(losses=self._losses + 1, moved=self._moved + moved)
        return moved != 0

    def forget(self) -> None:
        """Note that the microphone has lost samples."""
        self._clock.forget("lost")

    @property
    def _jumps_so_far(self) -> int:
        return self._clock.jumps + self.played.clock.jumps

    @property
    def _losses_so_far(self) -> int:
        return self._clock.losses + self.played.clock.losses

    def _begin(self, *, losses: int = 0, moved: int = 0) -> None:
        """Start with a new filter, for a new reply or a changed delay."""
        self._frames = self._new_frames()
        self.warmup_replay = AecWarmupReplay(self._new_frames, is_spoilt=losses > 0)
        """That of the current or last reply."""
        self._delay_tracker = EchoDelayTracker()
        self._moved = moved
        """By how many samples the echo is later than the devices report."""
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
