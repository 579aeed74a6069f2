"""A terminal for a command that asks a person: a plain one, or tmux."""

from __future__ import annotations

import codecs
import json
import os
import pty
import select
import shlex
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tests.cli.command import BOUND_S

COLUMNS, LINES = 80, 24


class Terminal:
    """A command on a terminal of its own, and all that this terminal shows."""

    def __init__(self, screen: int, write: Callable[[str], object], exit_code: Callable[[], int]) -> None:
        self.shown = ""
        self._screen = screen
        self._write = write
        self._exit_code = exit_code
        self._began_s = time.monotonic()
        self._outputs: list[tuple[float, str]] = []
        self._decode = codecs.getincrementaldecoder("utf-8")(errors="replace").decode

    def until(self, text: str) -> None:
        self._read(lambda: text in self.shown)
        assert text in self.shown, self.shown

    def type(self, text: str) -> None:
        self._write(text)

    def end(self) -> int:
        """The exit code."""
        self._read(lambda: False)
        return self._exit_code()

    def _read(self, is_enough: Callable[[], bool]) -> None:
        until_s = time.monotonic() + BOUND_S
        while not is_enough():
            ready, _, _ = select.select([self._screen], [], [], max(0.0, until_s - time.monotonic()))
            assert ready, f"nothing more is shown: {self.shown}"
            try:
                output = os.read(self._screen, 65_536)
            except OSError:
                output = b""
            if not output:  # the command has ended
                return
            text = self._decode(output)
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
    # Without a session of its own, it would ask on the terminal that runs the tests.
    process = subprocess.Popen(
        [sys.executable, "-m", "edgevox", *words],
        stdin=terminal,
        stdout=terminal,
        stderr=terminal,
        env=env,
        start_new_session=True,
    )
    os.close(terminal)
    shown = Terminal(screen, lambda text: os.write(screen, text.encode()), lambda: process.wait(BOUND_S))
    try:
        yield shown
    finally:
        if recording:
            shown.save(recording)
        process.kill()
        process.wait(BOUND_S)
        os.close(screen)


@contextmanager
def in_tmux(folder: Path, env: dict[str, str], *words: str, recording: Path) -> Iterator[Terminal]:
    """The same in a session of tmux; `recording` gets the output, and beside it, as text, the last screen."""
    output, code, begin = folder / "output", folder / "exit-code", "begin"
    os.mkfifo(output)

    def tmux(*arguments: str) -> None:
        given = ["tmux", "-S", str(folder / "tmux"), "-f", "/dev/null", *arguments]
        subprocess.run(given, env=env, check=True, timeout=BOUND_S, capture_output=True)

    command = shlex.join([sys.executable, "-m", "edgevox", *words])
    screen_file = shlex.quote(str(recording.with_suffix(".txt")))
    tmux(
        *("new-session", "-d", "-x", str(COLUMNS), "-y", str(LINES)),
        f"tmux wait-for {begin}; {command}; echo $? >{shlex.quote(str(code))}; tmux capture-pane -p -J >{screen_file}",
    )
    try:
        tmux("pipe-pane", f"exec cat >{shlex.quote(str(output))}")
        screen = os.open(output, os.O_RDONLY)
        shown = Terminal(screen, lambda text: tmux("send-keys", "-l", text), lambda: int(code.read_text()))
        try:
            tmux("wait-for", "-S", begin)
            yield shown
        finally:
            shown.save(recording)
            os.close(screen)
    finally:
        with suppress(subprocess.CalledProcessError):  # it ends with its command
            tmux("kill-server")
