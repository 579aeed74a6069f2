"""Secrets in files with mode 0600; their values never appear in logs or repr()."""

from __future__ import annotations

import stat
from pathlib import Path

from edgevox.core.errors import ConfigError
from edgevox.core.files import write_atomic

_OTHERS = stat.S_IRWXG | stat.S_IRWXO


class Secret:
    """A text that does not appear in logs, errors or records."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def reveal(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return "Secret(…)"

    __str__ = __repr__

    def __reduce__(self) -> str:
        raise TypeError("a secret cannot be pickled")


def read_secret(path: Path, hint: str = "check its permissions, or write it again") -> Secret | None:
    """Read a secret; None if the file does not exist.

    Raises ConfigError if other users can read the file, or if it is unreadable (with `hint`).
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
    """Write the secret, replacing an existing one. Raises ConfigError."""
    try:
        write_atomic(path, f"{text.strip()}\n")
    except OSError as error:
        raise ConfigError(
            f"{path} cannot be written: {error.strerror or error}", hint="make its folder writable"
        ) from None
