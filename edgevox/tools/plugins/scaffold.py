"""Writes a new plugin with its test, as a file or a package, for `edgevox plugins new`."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from string import Template

from edgevox.core.errors import ConfigError
from edgevox.tools.plugins.sources import GROUP, check_name

_PLUGIN = Template('''\
"""An EdgeVox plugin. Change the tool below, or add more."""

from typing import Annotated

from edgevox import Speech, ToolError, tool

API_VERSION = 1


def register(host):
    """Called once, when EdgeVox starts. host.settings is the table [plugins.$name] of config.toml."""
    greeting = host.settings.get("greeting", "Hello")

    @tool(examples=["say hello to Mara"])
    def ${tool}_greet(who: Annotated[str, "the name of a person"]) -> Speech:
        """Greet a person by name."""
        if not who.strip():
            raise ToolError("the name is empty")
        return Speech(f"{greeting}, {who}!")

    host.add_tool(${tool}_greet)
''')

_TEST = Template('''\
"""Tests of the plugin $name. Run them with: python -m pytest"""

$imports

def test_greets_by_name():
    result = try_plugin(PLUGIN, "${tool}_greet", {"who": "Mara"})
    assert result.speech == "Hello, Mara!"


def test_greeting_is_configurable():
    result = try_plugin(PLUGIN, "${tool}_greet", {"who": "Mara"}, greeting="Welcome")
    assert result.speech == "Welcome, Mara!"


def test_empty_name_is_an_error():
    result = try_plugin(PLUGIN, "${tool}_greet", {"who": " "})
    assert result.is_error
    assert "empty" in result.content
''')

_FILE_IMPORTS = Template("""\
from pathlib import Path

from edgevox.tools.plugin_trial import try_plugin

PLUGIN = Path(__file__).parent.parent / "$name.py"
""")

_PACKAGE_IMPORTS = Template("""\
import edgevox_$tool as PLUGIN

from edgevox.tools.plugin_trial import try_plugin
""")

_PYPROJECT = Template("""\
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[project]
name = "edgevox-$name"
version = "0.1.0"
description = "An EdgeVox plugin"
requires-python = ">=3.11"
dependencies = ["edgevox"]

[project.entry-points."$group"]
$name = "edgevox_$tool"

[tool.hatch.build.targets.wheel]
only-include = ["edgevox_$tool.py"]

[tool.pytest.ini_options]
pythonpath = ["."]
""")


def write_file_plugin(name: str, folder: Path) -> tuple[Path, Path]:
    """Write a single file and its test, and return both. Raises ConfigError; never replaces a file."""
    words = _words(name)
    plugin, test = folder / f"{name}.py", folder / "tests" / f"test_{words['tool']}.py"
    _write({plugin: _PLUGIN.substitute(words), test: _TEST.substitute(words, imports=_FILE_IMPORTS.substitute(words))})
    return plugin, test


def write_package_plugin(name: str, parent: Path) -> tuple[Path, Path]:
    """Write an installable package, and return its folder and its test. Raises ConfigError."""
    words = _words(name)
    folder = parent / f"edgevox-{name}"
    test = folder / "tests" / f"test_{words['tool']}.py"
    _write(
        {
            folder / "pyproject.toml": _PYPROJECT.substitute(words),
            folder / f"edgevox_{words['tool']}.py": _PLUGIN.substitute(words),
            test: _TEST.substitute(words, imports=_PACKAGE_IMPORTS.substitute(words)),
        }
    )
    return folder, test


def _words(name: str) -> dict[str, str]:
    check_name(name)
    return {"name": name, "tool": name.replace("-", "_"), "group": GROUP}


def _write(files: Mapping[Path, str]) -> None:
    for path in files:
        if path.exists():
            raise ConfigError(f"{path} exists already", hint="choose another name, or move it away first")
    try:
        for path, text in files.items():
            # Independent of the umask: a plugin that others can write to is refused.
            path.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
            handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(text)
    except OSError as error:
        raise ConfigError(
            f"{error.filename} cannot be written: {error.strerror}", hint="make its folder writable"
        ) from error
