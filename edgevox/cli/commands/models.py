"""`edgevox models`: list, pull, verify, optimize and remove model files."""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
from pathlib import Path

from rich.table import Table

from edgevox.cli.command import Command
from edgevox.cli.context import Context
from edgevox.cli.ui.progress import pull_progress
from edgevox.core.errors import ConfigError, ModelError, ModelMissing
from edgevox.core.platform import processor_name
from edgevox.engines.threads import plan_threads
from edgevox.models import DEFAULT_MODELS, ModelEntry, ModelStore, OptimisedCopy, WeightSpeed, open_store, size_text
from edgevox.models.gguf_file import TARGET_TYPES, TargetType, read_header
from edgevox.models.optimise import (
    AdapterFile,
    adapter_file,
    assess_copy,
    assess_merged_copy,
    fastest_copy_type,
    main_type,
    make_copy,
    make_merged_copy,
    measure_weight_types,
    turn_cpu_s,
    weight_speeds,
)
from edgevox.models.speed import ModelSpeed, measure

# Smaller differences are within the noise of a measurement on a busy machine.
_MIN_SPEEDUP = 1.1


def add_optimize_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("id", metavar="ID")
    parser.add_argument("--type", choices=TARGET_TYPES, help="weight type of the copy; default: the fastest")
    parser.add_argument("--adapter", metavar="FILE_OR_ID", help="merge this LoRA adapter into the copy")
    parser.add_argument("--scale", type=float, default=1.0, help="scale of the adapter (default: 1.0)")
    parser.add_argument("--no-measure", action="store_true", help="use stored measurements of this processor")


def optimize_command(args: argparse.Namespace, store: ModelStore, context: Context) -> int:
    if store.manifest.entry(args.id).kind != "llm":
        raise ConfigError(f"{args.id} is not a language model", hint="see edgevox models list")
    with pull_progress(context.err) as progress:
        original = store.pull(args.id, progress)
        adapter = adapter_file(store, args.id, args.adapter, progress) if args.adapter else None
    if args.no_measure:
        speeds = weight_speeds(store, lambda text: _say(context, text))
    else:
        with context.err.status("measuring each weight type on this processor …"):
            speeds = measure_weight_types(store)
        context.out.print(_speeds_table(speeds))
    verdict = (assess_merged_copy if adapter else assess_copy)(read_header(original), speeds)
    target: TargetType | None = args.type or verdict.target or ("Q8_0" if adapter else None)
    if target is None:
        context.out.print(f"no copy of {args.id}: {verdict.reason}", markup=False, soft_wrap=True)
        return 0
    with context.err.status(f"writing {args.id} as {target} …"):
        copy = (
            make_merged_copy(store, args.id, target, adapter, args.scale)
            if adapter
            else make_copy(store, args.id, target)
        )
    is_requested = bool(args.type or adapter)
    if not args.no_measure and not _is_faster(context, original, copy) and not is_requested:
        store.discard_optimised(args.id, copy)
        _say(context, "the copy is not faster and was deleted; llm.optimize = false stops further attempts")
        return 0
    _say(context, f"saved {copy.path}: {'as requested' if is_requested else verdict.reason}")
    _say(context, _usage(args, adapter, copy))
    return 0


def _speeds_table(speeds: dict[str, WeightSpeed]) -> Table:
    """Table of the weight types on this processor, fastest first."""
    table = Table(
        box=None, pad_edge=False, title=f"{processor_name()}, one thread, tokens per CPU second", title_justify="left"
    )
    table.add_column("type")
    for heading in ("batch of 16", "single", "turn of a command"):
        table.add_column(heading, justify="right")
    chosen = fastest_copy_type(speeds)
    for name, speed in sorted(speeds.items(), key=lambda item: turn_cpu_s(item[1])):
        table.add_row(
            f"{name} (used for copies)" if name == chosen else name,
            f"{speed.batch_tokens_s:.0f}",
            f"{speed.single_tokens_s:.0f}",
            f"{turn_cpu_s(speed) * 1000:.0f} ms",
        )
    return table


def _is_faster(context: Context, original: Path, copy: OptimisedCopy) -> bool:
    """Measure and print both speeds; return whether the copy is faster."""
    wanted = context.settings.llm.threads
    threads = wanted if isinstance(wanted, int) else plan_threads().llm_prompt
    with context.err.status("measuring the original and the copy alternately …"):
        before, after = measure([original, copy.path], threads=threads)
    context.out.print(_table(original, before, copy, after))
    return after.turn_s * _MIN_SPEEDUP <= before.turn_s


