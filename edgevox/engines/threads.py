"""Chooses the number of threads per engine for the setting "auto", and how long OpenMP threads spin.

Measured in benchmarks/results/threads.md: the engines share the cores, and llama.cpp's threads spin while they wait for
each other, so one thread too many costs far more than one too few.
"""

from __future__ import annotations

import os
import platform
import time
from dataclasses import dataclass

from edgevox.core.platform import machine_cpu_s, usable_cores

# More threads than this gain nothing for models of this size.
_MOST = 4


@dataclass(frozen=True, slots=True)
class ThreadPlan:
    """Threads per engine. A prompt is read while nothing else works, words are made while the voice speaks."""

    stt: int
    llm_prompt: int
    llm: int
    tts: int


def plan_threads(cores: int | None = None) -> ThreadPlan:
    """Return the plan for this machine, or for one with `cores` cores."""
    available = cores or usable_cores()
    most = min(available, _MOST)
    return ThreadPlan(stt=most, llm_prompt=most, llm=max(1, most - 1), tts=min(2, most))


# The kernel counts CPU time in ticks of up to 10 ms: a shorter interval measures nothing.
_LOOK_S = 0.06


class FreeCoreMonitor:
    """Estimates how many cores are free for an engine: all, less those used by other processes.

    An engine with more threads than that waits at every barrier for a thread without a core: on two cores beside four
    busy processes, two threads took twice as long as one (benchmarks/results/contention.md).
    """

    def __init__(self, cores: int | None = None) -> None:
        self._cores = self._free = cores or usable_cores()
        self._at_s = time.monotonic()
        self._others_s = self._used_by_others_s()

    def free(self) -> int:
        """Return the cores left free since the last call; at least one."""
        at_s = time.monotonic()
        if at_s - self._at_s < _LOOK_S:
            return self._free
        others_s = self._used_by_others_s()
        if others_s is not None and self._others_s is not None:
            busy = round((others_s - self._others_s) / (at_s - self._at_s))
            self._free = max(1, self._cores - max(0, busy))
        self._at_s, self._others_s = at_s, others_s
        return self._free

    @staticmethod
    def _used_by_others_s() -> float | None:
        used_s = machine_cpu_s()
        return None if used_s is None else used_s - time.process_time()


# Turns of a loop: ten microseconds on Arm, 170 on x86, where waking a thread costs more. OpenMP's own default
# is milliseconds, at each of the hundreds of barriers in a token: beside a busy program, where the other
# thread is not running at all, a token took ten times as long (docs/adr/0008-decode-loop.md). One turn is
# a `yield` on Arm, about a nanosecond, and a `pause` on x86, 140 cycles since Skylake.
_ARM_SPINS, _X86_SPINS = "10000", "3000"


def limit_omp_spin() -> None:
    """Make waiting OpenMP threads sleep early. Call it before importing the engine's library, which reads this once."""
    is_x86 = platform.machine().lower() in ("x86_64", "amd64", "i686")
    os.environ.setdefault("GOMP_SPINCOUNT", _X86_SPINS if is_x86 else _ARM_SPINS)
