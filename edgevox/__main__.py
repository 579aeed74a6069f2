"""The program: `edgevox`, and `python -m edgevox`.

Python answers Ctrl-C with a traceback while it is still importing. Until a command can answer, the signal
ends the process the way it ends any other; `cli/main.py` says when.
"""

import signal

signal.signal(signal.SIGINT, signal.SIG_DFL)

import sys  # noqa: E402

from edgevox.cli.main import main  # noqa: E402

__all__ = ["main"]

if __name__ == "__main__":
    sys.exit(main())
