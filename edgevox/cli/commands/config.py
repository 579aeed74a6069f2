"""`edgevox config`, `presets`, `completion`, `backup`, `restore` and `uninstall`."""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path

from rich.table import Table
from rich.text import Text

from edgevox.app import service_unit
from edgevox.app.backup import owned_paths, removal_command, restore_backup, write_backup
from edgevox.app.control.server import single_instance
from edgevox.app.model_selection import ModelSelection
from edgevox.cli.command import JSON, YES, Command, argument, whole_parser
from edgevox.cli.context import Context, folded, left, plain_table, right
from edgevox.config import DEFAULT_PRESET, user_presets
from edgevox.config.editing import remove_setting, save_setting, with_setting, write_initial_config
from edgevox.config.schema import Setting, catalogue, unknown
from edgevox.core.errors import AlreadyRunning, ConfigError, EdgevoxError, ModelMissing
from edgevox.core.events import EngineName
from edgevox.core.platform import total_memory_bytes
from edgevox.llm.presets import ModelPreset, all_presets, resolve_preset
from edgevox.models import ModelEntry, ModelStore, open_store, size_text

CONFIG = Command("config", "Show and change the settings")
PRESETS = Command("presets", "List model presets and which fit this machine")


@CONFIG.action(
    "show",
    "print every setting and the source of its value",
    argument("--preset", metavar="NAME", help="show the settings under this preset"),
    JSON,
)
def _show(args: argparse.Namespace, context: Context) -> None:
    settings, path = context.settings, context.folders.config_file
    values = {name: (attrgetter(name)(settings), settings.sources[name]) for name in catalogue()}
    if args.json:
        context.write_json(
            {name: {"value": value, **dataclasses.asdict(source)} for name, (value, source) in values.items()}
        )
        return
    table = plain_table(left("setting"), folded("value"), folded("from"))
    for name, (value, source) in values.items():
        # The path of the file is printed once, below the table.
        origin = source.layer if source.layer == "file" else str(source)
        style = "dim" if source.layer == "default" else ""
        shown = "not set" if value is None else json.dumps(value, default=str, ensure_ascii=False)
        table.add_row(Text(name), Text(shown), Text(origin), style=style)
    context.out.print(table)
    missing = "" if path.exists() else "  (does not exist; edgevox config init writes it)"
    context.print(f"\nfile  {path}{missing}")


_NAME = argument("name", metavar="NAME", help="a setting, such as tts.speed (edgevox config show lists them)")


@CONFIG.action("get", "print the value of one setting", _NAME)
def _get(args: argparse.Namespace, context: Context) -> None:
    value = attrgetter(_known(args.name).name)(context.settings)
    context.write(value if isinstance(value, str) else json.dumps(value, default=str, ensure_ascii=False))


@CONFIG.action(
    "set", "write one setting to the settings file", _NAME, argument("value", metavar="VALUE", help="lists: A,B")
)
def _set(args: argparse.Namespace, context: Context) -> None:
    setting = _known(args.name)
    settings = with_setting(context.folders, setting, args.value)
    preset = resolve_preset(settings.preset, user_presets(context.folders))
    selection = ModelSelection(settings, preset, open_store(context.folders), _engines_of(setting))
    try:
        selection.needed()
    except ModelMissing as error:
        raise ConfigError(f"{setting.name}: {error.message}", hint=error.hint) from error
    save_setting(settings, context.folders, setting)
    context.note(f"wrote {setting.name} to {context.folders.config_file}; edgevox reload applies it")


@CONFIG.action("unset", "remove one setting from the settings file, so that its default applies", _NAME)
def _unset(args: argparse.Namespace, context: Context) -> None:
    setting = _known(args.name)
    remove_setting(context.folders, setting)
    context.note(f"removed {setting.name} from {context.folders.config_file}; edgevox reload applies it")


def _engines_of(setting: Setting) -> tuple[EngineName, ...]:
    """The engines whose models a setting chooses."""
    if setting.name == "preset" or setting.section == "llm":
        return ("llm",)
    return tuple(engine for engine in ("stt", "tts") if engine == setting.section)


def _known(name: str) -> Setting:
    if name not in catalogue():
        raise ConfigError(unknown(name), hint="edgevox config show lists every setting")
    return catalogue()[name]


@CONFIG.action("path", "print the path of the settings file")
def _path(_args: argparse.Namespace, context: Context) -> None:
    context.write(str(context.folders.config_file))


@CONFIG.action("init", "write a settings file with every setting, commented out and explained")
def _init(_args: argparse.Namespace, context: Context) -> None:
    context.note(f"wrote {write_initial_config(context.folders)}")


@Command(
    "completion",
    "Print a script that completes commands in a shell",
    argument("shell", choices=("bash", "zsh", "fish", "tcsh"), help="the shell that reads the script"),
)
def completion(args: argparse.Namespace, context: Context) -> None:
    # Imported here, because only this command needs it.
    import shtab

    context.write(shtab.complete(whole_parser(), args.shell))


_BACKUP_FILE = argument("file", type=Path, metavar="FILE", help="such as edgevox-backup.zip")


@Command("backup", "Write settings, conversations, lists and timers to one file", _BACKUP_FILE)
def backup(args: argparse.Namespace, context: Context) -> None:
    count = write_backup(context.folders, args.file)
    context.note(f"wrote {count} files to {args.file}; it contains your tokens and passwords: keep it private")


