"""`edgevox unmute`: the assistant that runs listens again."""

from __future__ import annotations

import argparse

from edgevox.cli.context import Context
from edgevox.cli.loop import run_until_done
from edgevox.cli.running import do
from edgevox.control.protocol import Unmute


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """There are none."""


def run(args: argparse.Namespace, context: Context) -> int:
    run_until_done(do(context, Unmute()))
    context.err.print("it listens again")
    return 0
