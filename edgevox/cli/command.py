"""The `Command` type, and discovery of commands without importing their modules."""

from __future__ import annotations

import argparse
import importlib
import pkgutil
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from edgevox.cli import commands

if TYPE_CHECKING:
    from edgevox.cli.context import Context

INTERRUPTED = 130

_ENTRY = re.compile(r'Command\(\s*"([a-z]+)",\s*"([^"]+)"')


def _no_arguments(_parser: argparse.ArgumentParser) -> None:
    pass


@dataclass(frozen=True, slots=True)
class Command:
    """A subcommand, listed in COMMANDS of its module; name and summary must be string literals."""

    name: str
    summary: str
    run: Callable[[argparse.Namespace, Context], int]
    add_arguments: Callable[[argparse.ArgumentParser], None] = _no_arguments


@dataclass(frozen=True, slots=True)
class CommandEntry:
    """A command whose module is not imported yet."""

    name: str
    summary: str
    module: str

    def load(self) -> Command:
        listed: tuple[Command, ...] = importlib.import_module(self.module).COMMANDS
        return next(command for command in listed if command.name == self.name)


def find_commands() -> dict[str, CommandEntry]:
    """Return every command by name, in alphabetical order.

    The entries are read from the source text: importing all commands takes more than a second.
    """
    found = [
        CommandEntry(name, summary, f"{commands.__name__}.{module.name}")
        for folder in commands.__path__
        for module in pkgutil.iter_modules([folder])
        for name, summary in _ENTRY.findall((Path(folder) / f"{module.name}.py").read_text(encoding="utf-8"))
    ]
    return {entry.name: entry for entry in sorted(found, key=lambda entry: entry.name)}
