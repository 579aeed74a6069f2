"""Starts `edgevox serve`, or another command that serves, as a process of its own, for tests and measurements."""

from __future__ import annotations

import re
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

START_WITHIN_S = 300.0
END_WITHIN_S = 30.0
HTTP = r"http://[^\s/]+"
ON_FREE_PORT = ("serve", "--port", "0")


@dataclass(frozen=True, slots=True)
class ServeProcess:
    """A server that is up: its process, its address, and the lines that it printed."""

    process: subprocess.Popen[str]
    address: str
    lines: list[str] = field(default_factory=list)


@contextmanager
def edgevox_serve(
    env: Mapping[str, str],
    *options: str,
    command: Sequence[str] = ON_FREE_PORT,
    address: str = HTTP,
    python: Path | str = sys.executable,
) -> Iterator[ServeProcess]:
    """Run the command until the end of the block; `address` is the pattern of the address that it prints.

    Raises RuntimeError with its output if it does not start.
    """
    words = [python, "-m", "edgevox", *command, *options]
    process = subprocess.Popen(words, env=dict(env), stderr=subprocess.PIPE, text=True)
    lines: list[str] = []
    found: list[str] = []
    is_up = threading.Event()

    def read() -> None:  # to the end: a full pipe would stop the server
        assert process.stderr is not None
        for line in process.stderr:
            lines.append(line)
            if not found and (match := re.search(address, line)):
                found.append(match[0])
                is_up.set()
        is_up.set()

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    try:
        if not is_up.wait(START_WITHIN_S) or not found:
            raise RuntimeError(f"edgevox serve did not start:\n{''.join(lines)}")
        yield ServeProcess(process, found[0], lines)
    finally:
        process.terminate()
        try:
            process.wait(END_WITHIN_S)
        finally:
            process.kill()
            reader.join(END_WITHIN_S)
            if process.stderr is not None:
                process.stderr.close()


def free_port() -> int:
    """Return a port of this machine on which nothing listens now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
