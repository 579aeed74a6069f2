"""`edgevox models`: list, pull, verify, optimize and remove model files. `edgevox voices`: hear and choose voices."""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import sys
from pathlib import Path

from rich.table import Table

from edgevox.audio.files import write_wav
from edgevox.cli.command import JSON, YES, Command, argument, setting
from edgevox.cli.context import Context, folded, left, plain_table, right, run_until_done
from edgevox.cli.ui.progress import pull_progress
from edgevox.config.sections import AUTO
from edgevox.core.errors import ConfigError, ModelError, ModelMissing
from edgevox.core.platform import processor_name
from edgevox.engines.threads import plan_threads
from edgevox.models import (
    DEFAULT_MODELS,
    ModelEntry,
    ModelStore,
    OptimisedCopy,
    WeightSpeed,
    open_store,
    optimise,
    size_text,
)
from edgevox.models.gguf_file import TARGET_TYPES, TargetType, read_header
from edgevox.models.speed import measure
from edgevox.tts.voices import find_voice, list_voices, sample_text, save_voice

MODELS = Command("models", "List, pull, verify, optimize and remove models")

_ID = argument("id", metavar="ID")
_IDS = argument("ids", nargs="*", metavar="ID")
_PIPE_WIDTH = 200
# Narrower terminals do not show the licences.
_WIDE = 120
# Smaller differences are within the noise of a measurement on a busy machine.
_MIN_SPEEDUP = 1.1


@MODELS.action("list", "list models, and which are downloaded", JSON)
def _list(args: argparse.Namespace, context: Context) -> None:
    store = open_store(context.folders)
    installed = set(store.installed())
    if args.json:
        context.write_json(
            [_facts(store, entry, is_installed=entry.id in installed) for entry in store.manifest.models]
        )
        return
    if not context.out.is_terminal:
        context.out.width = _PIPE_WIDTH  # keep one line per row for grep
    is_wide = context.out.width >= _WIDE
    columns = (left("id"), left("kind"), right("size"), left("local", justify="center"), folded("copies"))
    table = plain_table(*columns, *([folded("licence")] if is_wide else []))
    for entry in store.manifest.models:
        records = [copy.record for copy in store.optimised_copies(entry.id)]
        copies = [f"{one.type} with {one.adapter}" if one.adapter else one.type for one in records]
        downloaded = "yes" if entry.id in installed else ""
        kind = f"{entry.kind} {entry.language}" if entry.language else entry.kind
        licence = [entry.licence_text] if is_wide else []
        table.add_row(entry.id, kind, _size(entry), downloaded, ", ".join(copies), *licence)
    context.out.print(table)
    context.note(f"models folder: {store.folder}")


def _facts(store: ModelStore, entry: ModelEntry, *, is_installed: bool) -> dict[str, object]:
    return {
        "id": entry.id,
        "kind": entry.kind,
        "language": entry.language,
        "bytes": entry.size_bytes,
        "bytes_exact": entry.size_is_exact,
        "licence": entry.licence,
        "note": entry.note,
        "installed": is_installed,
        "path": str(store.path(entry.id)) if is_installed else None,
        "optimised": [
            {"path": str(copy.path), **copy.record.model_dump(exclude_none=True)}
            for copy in store.optimised_copies(entry.id)
        ],
    }


@MODELS.action("pull", "download models (default: those of the default preset)", _IDS)
def _pull(args: argparse.Namespace, context: Context) -> None:
    store = open_store(context.folders)
    ids = args.ids or DEFAULT_MODELS
    entries = [store.manifest.entry(model_id) for model_id in ids]  # an unknown id fails before any download
    context.note(*(f"{entry.id}: {entry.licence}, {entry.note}" for entry in entries if entry.note))
    with pull_progress(context.err) as progress:
        store.ensure(ids, progress)
    context.note(*(f"{entry.id}: {store.path(entry.id)}" for entry in entries))


@MODELS.action("verify", "verify checksums (default: all downloaded models)", _IDS)
def _verify(args: argparse.Namespace, context: Context) -> int:
    store = open_store(context.folders)
    exit_code = 0
    for model_id in args.ids or store.installed():
        try:
            store.verify(model_id)
        except ModelError as error:
            exit_code = error.exit_code
            context.print(f"{model_id}: {error.message}", f"  → {error.hint}")
        else:
            context.print(f"{model_id}: ok")
    return exit_code


