"""Memory, descriptors and threads of a program and its children over time, and their trend."""

from __future__ import annotations

import math
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
# One-sided 95 % of the normal distribution.
_NORMAL_95 = 1.645
# The judged part of a life is summarised by so many medians: single samples follow each other too closely to count as
# independent, which the confidence limit supposes.
_BLOCKS = 20
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
    """`main`, `llm`, `stt`, `tts`, `recorder`, `mcp`, or the name of the program.

    `pactl` is the one that watches the sound server; one that asks it something ends by itself.
    """
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
    if any(word.endswith("sdk_server.py") for word in command):
        return "mcp"
    name = Path(command[0]).name
    return "pactl question" if name == "pactl" and "subscribe" not in command else name


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


@dataclass(frozen=True, slots=True)
class Trend:
    """The Theil–Sen slope, which single peaks do not move, and what it is at least with 95 % confidence."""

    slope: float
    at_least: float


def theil_sen(points: Sequence[tuple[float, float]]) -> Trend:
    """The median of the slopes of all pairs, with its lower confidence limit after Sen (JASA 63, 1968).

    The limit is the slope whose rank is z standard deviations of Kendall's statistic below the middle.
    """
    slopes = sorted(
        (later[1] - earlier[1]) / (later[0] - earlier[0])
        for at, earlier in enumerate(points)
        for later in points[at + 1 :]
        if later[0] > earlier[0]
    )
    if not slopes:
        return Trend(0.0, 0.0)
    n = len(points)
    width = _NORMAL_95 * math.sqrt(n * (n - 1) * (2 * n + 5) / 18)
    return Trend(statistics.median(slopes), slopes[max(0, math.floor((len(slopes) - width) / 2))])


def _in_blocks(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """The medians of equally long parts of the time."""
    first_s, last_s = points[0][0], points[-1][0]
    blocks: defaultdict[int, list[tuple[float, float]]] = defaultdict(list)
    for at_s, value in points:
        part = (at_s - first_s) / (last_s - first_s) if last_s > first_s else 0.0
        blocks[min(_BLOCKS - 1, int(_BLOCKS * part))].append((at_s, value))
    return [
        (statistics.median(at_s for at_s, _ in block), statistics.median(value for _, value in block))
        for _, block in sorted(blocks.items())
    ]


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
    def trend(name: str, part: Sequence[ProcessSample]) -> Trend:
        per_s = theil_sen(_in_blocks([(sample.at_s, getattr(sample, name)) for sample in part]))
        return Trend(round(3600 * per_s.slope, 2), round(3600 * per_s.at_least, 2))

    def more(name: str) -> float:
        share = max(1, len(warm) // 5)
        first, last = (statistics.median(getattr(one, name) for one in part) for part in (warm[:share], warm[-share:]))
        return float(last - first)

    rss_mb = statistics.median(sample.rss_mb for sample in warm)
    bound = round(max(LEAST_MB_PER_H, SHARE_PER_H * rss_mb), 2)
    # A leak goes on. What an engine needs once (buffers for the longest prompt so far) comes in the first third.
    judged = warm[len(warm) // 3 :]
    rss, anon = trend("rss_mb", judged), trend("anon_mb", judged)
    return {
        "role": role,
        "pid": pid,
        "from_min": round(warm[0].at_s / 60, 1),
        "to_min": round(warm[-1].at_s / 60, 1),
        "samples": len(warm),
        "median_rss_mb": round(rss_mb, 1),
        "max_rss_mb": max(sample.rss_mb for sample in warm),
        "judged_from_min": round(judged[0].at_s / 60, 1),
        "rss_mb_per_h": rss.slope,
        "rss_mb_per_h_at_least": rss.at_least,
        "anon_mb_per_h": anon.slope,
        "anon_mb_per_h_at_least": anon.at_least,
        "whole_life_rss_mb_per_h": trend("rss_mb", warm).slope,
        "bound_mb_per_h": bound,
        "more_descriptors": more("descriptors"),
        "more_threads": more("threads"),
        "is_flat": max(rss.at_least, anon.at_least) <= bound
        and more("descriptors") <= MAX_MORE_DESCRIPTORS
        and more("threads") <= MAX_MORE_THREADS,
    }
