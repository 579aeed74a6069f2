"""Resolves a tool call once: parses and validates its JSON arguments and looks up its targets.

Policy, confirmation, execution and answer share the resulting `ResolvedCall`. Errors in the arguments are worded so
that a model can correct them.
"""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, NoReturn

from jsonschema import ValidationError
from jsonschema.exceptions import best_match

from edgevox.core.errors import InvalidArguments, UnknownTool
from edgevox.core.types import JsonObject, ToolCall
from edgevox.tools.runner import Raised, guarded
from edgevox.tools.sanitize import sanitize_tool_output
from edgevox.tools.tool import Resolution, Target, Tool

_MAX_PROBLEMS = 3
_MAX_SHOWN_CHARS = 60
_MAX_SUMMARY_CHARS = 120
PROGRAMS = frozenset({"scene", "script", "automation"})
"""The domains of entities that act on others when they are turned on."""
_DOTTED = re.compile(r"(?P<domain>[a-z_]+)\.(?P<name>[a-z0-9_]+)")
_NAMED_TYPES = {"integer": "a whole number", "array": "a list", "object": "an object", "null": "null"}
_LIMITS = {
    "minimum": "at least",
    "maximum": "at most",
    "exclusiveMinimum": "more than",
    "exclusiveMaximum": "less than",
}


@dataclass(frozen=True, slots=True)
class ResolvedCall:
    """A call as `given`, and with normalised arguments as `call`: what hooks, events and memory see.

    `resolution` is the error when the call cannot be resolved.
    """

    given: ToolCall
    call: ToolCall
    tool: Tool | None
    resolution: Resolution | Raised


def resolve_call(call: ToolCall, tool: Tool | None) -> ResolvedCall:
    """Raises nothing: errors, also those of the tool's own code, are in the result."""
    if tool is None:
        return ResolvedCall(
            call, call, None, Raised(UnknownTool.code, f"unknown_tool: {call.name}", is_tool_error=True)
        )
    parsed = guarded(lambda: read_arguments(tool, call.arguments))
    if isinstance(parsed, Raised):
        error = dataclasses.replace(parsed, message=f"invalid_arguments: {parsed.message}")
        return ResolvedCall(call, call, tool, error)
    resolved = guarded(lambda: (tool.resolve or partial(_resolution, tool))(parsed.value))
    resolution: Resolution | Raised = resolved if isinstance(resolved, Raised) else resolved.value
    if isinstance(resolution, Raised):
        summary = call_summary(call.name, parsed.value)
        return ResolvedCall(call, dataclasses.replace(call, summary=summary), tool, resolution)
    is_same = resolution.arguments == parsed.value
    text = call.arguments if is_same else json.dumps(resolution.arguments, ensure_ascii=False)
    summary = sanitize_tool_output(resolution.summary) or call_summary(call.name, resolution.arguments)
    return ResolvedCall(call, dataclasses.replace(call, arguments=text, summary=summary), tool, resolution)


def call_summary(name: str, arguments: JsonObject) -> str:
    """A call in words, by its name and arguments: "Search documents: query holidays"."""
    words = name.replace("_", " ").strip()
    values = ", ".join(
        f"{slot.replace('_', ' ')} {value}" for slot, value in arguments.items() if value not in ("", None)
    )
    text = sanitize_tool_output(f"{words[:1].upper()}{words[1:]}{': ' if values else ''}{values}")
    return text if len(text) <= _MAX_SUMMARY_CHARS else f"{text[:_MAX_SUMMARY_CHARS]}…"


def _resolution(tool: Tool, arguments: JsonObject) -> Resolution | Raised:
    if not tool.side_effects:
        return Resolution(arguments)
    targets = tool.targets or _argument_targets
    found = guarded(lambda: tuple(targets(arguments)))
    if isinstance(found, Raised):
        return found if found.is_tool_error else Resolution(arguments, targets=None)
    return Resolution(arguments, found.value)


def _argument_targets(arguments: JsonObject) -> Iterable[Target]:
    """Targets read from the arguments of a tool that does not name its targets."""
    domains = _texts(arguments.get("domain"))
    classes = _texts(arguments.get("device_class")) or [""]
    # A class without a domain is a cover's: only covers have doors, garages and gates.
    for domain in domains or ["cover"]:
        for device_class in classes:
            yield Target(domain, device_class, is_unknown=domain in PROGRAMS)
    for slot in ("name", "entity", "device", "item", "target"):
        # Its kind is unknown, so it is judged by its name, as a relay is.
        if isinstance(name := arguments.get(slot), str):
            yield Target("switch", name=name)
    # An entity or a service of Home Assistant, wherever it is: "lock.front_door", "lock.unlock".
    for found in map(_DOTTED.fullmatch, _all_texts(arguments)):
        if found:
            yield Target(found["domain"], name=found["name"], is_unknown=found["domain"] in PROGRAMS)


