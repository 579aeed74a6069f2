"""Commands are found by reading the source; that must agree with the imported modules."""

from __future__ import annotations

import importlib
import pkgutil

from edgevox.cli import commands
from edgevox.cli.command import Command, find_commands
from edgevox.cli.main import _GROUPS


def test_the_found_commands_are_those_of_the_modules() -> None:
    listed: list[Command] = []
    for module in pkgutil.iter_modules(commands.__path__):
        content = vars(importlib.import_module(f"{commands.__name__}.{module.name}"))
        listed += [one for one in content.values() if isinstance(one, Command)]
    found = find_commands()
    assert sorted(command.name for command in listed) == list(found)
    for command in listed:
        assert found[command.name].summary == command.summary
        assert found[command.name].load() is command


def test_the_groups_of_the_help_name_each_command_once() -> None:
    names = [name for group in _GROUPS.values() for name in group]
    assert len(names) == len(set(names))
    assert set(names) <= set(find_commands())
