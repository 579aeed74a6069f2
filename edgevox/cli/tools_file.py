"""A file of tools, as people give one to a command: a JSON array in OpenAI's form."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from edgevox.errors import ConfigError


def read_tools(path: Path) -> list[dict[str, Any]]:
    """The tools in that file. Raises ConfigError."""
    try:
        tools = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as err:
        raise ConfigError(f"{path} cannot be read as JSON: {err}", hint="write an array of tools") from err
    if not isinstance(tools, list) or not all(isinstance(tool, dict) for tool in tools):
        raise ConfigError(f"{path} holds no array of tools", hint="an array in OpenAI's form is expected")
    return tools
