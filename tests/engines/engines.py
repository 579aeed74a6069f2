"""Small engines that behave, die, hang or fail on demand; picklable, so that a child process can be one."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass

from edgevox.core.errors import ModelError
from edgevox.core.turn import CancelFlag
from edgevox.core.types import Busy


@dataclass
class Echo:
    """Answers "word word …" word by word, with words that make it misbehave."""

    loaded: bool = False
    kept: bytes = b""

    def load(self) -> None:
        self.loaded = True

    def run(self, request: str, cancel: CancelFlag) -> Iterator[str | Busy]:
        assert self.loaded
        for word in request.split():
            match word:
                case "die":
                    os.kill(os.getpid(), signal.SIGKILL)
                case "compute":  # with an instruction that this processor does not have
                    os.kill(os.getpid(), signal.SIGILL)
                case "work":
                    time.sleep(0.3)
                    yield Busy()
                case "spin":
                    until_s = time.monotonic() + 2.0
                    while time.monotonic() < until_s:
                        pass
                case "pause":
                    time.sleep(1.5)
                case "hang":
                    time.sleep(3600)
                case "raise":
                    raise ValueError("a bug in the engine")
                case "shout":  # in one line, longer than any buffer
                    print("x" * 1_000_000, file=sys.stderr)
                case "refuse":
                    raise ModelError("too long", hint="say less")
                case "forever":
                    while not cancel.is_set():
                        yield "again"
                    return
                case "allocate":  # 100 MB, of which the last block stays, so that the heap cannot shrink by itself
                    self.kept = [bytes([number % 256]) * 100_000 for number in range(1_000)][-1]
                case "pid":
                    yield str(os.getpid())
                case "flag":
                    yield str(cancel.is_set())
                case _:
                    yield word


@dataclass
class Unloadable:
    """Its model is broken."""

    def load(self) -> None:
        raise ModelError("the file is not a model", hint="edgevox models verify")

    def run(self, request: str, cancel: CancelFlag) -> Iterator[str]:
        raise AssertionError


@dataclass
class DiesLoading:
    """Takes the process with it while it reads the model."""

    def load(self) -> None:
        os.abort()

    def run(self, request: str, cancel: CancelFlag) -> Iterator[str]:
        raise AssertionError
