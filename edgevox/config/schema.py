"""Per-key metadata of the settings: validation of single values, and error messages for wrong ones."""

from __future__ import annotations

import difflib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Annotated, Any

from pydantic import ConfigDict, TypeAdapter, ValidationError
from pydantic.fields import FieldInfo

from edgevox.config.sections import Section
from edgevox.config.settings import Settings

PLUGINS = "plugins"
"""The section outside the catalogue: the contents of its tables belong to the plugins."""

# A settings file is written by hand: its names are its version. Each former name leads to its present one.
RENAMED: Mapping[str, str] = {}

_TYPE_WORDS = {
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "string": "a text",
    "array": "a list of texts",
}


@dataclass(frozen=True)
class Setting:
    """One setting: its dotted name, allowed values and default."""

    name: str
    section: str
    description: str
    default: object
    example: object
    _field: FieldInfo

    @cached_property
    def _adapter(self) -> TypeAdapter[Any]:
        annotated: Any = Annotated[self._field.annotation, self._field]  # includes the field's limits
        return TypeAdapter(annotated, config=ConfigDict(allow_inf_nan=False))

    @cached_property
    def schema(self) -> Mapping[str, Any]:
        """The allowed values as JSON Schema."""
        return self._adapter.json_schema()

    @property
    def expected(self) -> str:
        """The allowed values in words."""
        return _expected(self.schema)

    def from_toml(self, value: object) -> object:
        """Validate a TOML value, without type coercion. Raises ValueError."""
        # JSON's strict mode turns a list into a tuple and a text into a path, and coerces nothing else.
        text = json.dumps(value, default=str)
        return self._checked(value, lambda: self._adapter.validate_json(text, strict=True))

    def from_text(self, text: str) -> object:
        """Parse an environment variable. Raises ValueError.

        Lists and tables are comma-separated: `lock=screen, light=never`.
        """
        items = [item.strip() for item in text.split(",") if item.strip()]
        if self.schema.get("type") == "array":
            return self.from_toml(items)
        if self.schema.get("type") == "object":
            table = {key.strip(): value.strip() for key, _, value in (item.partition("=") for item in items)}
            return self._checked(text, lambda: self._adapter.validate_strings(table))
        return self._checked(text, lambda: self._adapter.validate_strings(text))

    def from_flag(self, value: object) -> object:
        """Validate the value of a command-line option. Raises ValueError."""
        return self._checked(value, lambda: self._adapter.validate_python(value))

    def _checked(self, value: object, check: Callable[[], object]) -> object:
        try:
            return check()
        except ValidationError as error:
            for fault in error.errors(include_url=False):
                if fault["type"] == "value_error":  # raised by our own validators, whose message is better
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
    """The sections of the settings with their titles."""
    return {
        key: (type(field.default).__doc__ or "").strip()
        for key, field in Settings.model_fields.items()
        if isinstance(field.default, Section)
    }


def unknown(name: str) -> str:
    """The error message for an unknown setting, with suggestions."""
    if name.startswith(f"{PLUGINS}."):
        return f"{name} belongs to a plugin: set it in the settings file, in a table [{PLUGINS}.NAME]"
    if name in sections():
        return f"{name} is a section: write [{name}], with its settings below"
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
    """The settings that were probably meant: similar spelling, or the same key in other sections."""
    section, _, key = name.rpartition(".")
    near = difflib.get_close_matches(name, catalogue(), n=1, cutoff=0.75)
    same_key = [other for other in catalogue() if other.rpartition(".")[2] == key]
    return near or same_key if section else same_key or near


def _setting(name: str, section: str, field: FieldInfo) -> Setting:
    example = field.examples[0] if field.examples else None
    return Setting(name, section, field.description or "", field.default, example, field)


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
