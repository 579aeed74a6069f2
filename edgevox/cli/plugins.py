"""`edgevox plugins`: which plugins there are, why one is disabled, and the beginning of a new one."""

from __future__ import annotations

import argparse
import dataclasses
import json
from pathlib import Path

from rich.table import Table
from rich.text import Text

from edgevox.cli.context import Context
from edgevox.tools.plugin_skeleton import write_file_plugin, write_package_plugin
from edgevox.tools.plugin_sources import load_file, plugins_folder
from edgevox.tools.plugins import PluginReport
from edgevox.tools.toolbox import Toolbox


def add_arguments(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", required=True, metavar="list|new")
    listing = actions.add_parser("list", help="list the plugins, and say why one is disabled")
    listing.add_argument("--json", action="store_true", help="print a JSON array")
    new = actions.add_parser("new", help="write a plugin that works, with its test")
    new.add_argument("name", help="a name for it, such as weather")
    new.add_argument(
        "--package",
        action="store_true",
        help="a package in the current folder, to be installed, instead of a file in the plugins folder",
    )


def run(args: argparse.Namespace, context: Context) -> int:
    match args.action:
        case "list":
            reports = Toolbox(context.settings, context.folders).plugins.reports()
            if args.json:
                context.write(json.dumps([dataclasses.asdict(report) for report in reports], indent=2))
            else:
                _print_list(reports, context)
        case "new" if args.package:
            folder, test = write_package_plugin(args.name, Path.cwd())
            _say(context, f"wrote {folder}", f"try it: cd {folder} && python -m pytest")
            _say(context, f"install it where EdgeVox is installed: python -m pip install {folder}")
        case "new":
            path, test = write_file_plugin(args.name, plugins_folder(context.folders))
            load_file(path)  # its folder may be one that others can write to
            _say(context, f"wrote {path}", f"try it: python -m pytest {test}")
        case other:
            raise AssertionError(other)
    return 0


def _print_list(reports: tuple[PluginReport, ...], context: Context) -> None:
    if not reports:
        context.out.print("There are no plugins; edgevox plugins new NAME begins one.")
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("plugin", no_wrap=True)
    table.add_column("is", no_wrap=True)
    table.add_column("brings", overflow="fold")
    table.add_column("from", overflow="fold", style="dim")
    for report in reports:
        brings = ", ".join((*report.tools, *(f"{hook} (hook)" for hook in report.hooks)))
        table.add_row(Text(report.name), report.status, Text(brings), Text(report.place))
    if reports:
        context.out.print(table)
    for report in reports:
        if report.reason:
            _say(context, f"\n{report.name}: {report.reason}", f"  → {report.fix}")
        if report.trouble:
            _say(
                context,
                f"\n{report.name} was disabled when it last ran: {report.trouble}",
                f"  → {report.fix}",
            )


def _say(context: Context, *lines: str) -> None:
    for line in lines:
        context.out.print(Text(line), soft_wrap=True)
