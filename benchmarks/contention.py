"""A command's turn while other programs want the same cores, as a ratio to the same turn on an idle machine.

`python -m benchmarks.contention`: as `benchmarks.command_turns`, idle, beside as many busy processes as there
are cores, and beside twice as many. The busy processes are a session of their own, as another program is.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from benchmarks.command_turns import report, turns
from edgevox.app.runtime import AssistantRuntime
from edgevox.config import load_settings
from edgevox.core.files import Folders
from edgevox.core.platform import usable_cores
from edgevox.models import open_store

BAR = 3.0
BUSY = "value = 1\nwhile True:\n    value = value * 3 & 0xFFFFFF"
# Spread over kinds of commands: a light, a state, a cover, a list, a timer.
COMMANDS = (
    "Turn on the kitchen light.",
    "Is the front door locked?",
    "Open the curtains in the bedroom.",
    "Set the thermostat to nineteen degrees.",
    "Add butter to the shopping list.",
    "Set a timer for ten minutes.",
    "Which lights are on?",
    "Turn off the kitchen light.",
)


@contextmanager
def busy_processes(count: int) -> Iterator[None]:
    """`count` processes that compute for as long as the block runs, all in one session."""
    leader = "import os, subprocess, sys\nos.setsid()\n"
    leader += "for _ in range(int(sys.argv[1])): subprocess.Popen([sys.executable, '-c', sys.argv[2]])\n"
    leader += "sys.stdin.read()\nos.killpg(0, 9)"
    if not count:
        yield
        return
    command = [sys.executable, "-c", leader, str(count), BUSY]
    with subprocess.Popen(command, stdin=subprocess.PIPE) as process:
        try:
            yield
        finally:
            assert process.stdin is not None
            process.stdin.close()
            process.wait()


async def measure(folders: Folders) -> dict[str, object]:
    store = open_store(folders)
    runtime = AssistantRuntime(load_settings(folders, environ={}), folders, store, ["llm", "tts"])
    store.ensure(runtime.models.needed())
    runtime.models.prepare(print)
    medians_s: dict[int, float] = {}
    async with runtime:
        await turns(runtime, COMMANDS, fresh=False)  # everything is loaded and compiled once
        for load in (0, usable_cores(), 2 * usable_cores()):
            with busy_processes(load):
                took_s = await turns(runtime, COMMANDS, fresh=False)
            medians_s[load] = statistics.median(took_s)
            print(f"{load} busy processes: median {medians_s[load]:.3f} s, longest {max(took_s):.3f} s", flush=True)
    return {
        "median_s": {str(load): round(median_s, 3) for load, median_s in medians_s.items()},
        "ratio": {str(load): round(median_s / medians_s[0], 2) for load, median_s in medians_s.items()},
    }


def main() -> None:
    report(__doc__, measure, f"bar for every ratio: {BAR}")


if __name__ == "__main__":
    main()
