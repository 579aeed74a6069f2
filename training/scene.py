"""What the generator makes and the training reads: dialogues that share one system prompt."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

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
