"""How much memory this machine has for us."""

from __future__ import annotations

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
