"""Where the files that ship with EdgeVox lie: in the installed package first, else in the checkout."""

from __future__ import annotations

from pathlib import Path

from edgevox.errors import ConfigError

_PACKAGE = Path(__file__).resolve().parent


def data_path(*parts: str) -> Path:
    """The path of a shipped file or folder, such as `data_path("presets")`. Raises ConfigError."""
    for root in (_PACKAGE / "_data", _PACKAGE.parent):
        path = root.joinpath(*parts)
        if path.exists():
            return path
    raise ConfigError(
        f"{'/'.join(parts)} is missing from this installation",
        hint="install EdgeVox again: pip install --force-reinstall edgevox",
    )
