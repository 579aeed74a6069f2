"""Calls as the home model writes them: a list in Python's form."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Call:
    """One call; `arguments` are in the order of the tool's schema."""

    tool: str
    arguments: Mapping[str, Any] = field(default_factory=dict)


def written(calls: Iterable[Call]) -> str:
    """`[turn_on(area="kitchen", domain="light"), media_pause()]`."""
    return f"[{', '.join(map(_call, calls))}]"


def _call(call: Call) -> str:
    arguments = (f"{name}={_value(value)}" for name, value in call.arguments.items())
    return f"{call.tool}({', '.join(arguments)})"


def _value(value: object) -> str:
    match value:
        case bool() | None:
            return str(value)
        case list() | tuple():
            return f"[{', '.join(map(_value, value))}]"
        case Mapping():
            members = (
                f"{json.dumps(key, ensure_ascii=False)}: {_value(part)}" for key, part in value.items()
            )
            return f"{{{', '.join(members)}}}"
        case _:
            return json.dumps(value, ensure_ascii=False)
