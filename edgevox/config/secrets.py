"""Secrets in files with mode 0600; their values never show in logs or repr()."""

from __future__ import annotations

import stat
from pathlib import Path

from edgevox.core.errors import ConfigError
from edgevox.core.files import write_atomic

_OTHERS = stat.S_IRWXG | stat.S_IRWXO


class Secret:
    """A text that shows itself to nobody: not in a log, an error or a record."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def reveal(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return "Secret(…)"

    __str__ = __repr__

    def __reduce__(self) -> str:
        raise TypeError("a secret stays in its process")


def read_secret(path: Path, hint: str = "check its permissions, or write it again") -> Secret | None:
    """The secret in that file; None where there is no file.

    Raises ConfigError when others could read it, or nobody can: `hint` then says what to do.
    """
    try:
        mode = path.stat().st_mode
        text = path.read_text(encoding="utf-8").strip()
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} cannot be read: {error}", hint=hint) from None
    if mode & _OTHERS:
        raise ConfigError(f"{path} can be read by other users", hint=f"chmod 600 {path}")
    return Secret(text) if text else None


def write_secret(path: Path, text: str) -> None:
    """Keep it, in the place of what was there. Raises ConfigError."""
    try:
        write_atomic(path, f"{text.strip()}\n", owner_only=True)
    except OSError as error:
        raise ConfigError(
            f"{path} cannot be written: {error.strerror or error}", hint="make its folder writable"
        ) from None
