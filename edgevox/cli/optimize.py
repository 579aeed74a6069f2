"""`edgevox models optimize`: a copy of a model for this processor, measured before and after."""

from __future__ import annotations

import argparse
from pathlib import Path

from rich.table import Table

from edgevox.cli.context import Context
from edgevox.cli.pull_display import pull_display
from edgevox.engine.threads import plan_threads
from edgevox.errors import ConfigError
from edgevox.llm.gguf_header import read_header
from edgevox.llm.merged_copy import AdapterFile, adapter_file, make_merged_copy
from edgevox.llm.model_speed import ModelSpeed, measure
from edgevox.llm.optimise import judge, judge_merged, main_type, make_copy
from edgevox.llm.requantize import TARGET_TYPES, TargetType
from edgevox.llm.weight_types import fastest_copy_type, measure_weight_types, turn_cpu_s, weight_speeds
from edgevox.modelstore import ModelStore, OptimisedCopy, WeightSpeed, size_text
from edgevox.platform_support import processor_name

# Less than this is what a measurement varies by while the machine does other things.
_FASTER = 1.1


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("id", metavar="ID")
    parser.add_argument(
        "--type", choices=TARGET_TYPES, help="the type of the copy's weights; else what is best"
    )
    parser.add_argument("--adapter", metavar="FILE_OR_ID", help="merge this LoRA adapter into the copy")
    parser.add_argument("--scale", type=float, default=1.0, help="how strongly the adapter acts (1.0)")
    parser.add_argument(
        "--no-measure", action="store_true", help="use what is known of this processor; measure nothing"
    )


def run(args: argparse.Namespace, store: ModelStore, context: Context) -> int:
    if store.manifest.entry(args.id).kind != "llm":
        raise ConfigError(f"{args.id} is not a language model", hint="edgevox models list shows the kinds")
    with pull_display(context.err) as progress:
        original = store.pull(args.id, progress)
        adapter = adapter_file(store, args.id, args.adapter, progress) if args.adapter else None
    if args.no_measure:
        speeds = weight_speeds(store, lambda text: _say(context, text))
    else:
        with context.err.status("measuring each weight type on this processor …"):
            speeds = measure_weight_types(store)
        context.out.print(_speeds_table(speeds))
    verdict = (judge_merged if adapter else judge)(read_header(original), speeds)
    target: TargetType | None = args.type or verdict.target or ("Q8_0" if adapter else None)
    if target is None:
        context.out.print(f"{args.id} stays as it is: {verdict.reason}", markup=False, soft_wrap=True)
        return 0
    with context.err.status(f"writing {args.id} as {target} …"):
        copy = (
            make_merged_copy(store, args.id, target, adapter, args.scale)
            if adapter
            else make_copy(store, args.id, target)
        )
    is_asked_for = bool(args.type or adapter)
    if not args.no_measure and not _gains(context, original, copy) and not is_asked_for:
        store.discard_optimised(args.id, copy)
        _say(context, "the copy is not faster here, so it was not kept; llm.optimize = false makes no more")
        return 0
    _say(context, f"kept {copy.path}: {'as asked for' if is_asked_for else verdict.reason}")
    _say(context, _use(args, adapter, copy))
    return 0


def _speeds_table(speeds: dict[str, WeightSpeed]) -> Table:
    """The types on this processor, the fastest first."""
    table = Table(
        box=None,
        pad_edge=False,
        title=f"{processor_name()}, one thread, tokens per CPU second",
        title_justify="left",
    )
    table.add_column("type")
    for heading in ("in a batch of 16", "one by one", "a command's turn"):
        table.add_column(heading, justify="right")
    chosen = fastest_copy_type(speeds)
    for name, speed in sorted(speeds.items(), key=lambda item: turn_cpu_s(item[1])):
        table.add_row(
            f"{name} (for copies)" if name == chosen else name,
            f"{speed.batch_tokens_s:.0f}",
            f"{speed.single_tokens_s:.0f}",
            f"{turn_cpu_s(speed) * 1000:.0f} ms",
        )
    return table


def _gains(context: Context, original: Path, copy: OptimisedCopy) -> bool:
    """Show how fast both are; whether the copy is faster."""
    wanted = context.settings.llm.threads
    threads = wanted if isinstance(wanted, int) else plan_threads().llama_prompt
    with context.err.status("measuring the original and its copy, in turns …"):
        before, after = measure([original, copy.path], threads=threads)
    context.out.print(_table(original, before, copy, after))
    return after.turn_s * _FASTER <= before.turn_s


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


def _use(args: argparse.Namespace, adapter: AdapterFile | None, copy: OptimisedCopy) -> str:
    if adapter is None:
        return "it is used from now on, unless llm.optimize is false; the original is still there"
    if adapter.id is None:
        return f"use it with edgevox run --model {copy.path} --preset NAME"
    return f'it is used by a preset with adapter = "{adapter.id}" and adapter_scale = {args.scale:g}'


def _say(context: Context, text: str) -> None:
    context.out.print(text, markup=False, soft_wrap=True)