def _table(original: Path, before: ModelSpeed, copy: OptimisedCopy, after: ModelSpeed) -> Table:
    table = Table(box=None, pad_edge=False)
    table.add_column("")
    table.add_column("type")
    for heading in ("size", "prompt tokens/s", "generated tokens/s", "mean log-probability"):
        table.add_column(heading, justify="right")
    rows = (
        ("before", main_type(read_header(original)), original.stat().st_size, before),
        ("after", copy.record.type, copy.record.bytes, after),
    )
    for name, kind, size_bytes, speed in rows:
        table.add_row(
            name,
            kind,
            size_text(size_bytes),
            f"{speed.prompt_tokens_s:.0f}",
            f"{speed.generated_tokens_s:.0f}",
            f"{speed.mean_logprob:.3f}",
        )
    return table


def _usage(args: argparse.Namespace, adapter: AdapterFile | None, copy: OptimisedCopy) -> str:
    if adapter is None:
        return "it is used from now on, unless llm.optimize = false; the original is kept"
    if adapter.id is None:
        return f"use it with edgevox run --model {copy.path} --preset NAME"
    return f'presets use it with adapter = "{adapter.id}" and adapter_scale = {args.scale:g}'


def _say(context: Context, text: str) -> None:
    context.out.print(text, markup=False, soft_wrap=True)


_PIPE_WIDTH = 200


def add_models_arguments(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", required=True, metavar="action")
    listing = actions.add_parser("list", help="list models, and which are downloaded")
    listing.add_argument("--json", action="store_true", help="print a JSON array")
    pull = actions.add_parser("pull", help="download models (default: those of the default preset)")
    pull.add_argument("ids", nargs="*", metavar="ID")
    verify = actions.add_parser("verify", help="verify checksums (default: all downloaded models)")
    verify.add_argument("ids", nargs="*", metavar="ID")
    path = actions.add_parser("path", help="print the path of the file that is used")
    path.add_argument("id", metavar="ID")
    path.add_argument("--original", action="store_true", help="the downloaded file, not its optimised copy")
    add_optimize_arguments(actions.add_parser("optimize", help="make a faster copy for this processor, and measure it"))
    remove = actions.add_parser("remove", help="delete models")
    remove.add_argument("ids", nargs="+", metavar="ID")
    remove.add_argument("--yes", action="store_true", help="do not ask for confirmation")
    remove.add_argument(
        "--forget",
        action="store_true",
        help="also forget the checksum, so that the next download may be a different file",
    )


def models_command(args: argparse.Namespace, context: Context) -> int:
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
            return optimize_command(args, store, context)
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
    table.add_column("local", justify="center", no_wrap=True)
    table.add_column("copies", no_wrap=True)
    table.add_column("licence")
    installed = set(store.installed())
    for entry in store.manifest.models:
        licence = f"{entry.licence} ({entry.note})" if entry.note else entry.licence
        downloaded = "yes" if entry.id in installed else ""
        kind = f"{entry.kind} {entry.language}" if entry.language else entry.kind
        table.add_row(entry.id, kind, _size(entry), downloaded, _copies(store, entry), licence)
    if not context.out.is_terminal:
        context.out.width = _PIPE_WIDTH  # keep one line per row for grep
    context.out.print(table)
    context.err.print(f"models folder: {store.folder}", markup=False, soft_wrap=True)
    return 0


def _pull(store: ModelStore, ids: tuple[str, ...] | list[str], context: Context) -> int:
    entries = [store.manifest.entry(model_id) for model_id in ids]  # an unknown id fails before any download
    for entry in entries:
        if entry.note:
            context.err.print(f"{entry.id}: {entry.licence}, {entry.note}", markup=False, soft_wrap=True)
    with pull_progress(context.err) as progress:
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
            context.out.print(f"{model_id}: ok", markup=False, soft_wrap=True)
    return exit_code


def _remove(store: ModelStore, args: argparse.Namespace, context: Context) -> int:
    entries = [store.manifest.entry(model_id) for model_id in args.ids]
    if not args.yes and not _confirmed(entries, context):
        return 1
    for entry in entries:
        if args.forget:
            store.forget(entry.id)
        # A forgotten model may have been removed before.
        with contextlib.suppress(*(ModelMissing,) if args.forget else ()):
            store.remove(entry.id)
        context.err.print(f"{entry.id}: removed", markup=False)
    return 0


def _confirmed(entries: list[ModelEntry], context: Context) -> bool:
    if not sys.stdin.isatty():
        raise ConfigError("cannot ask for confirmation without a terminal", hint="add --yes")
    names = ", ".join(f"{entry.id} ({_size(entry)})" for entry in entries)
    return context.err.input(f"Delete {names}? \\[y/N] ").strip().lower() in ("y", "yes")


def _copies(store: ModelStore, entry: ModelEntry) -> str:
    records = [copy.record for copy in store.optimised_copies(entry.id)]
    return ", ".join(f"{record.type} with {record.adapter}" if record.adapter else record.type for record in records)


def _size(entry: ModelEntry) -> str:
    return size_text(entry.size_bytes) if entry.size_is_exact else f"≈ {size_text(entry.size_bytes)}"


COMMANDS = (Command("models", "List, pull, verify, optimize and remove models", models_command, add_models_arguments),)
