"""A new process in the place of this one: for what no code can mend from the inside."""

from __future__ import annotations

import logging
import os
import sys
from typing import NoReturn

log = logging.getLogger(__name__)


def begin_anew() -> NoReturn:
    """Start the same command again, in the same process as far as anybody else can see.

    Threads, even those that hang, end with it. What was opened is closed, and the lock of the one instance
    is free. Children must have been ended before.
    """
    log.warning("starting again")
    sys.stdout.flush()
    sys.stderr.flush()
    os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])  # noqa: S606  (this very command)
