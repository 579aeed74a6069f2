"""`edgevox reload`: the assistant that runs reads its settings again."""

from __future__ import annotations

import argparse

from edgevox.cli.context import Context
from edgevox.cli.loop import run_until_done
from edgevox.cli.running import do
from edgevox.control.protocol import Reload


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """There are none."""


def run(args: argparse.Namespace, context: Context) -> int:
    with context.err.status("reading the settings …"):
        done = run_until_done(do(context, Reload()))
    changed = done["changed"]
    context.err.print(f"it has the new {', '.join(changed)}" if changed else "nothing has changed")
    return 0
