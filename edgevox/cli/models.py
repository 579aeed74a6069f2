"""`edgevox models`: list, pull, verify, path, optimize and remove."""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
from pathlib import Path

from rich.table import Table

from edgevox.cli import optimize
from edgevox.cli.context import Context
from edgevox.cli.pull_display import pull_display
from edgevox.errors import ConfigError, ModelError, ModelMissing
from edgevox.modelstore import DEFAULT_MODELS, ModelEntry, ModelStore, open_store, size_text

_PIPE_WIDTH = 200


def add_arguments(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", required=True, metavar="action")
    listing = actions.add_parser("list", help="show every model, and which are here")
    listing.add_argument("--json", action="store_true", help="print JSON")
    pull = actions.add_parser("pull", help="download models; the default ones where none is named")
    pull.add_argument("ids", nargs="*", metavar="ID")
    verify = actions.add_parser(
        "verify", help="read models again and compare checksums; all where none is named"
    )
    verify.add_argument("ids", nargs="*", metavar="ID")
    path = actions.add_parser("path", help="print where a model lies: the file that is used")
    path.add_argument("id", metavar="ID")
    path.add_argument("--original", action="store_true", help="what was downloaded, not its optimised copy")
    optimize.add_arguments(
        actions.add_parser("optimize", help="make a copy for this processor, and measure it")
    )
    remove = actions.add_parser("remove", help="delete models")
    remove.add_argument("ids", nargs="+", metavar="ID")
    remove.add_argument("--yes", action="store_true", help="do not ask")
    remove.add_argument("--forget", action="store_true", help="let the next download be another file")


def run(args: argparse.Namespace, context: Context) -> int:
    store = open_store(context.folders)
    match args.action:
        case "list":
            return _print_json(store, context) if args.json else _print_table(store, context)
        case "pull":
            return _pull(store, args.ids or DEFAULT_MODELS, context)
        case "verify":
            return _verify(store, args.ids or store.installed(), context)
        case "path":
            context.write(str(_path(store, args, context)))
            return 0
        case "optimize":
            return optimize.run(args, store, context)
        case "remove":
            return _remove(store, args, context)
    raise AssertionError(args.action)


def _path(store: ModelStore, args: argparse.Namespace, context: Context) -> Path:
    original = store.path(args.id)
    if args.original or not context.settings.llm.optimize:
        return original
    copy = store.optimised(args.id)
    return copy.path if copy else original


def _print_json(store: ModelStore, context: Context) -> int:
    installed = set(store.installed())
    models = [
        {
            "id": entry.id,
            "kind": entry.kind,
            "language": entry.language,
            "bytes": entry.size_bytes,
            "bytes_exact": entry.size_is_exact,
            "licence": entry.licence,
            "note": entry.note,
            "installed": entry.id in installed,
            "path": str(store.path(entry.id)) if entry.id in installed else None,
            "optimised": [
                {"path": str(copy.path), **copy.record.model_dump(exclude_none=True)}
                for copy in store.optimised_copies(entry.id)
            ],
        }
        for entry in store.manifest.models
    ]
    context.write(json.dumps(models, indent=2))
    return 0


def _print_table(store: ModelStore, context: Context) -> int:
    table = Table(box=None, pad_edge=False)
    for heading in ("id", "kind"):
        table.add_column(heading, no_wrap=True)
    table.add_column("size", justify="right", no_wrap=True)
    table.add_column("here", justify="center", no_wrap=True)
    table.add_column("copies", no_wrap=True)
    table.add_column("licence")
    installed = set(store.installed())
    for entry in store.manifest.models:
        licence = f"{entry.licence} ({entry.note})" if entry.note else entry.licence
        here = "yes" if entry.id in installed else ""
        kind = f"{entry.kind} {entry.language}" if entry.language else entry.kind
        table.add_row(entry.id, kind, _size(entry), here, _copies(store, entry), licence)
    if not context.out.is_terminal:
        context.out.width = _PIPE_WIDTH  # a wrapped row would be two lines for grep
    context.out.print(table)
    context.err.print(f"models folder: {store.folder}", markup=False, soft_wrap=True)
    return 0


def _pull(store: ModelStore, ids: tuple[str, ...] | list[str], context: Context) -> int:
    entries = [store.manifest.entry(model_id) for model_id in ids]  # an unknown id fails before any download
    for entry in entries:
        if entry.note:
            context.err.print(f"{entry.id}: {entry.licence}, {entry.note}", markup=False, soft_wrap=True)
    with pull_display(context.err) as progress:
        store.ensure(ids, progress)
    for entry in entries:
        context.err.print(f"{entry.id}: {store.path(entry.id)}", markup=False, soft_wrap=True)
    return 0


def _verify(store: ModelStore, ids: tuple[str, ...] | list[str], context: Context) -> int:
    exit_code = 0
    for model_id in ids:
        try:
            store.verify(model_id)
        except ModelError as error:
            exit_code = error.exit_code
            context.out.print(f"{model_id}: {error.message}\n  → {error.hint}", markup=False, soft_wrap=True)
        else:
            context.out.print(f"{model_id}: every file is as it should be", markup=False, soft_wrap=True)
    return exit_code


def _remove(store: ModelStore, args: argparse.Namespace, context: Context) -> int:
    entries = [store.manifest.entry(model_id) for model_id in args.ids]
    if not args.yes and not _confirmed(entries, context):
        return 1
    for entry in entries:
        if args.forget:
            store.forget(entry.id)
        # What is forgotten may have been removed before.
        with contextlib.suppress(*(ModelMissing,) if args.forget else ()):
            store.remove(entry.id)
        context.err.print(f"{entry.id}: removed", markup=False)
    return 0


def _confirmed(entries: list[ModelEntry], context: Context) -> bool:
    if not sys.stdin.isatty():
        raise ConfigError("remove asks before it deletes, and nobody can answer here", hint="add --yes")
    names = ", ".join(f"{entry.id} ({_size(entry)})" for entry in entries)
    return context.err.input(f"Delete {names}? \\[y/N] ").strip().lower() in ("y", "yes")


def _copies(store: ModelStore, entry: ModelEntry) -> str:
    records = [copy.record for copy in store.optimised_copies(entry.id)]
    return ", ".join(
        f"{record.type} with {record.adapter}" if record.adapter else record.type for record in records
    )


def _size(entry: ModelEntry) -> str:
    return size_text(entry.size_bytes) if entry.size_is_exact else f"≈ {size_text(entry.size_bytes)}"
