"""Reading a TOML file that a person wrote: what is wrong is said with the file and the line."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from edgevox.errors import ConfigError

_TABLE = re.compile(r"\s*\[\s*([\w.-]+)\s*\]")
_KEY = re.compile(r"\s*([\w.-]+)\s*=")


@dataclass(frozen=True, slots=True)
class TomlFile:
    """A file's content, with its text kept to find lines in."""

    path: Path
    table: dict[str, Any]
    text: str

    def place(self, name: str) -> str:
        """The file, and the line where the dotted `name` is written, as far as it can be told."""
        table = ""
        for number, line in enumerate(self.text.splitlines(), start=1):
            if header := _TABLE.match(line):
                table = header[1] + "."
                if header[1] == name:
                    return f"{self.path}, line {number}"
            elif (key := _KEY.match(line)) and table + key[1] == name:
                return f"{self.path}, line {number}"
        return str(self.path)


def read_toml(path: Path) -> TomlFile | None:
    """The file, or None where there is none. Raises ConfigError when it cannot be read."""
    try:
        text = path.read_text(encoding="utf-8")
        return TomlFile(path, tomllib.loads(text), text)
    except FileNotFoundError:
        return None
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(
            f"{path} is not valid TOML: {error}",
            hint="correct that line; texts need quotes, and each setting its own line: name = value",
        ) from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path} is not a text in UTF-8", hint="save it as UTF-8") from error
    except OSError as error:
        raise ConfigError(
            f"{path} cannot be read: {error.strerror}", hint="check what it is and who may read it"
        ) from error
