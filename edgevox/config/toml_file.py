"""Reads TOML with errors that name file and line, and edits single values in place."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from edgevox.core.errors import ConfigError
from edgevox.core.files import locked_file, parse_toml, write_atomic

_TABLE = re.compile(r"\s*\[\s*([\w.-]+)\s*\]")
_KEY = re.compile(r"\s*([\w.-]+)\s*=")


@dataclass(frozen=True, slots=True)
class TomlFile:
    """A parsed file, with its text to find line numbers."""

    path: Path
    table: dict[str, Any]
    text: str

    def place(self, name: str) -> str:
        """The file, with the line of the dotted `name` if it can be found."""
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
    """Read a file; None if it does not exist. Raises ConfigError."""
    try:
        text = path.read_text(encoding="utf-8")
        return TomlFile(path, parse_toml(text), text)
    except FileNotFoundError:
        return None
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(
            f"{path} is not valid TOML: {error}",
            hint="correct that line; strings need quotes, and each setting its own line: name = value",
        ) from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path} is not valid UTF-8", hint="save it as UTF-8") from error
    except OSError as error:
        raise ConfigError(
            f"{path} cannot be read: {error.strerror}", hint="check the file and its permissions"
        ) from error


Value: TypeAlias = str | int | float | bool | list[str]

_HEADER = re.compile(r"\s*\[")


def update_config_file(path: Path, section: str, values: Mapping[str, Value | None]) -> None:
    """Write values into one section of the file, or above all sections for ""; None removes a key.

    Creates the file. Raises ConfigError.
    """
    # The page, a spoken "louder" and a command may change it at the same time.
    with locked_file(path):
        _update(path, section, values)


def _update(path: Path, section: str, values: Mapping[str, Value | None]) -> None:
    """Raises ConfigError and OSError."""
    old = read_toml(path)
    text, table = (old.text, old.table) if old else ("", {})
    new_text = with_values(text, section, values)
    # Refuse an edit whose result differs from the intended one, whatever the layout of the file.
    try:
        is_safe = parse_toml(new_text) == _merged(table, section.split(".") if section else [], values)
    except tomllib.TOMLDecodeError:
        is_safe = False
    if not is_safe:
        lines = " and ".join(
            f"remove {key}" if value is None else f"add {_line(key, value)}" for key, value in values.items()
        )
        place = f" in [{section}]" if section else ""
        raise ConfigError(f"the layout of {path} does not allow a safe edit", hint=f"{lines}{place}")
    write_atomic(path, new_text)


def with_values(text: str, section: str, values: Mapping[str, Value | None]) -> str:
    """The text with these values in the section, replacing existing or commented-out lines; None removes a line."""
    lines = text.splitlines()
    names_section = re.compile(rf"\s*\[\s*{re.escape(section)}\s*\]")
    header = next((number for number, line in enumerate(lines) if names_section.match(line)), None) if section else -1
    if header is None:
        if all(value is None for value in values.values()):
            return text
        lines += ["", f"[{section}]"] if lines else [f"[{section}]"]
        header = len(lines) - 1
    for key, value in values.items():
        end = next((number for number in range(header + 1, len(lines)) if _HEADER.match(lines[number])), len(lines))
        places = range(header + 1, end)
        live = [number for number in places if re.match(rf"\s*{key}\s*=", lines[number])]
        commented = [number for number in places if re.match(rf"#{key}\s*=", lines[number])]
        if value is None:
            for number in live[:1]:
                del lines[number]
        elif place := (live or commented):
            lines[place[0]] = _line(key, value)
        else:
            lines.insert(header + 1, _line(key, value))
    return "\n".join(lines) + "\n"


def _merged(table: Mapping[str, Any], path: list[str], values: Mapping[str, Value | None]) -> dict[str, Any]:
    """The table with these values in the nested table at `path`."""
    if path:
        inner = table.get(path[0], {})
        if not inner and all(value is None for value in values.values()):
            return dict(table)
        return {**table, path[0]: _merged(inner if isinstance(inner, dict) else {}, path[1:], values)}
    merged = {**table, **values}
    return {key: value for key, value in merged.items() if value is not None}


def _line(key: str, value: Value) -> str:
    return f"{key} = {json.dumps(value, ensure_ascii=False)}"