@MODELS.action(
    "path",
    "print the path of the file that is used",
    _ID,
    argument("--original", action="store_true", help="the downloaded file, not its optimised copy"),
)
def _path(args: argparse.Namespace, context: Context) -> None:
    store = open_store(context.folders)
    original = store.path(args.id)
    copy = None if args.original or not context.settings.llm.optimize else store.optimised(args.id)
    context.write(str(copy.path if copy else original))


@MODELS.action(
    "optimize",
    "make a faster copy for this processor, and measure it",
    _ID,
    argument("--type", choices=TARGET_TYPES, help="weight type of the copy; default: the fastest"),
    argument("--adapter", metavar="FILE_OR_ID", help="merge this LoRA adapter into the copy"),
    argument("--scale", type=float, default=1.0, help="scale of the adapter (default: 1.0)"),
    argument("--no-measure", action="store_true", help="use stored measurements of this processor"),
)
def _optimize(args: argparse.Namespace, context: Context) -> None:
    store = open_store(context.folders)
    if store.manifest.entry(args.id).kind != "llm":
        raise ConfigError(f"{args.id} is not a language model", hint="see edgevox models list")
    with pull_progress(context.err) as progress:
        original = store.pull(args.id, progress)
        adapter = optimise.adapter_file(store, args.id, args.adapter, progress) if args.adapter else None
    if args.no_measure:
        speeds = optimise.weight_speeds(store, context.print)
    else:
        with context.err.status("measuring each weight type on this processor …"):
            speeds = optimise.measure_weight_types(store)
        context.out.print(_speeds_table(speeds))
    verdict = (optimise.assess_merged_copy if adapter else optimise.assess_copy)(read_header(original), speeds)
    target: TargetType | None = args.type or verdict.target or ("Q8_0" if adapter else None)
    if target is None:
        context.print(f"no copy of {args.id}: {verdict.reason}")
        return
    with context.err.status(f"writing {args.id} as {target} …"):
        copy = optimise.make_copy(store, args.id, target, adapter, args.scale)
    is_requested = bool(args.type or adapter)
    if not args.no_measure and not _is_faster(context, original, copy) and not is_requested:
        store.discard_optimised(args.id, copy)
        context.print("the copy is not faster and was deleted; llm.optimize = false stops further attempts")
        return
    context.print(f"saved {copy.path}: {'as requested' if is_requested else verdict.reason}")
    context.print(_usage(args, adapter, copy))


def _speeds_table(speeds: dict[str, WeightSpeed]) -> Table:
    """Table of the weight types on this processor, fastest first."""
    table = plain_table("type", *map(right, ("batch of 16", "single", "turn of a command")))
    table.title, table.title_justify = f"{processor_name()}, one thread, tokens per CPU second", "left"
    chosen = optimise.fastest_copy_type(speeds)
    for name, speed in sorted(speeds.items(), key=lambda item: optimise.turn_cpu_s(item[1])):
        table.add_row(
            f"{name} (used for copies)" if name == chosen else name,
            f"{speed.batch_tokens_s:.0f}",
            f"{speed.single_tokens_s:.0f}",
            f"{optimise.turn_cpu_s(speed) * 1000:.0f} ms",
        )
    return table


def _is_faster(context: Context, original: Path, copy: OptimisedCopy) -> bool:
    """Measure and print both speeds; return whether the copy is faster."""
    wanted = context.settings.llm.threads
    threads = wanted if isinstance(wanted, int) else plan_threads().llm_prompt
    with context.err.status("measuring the original and the copy alternately …"):
        before, after = measure([original, copy.path], threads=threads)
    headings = ("size", "prompt tokens/s", "generated tokens/s", "mean log-probability")
    table = plain_table("", "type", *map(right, headings))
    rows = (
        ("before", optimise.main_type(read_header(original)), original.stat().st_size, before),
        ("after", copy.record.type, copy.record.bytes, after),
    )
    for name, kind, size_bytes, speed in rows:
        speeds = (f"{speed.prompt_tokens_s:.0f}", f"{speed.generated_tokens_s:.0f}", f"{speed.mean_logprob:.3f}")
        table.add_row(name, kind, size_text(size_bytes), *speeds)
    context.out.print(table)
    return after.turn_s * _MIN_SPEEDUP <= before.turn_s


def _usage(args: argparse.Namespace, adapter: optimise.AdapterFile | None, copy: OptimisedCopy) -> str:
    if adapter is None:
        return "it is used from now on, unless llm.optimize = false; the original is kept"
    if adapter.id is None:
        return f"use it with edgevox run --model {copy.path} --preset NAME"
    return f'presets use it with adapter = "{adapter.id}" and adapter_scale = {args.scale:g}'


