"""`edgevox mute`: the assistant that runs lets its microphone go."""

from __future__ import annotations

import argparse

from edgevox.cli.context import Context
from edgevox.cli.loop import run_until_done
from edgevox.cli.running import do
from edgevox.control.protocol import Mute


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """There are none."""


def run(args: argparse.Namespace, context: Context) -> int:
    run_until_done(do(context, Mute()))
    context.err.print("it does not listen now; edgevox unmute ends that")
    return 0
