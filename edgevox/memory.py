"""How much memory this machine has for us, and how much a process of ours takes."""

from __future__ import annotations

import ctypes
import gc
import os
from pathlib import Path

_CGROUP_LIMIT = Path("/sys/fs/cgroup/memory.max")


def total_memory_bytes(cgroup_limit: Path = _CGROUP_LIMIT) -> int:
    """The machine's memory, or what a container may use of it."""
    installed = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    try:
        limit = cgroup_limit.read_text(encoding="ascii").strip()
    except OSError:  # no container, or not Linux
        return installed
    return min(installed, int(limit)) if limit.isdecimal() else installed


def give_back_freed() -> None:
    """Let go of what this process has freed and the C library keeps: of a model that was read, 80 MB."""
    gc.collect()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # glibc's; others have none, and need none
    if trim is not None:
        trim(0)


def anonymous_bytes(pid: int) -> int:
    """What a process holds that no file backs (RssAnon); 0 when it is gone, or where there is no /proc."""
    try:
        status = Path(f"/proc/{pid}/status").read_text(encoding="ascii", errors="replace")
    except OSError:
        return 0
    fields = dict(line.split(":", 1) for line in status.splitlines() if ":" in line)
    return int(fields.get("RssAnon", "0 kB").split()[0]) * 1024
