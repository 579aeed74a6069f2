"""The program: `edgevox`, and `python -m edgevox`.

Python answers Ctrl-C with a traceback while it is still importing. Until the command line can answer, the
signal ends the process the way it ends any other.
"""

import signal

signal.signal(signal.SIGINT, signal.SIG_DFL)

import sys  # noqa: E402

from edgevox.cli import main as command_line  # noqa: E402


def main() -> int:
    signal.signal(signal.SIGINT, signal.default_int_handler)
    return command_line.main()


if __name__ == "__main__":
    sys.exit(main())
