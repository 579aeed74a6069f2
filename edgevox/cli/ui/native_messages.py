"""Keeps what native libraries (ALSA, PortAudio) print about sound devices off the screen, and in a log."""

from __future__ import annotations

import logging
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from edgevox.core.platform import never_block

_READER_ENDS_WITHIN_S = 1.0


@contextmanager
def native_messages_to(log: logging.Handler) -> Iterator[None]:
    """Send what is written to descriptor 2 to the log while the block runs; `sys.stderr` still is the terminal."""
    python_stderr = sys.stderr
    sys.stderr.flush()
    terminal = os.dup(2)
    read_end, write_end = os.pipe()
    # A message that does not fit is lost: PortAudio's thread must never wait for this process.
    never_block(write_end)
    os.dup2(write_end, 2)
    os.close(write_end)
    sys.stderr = os.fdopen(os.dup(terminal), "w", encoding=python_stderr.encoding, errors="replace", buffering=1)
    reader = threading.Thread(target=_copy, args=(read_end, log), name="native messages", daemon=True)
    reader.start()
    try:
        yield
    finally:
        sys.stderr.close()
        sys.stderr = python_stderr
        os.dup2(terminal, 2)
        os.close(terminal)
        reader.join(_READER_ENDS_WITHIN_S)  # a child process may hold the pipe for longer


def _copy(read_end: int, log: logging.Handler) -> None:
    with os.fdopen(read_end, encoding="utf-8", errors="replace") as lines:
        for line in lines:
            if message := line.strip():
                fields = {"name": "native", "levelname": "WARNING", "levelno": logging.WARNING, "msg": message}
                log.handle(logging.makeLogRecord(fields))
