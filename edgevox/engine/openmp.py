"""How the threads of an engine wait for each other (llama.cpp and CTranslate2 have OpenMP's)."""

from __future__ import annotations

import os

# Turns of a loop, some ten microseconds. OpenMP's own default is milliseconds, at each of the hundreds of
# places in a token where threads meet: beside a busy program, where the other thread is not running at all, a
# token took ten times as long (docs/adr/0008-the-decode-loop.md).
_SPINS = "10000"


def wait_politely() -> None:
    """Let threads sleep that wait. Call it before the engine's library is imported, which reads this once."""
    os.environ.setdefault("GOMP_SPINCOUNT", _SPINS)
