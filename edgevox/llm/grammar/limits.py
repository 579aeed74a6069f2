"""Bounds the cost of a request's JSON Schemas before anything is built from them.

The limits are far below what the grammar builders take (ADR 9): a chain of 2,500 optional properties overflows
llguidance's stack and ends the process, and a long pattern or a schema of thousands of parts takes seconds. They apply
to all schemas of a request together, because one grammar is built from them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

# What a limit counts, and how many there may be. docs/guide/server.md lists them.
MOST_NESTED = 64
MOST_PARTS = 2_000
MOST_PROPERTIES = 256
MOST_VALUES = 2_000
MOST_REFERENCES = 100
MOST_PATTERN_CHARS = 500
MOST_PATTERNS_CHARS = 4_000
MOST_NAME_CHARS = 100_000


class SchemaOverLimit(Exception):
    """The schemas of a request exceed a limit; the message names it."""


@dataclass(slots=True)
class SchemaCost:
    """Counts what the schemas of one request would cost."""

    parts: int = 0
    values: int = 0
    references: int = 0
    pattern_chars: int = 0
    name_chars: int = 0

    def add(self, schema: object) -> None:
        """Count one more schema. Raises SchemaOverLimit."""
        waiting: list[tuple[object, int]] = [(schema, 1)]
        while waiting:
            value, depth = waiting.pop()
            if depth > MOST_NESTED:
                raise SchemaOverLimit(f"schemas may be nested at most {MOST_NESTED} levels deep")
            match value:
                case Mapping():
                    self._add_part(value)
                    waiting += ((part, depth + 1) for part in value.values())
                case list() | tuple():
                    waiting += ((part, depth + 1) for part in value)
                case _:
                    pass

    def _add_part(self, part: Mapping[str, object]) -> None:
        self.parts += 1
        self.references += "$ref" in part
        self.name_chars += sum(map(len, part))
        match part.get("properties"):
            case Mapping() as properties if len(properties) > MOST_PROPERTIES:
                raise SchemaOverLimit(f"an object of a schema may have at most {MOST_PROPERTIES} properties")
            case _:
                pass
        match part.get("enum"):
            case list() as values:
                self.values += len(values)
                self.name_chars += sum(len(value) for value in values if isinstance(value, str))
            case _:
                pass
        by_pattern = part.get("patternProperties")
        self._add_patterns([part.get("pattern"), *(by_pattern if isinstance(by_pattern, Mapping) else ())])
        _check(self.parts, MOST_PARTS, "parts (objects in braces)")
        _check(self.values, MOST_VALUES, "enum values")
        _check(self.references, MOST_REFERENCES, "references ($ref)")
        _check(self.name_chars, MOST_NAME_CHARS, "characters in names and enum values")
        _check(self.pattern_chars, MOST_PATTERNS_CHARS, "characters in patterns")

    def _add_patterns(self, patterns: Sequence[object]) -> None:
        for pattern in patterns:
            if isinstance(pattern, str):
                self.pattern_chars += len(pattern)
                if len(pattern) > MOST_PATTERN_CHARS:
                    raise SchemaOverLimit(f"a pattern of a schema may have at most {MOST_PATTERN_CHARS} characters")


def _check(count: int, limit: int, what: str) -> None:
    if count > limit:
        raise SchemaOverLimit(f"the schemas of a request may have at most {limit:,} {what} in all")
