"""The protocol between an engine's child process and its parent: frames on a socket pair, and a heartbeat.

Frames are length-prefixed pickles. Pickle is safe here because both ends are this program, started by this user, on an
unnamed socket. The heartbeat is a counter in shared memory. It stops if the process is stopped, its interpreter is
stuck, or it waits for ever; an endless loop is caught by the limits on replies.
"""

from __future__ import annotations

import ctypes
import mmap
import pickle
import struct
import threading
import time
from dataclasses import dataclass
from typing import Any

from edgevox.core.platform import process_activity, process_usage
from edgevox.core.turn import CancelFlag

HEARTBEAT = struct.Struct("=Q")
HEARTBEAT_S = 0.25
LENGTH = struct.Struct("!I")
# A frame holds at most a few minutes of audio; a larger one means that the two ends are out of sync.
MAX_FRAME_BYTES = 256 * 1024 * 1024

# One cancel flag per request, so that a late cancel cannot hit the next one. Two bytes each, see CancelFlag.
FLAG_SLOTS = 64
FLAG_BYTES = 2
# Follows the flags in the same memory.
HEARTBEAT_OFFSET = FLAG_SLOTS * FLAG_BYTES
SHARED_BYTES = HEARTBEAT_OFFSET + HEARTBEAT.size

LOAD = 0
"""The id of a child's first request, whose content is the engine to load."""

# Besides this thread, the process must use the CPU or wait for the disk to count as working.
_WORK_S = 0.001


class Heartbeat:
    """The child's side. Beats from `start` on; while `is_working`, only if there is progress."""

    def __init__(self, memory: mmap.mmap) -> None:
        self.is_working = False
        self._memory = memory
        self._beats = 0
        self._work_s = 0.0
        self._reads = 0

    def start(self) -> None:
        threading.Thread(target=self._beat, name="heartbeat", daemon=True).start()

    def _beat(self) -> None:
        while True:
            if self._makes_progress() or not self.is_working:
                self._beats += 1
                HEARTBEAT.pack_into(self._memory, HEARTBEAT_OFFSET, self._beats)
            time.sleep(HEARTBEAT_S)

    def _makes_progress(self) -> bool:
        used = process_usage()
        work_s = used.cpu_s - time.thread_time()
        if work_s - self._work_s < _WORK_S and used.disk_reads == self._reads:
            return False
        self._work_s, self._reads = work_s, used.disk_reads
        return True


class HeartbeatMonitor:
    """The parent's side of the heartbeat.

    It counts checks, not time: a parent that was stopped or delayed must not mistake that for the child's silence.
    """

    def __init__(self, memory: mmap.mmap, *, silent_s: float) -> None:
        self._memory = memory
        self._most_silent = max(1, round(silent_s / HEARTBEAT_S))
        self._silent = 0
        self._beats = -1

    def is_alive(self) -> bool:
        """Whether the child is alive. Call it every HEARTBEAT_S."""
        (beats,) = HEARTBEAT.unpack_from(self._memory, HEARTBEAT_OFFSET)
        self._silent = 0 if beats != self._beats else self._silent + 1
        self._beats = beats
        return self._silent < self._most_silent

    def restart(self) -> None:
        """Count silent checks anew."""
        self._silent = 0


class ProcessorShare:
    """Whether a child is short of processor time, or waits for a slow disk, since this object was made."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._before = process_activity(pid)
        self._since_s = time.monotonic()

    def is_starved(self) -> bool:
        """Whether the child could run, and got less than half of a processor. False where that is unknown."""
        now = process_activity(self._pid)
        if now is None or self._before is None or not now.is_active:
            return False
        return now.cpu_s - self._before.cpu_s < (time.monotonic() - self._since_s) / 2


@dataclass(frozen=True, slots=True)
class Request:
    """Parent to child."""

    id: int
    content: Any


@dataclass(frozen=True, slots=True)
class End:
    """The reply is complete."""


@dataclass(frozen=True, slots=True)
class Reply:
    """Child to parent: one part of the reply to a request. The last part is End or an EdgevoxError."""

    request_id: int
    value: Any


def encode(frame: Request | Reply) -> bytes:
    body = pickle.dumps(frame, protocol=pickle.HIGHEST_PROTOCOL)
    return LENGTH.pack(len(body)) + body


def decode(body: bytes) -> Any:  # noqa: ANN401  (a Request in the child, a Reply in the parent)
    return pickle.loads(body)  # noqa: S301  (see the module's docstring)


def cancel_flag(memory: mmap.mmap, request_id: int) -> CancelFlag:
    """The flag of a request in the shared memory."""
    offset = (request_id % FLAG_SLOTS) * FLAG_BYTES
    return CancelFlag((ctypes.c_char * FLAG_BYTES).from_buffer(memory, offset))
