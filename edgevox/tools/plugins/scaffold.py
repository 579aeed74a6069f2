"""Writes a new plugin with its test, as a file or a package, for `edgevox plugins new`."""

from __future__ import annotations

import os
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from string import Template

from edgevox.core.errors import ConfigError
from edgevox.tools.plugins.sources import GROUP, check_name

_FILE_IMPORTS = Template("""\
from pathlib import Path

from edgevox.tools.plugin_trial import try_plugin

PLUGIN = Path(__file__).parent.parent / "$name.py"
""")

_PACKAGE_IMPORTS = Template("""\
import edgevox_$tool as PLUGIN

from edgevox.tools.plugin_trial import try_plugin
""")


def write_file_plugin(name: str, folder: Path) -> tuple[Path, Path]:
    """Write a single file and its test, and return both. Raises ConfigError; never replaces a file."""
    words = _words(name)
    plugin, test = folder / f"{name}.py", folder / "tests" / f"test_{words['tool']}.py"
    _write({plugin: "plugin.py", test: "test.py"}, {**words, "imports": _FILE_IMPORTS.substitute(words)})
    return plugin, test


def write_package_plugin(name: str, parent: Path) -> tuple[Path, Path]:
    """Write an installable package, and return its folder and its test. Raises ConfigError."""
    words = _words(name)
    folder = parent / f"edgevox-{name}"
    test = folder / "tests" / f"test_{words['tool']}.py"
    module = folder / f"edgevox_{words['tool']}.py"
    _write(
        {folder / "pyproject.toml": "pyproject.toml", module: "plugin.py", test: "test.py"},
        {**words, "imports": _PACKAGE_IMPORTS.substitute(words)},
    )
    return folder, test


def _words(name: str) -> dict[str, str]:
    check_name(name)
    return {"name": name, "tool": name.replace("-", "_"), "group": GROUP}


def _write(templates: Mapping[Path, str], words: Mapping[str, str]) -> None:
    """Write files from the templates in `templates/`."""
    for path in templates:
        if path.exists():
            raise ConfigError(f"{path} exists already", hint="choose another name, or move it away first")
    try:
        for path, name in templates.items():
            text = (files(__package__) / "templates" / f"{name}.txt").read_text(encoding="utf-8")
            # Independent of the umask: a plugin that others can write to is refused.
            path.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
            handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(Template(text).substitute(words))
    except OSError as error:
        raise ConfigError(
            f"{error.filename} cannot be written: {error.strerror}", hint="make its folder writable"
        ) from error
