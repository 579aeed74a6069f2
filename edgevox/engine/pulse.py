"""The pulse of a child process: a counter in shared memory that goes on as long as the child gets on.

A process that is stopped, one whose interpreter is stuck and one that waits for ever give no beat. One that
works does, however long it takes; what turns in a circle is not noticed here, but by the limits on replies.
"""

from __future__ import annotations

import mmap
import struct
import threading
import time

from edgevox.platform_support import process_usage

PULSE = struct.Struct("=Q")
BEAT_S = 0.25

# Beside this thread something has to use the processor, or to wait for the disk, to count as work.
_WORK_S = 0.001


class Heart:
    """The child's side. It beats from `start` on; while `is_working`, only if that gets on."""

    def __init__(self, memory: mmap.mmap, offset: int) -> None:
        self.is_working = False
        self._memory = memory
        self._offset = offset
        self._beats = 0
        self._work_s = 0.0
        self._reads = 0

    def start(self) -> None:
        threading.Thread(target=self._beat, name="pulse", daemon=True).start()

    def _beat(self) -> None:
        while True:
            if self._gets_on() or not self.is_working:
                self._beats += 1
                PULSE.pack_into(self._memory, self._offset, self._beats)
            time.sleep(BEAT_S)

    def _gets_on(self) -> bool:
        used = process_usage()
        work_s = used.cpu_s - time.thread_time()
        if work_s - self._work_s < _WORK_S and used.disk_reads == self._reads:
            return False
        self._work_s, self._reads = work_s, used.disk_reads
        return True


class Pulse:
    """The parent's side. It counts its own looks, not the time: a parent that was stopped itself, or held up,
    must not take that for the child's silence.
    """

    def __init__(self, memory: mmap.mmap, offset: int, *, silent_s: float) -> None:
        self._memory = memory
        self._offset = offset
        self._most_silent = max(1, round(silent_s / BEAT_S))
        self._silent = 0
        self._beats = -1

    def look(self) -> bool:
        """Whether the child lives. To be called every BEAT_S."""
        (beats,) = PULSE.unpack_from(self._memory, self._offset)
        self._silent = 0 if beats != self._beats else self._silent + 1
        self._beats = beats
        return self._silent < self._most_silent
