"""The program: `edgevox`, and `python -m edgevox`.

Python answers Ctrl-C with a traceback while it is still importing. Until a command can answer, the signal
ends the process the way it ends any other; `cli/main.py` says when.
"""

import signal

signal.signal(signal.SIGINT, signal.SIG_DFL)

import atexit  # noqa: E402
import contextlib  # noqa: E402
import os  # noqa: E402
import sys  # noqa: E402

from edgevox.cli.command import INTERRUPTED  # noqa: E402
from edgevox.cli.main import main as run_command  # noqa: E402

__all__ = ["main"]


def main() -> int:
    """Run one command and return its exit code; an interrupted command ends the process here.

    Python's own end would let native libraries report what an interrupted thread still holds ("leaked instances").
    """
    exit_code = run_command()
    if exit_code == INTERRUPTED:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # a second Ctrl-C
        atexit._run_exitfuncs()
        with contextlib.suppress(OSError):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(exit_code)
    return exit_code


if __name__ == "__main__":
    sys.exit(main())
