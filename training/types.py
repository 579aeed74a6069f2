"""Types of the training data: scenes, dialogues, messages and the tool calls that the model writes."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

Role: TypeAlias = Literal["user", "assistant"]


@dataclass(frozen=True, slots=True)
class Line:
    """One message. Only what the assistant says in a `learnt` line counts in the loss."""

    role: Role
    text: str
    learnt: bool = False


@dataclass(frozen=True, slots=True)
class Dialogue:
    """One conversation behind the scene's system prompt; `category` is for counting."""

    category: str
    lines: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class Scene:
    """A system prompt, and dialogues that know nothing of each other."""

    system: str
    dialogues: tuple[Dialogue, ...]


@dataclass(frozen=True, slots=True)
class Call:
    """One call; `arguments` are in the order of the tool's schema."""

    tool: str
    arguments: Mapping[str, Any] = field(default_factory=dict)


def write_calls(calls: Iterable[Call]) -> str:
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
            members = (f"{json.dumps(key, ensure_ascii=False)}: {_value(part)}" for key, part in value.items())
            return f"{{{', '.join(members)}}}"
        case _:
            return json.dumps(value, ensure_ascii=False)
