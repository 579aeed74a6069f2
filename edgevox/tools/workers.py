"""Daemon threads for code that blocks. One that is stuck is nobody's loss: the next job gets another."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from typing import TypeAlias

Job: TypeAlias = Callable[[], object]

# Starting a thread takes three times as long as handing a job to one that waits.
_KEEP_IDLE = 4
_KEEP_IDLE_S = 5.0


class Workers:
    """Every job begins at once, on a thread that waits or on a new one; threads end when there is no work."""

    def __init__(self, *, keep_idle_s: float = _KEEP_IDLE_S) -> None:
        self._keep_idle_s = keep_idle_s
        self._lock = threading.Lock()
        self._idle: list[queue.SimpleQueue[Job]] = []

    def start(self, job: Job) -> None:
        """Run `job` on a thread of its own; it has to deal with its exceptions itself."""
        with self._lock:
            inbox = self._idle.pop() if self._idle else None
        if inbox is not None:
            inbox.put(job)
            return
        inbox = queue.SimpleQueue()
        inbox.put(job)
        threading.Thread(target=self._serve, args=(inbox,), name="edgevox tool", daemon=True).start()

    def _serve(self, inbox: queue.SimpleQueue[Job]) -> None:
        while True:
            try:
                job = inbox.get(timeout=self._keep_idle_s)
            except queue.Empty:
                with self._lock:
                    if inbox in self._idle:
                        self._idle.remove(inbox)
                        return
                continue  # a job was put in at the last moment
            job()
            del job  # what it holds must not live as long as the thread
            with self._lock:
                if len(self._idle) >= _KEEP_IDLE:
                    return
                self._idle.append(inbox)
