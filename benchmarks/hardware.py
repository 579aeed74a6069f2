"""What a figure was measured on."""

from __future__ import annotations

import platform
from pathlib import Path

from edgevox.core.platform import physical_memory_bytes, processor_name, usable_cores


def describe() -> str:
    """The processor, its architecture, its cores and the memory, in one line."""
    memory_gb = physical_memory_bytes() / 1e9
    machine = f"{processor_name()} ({', '.join((platform.machine(), *_instruction_sets()))})"
    return f"{machine}, {usable_cores()} cores, {memory_gb:.0f} GB, {platform.system()}"


# What decides how fast quantised weights are; processors with the same name differ in it.
_INSTRUCTION_SETS = {
    "avx2": "AVX2",
    "avx512f": "AVX-512",
    "avx512_vnni": "VNNI",
    "avx_vnni": "AVX-VNNI",
    "asimddp": "dotprod",
    "i8mm": "i8mm",
}


def _instruction_sets() -> list[str]:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:  # not Linux
        return []
    flags = next((line.split(":", 1)[1].split() for line in lines if line.startswith(("flags", "Features"))), [])
    return [name for flag, name in _INSTRUCTION_SETS.items() if flag in flags]
