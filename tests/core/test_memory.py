"""Memory limits of the machine or the container, and garbage collection in a long-running process."""

from __future__ import annotations

import platform
import subprocess
import sys
from pathlib import Path

import pytest

from edgevox.core.platform import total_memory_bytes


def test_a_machine_has_memory(tmp_path: Path) -> None:
    assert total_memory_bytes(tmp_path / "no-container") > 100_000_000


def test_the_container_limit_applies(tmp_path: Path) -> None:
    limit = tmp_path / "memory.max"
    limit.write_text("50000000\n", encoding="ascii")
    assert total_memory_bytes(limit) == 50_000_000


@pytest.mark.parametrize("limit", ["max", str(2**62)])
def test_a_container_without_a_limit_has_the_machines_memory(tmp_path: Path, limit: str) -> None:
    file = tmp_path / "memory.max"
    file.write_text(f"{limit}\n", encoding="ascii")
    assert total_memory_bytes(file) == total_memory_bytes(tmp_path / "no-container")


# As much as the libraries hold, then the cycles of many turns, each for as long as a turn takes: how many are
# there at once?
_MOST_GARBAGE = """
import collections, sys, weakref
from edgevox.core.platform import freeze_gc

class Cycle:
    def __init__(self):
        self.itself = self

libraries = [[number] for number in range(1_000_000)]
if sys.argv[1] == "kept":
    freeze_gc()
recent = collections.deque(maxlen=10_000)
alive, most = weakref.WeakSet(), 0
for _ in range(400_000):
    recent.append(Cycle())
    alive.add(recent[-1])
    most = max(most, len(alive))
print(most)
"""


def most_garbage(libraries: str) -> int:
    done = subprocess.run([sys.executable, "-c", _MOST_GARBAGE, libraries], capture_output=True, text=True, check=True)
    return int(done.stdout)


def test_garbage_is_collected_soon_despite_many_live_objects() -> None:
    assert most_garbage("kept") < most_garbage("looked at") / 2


# How many heaps glibc has after twelve threads have used memory at the same time.
_HEAPS = """
import ctypes, sys, threading
from edgevox.core.platform import limit_malloc_arenas

if sys.argv[1] == "limited":
    limit_malloc_arenas()
meeting = threading.Barrier(12)

def work():
    meeting.wait()
    kept = [bytearray(1000) for _ in range(100)]
    meeting.wait()

threads = [threading.Thread(target=work) for _ in range(12)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
libc = ctypes.CDLL(None)
libc.fdopen.restype = ctypes.c_void_p
stdout = ctypes.c_void_p(libc.fdopen(1, b"w"))
libc.malloc_info(0, stdout)
libc.fflush(stdout)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="glibc's heaps")
def test_threads_share_two_heaps() -> None:
    def heaps(name: str) -> int:
        done = subprocess.run([sys.executable, "-c", _HEAPS, name], capture_output=True, text=True, check=True)
        return done.stdout.count("<heap nr=")

    assert heaps("limited") <= 2 < heaps("as it comes")
