"""Derives the JSON Schema of a function's arguments, and converts JSON arguments to its annotated types.

Types come from the signature, descriptions from the docstring: its text describes the tool, its `Args:`
section the parameters. The schema is kept small (no titles, `$ref` inlined where possible), because it is
part of every prompt.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import json
import operator
import re
import textwrap
import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

from jsonschema import Draft202012Validator, SchemaError
from pydantic import Field, PydanticUserError, TypeAdapter, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import PydanticSerializationError, to_jsonable_python

from edgevox.core.errors import ConfigError, InvalidArguments
from edgevox.core.types import JsonObject

_SECTION = re.compile(r"^(Args|Arguments|Parameters|Returns|Yields|Raises|Examples?|Notes?):[ \t]*$", re.MULTILINE)
_ARGUMENT_HEADINGS = ("Args", "Arguments", "Parameters")
_ARGUMENT = re.compile(r"^(\w+)[ \t]*(?:\([^)]*\))?:[ \t]*", re.MULTILINE)
_DEFINITIONS = "#/$defs/"
# Keywords whose values must stay as they are, and those with keys that the author chose.
_VALUES = frozenset({"enum", "const", "default", "examples"})
_BY_NAME = frozenset({"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"})


def schema_fault(schema: JsonObject) -> str | None:
    """The reason why this is not a JSON Schema of draft 2020-12, or None. Raises RecursionError."""
    return _fault_of_text(json.dumps(schema, default=str))


# A check takes milliseconds, and the same schemas are checked again with every request.
@functools.lru_cache(maxsize=1024)
def _fault_of_text(schema_json: str) -> str | None:
    try:
        Draft202012Validator.check_schema(json.loads(schema_json))
    except SchemaError as error:
        return str(error.message)
    return None


def map_subschemas(schema: Mapping[str, Any], change: Callable[[Any], Any]) -> dict[str, Any]:
    """The schema with `change` applied to everything in it that is no plain value and no name chosen by the author."""

    def changed(key: str, value: Any) -> Any:  # noqa: ANN401 - JSON
        if key in _VALUES:
            return value
        if key in _BY_NAME and isinstance(value, Mapping):
            return {name: change(part) for name, part in value.items()}
        return [change(part) for part in value] if isinstance(value, list) else change(value)

    return {key: changed(key, value) for key, value in schema.items()}


@dataclass(frozen=True, slots=True)
class Signature:
    """The parameters of a function; `parameters` is their JSON Schema."""

    description: str
    parameters: JsonObject
    adapters: Mapping[str, TypeAdapter[Any]] = field(repr=False)

    def convert(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Convert JSON values to the annotated Python types. Raises InvalidArguments."""
        converted = dict(arguments)
        for name, adapter in self.adapters.items():
            if name in arguments:
                try:
                    converted[name] = adapter.validate_python(arguments[name])
                except ValidationError as error:
                    raise InvalidArguments(_sentence(name, error)) from error
        return converted


def read_signature(function: Callable[..., Any]) -> Signature:
    """Derive the schema of a function. Raises ConfigError for a parameter that JSON cannot express."""
    description, explained = read_docstring(inspect.getdoc(_written(function)) or "")
    adapters: dict[str, TypeAdapter[Any]] = {}
    defaults: dict[str, object] = {}
    is_open = False
    hints = _hints(function)
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind is parameter.VAR_KEYWORD:
            is_open = True
            continue
        annotation = _annotation(function, parameter, hints)
        if parameter.default is not parameter.empty:
            defaults[parameter.name] = parameter.default
            if parameter.default is None:
                annotation = _without_none(annotation)
        adapters[parameter.name] = _adapter(function, parameter.name, annotation)
    parameters = _parameters(function, adapters, defaults, explained)
    if is_open:
        parameters["additionalProperties"] = True
    return Signature(description, parameters, adapters)


def read_docstring(text: str) -> tuple[str, dict[str, str]]:
    """The description, and the text of each parameter in the `Args:` section."""
    description, *sections = _SECTION.split(text)
    bodies = zip(sections[::2], sections[1::2], strict=True)
    arguments = "".join(textwrap.dedent(body) for heading, body in bodies if heading in _ARGUMENT_HEADINGS)
    _, *explained = _ARGUMENT.split(arguments)
    names, texts = explained[::2], map(_joined, explained[1::2])
    return _joined(description), dict(zip(names, texts, strict=True))


def _joined(text: str) -> str:
    return " ".join(text.split())


