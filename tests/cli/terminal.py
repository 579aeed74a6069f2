"""A terminal for a command that asks a person."""

from __future__ import annotations

import codecs
import json
import os
import pty
import select
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.cli.command import BOUND_S

COLUMNS, LINES = 80, 24


class Terminal:
    """A command on a terminal of its own, and all that this terminal shows."""

    def __init__(self, process: subprocess.Popen[bytes], screen: int) -> None:
        self.shown = ""
        self._process = process
        self._screen = screen
        self._began_s = time.monotonic()
        self._outputs: list[tuple[float, str]] = []
        self._decode = codecs.getincrementaldecoder("utf-8")(errors="replace").decode

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
                text = self._decode(os.read(self._screen, 65_536))
            except OSError:  # the command has ended
                return
            self.shown += text
            self._outputs.append((time.monotonic() - self._began_s, text))

    def save(self, path: Path) -> None:
        """Write what was shown so far, with its times, in the format of asciinema."""
        header = {"version": 2, "width": COLUMNS, "height": LINES, "title": path.stem}
        rows = [header, *([round(at_s, 3), "o", text] for at_s, text in self._outputs)]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows), encoding="utf-8")


@contextmanager
def on_a_terminal(env: dict[str, str], *words: str, recording: Path | None = None) -> Iterator[Terminal]:
    screen, terminal = pty.openpty()
    termios.tcsetwinsize(terminal, (LINES, COLUMNS))
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
    shown = Terminal(process, screen)
    try:
        yield shown
    finally:
        if recording:
            shown.save(recording)
        process.kill()
        process.wait(BOUND_S)
        os.close(screen)