@Command("restore", "Replace settings, conversations, lists and timers by a backup", _BACKUP_FILE, YES)
def restore(args: argparse.Namespace, context: Context) -> int:
    _confirm(args, context, f"Replace settings and state by {args.file}?")
    with _while_stopped(context):
        count, aside = restore_backup(context.folders, args.file)
    context.note(f"restored {count} files", *([f"what was there before is in {aside}"] if aside else []))
    return 0


@Command("uninstall", "Show what EdgeVox stores on this machine, and (--yes) remove it", YES)
def uninstall(args: argparse.Namespace, context: Context) -> None:
    found = owned_paths(context.folders)
    for owned in found:
        kept = " (you chose this folder: delete it yourself)" if owned.is_chosen else ""
        context.print(f"{size_text(owned.size_bytes):>8}  {owned.purpose:<29} {owned.path}{kept}")
    if not args.yes:
        context.print("", "nothing is deleted yet: edgevox uninstall --yes", "  a backup first: edgevox backup FILE")
        return
    if any(owned.purpose == "service" for owned in found) and sys.platform != "darwin":
        try:
            service_unit.uninstall()
        except EdgevoxError as error:
            context.report_error(error)
    with _while_stopped(context):
        for owned in found:
            if not owned.is_chosen:
                owned.remove()
    context.print("", "removed; the program itself goes with:", f"  → {removal_command()}")


@contextmanager
def _while_stopped(context: Context) -> Iterator[None]:
    """Keep the assistant from starting. Raises AlreadyRunning."""
    try:
        with single_instance(context.folders.runtime):
            yield
    except AlreadyRunning as error:
        raise AlreadyRunning(error.message, hint="end it first: Ctrl-C, or systemctl --user stop edgevox") from error


def _confirm(args: argparse.Namespace, context: Context, question: str) -> None:
    if args.yes or context.confirm(question):
        return
    raise ConfigError("nothing was changed", hint="confirm with y, or with --yes")


# Memory for the system, STT and TTS beside the language model.
_OTHER_ENGINES_BYTES = 700_000_000

# Narrower terminals show the summaries, and not memory and licence.
_WIDE = 120


@PRESETS.action("list", "list the presets and whether they fit in memory", JSON)
def _list_presets(args: argparse.Namespace, context: Context) -> None:
    choices = preset_choices(context)
    choices.sort(key=lambda choice: (choice.preset.family, choice.download_bytes or 0))
    if args.json:
        context.write_json([choice.facts() for choice in choices])
        return
    is_wide = context.out.width >= _WIDE
    wide_only = (right("memory"), left("licence")) if is_wide else ()
    table = plain_table(left("preset"), right("download"), left("fits"), left("local"), *wide_only, folded("summary"))
    for choice in choices:
        preset = choice.preset
        mark = "* " if preset.name == DEFAULT_PRESET else "  "
        aliases = f" ({', '.join(preset.aliases)})" if preset.aliases else ""
        licence = "" if choice.model is None else choice.model.licence + (" †" if choice.model.note else "")
        table.add_row(
            Text(mark + preset.name + aliases),
            _size(choice.download_bytes),
            "" if choice.fits is None else _words(choice.fits),
            "yes" if choice.is_downloaded else "",
            *((_size(choice.memory_bytes), licence) if is_wide else ()),
            preset.summary,
            style="dim" if choice.fits is False else "",
        )
    context.out.print(table)
    conditions = "† licence conditions apply" if is_wide else "licence and memory"
    context.print(f"\n* default   {conditions}: edgevox presets show NAME")
    context.print(
        f"This machine has {size_text(total_memory_bytes())} of memory; the memory of a model is an estimate."
    )


@PRESETS.action("show", "show one preset", argument("name", help="preset name, such as qwen3"), JSON)
def _show_preset(args: argparse.Namespace, context: Context) -> None:
    preset = resolve_preset(args.name, user_presets(context.folders))
    choice = _choice(preset, open_store(context.folders))
    if args.json:
        context.write_json(choice.facts() | _details(preset))
        return
    rows: dict[str, object] = {
        "preset": preset.name,
        "aliases": preset.aliases,
        "summary": preset.summary,
        "family": preset.family,
        "model": preset.model,
        "licence": choice.model.licence_text if choice.model else "that of your model file",
        "download": _size(choice.download_bytes),
        "downloaded": choice.is_downloaded,
        "memory": _size(choice.memory_bytes),
        "fits this machine": choice.fits,
        **_details(preset),
    }
    table = Table(left(), folded(), box=None, pad_edge=False, show_header=False)
    for key, value in rows.items():
        if value not in (None, "", ()):
            table.add_row(key, Text(_words(value)))
    context.out.print(table)


@dataclass(frozen=True, slots=True)
class PresetChoice:
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


def preset_choices(context: Context) -> list[PresetChoice]:
    """Return every preset with its size on this machine. Raises ConfigError."""
    store = open_store(context.folders)
    return [_choice(preset, store) for preset in all_presets(user_presets(context.folders))]


def _choice(preset: ModelPreset, store: ModelStore) -> PresetChoice:
    if preset.model is None:
        return PresetChoice(preset, None, is_downloaded=False)
    try:
        return PresetChoice(preset, store.manifest.entry(preset.model), store.has(preset.model))
    except ModelMissing as error:
        raise ConfigError(f"preset {preset.name}: {error.message}", hint=error.hint) from error


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


def _size(count: int | None) -> str:
    return "" if count is None else size_text(count)