def _written(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function under the decorators, with its types and docstring."""
    if isinstance(function, functools.partial):
        return _written(function.func)
    return function if inspect.isroutine(function) else type(function).__call__


def _hints(function: Callable[..., Any]) -> dict[str, Any]:
    try:
        return get_type_hints(_written(function), include_extras=True)
    except (NameError, TypeError) as error:
        raise ConfigError(
            f"the type annotations of {_name(function)} cannot be resolved: {error}",
            hint="define the types of a tool's parameters at module level",
        ) from error


def _annotation(function: Callable[..., Any], parameter: inspect.Parameter, hints: dict[str, Any]) -> Any:  # noqa: ANN401 - a type
    if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.VAR_POSITIONAL):
        raise ConfigError(
            f"{_name(function)} takes {parameter.name} by position only", hint="models pass every argument by name"
        )
    if parameter.name not in hints:
        raise ConfigError(
            f"the parameter {parameter.name} of {_name(function)} has no type annotation",
            hint=f"write {parameter.name}: str, or its type; decorate bound methods only",
        )
    if isinstance(parameter.default, FieldInfo):
        raise ConfigError(
            f"the default of {parameter.name} in {_name(function)} is a Field",
            hint="write Annotated[int, Field(ge=0)] = 3",
        )
    return hints[parameter.name]


def _without_none(annotation: Any) -> Any:  # noqa: ANN401 - a type
    """For `X | None = None` the type X: omitting the argument means None, and the schema stays simple."""
    if get_origin(annotation) is Annotated:
        inner, *extras = get_args(annotation)
        return Annotated[(_without_none(inner), *extras)]
    if get_origin(annotation) in (Union, types.UnionType):
        rest = [option for option in get_args(annotation) if option is not type(None)]
        return functools.reduce(operator.or_, rest) if rest else annotation
    return annotation


def _adapter(function: Callable[..., Any], name: str, annotation: Any) -> TypeAdapter[Any]:  # noqa: ANN401 - a type
    if get_origin(annotation) is Annotated:
        inner, *extras = get_args(annotation)
        described = (Field(description=extra) if isinstance(extra, str) else extra for extra in extras)
        annotation = Annotated[(inner, *described)]
    try:
        return TypeAdapter(annotation)
    except (PydanticUserError, TypeError) as error:
        raise _unusable(function, name, error) from error


def _parameters(
    function: Callable[..., Any],
    adapters: Mapping[str, TypeAdapter[Any]],
    defaults: Mapping[str, object],
    explained: Mapping[str, str],
) -> dict[str, Any]:
    properties: dict[str, Any] = {}
    definitions: dict[str, Any] = {}
    for name, adapter in adapters.items():
        try:
            schema = adapter.json_schema(ref_template=f"{_DEFINITIONS}{name}.{{model}}")
        except PydanticUserError as error:
            raise _unusable(function, name, error) from error
        own = {f"{name}.{key}": part for key, part in schema.pop("$defs", {}).items()}
        inlined = _inlined(schema, own, ())
        definitions |= {key: _inlined(own[key], own, (key,)) for key in _references(inlined, own)}
        if name in explained:
            inlined.setdefault("description", explained[name])
        if defaults.get(name) is not None:
            with contextlib.suppress(PydanticSerializationError):  # a sentinel that JSON cannot express
                inlined["default"] = to_jsonable_python(defaults[name])
        properties[name] = inlined
    parameters: dict[str, Any] = {"type": "object", "properties": properties}
    if required := [name for name in adapters if name not in defaults]:
        parameters["required"] = required
    if definitions:
        parameters["$defs"] = definitions
    return parameters


def _inlined(schema: Any, definitions: Mapping[str, Any], inside: tuple[str, ...]) -> Any:  # noqa: ANN401 - JSON
    """The schema without titles, and with references inlined, except recursive ones."""
    if not isinstance(schema, dict):
        return schema
    target = str(schema.get("$ref", "")).removeprefix(_DEFINITIONS)
    if target in definitions and target not in inside and target not in _references(definitions[target], definitions):
        beside = {key: value for key, value in schema.items() if key != "$ref"}
        return _inlined({**definitions[target], **beside}, definitions, (*inside, target))
    untitled = {key: value for key, value in schema.items() if key != "title"}
    return map_subschemas(untitled, lambda part: _inlined(part, definitions, inside))


def _references(schema: object, definitions: Mapping[str, Any]) -> set[str]:
    """The definitions that a schema uses, directly and indirectly."""
    found: set[str] = set()
    waiting = [schema]
    while waiting:
        part = waiting.pop()
        if isinstance(part, dict):
            target = str(part.get("$ref", "")).removeprefix(_DEFINITIONS)
            if target in definitions and target not in found:
                found.add(target)
                waiting.append(definitions[target])
            waiting += part.values()
        elif isinstance(part, list):
            waiting += part
    return found


def _sentence(name: str, error: ValidationError) -> str:
    problems = []
    for problem in error.errors(include_url=False, include_context=False, include_input=False)[:3]:
        path = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in problem["loc"])
        problems.append(f"{name}{path}: {problem['msg']}")
    return "; ".join(problems)


def _unusable(function: Callable[..., Any], name: str, error: Exception) -> ConfigError:
    return ConfigError(
        f"unsupported type of {name} in {_name(function)}: {str(error).splitlines()[0]}",
        hint="use plain types, Literal, Enum, dataclasses, pydantic models, or lists of them",
    )


def _name(function: Callable[..., Any]) -> str:
    return getattr(function, "__name__", type(function).__name__)
