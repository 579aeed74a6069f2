"""Which ways of storing weights the installed llama.cpp has fast kernels for on this processor.

"Repacked" means that llama.cpp lays the weights out anew while it loads them, for kernels that work on
several rows at once. Which types these are was found out by loading a model in each type and reading what
llama.cpp said (tests/llm/test_cpu.py does so wherever it runs; the figures are in docs/adr/0011).
"""

from __future__ import annotations

import ctypes
import importlib.util
from enum import IntEnum
from functools import cache
from pathlib import Path


class WeightType(IntEnum):
    """ggml's numbers of the types that models come in."""

    F32 = 0
    F16 = 1
    Q4_0 = 2
    Q4_1 = 3
    Q5_0 = 6
    Q5_1 = 7
    Q8_0 = 8
    Q2_K = 10
    Q3_K = 11
    Q4_K = 12
    Q5_K = 13
    Q6_K = 14
    IQ4_NL = 20
    IQ4_XS = 23
    BF16 = 30
    MXFP4 = 39


_ARM_DOTPROD = frozenset(
    {
        WeightType.Q4_0,
        WeightType.Q8_0,
        WeightType.Q4_K,
        WeightType.Q5_K,
        WeightType.Q6_K,
        WeightType.IQ4_NL,
        WeightType.MXFP4,
    }
)


def repacked_types(features: frozenset[str] | None = None) -> frozenset[WeightType]:
    """The types that are repacked here; empty on a processor where that has not been measured."""
    found = cpu_features() if features is None else features
    return _ARM_DOTPROD if {"NEON", "DOTPROD", "REPACK"} <= found else frozenset()


@cache
def cpu_features() -> frozenset[str]:
    """What llama.cpp was built for and found here, such as DOTPROD; empty where it is not installed."""
    # The library alone, without its Python package, loads in a fiftieth of a second instead of a quarter.
    package = importlib.util.find_spec("llama_cpp")
    if package is None or package.origin is None:
        return frozenset()
    try:
        library = ctypes.CDLL(str(Path(package.origin).parent / "lib" / "libllama.so"))
    except OSError:
        return frozenset()
    library.llama_print_system_info.restype = ctypes.c_char_p
    return features_in(library.llama_print_system_info().decode())


def features_in(system_info: str) -> frozenset[str]:
    """The features that llama.cpp's own text names: `CPU : NEON = 1 | SVE = 0 | …`."""
    entries = (entry.rpartition(":")[2].partition("=") for entry in system_info.split("|"))
    return frozenset(name.strip() for name, _, value in entries if value.strip() == "1")
