"""`edgevox config`: every setting and where it came from, the path of the file, and a first file."""

from __future__ import annotations

import argparse
import dataclasses
import json
from operator import attrgetter

from rich.table import Table
from rich.text import Text

from edgevox.cli.context import Context
from edgevox.settings import Settings
from edgevox.settings.catalogue import catalogue
from edgevox.settings.config_file import write_first_file


def add_arguments(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", required=True, metavar="show|path|init")
    show = actions.add_parser("show", help="print every setting with where its value came from")
    show.add_argument("--preset", metavar="NAME", help="as if this preset were chosen")
    show.add_argument("--json", action="store_true", help="print a JSON object")
    actions.add_parser("path", help="print where the file of settings is, or would be")
    actions.add_parser("init", help="write a file with every setting, explained, none of them changed")


def run(args: argparse.Namespace, context: Context) -> int:
    match args.action:
        case "show" if args.json:
            context.write(_as_json(context.settings))
        case "show":
            _show(context)
        case "path":
            context.write(str(context.folders.config_file))
        case "init":
            path = write_first_file(context.folders)
            context.err.print(Text(f"wrote {path}"), soft_wrap=True)
        case other:
            raise AssertionError(other)
    return 0


def _show(context: Context) -> None:
    settings, path = context.settings, context.folders.config_file
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("setting", no_wrap=True)
    table.add_column("value", overflow="fold")
    table.add_column("from", overflow="fold")
    for name in catalogue():
        value, source = attrgetter(name)(settings), settings.sources[name]
        # The file's path stands once, below the table.
        origin = source.layer if source.layer == "file" else str(source)
        style = "dim" if source.layer == "default" else ""
        table.add_row(Text(name), Text(_shown(value)), Text(origin), style=style)
    context.out.print(table)
    missing = "" if path.exists() else "  (not there: edgevox config init writes one)"
    context.out.print(Text(f"\nfile  {path}{missing}"), soft_wrap=True)


def _as_json(settings: Settings) -> str:
    rows = {
        name: {"value": attrgetter(name)(settings), **dataclasses.asdict(settings.sources[name])}
        for name in catalogue()
    }
    return json.dumps(rows, default=str, indent=2, ensure_ascii=False)


def _shown(value: object) -> str:
    return "not set" if value is None else json.dumps(value, default=str, ensure_ascii=False)
