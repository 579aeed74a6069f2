"""Per-key metadata of the settings: validation of single values, and error messages for wrong ones."""

from __future__ import annotations

import difflib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any

from pydantic import ConfigDict, TypeAdapter, ValidationError
from pydantic.fields import FieldInfo

from edgevox.config.sections import Section
from edgevox.config.settings import Settings

PLUGINS = "plugins"
"""The section that is not in the catalogue: only plugins know what is in their tables."""

_TYPE_WORDS = {
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "string": "a text",
    "array": "a list of texts",
}


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting: its dotted name, what may be written there, and what holds when nothing is."""

    name: str
    section: str
    description: str
    default: object
    example: object
    expected: str
    is_list: bool
    is_table: bool
    _adapter: TypeAdapter[Any]

    @property
    def schema(self) -> Mapping[str, Any]:
        """What may be written there, as JSON Schema."""
        return self._adapter.json_schema()

    def from_toml(self, value: object) -> object:
        """The value, if it is of the right type exactly. Raises ValueError with what is wrong."""
        # JSON's strict mode makes a list a tuple and a text a path; nothing else changes its type.
        text = json.dumps(value, default=str)
        return self._checked(value, lambda: self._adapter.validate_json(text, strict=True))

    def from_text(self, text: str) -> object:
        """The value that an environment variable spells. Raises ValueError.

        Lists are separated by commas, and so are tables: `lock=screen, light=never`.
        """
        items = [item.strip() for item in text.split(",") if item.strip()]
        if self.is_list:
            return self.from_toml(items)
        if self.is_table:
            table = {key.strip(): value.strip() for key, _, value in (item.partition("=") for item in items)}
            return self._checked(text, lambda: self._adapter.validate_strings(table))
        return self._checked(text, lambda: self._adapter.validate_strings(text))

    def from_flag(self, value: object) -> object:
        """The value that a command's option gave. Raises ValueError."""
        return self._checked(value, lambda: self._adapter.validate_python(value))

    def _checked(self, value: object, check: Callable[[], object]) -> object:
        try:
            return check()
        except ValidationError as error:
            for fault in error.errors(include_url=False):
                if fault["type"] == "value_error":  # a check of our own knows better what is wrong
                    raise ValueError(f"{self.name}: {fault['ctx']['error']}") from error
            raise ValueError(f"{self.name} must be {self.expected}, not {_shown(value)}") from error


@cache
def catalogue() -> Mapping[str, Setting]:
    """Every setting by its dotted name, in the order of the model."""
    found: dict[str, Setting] = {}
    for key, field in Settings.model_fields.items():
        if isinstance(field.default, Section):
            section = type(field.default)
            for name, inner in section.model_fields.items():
                found[f"{key}.{name}"] = _setting(f"{key}.{name}", key, inner)
        else:
            found[key] = _setting(key, "", field)
    return found


@cache
def sections() -> Mapping[str, str]:
    """The tables of the settings, each with its title."""
    return {
        key: (type(field.default).__doc__ or "").strip()
        for key, field in Settings.model_fields.items()
        if isinstance(field.default, Section)
    }


def unknown(name: str) -> str:
    """Say that there is no such setting, and which one was probably meant."""
    if name.startswith(f"{PLUGINS}."):
        return f"{name} is a plugin's: it can be set in the file only, in a table [{PLUGINS}.NAME]"
    if name in sections():
        return f"{name} is a section: write [{name}], and its settings below"
    meant = suggestions(name)
    if meant:
        return f"unknown setting {name}: did you mean {' or '.join(meant)}?"
    section, _, _ = name.rpartition(".")
    names = [key.removeprefix(f"{section}.") for key, s in catalogue().items() if s.section == section]
    if names:
        place = f"[{section}]" if section else "the top level"
        return f"unknown setting {name}: {place} has {', '.join(names)}"
    return f"unknown setting {name}: the sections are {', '.join(sections())}"


def suggestions(name: str) -> list[str]:
    """The settings that `name` probably means: the nearest spelling, or the same key in other sections."""
    section, _, key = name.rpartition(".")
    near = difflib.get_close_matches(name, catalogue(), n=1, cutoff=0.75)
    same_key = [other for other in catalogue() if other.rpartition(".")[2] == key]
    return near or same_key if section else same_key or near


def _setting(name: str, section: str, field: FieldInfo) -> Setting:
    annotated: Any = Annotated[field.annotation, field]  # with the field's limits
    adapter: TypeAdapter[Any] = TypeAdapter(annotated, config=ConfigDict(allow_inf_nan=False))
    schema = adapter.json_schema()
    return Setting(
        name=name,
        section=section,
        description=field.description or "",
        default=field.default,
        example=field.examples[0] if field.examples else None,
        expected=_expected(schema),
        is_list=schema.get("type") == "array",
        is_table=schema.get("type") == "object",
        _adapter=adapter,
    )


def _expected(schema: Mapping[str, Any]) -> str:
    if "anyOf" in schema:
        return " or ".join(_expected(part) for part in schema["anyOf"] if part.get("type") != "null")
    if "enum" in schema:
        return " or ".join(map(_shown, schema["enum"]))
    if "const" in schema:
        return _shown(schema["const"])
    if schema.get("format") == "path":
        return "the path of a file"
    if schema["type"] == "object":
        return f"a table with {_expected(schema['additionalProperties'])} for each name"
    return _TYPE_WORDS[schema["type"]] + _range(schema)


def _range(schema: Mapping[str, Any]) -> str:
    match schema:
        case {"minimum": low, "maximum": high}:
            return f" from {low} to {high}"
        case {"exclusiveMinimum": low, "maximum": high}:
            return f" above {low} and up to {high}"
        case {"minimum": low}:
            return f" of at least {low}"
        case {"minLength": 1}:
            return " that is not empty"
        case _:
            return ""


def _shown(value: object) -> str:
    text = json.dumps(value, default=str, ensure_ascii=False)
    return text if len(text) <= 60 else text[:57] + "..."
