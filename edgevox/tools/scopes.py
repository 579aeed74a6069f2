"""Whose request it is, and what it may do: a model cannot do through a tool what its caller may not."""

from __future__ import annotations

from dataclasses import dataclass

EVERYTHING = "*"
CONFIRM = "confirm"
"""The permission to say yes to what somebody else asked for."""


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks. `read` looks things up, `act` changes them; a tool may want its own scope (`home.locks`).

    A scope may end in `.*` for all below it; `*` alone is every scope.
    """

    name: str
    scopes: frozenset[str] = frozenset()

    def may(self, scope: str) -> bool:
        if EVERYTHING in self.scopes or scope in self.scopes:
            return True
        parts = scope.split(".")
        return any(".".join((*parts[:end], "*")) in self.scopes for end in range(1, len(parts)))


LOCAL = Caller("local", frozenset({EVERYTHING}))
"""Whoever is in the room: the microphone and the keyboard."""
