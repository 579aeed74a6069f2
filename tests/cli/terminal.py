"""A terminal for a command that asks a person."""

from __future__ import annotations

import os
import pty
import select
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from tests.cli.command import BOUND_S


class Terminal:
    """A command on a terminal of its own, and all that this terminal shows."""

    def __init__(self, process: subprocess.Popen[bytes], screen: int) -> None:
        self.shown = ""
        self._process = process
        self._screen = screen

    def until(self, text: str) -> None:
        self._read(lambda: text in self.shown)
        assert text in self.shown, self.shown

    def type(self, text: str) -> None:
        os.write(self._screen, text.encode())

    def end(self) -> int:
        """The exit code."""
        self._read(lambda: False)
        return self._process.wait(BOUND_S)

    def _read(self, is_enough: Callable[[], bool]) -> None:
        until_s = time.monotonic() + BOUND_S
        while not is_enough():
            ready, _, _ = select.select([self._screen], [], [], max(0.0, until_s - time.monotonic()))
            assert ready, f"nothing more is shown: {self.shown}"
            try:
                self.shown += os.read(self._screen, 65_536).decode(errors="replace")
            except OSError:  # the command has ended
                return


@contextmanager
def on_a_terminal(env: dict[str, str], *words: str) -> Iterator[Terminal]:
    screen, terminal = pty.openpty()
    # Without a session of its own, it would ask on the terminal of whoever runs the tests.
    process = subprocess.Popen(
        [sys.executable, "-m", "edgevox", *words],
        stdin=terminal,
        stdout=terminal,
        stderr=terminal,
        env=env,
        start_new_session=True,
    )
    os.close(terminal)
    try:
        yield Terminal(process, screen)
    finally:
        process.kill()
        process.wait(BOUND_S)
        os.close(screen)
