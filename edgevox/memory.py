"""How much memory this machine has for us, how much a process of ours takes, and how that stays little."""

from __future__ import annotations

import gc
from pathlib import Path

from edgevox.platform_support import physical_memory_bytes, trim_heap

_CGROUP_LIMIT = Path("/sys/fs/cgroup/memory.max")


def total_memory_bytes(cgroup_limit: Path = _CGROUP_LIMIT) -> int:
    """The machine's memory, or what a container may use of it."""
    installed = physical_memory_bytes()
    try:
        limit = cgroup_limit.read_text(encoding="ascii").strip()
    except OSError:  # no container, or not Linux
        return installed
    return min(installed, int(limit)) if limit.isdecimal() else installed


def give_back_freed() -> None:
    """Let go of what this process has freed and the C library keeps: of a model that was read, 80 MB."""
    gc.collect()
    trim_heap()


def keep_for_life() -> None:
    """Say that what this process holds now stays: no collection of garbage looks at it again.

    Python puts a whole collection off until a quarter of what it has looked at is new. Beside 300,000
    objects of libraries the garbage of a thousand turns is less than that, and the process grows.
    """
    gc.collect()
    gc.freeze()
    gc.collect()  # from what is left over, which is nothing, the next one is reckoned


def anonymous_bytes(pid: int) -> int:
    """What a process holds that no file backs (RssAnon); 0 when it is gone, or where there is no /proc."""
    try:
        status = Path(f"/proc/{pid}/status").read_text(encoding="ascii", errors="replace")
    except OSError:
        return 0
    fields = dict(line.split(":", 1) for line in status.splitlines() if ":" in line)
    return int(fields.get("RssAnon", "0 kB").split()[0]) * 1024
