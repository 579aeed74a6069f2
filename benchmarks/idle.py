"""What listening costs while nobody speaks: `python -m benchmarks.idle`.

The real assistant on a real audio device (PulseAudio null sinks): processor time of all its processes, as a
share of one core, over some seconds of silence and of room noise; with `--wake` asleep, until it is called.
And how long it takes from nothing to listening, the first time and with the prompt's snapshot on the disk.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from benchmarks.hardware import describe
from edgevox.audio.files import write_wav
from edgevox.core.types import Audio
from edgevox.testing import NullSinks

BAR_PERCENT = 5.0
BAR_WITH_WAKE_WORD_PERCENT = 8.0
START_S = 120.0
_LOOK_S = 3.0
_AT_WORK_PERCENT = 10.0


def processor_s_of_each(pid: int) -> dict[int, float]:
    """Processor seconds so far of a process and of each of its descendants."""
    stats = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                text = (entry / "stat").read_text(encoding="ascii", errors="replace")
            except OSError:
                continue
            fields = text.rpartition(")")[2].split()
            stats[int(entry.name)] = (int(fields[1]), int(fields[11]) + int(fields[12]))
    family = [pid]
    for member in family:
        family += [child for child, (parent, _) in stats.items() if parent == member]
    return {member: stats.get(member, (0, 0))[1] / os.sysconf("SC_CLK_TCK") for member in family}


def processor_s(pid: int) -> float:
    """Processor seconds of a process and all of its descendants so far."""
    return sum(processor_s_of_each(pid).values())


def share(pid: int, seconds: float) -> float:
    """Percent of one core over the next `seconds`."""
    before_s, started_s = processor_s(pid), time.monotonic()
    time.sleep(seconds)
    return 100 * (processor_s(pid) - before_s) / (time.monotonic() - started_s)


def wait_until_prepared(pid: int) -> None:
    """After its first start it evaluates its prompt in the background."""
    deadline_s = time.monotonic() + START_S
    while share(pid, _LOOK_S) > _AT_WORK_PERCENT and time.monotonic() < deadline_s:
        pass


def noise(folder: Path, seconds: float) -> Path:
    samples = np.random.default_rng(3).standard_normal(round(seconds * 16_000)) * 0.01
    path = folder / "noise.wav"
    write_wav(path, [Audio(samples.astype(np.float32), 16_000)])
    return path


@contextmanager
def listening(env: Mapping[str, str], options: Sequence[str]) -> Iterator[tuple[int, float]]:
    """The assistant from when it listens: its process, and how many seconds that took."""
    command = [sys.executable, "-m", "edgevox", "run", "--plain", *options]
    started_s = time.monotonic()
    with subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=dict(env)
    ) as assistant:
        assert assistant.stderr is not None
        watchdog = threading.Timer(START_S, assistant.kill)
        watchdog.start()
        while "listening" not in (line := assistant.stderr.readline()):
            if not line:
                raise RuntimeError("the assistant does not start: edgevox run --plain says why")
        watchdog.cancel()
        try:
            yield assistant.pid, time.monotonic() - started_s
        finally:
            assistant.send_signal(signal.SIGINT)


def measure(seconds: float, options: Sequence[str]) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as scratch, NullSinks() as room:
        env = os.environ | room.environment | {"EDGEVOX_STATE_DIR": scratch, "EDGEVOX_CONFIG_DIR": scratch}
        with listening(env, options) as (pid, first_start_s):
            wait_until_prepared(pid)
            silence = share(pid, seconds)
            playing = threading.Thread(target=room.speak, args=(noise(Path(scratch), seconds + 2),))
            playing.start()
            hiss = share(pid, seconds)
            playing.join()
        # The prompt that was evaluated lies on the disk now.
        with listening(env, options) as (_pid, start_s):
            pass
    return {
        "silence_percent": round(silence, 2),
        "noise_percent": round(hiss, 2),
        "first_start_s": round(first_start_s, 1),
        "start_with_snapshot_s": round(start_s, 1),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description="Processor share of one core while nobody speaks.")
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--wake", action="store_true", help="with the wake word on")
    parser.add_argument("--json", type=Path, metavar="FILE", help="keep the result")
    args = parser.parse_args()
    result = {
        "hardware": describe(),
        "bar_percent": BAR_WITH_WAKE_WORD_PERCENT if args.wake else BAR_PERCENT,
        "wake_word": args.wake,
        **measure(args.seconds, ["--wake"] if args.wake else []),
    }
    print(json.dumps(result, indent=2))
    if args.json:
        args.json.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
