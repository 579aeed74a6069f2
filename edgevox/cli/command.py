"""Declares commands and their arguments, and finds commands without importing their modules."""

from __future__ import annotations

import argparse
import importlib
import pkgutil
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from edgevox.cli import commands

if TYPE_CHECKING:
    from edgevox.cli.context import Context

INTERRUPTED = 130

Run: TypeAlias = "Callable[[argparse.Namespace, Context], int | None]"
Argument: TypeAlias = Callable[[argparse._ActionsContainer], object]
"""Adds one argument, or a group of them, to a parser."""

_ENTRY = re.compile(r'\bCommand\(\s*"([a-z]+)",\s*"([^"]+)"')


def argument(*names: str, **options: Any) -> Argument:  # noqa: ANN401  (the options of argparse)
    return lambda parser: parser.add_argument(*names, **options)


def setting(option: str, name: str, metavar: str | None, description: str, **options: Any) -> Argument:  # noqa: ANN401
    """An option that sets `name`; the settings convert and check its value."""
    return argument(option, dest=name, metavar=metavar, help=description, **options)


def switch(option: str, name: str, description: str, *, value: bool = True) -> Argument:
    """An option without a value that switches the setting `name` on or off."""
    return argument(option, dest=name, action="store_const", const=value, help=description)


def one_of(*arguments: Argument, required: bool = False) -> Argument:
    """Arguments that exclude each other."""

    def add(parser: argparse._ActionsContainer) -> None:
        group = parser.add_mutually_exclusive_group(required=required)
        for add_one in arguments:
            add_one(group)

    return add


def titled(title: str, *arguments: Argument) -> Argument:
    """Arguments that the help lists under a title."""

    def add(parser: argparse._ActionsContainer) -> None:
        group = parser.add_argument_group(title)
        for add_one in arguments:
            add_one(group)

    return add


JSON = argument("--json", action="store_true", help="print JSON")
YES = argument("--yes", action="store_true", help="do not ask for confirmation")
MODEL_OPTIONS = (
    argument("--preset", help="model preset (see edgevox presets list)"),
    setting("--model", "llm.model", "FILE", "GGUF file to use as the language model"),
    setting("--remote", "llm.remote_url", "URL", "use a model server instead, such as http://host:8080/v1"),
    setting("--remote-model", "llm.remote_model", "NAME", "name of the model on that server"),
    setting("--threads", "llm.threads", "N", "CPU threads for the language model"),
    setting("--max-tokens", "llm.max_tokens", "N", "maximum length of a reply"),
    setting("--seed", "llm.seed", "N", "sampling seed, for reproducible replies"),
)
MCP_OPTIONS = (
    setting("--mcp-config", "mcp.config", "FILE", "MCP server configuration, like mcp.json"),
    setting("--mcp-command", "mcp.command", "PROGRAM", "program of one MCP server"),
    setting(
        "--mcp-args", "mcp.args", "A,B", "its arguments, separated by commas", type=lambda text: tuple(text.split(","))
    ),
    setting("--mcp-tool-refresh-seconds", "mcp.tool_refresh_s", "S", "interval at which MCP tool lists are refreshed"),
)


class Command:
    """A subcommand: decorates the function that runs it, or has actions (`edgevox NAME ACTION`) that do.

    Its name and summary must be string literals. The function returns the exit code; None means success.
    """

    def __init__(self, name: str, summary: str, *arguments: Argument) -> None:
        self.name = name
        self.summary = summary
        self._arguments = arguments
        self._run: Run | None = None
        self._actions: list[Command] = []

    def __call__(self, run: Run) -> Command:
        self._run = run
        return self

    def action(self, name: str, summary: str, *arguments: Argument) -> Callable[[Run], Run]:
        """Decorate the function that runs an action."""

        def add(run: Run) -> Run:
            self._actions.append(Command(name, summary, *arguments)(run))
            return run

        return add

    def add_to(self, parser: argparse.ArgumentParser) -> None:
        """Add the arguments and actions; parsed arguments have the function to call as `run`."""
        parser.set_defaults(run=self._run or (lambda _args, _context: parser.print_help()))
        for add in self._arguments:
            add(parser)
        if self._actions:
            names = "|".join(action.name for action in self._actions)
            actions = parser.add_subparsers(metavar=names)
            for action in self._actions:
                action.add_to(actions.add_parser(action.name, help=action.summary, description=action.summary))


@dataclass(frozen=True, slots=True)
class CommandEntry:
    """A command whose module is not imported yet."""

    name: str
    summary: str
    module: str

    def load(self) -> Command:
        content = vars(importlib.import_module(self.module)).values()
        return next(one for one in content if isinstance(one, Command) and one.name == self.name)


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


def whole_parser() -> argparse.ArgumentParser:
    """A parser with every command, for completion scripts and the manual page; importing them all takes seconds."""
    parser = argparse.ArgumentParser(prog="edgevox", description="A voice assistant that runs on your own machine.")
    parser.add_argument("--version", action="store_true", help="print the version and exit")
    commands = parser.add_subparsers(metavar="COMMAND")
    for entry in find_commands().values():
        entry.load().add_to(commands.add_parser(entry.name, help=entry.summary, description=entry.summary))
    return parser
