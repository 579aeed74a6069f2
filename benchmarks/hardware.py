"""What a figure was measured on."""

from __future__ import annotations

import platform

from edgevox.core.platform import physical_memory_bytes, processor_name, usable_cores


def describe() -> str:
    """The processor, its architecture, its cores and the memory, in one line."""
    memory_gb = physical_memory_bytes() / 1e9
    machine = f"{processor_name()} ({platform.machine()})"
    return f"{machine}, {usable_cores()} cores, {memory_gb:.0f} GB, {platform.system()}"
