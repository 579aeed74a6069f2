"""How many processor threads each engine gets when the settings say "auto".

Measured, see benchmarks/results/threads.md: the engines share the cores, and llama.cpp's threads spin while
they wait for each other, so that one thread too many costs far more than one too few.
"""

from __future__ import annotations

from dataclasses import dataclass

from edgevox.platform_support import usable_cores

# More threads than this gain nothing for models of this size.
_MOST = 4


@dataclass(frozen=True, slots=True)
class ThreadPlan:
    """Threads per engine. A prompt is read while nothing else works, words are made while Piper speaks."""

    whisper: int
    llama_prompt: int
    llama: int
    piper: int


def plan_threads(cores: int | None = None) -> ThreadPlan:
    """The plan for this machine, or for one with `cores` cores."""
    available = cores or usable_cores()
    most = min(available, _MOST)
    return ThreadPlan(whisper=most, llama_prompt=most, llama=max(1, most - 1), piper=min(2, most))
