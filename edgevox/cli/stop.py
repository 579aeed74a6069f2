"""`edgevox stop`: the assistant that runs is quiet at once. It goes on listening."""

from __future__ import annotations

import argparse

from edgevox.cli.context import Context
from edgevox.cli.loop import run_until_done
from edgevox.cli.running import do
from edgevox.control.protocol import Stop


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """There are none."""


def run(args: argparse.Namespace, context: Context) -> int:
    done = run_until_done(do(context, Stop()))
    context.err.print("stopped" if done["stopped"] else "there was nothing to stop")
    return 0
