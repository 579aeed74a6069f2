"""How the OpenMP threads of an engine (llama.cpp, CTranslate2) wait for each other."""

from __future__ import annotations

import os
import platform

# Turns of a loop: ten microseconds on Arm, 170 on x86, where waking a thread costs more. OpenMP's own default
# is milliseconds, at each of the hundreds of barriers in a token: beside a busy program, where the other
# thread is not running at all, a token took ten times as long (docs/adr/0008-the-decode-loop.md). One turn is
# a `yield` on Arm, about a nanosecond, and a `pause` on x86, 140 cycles since Skylake.
_ARM_SPINS, _X86_SPINS = "10000", "3000"


def limit_omp_spin() -> None:
    """Let waiting threads sleep soon. Call it before the engine's library is imported: that reads it once."""
    is_x86 = platform.machine().lower() in ("x86_64", "amd64", "i686")
    os.environ.setdefault("GOMP_SPINCOUNT", _X86_SPINS if is_x86 else _ARM_SPINS)