@MODELS.action(
    "remove",
    "delete models",
    argument("ids", nargs="+", metavar="ID"),
    YES,
    argument(
        "--forget",
        action="store_true",
        help="also forget the checksum, so that the next download may be a different file",
    ),
)
def _remove(args: argparse.Namespace, context: Context) -> int:
    store = open_store(context.folders)
    entries = [store.manifest.entry(model_id) for model_id in args.ids]
    if not args.yes:
        if not sys.stdin.isatty():
            raise ConfigError("cannot ask for confirmation without a terminal", hint="add --yes")
        names = ", ".join(f"{entry.id} ({_size(entry)})" for entry in entries)
        if not context.confirm(f"Delete {names}?"):
            return 1
    for entry in entries:
        if args.forget:
            store.forget(entry.id)
        # A forgotten model may have been removed before.
        with contextlib.suppress(*(ModelMissing,) if args.forget else ()):
            store.remove(entry.id)
        context.note(f"{entry.id}: removed")
    return 0


def _size(entry: ModelEntry) -> str:
    return size_text(entry.size_bytes) if entry.size_is_exact else f"≈ {size_text(entry.size_bytes)}"


VOICES = Command("voices", "List the voices, hear one, and choose one")

_VOICE = argument("id", metavar="ID", help="a voice of edgevox voices list")


@VOICES.action(
    "list",
    "list the voices, and which are used and downloaded",
    argument("--language", metavar="CODE", help='only voices of this language, such as "de"'),
    JSON,
)
def _list_voices(args: argparse.Namespace, context: Context) -> None:
    voices = [
        voice
        for voice in list_voices(context.settings, open_store(context.folders))
        if args.language in (None, voice.language)
    ]
    if args.json:
        context.write_json([dataclasses.asdict(voice) for voice in voices])
        return
    if not context.out.is_terminal:
        context.out.width = _PIPE_WIDTH  # keep one line per row for grep
    is_wide = context.out.width >= _WIDE
    columns = (left("voice"), left("language"), left("engine"), right("size"), left("local"), left("used"))
    table = plain_table(*columns, *([folded("licence")] if is_wide else []))
    for voice in voices:
        local, used = ("yes" if is_so else "" for is_so in (voice.is_installed, voice.is_used))
        size = size_text(voice.size_bytes)
        licence = [voice.licence] if is_wide else []
        table.add_row(voice.id, voice.language_name, voice.engine, size, local, used, *licence)
    context.out.print(table)
    context.note("edgevox voices try ID lets you hear one, edgevox voices use ID chooses it")


@VOICES.action(
    "try",
    "speak a sentence with a voice, which is downloaded first where necessary",
    _VOICE,
    argument("text", nargs="*", metavar="TEXT", help="what it says (default: a sentence in its language)"),
    argument("-o", "--out", type=Path, metavar="FILE", help="write a WAV file instead"),
    setting("--speed", "tts.speed", "X", "speaking rate; 1.0 is normal, higher is faster"),
)
def _try_voice(args: argparse.Namespace, context: Context) -> None:
    # Imported here: the other commands of this file do without the assistant.
    from edgevox.cli.assistant import open_runtime
    from edgevox.cli.commands.ask import collect_speech, play_speech

    voice = find_voice(open_store(context.folders).manifest, args.id)
    speaker = None if args.out else context.speaker()
    # A voice of its own engine, on this machine, whatever the settings say of others.
    own = context.with_flags({"tts.voice": voice.id, "tts.voices": {}, "tts.engine": AUTO, "tts.remote": None})
    text = " ".join(args.text) or sample_text(voice.spoken_language)
    runtime = open_runtime(own, ["tts"])
    if speaker:
        run_until_done(play_speech(runtime, text, speaker))
        return
    write_wav(args.out, run_until_done(collect_speech(runtime, text, voice.spoken_language)))
    context.note(f"wrote {args.out}")


@VOICES.action("use", "let a voice speak its language, which is downloaded first where necessary", _VOICE)
def _use_voice(args: argparse.Namespace, context: Context) -> None:
    store = open_store(context.folders)
    voice = find_voice(store.manifest, args.id)
    with pull_progress(context.err) as progress:
        store.ensure([voice.id], progress)
    changed = save_voice(context.settings, context.folders, store.manifest, voice)
    context.note(f"wrote {changed} to {context.folders.config_file}; edgevox reload applies it")
