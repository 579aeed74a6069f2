"""Memory, descriptors and threads of a program and its children over time, and their trend."""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from edgevox.core.types import JsonObject

# A life is judged from here on: allocators and caches of a fresh process fill first.
SETTLED_AFTER_S = 300.0
LEAST_MB_PER_H = 4.0
SHARE_PER_H = 0.03
MAX_MORE_DESCRIPTORS = 10
MAX_MORE_THREADS = 5


@dataclass(frozen=True, slots=True)
class ProcessSample:
    """What one process holds at one moment; `at_s` counts from the start of the run."""

    at_s: float
    role: str
    pid: int
    rss_mb: float
    pss_mb: float
    anon_mb: float
    descriptors: int
    threads: int

    def row(self) -> list[object]:
        return list(asdict(self).values())


def family(pid: int) -> list[int]:
    """The process and all of its descendants, parents first."""
    members = [pid]
    for member in members:
        for children in Path(f"/proc/{member}/task").glob("*/children"):
            try:
                members += map(int, children.read_text(encoding="ascii").split())
            except OSError:  # that thread has ended
                continue
    return members


def role_of(pid: int, main_pid: int) -> str:
    """`main`, `llm`, `stt`, `tts`, `recorder`, `mcp`, or the name of the program."""
    if pid == main_pid:
        return "main"
    command = Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace").split("\0")
    if "edgevox.engines.child" in command:
        for descriptor in Path(f"/proc/{pid}/fd").iterdir():
            target = str(descriptor.readlink())
            if target.startswith("/memfd:edgevox-"):
                return target.removeprefix("/memfd:edgevox-").split()[0]
        return "engine"
    if "edgevox.audio.io.recorder_child" in " ".join(command):
        return "recorder"
    return "mcp" if any(word.endswith("sdk_server.py") for word in command) else Path(command[0]).name


def sample_family(main_pid: int, at_s: float) -> list[ProcessSample]:
    samples = []
    for pid in family(main_pid):
        try:
            samples.append(_sample(pid, role_of(pid, main_pid), at_s))
        except (OSError, KeyError):  # it ended meanwhile
            continue
    return samples


def _sample(pid: int, role: str, at_s: float) -> ProcessSample:
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii").splitlines()[1:]
    kb = {line.split(":")[0]: int(line.split()[1]) for line in lines}
    return ProcessSample(
        at_s=round(at_s, 1),
        role=role,
        pid=pid,
        rss_mb=round(kb["Rss"] / 1024, 2),
        pss_mb=round(kb["Pss"] / 1024, 2),
        anon_mb=round(kb["Pss_Anon"] / 1024, 2),
        descriptors=len(list(Path(f"/proc/{pid}/fd").iterdir())),
        threads=len(list(Path(f"/proc/{pid}/task").iterdir())),
    )


def theil_sen(points: Sequence[tuple[float, float]]) -> float:
    """The median of the slopes of all pairs: single peaks do not move it."""
    slopes = [
        (later[1] - earlier[1]) / (later[0] - earlier[0])
        for at, earlier in enumerate(points)
        for later in points[at + 1 :]
        if later[0] > earlier[0]
    ]
    return statistics.median(slopes) if slopes else 0.0


def judge_lives(samples: Iterable[ProcessSample], *, warm_up_s: float, min_life_s: float) -> list[JsonObject]:
    """The trend of each process that lived long enough after the warm-up, and whether it is flat."""
    lives: defaultdict[tuple[str, int], list[ProcessSample]] = defaultdict(list)
    for sample in samples:
        lives[sample.role, sample.pid].append(sample)
    judged = []
    for (role, pid), life in lives.items():
        # The first process starts cold with the run, and a later one when another was killed.
        from_s = max(warm_up_s, life[0].at_s + min(SETTLED_AFTER_S, warm_up_s))
        warm = [sample for sample in life if sample.at_s >= from_s]
        if len(warm) >= 4 and warm[-1].at_s - warm[0].at_s >= min_life_s:
            judged.append(_judged(role, pid, warm))
    return judged


def _judged(role: str, pid: int, warm: Sequence[ProcessSample]) -> JsonObject:
    def per_hour(name: str, part: Sequence[ProcessSample]) -> float:
        return round(3600 * theil_sen([(sample.at_s, getattr(sample, name)) for sample in part]), 2)

    def more(name: str) -> float:
        share = max(1, len(warm) // 5)
        first, last = (statistics.median(getattr(one, name) for one in part) for part in (warm[:share], warm[-share:]))
        return float(last - first)

    rss_mb = statistics.median(sample.rss_mb for sample in warm)
    bound = round(max(LEAST_MB_PER_H, SHARE_PER_H * rss_mb), 2)
    slopes = {name: per_hour(name, warm) for name in ("rss_mb", "anon_mb")}
    # A leak goes on. What an engine needs once (buffers for the longest prompt so far) comes in the first half.
    later = {name: per_hour(name, warm[len(warm) // 2 :]) for name in slopes}
    return {
        "role": role,
        "pid": pid,
        "from_min": round(warm[0].at_s / 60, 1),
        "to_min": round(warm[-1].at_s / 60, 1),
        "samples": len(warm),
        "median_rss_mb": round(rss_mb, 1),
        "max_rss_mb": max(sample.rss_mb for sample in warm),
        "rss_mb_per_h": slopes["rss_mb"],
        "anon_mb_per_h": slopes["anon_mb"],
        "rss_mb_per_h_second_half": later["rss_mb"],
        "anon_mb_per_h_second_half": later["anon_mb"],
        "bound_mb_per_h": bound,
        "more_descriptors": more("descriptors"),
        "more_threads": more("threads"),
        "is_flat": max(later.values()) <= bound
        and more("descriptors") <= MAX_MORE_DESCRIPTORS
        and more("threads") <= MAX_MORE_THREADS,
    }
