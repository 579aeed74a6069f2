"""What a figure was measured on."""

from __future__ import annotations

import os
import platform
import subprocess
from pathlib import Path


def describe() -> str:
    """The processor, its cores and the memory, in one line."""
    memory_gb = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9
    return f"{_processor()}, {len(os.sched_getaffinity(0))} cores, {memory_gb:.0f} GB, {platform.system()}"


def _processor() -> str:
    try:
        output = subprocess.run(["lscpu"], capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        output = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    for line in output.splitlines():
        key, _, value = line.partition(":")
        if key.strip().lower() == "model name":
            return value.strip()
    return platform.machine()