def _all_texts(value: object) -> Iterator[str]:
    match value:
        case str():
            yield value
        case Mapping():
            yield from (text for member in value.values() for text in _all_texts(member))
        case list():
            yield from (text for member in value for text in _all_texts(member))


def _texts(value: object) -> list[str]:
    if isinstance(value, str):
        return [value]
    return [member for member in value if isinstance(member, str)] if isinstance(value, list) else []


def read_arguments(tool: Tool, text: str) -> dict[str, Any]:
    """The arguments, validated against the tool's schema. Raises InvalidArguments.

    Null for an optional parameter that is not nullable counts as left out.
    """
    arguments = _loads(text)
    if not isinstance(arguments, dict):
        raise InvalidArguments(f"the arguments must be an object, not {_shown(arguments)}")
    properties = tool.parameters.get("properties", {})
    required = tool.parameters.get("required", ())
    for name in [name for name, value in arguments.items() if value is None]:
        if name in properties and name not in required and not _allows_null(tool, name):
            del arguments[name]
    try:
        problems = sorted(tool.validator.iter_errors(arguments), key=lambda error: list(map(str, error.path)))
    except RecursionError as error:
        raise InvalidArguments("the arguments are nested too deeply") from error
    if problems:
        sentences = dict.fromkeys(explain(problem, tool) for problem in problems[:_MAX_PROBLEMS])
        raise InvalidArguments("; ".join(sentences))
    return arguments


def explain(problem: ValidationError, tool: Tool) -> str:
    """The error in one argument, and the expected value."""
    field = _field(problem)
    if problem.validator in ("anyOf", "oneOf") and problem.context:
        kinds = [part.validator_value for part in problem.context if part.validator == "type"]
        if len(kinds) == len(problem.context) and all(isinstance(kind, str) for kind in kinds):
            return f"{field} must be {_either(kinds)}, not {_shown(problem.instance)}"
        problem = best_match(problem.context) or problem
        field = _field(problem)
    wanted: Any = problem.validator_value
    got: Any = problem.instance
    match problem.validator:
        case "required":
            inside = f" in {field}" if field else ""
            missing = [name for name in wanted if name not in got]
            return f"{', '.join(missing)} must be given{inside}"
        case "additionalProperties" if not field:
            known = tool.parameters.get("properties", {})
            unknown = ", ".join(_shown(name) for name in got if name not in known)
            return f"{unknown} is no parameter of {tool.name}; it takes {', '.join(known) or 'none'}"
        case "type":
            kinds = [wanted] if isinstance(wanted, str) else wanted
            return f"{field} must be {_either(kinds)}, not {_shown(got)}"
        case "enum":
            return f"{field} must be one of {', '.join(map(_shown, wanted))}, not {_shown(got)}"
        case "const":
            return f"{field} must be {_shown(wanted)}, not {_shown(got)}"
        case "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" as limit:
            return f"{field} must be {_LIMITS[limit]} {wanted}, not {_shown(got)}"
        case "minLength" | "minItems" | "maxLength" | "maxItems" as limit:
            bound = "at least" if limit.startswith("min") else "at most"
            return f"{field} must have {bound} {wanted} {'characters' if isinstance(got, str) else 'entries'}"
        case "format":
            return f"{field} must be a {wanted}, not {_shown(got)}"
        case "pattern":
            return f"{field} must match {wanted}, not {_shown(got)}"
        case _:
            return f"{field or 'the arguments'}: {problem.message[:200]}"


def _loads(text: str) -> Any:  # noqa: ANN401 - JSON
    try:
        return _DECODER.decode(text or "{}")
    except RecursionError as error:
        raise InvalidArguments("the arguments are nested too deeply") from error
    except ValueError as error:
        raise InvalidArguments(f"the arguments are not JSON ({error})") from error


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no number")


_DECODER = json.JSONDecoder(parse_constant=_refuse)


def _allows_null(tool: Tool, name: str) -> bool:
    return bool(tool.validator.evolve(schema=tool.parameters["properties"][name]).is_valid(None))


def _field(problem: ValidationError) -> str:
    path = ""
    for part in problem.absolute_path:
        path += f"[{part}]" if isinstance(part, int) else f".{part}" if path else str(part)
    return path


def _either(kinds: Iterable[Any]) -> str:
    return " or ".join(_NAMED_TYPES.get(kind, f"a {kind}") for kind in kinds)


def _shown(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= _MAX_SHOWN_CHARS else f"{text[: _MAX_SHOWN_CHARS - 1]}…"
