"""Tools in one line each, for a model that was trained to read them so. FROZEN: the home model is.

`light_set(name?, area?, brightness?: 0..100): Set the brightness`: a quarter of the tokens of the JSON. Any
change needs a new HOME_PROMPT_VERSION and a model that was trained on it; a test holds a digest.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from edgevox.core.types import JsonObject

# A longer list of choices is left to the grammar: it costs more tokens than it tells.
_MAX_CHOICES = 8
_MAX_EXAMPLES = 2
_MAX_SLOT_DESCRIPTION_CHARS = 60
_SHORT = {"string": "", "integer": "int", "boolean": "bool", "array": "list"}


def tools_text(tools: Iterable[JsonObject]) -> str:
    """What a prompt says of the tools."""
    return "\n".join(("Tools:", *map(tool_line, tools)))


def tool_line(tool: JsonObject) -> str:
    """A tool in OpenAI's form, or the bare function. A parameter without a type is a text."""
    function = tool.get("function", tool)
    parameters = function.get("parameters") or {}
    required = parameters.get("required", ())
    slots = (
        f"{name}{'' if name in required else '?'}{_about(part)}"
        for name, part in parameters.get("properties", {}).items()
    )
    description = _one_line(function.get("description"))
    examples = [f'"{_one_line(text)}"' for text in function.get("examples", ())[:_MAX_EXAMPLES]]
    if examples and description and description[-1] not in ".!?":
        description += "."
    return " ".join((f"{function['name']}({', '.join(slots)}): {description}", ", ".join(examples))).rstrip()


def _about(slot: object) -> str:
    if not isinstance(slot, Mapping):  # JSON Schema also knows true and false
        return ""
    kind = _type_text(slot)
    description = _one_line(slot.get("description"))[:_MAX_SLOT_DESCRIPTION_CHARS].rstrip()
    about = " ".join(filter(None, (kind, f"({description})" if description else "")))
    return f": {about}" if about else ""


def _type_text(schema: Mapping[str, Any]) -> str:
    if "enum" in schema:
        choices = schema["enum"]
        return "|".join(map(str, choices)) if len(choices) <= _MAX_CHOICES else ""
    if "anyOf" in schema:
        return "|".join(filter(None, map(_type_text, schema["anyOf"])))
    if "minimum" in schema and "maximum" in schema:
        return f"{schema['minimum']}..{schema['maximum']}"
    kind = schema.get("type", "string")
    kinds = [kind] if isinstance(kind, str) else kind
    return "|".join(filter(None, (_SHORT.get(one, str(one)) for one in kinds)))


def _one_line(text: object) -> str:
    return " ".join(str(text or "").split())
