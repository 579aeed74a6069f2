"""`edgevox config` and `presets`: show the settings with their sources, and the model presets."""

from __future__ import annotations

import argparse
import dataclasses
import json
from dataclasses import dataclass
from operator import attrgetter

from rich.table import Table
from rich.text import Text

from edgevox.cli.command import Command
from edgevox.cli.context import Context
from edgevox.config import DEFAULT_PRESET, Settings, user_presets
from edgevox.config.editing import write_initial_config
from edgevox.config.schema import catalogue
from edgevox.core.errors import ConfigError, ModelMissing
from edgevox.core.platform import total_memory_bytes
from edgevox.llm.presets import ModelPreset, all_presets, resolve_preset
from edgevox.models import ModelEntry, ModelStore, open_store, size_text


def add_config_arguments(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", required=True, metavar="show|path|init")
    show = actions.add_parser("show", help="print every setting and the source of its value")
    show.add_argument("--preset", metavar="NAME", help="show the settings under this preset")
    show.add_argument("--json", action="store_true", help="print a JSON object")
    actions.add_parser("path", help="print the path of the settings file")
    actions.add_parser("init", help="write a settings file with every setting, commented out and explained")


def config_command(args: argparse.Namespace, context: Context) -> int:
    match args.action:
        case "show" if args.json:
            context.write(_settings_json(context.settings))
        case "show":
            _show_settings(context)
        case "path":
            context.write(str(context.folders.config_file))
        case "init":
            path = write_initial_config(context.folders)
            context.err.print(Text(f"wrote {path}"), soft_wrap=True)
        case other:
            raise AssertionError(other)
    return 0


def _show_settings(context: Context) -> None:
    settings, path = context.settings, context.folders.config_file
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("setting", no_wrap=True)
    table.add_column("value", overflow="fold")
    table.add_column("from", overflow="fold")
    for name in catalogue():
        value, source = attrgetter(name)(settings), settings.sources[name]
        # The path of the file is printed once, below the table.
        origin = source.layer if source.layer == "file" else str(source)
        style = "dim" if source.layer == "default" else ""
        table.add_row(Text(name), Text(_value_text(value)), Text(origin), style=style)
    context.out.print(table)
    missing = "" if path.exists() else "  (does not exist; edgevox config init writes it)"
    context.out.print(Text(f"\nfile  {path}{missing}"), soft_wrap=True)


def _settings_json(settings: Settings) -> str:
    rows = {
        name: {"value": attrgetter(name)(settings), **dataclasses.asdict(settings.sources[name])}
        for name in catalogue()
    }
    return json.dumps(rows, default=str, indent=2, ensure_ascii=False)


def _value_text(value: object) -> str:
    return "not set" if value is None else json.dumps(value, default=str, ensure_ascii=False)


# Memory for the system, STT and TTS beside the language model.
_OTHER_ENGINES_BYTES = 700_000_000

# Narrower terminals do not show the summaries.
_WIDE = 120


def add_presets_arguments(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", required=True, metavar="list|show")
    listing = actions.add_parser("list", help="list the presets and whether they fit in memory")
    listing.add_argument("--json", action="store_true", help="print a JSON array")
    show = actions.add_parser("show", help="show one preset")
    show.add_argument("name", help="preset name, such as qwen3")
    show.add_argument("--json", action="store_true", help="print a JSON object")


def presets_command(args: argparse.Namespace, context: Context) -> int:
    store = open_store(context.folders)
    own_presets = user_presets(context.folders)
    match args.action:
        case "list":
            choices = [_choice(preset, store) for preset in all_presets(own_presets)]
            choices.sort(key=lambda choice: (choice.preset.family, choice.download_bytes or 0))
            if args.json:
                context.write(_json([choice.facts() for choice in choices]))
            else:
                _print_presets(choices, context)
        case "show":
            choice = _choice(resolve_preset(args.name, own_presets), store)
            if args.json:
                context.write(_json(choice.facts() | _details(choice.preset)))
            else:
                _print_preset(choice, context)
        case other:
            raise AssertionError(other)
    return 0


@dataclass(frozen=True, slots=True)
class _Choice:
    """A preset with its size on this machine; a preset without a model of its own has no size."""

    preset: ModelPreset
    model: ModelEntry | None
    is_downloaded: bool

    @property
    def download_bytes(self) -> int | None:
        return self.model.size_bytes if self.model else None

    @property
    def memory_bytes(self) -> int | None:
        return self.preset.memory_bytes(self.model.size_bytes) if self.model else None

    @property
    def fits(self) -> bool | None:
        return self.memory_bytes + _OTHER_ENGINES_BYTES <= total_memory_bytes() if self.memory_bytes else None

    def facts(self) -> dict[str, object]:
        return {
            "name": self.preset.name,
            "aliases": self.preset.aliases,
            "default": self.preset.name == DEFAULT_PRESET,
            "family": self.preset.family,
            "summary": self.preset.summary,
            "model": self.preset.model,
            "licence": self.model.licence if self.model else None,
            "licence_note": self.model.note if self.model else None,
            "download_bytes": self.download_bytes,
            "memory_bytes": self.memory_bytes,
            "fits": self.fits,
            "downloaded": self.is_downloaded,
        }


def _choice(preset: ModelPreset, store: ModelStore) -> _Choice:
    if preset.model is None:
        return _Choice(preset, None, is_downloaded=False)
    try:
        return _Choice(preset, store.manifest.entry(preset.model), store.has(preset.model))
    except ModelMissing as error:
        raise ConfigError(f"preset {preset.name}: {error.message}", hint=error.hint) from error


def _print_presets(choices: list[_Choice], context: Context) -> None:
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("preset", no_wrap=True)
    for heading in ("download", "memory"):
        table.add_column(heading, justify="right", no_wrap=True)
    for heading in ("fits", "local"):
        table.add_column(heading, no_wrap=True)
    table.add_column("licence", no_wrap=True)
    if context.out.width >= _WIDE:
        table.add_column("summary")
    for choice in choices:
        preset = choice.preset
        mark = "* " if preset.name == DEFAULT_PRESET else "  "
        aliases = f" ({', '.join(preset.aliases)})" if preset.aliases else ""
        table.add_row(
            Text(mark + preset.name + aliases),
            _size(choice.download_bytes),
            _size(choice.memory_bytes),
            "" if choice.fits is None else _words(choice.fits),
            "yes" if choice.is_downloaded else "",
            "" if choice.model is None else choice.model.licence + (" †" if choice.model.note else ""),
            *([preset.summary] if context.out.width >= _WIDE else []),
            style="dim" if choice.fits is False else "",
        )
    context.out.print(table)
    machine = size_text(total_memory_bytes())
    context.out.print("\n* default   † licence conditions apply: edgevox presets show NAME")
    context.out.print(f"This machine has {machine} of memory; the memory of a model is an estimate.")


def _print_preset(choice: _Choice, context: Context) -> None:
    preset = choice.preset
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    rows: dict[str, object] = {
        "preset": preset.name,
        "aliases": preset.aliases,
        "summary": preset.summary,
        "family": preset.family,
        "model": preset.model,
        "licence": _licence(choice.model),
        "download": _size(choice.download_bytes),
        "downloaded": choice.is_downloaded,
        "memory": _size(choice.memory_bytes),
        "fits this machine": choice.fits,
        **_details(preset),
    }
    for key, value in rows.items():
        if value not in (None, "", ()):
            table.add_row(key, Text(_words(value)))
    context.out.print(table)


def _details(preset: ModelPreset) -> dict[str, object]:
    return {
        "languages": preset.languages or "all",
        "tool_call_parsers": preset.tool_call_parsers,
        "tool_choice_policy": preset.tool_choice_policy,
        "chat_template": preset.chat_template,
        "stop": preset.stop,
        **{f"llm.{key}": value for key, value in preset.llm.model_dump(include=preset.llm.model_fields_set).items()},
    }


def _words(value: object) -> str:
    match value:
        case bool():
            return "yes" if value else "no"
        case tuple():
            return ", ".join(map(str, value))
        case _:
            return str(value)


def _licence(model: ModelEntry | None) -> str:
    if model is None:
        return "that of your model file"
    return f"{model.licence} ({model.note})" if model.note else model.licence


def _size(count: int | None) -> str:
    return "" if count is None else size_text(count)


def _json(value: object) -> str:
    return json.dumps(value, default=str, indent=2, ensure_ascii=False)


COMMANDS = (
    Command("config", "Show every setting and its source", config_command, add_config_arguments),
    Command("presets", "List model presets and which fit this machine", presets_command, add_presets_arguments),
)
