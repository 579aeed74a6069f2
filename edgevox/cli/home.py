"""`edgevox home`: which home it is, what is in it and how it is, and whether it answers."""

from __future__ import annotations

import argparse

from edgevox.cli import home_list, home_setup, home_test
from edgevox.cli.context import Context


def add_arguments(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", required=True, metavar="list|setup|test")
    home_list.add_arguments(actions.add_parser("list", help="show every area, what is in it and its state"))
    home_setup.add_arguments(
        actions.add_parser("setup", help="connect to your home, and show how each thing in it is called")
    )
    actions.add_parser("test", help="see whether the home answers, and what could be misheard in it")


def run(args: argparse.Namespace, context: Context) -> int:
    match args.action:
        case "setup":
            return home_setup.run(args, context)
        case "test":
            return home_test.run(context)
        case _:
            return home_list.run(args, context)
