"""The table of raw replies: text files that a person can read, one per format, and how they are read.

    ### what the case shows
    the raw reply, over as many lines as it has
    => call set_light {"room": "hall"}
    => id a1b2c3d4e
    => error is missing
    => text "left for speech, as JSON"
    => reasoning "as JSON"
    => rejected name reason          (two blanks when there is no name)

`id` and `error` belong to the call above them. What is not stated is not there: no calls, empty text.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "cases"


@dataclass(slots=True)
class ExpectedCall:
    name: str
    arguments: dict[str, Any]
    id: str | None = None
    error: str | None = None


@dataclass(slots=True)
class Case:
    format: str
    title: str
    raw: str
    calls: list[ExpectedCall] = field(default_factory=list)
    text: str = ""
    reasoning: str = ""
    rejected: list[tuple[str, str]] = field(default_factory=list)

    def __str__(self) -> str:
        return f"{self.format}: {self.title}"


@cache
def tools() -> list[dict[str, Any]]:
    """The tools that every case offers."""
    found: list[dict[str, Any]] = json.loads((Path(__file__).parent / "tools.json").read_text(encoding="utf-8"))
    return found


def all_cases() -> list[Case]:
    return [case for path in sorted(FOLDER.glob("*.txt")) for case in read_cases(path)]


def read_cases(path: Path) -> list[Case]:
    blocks = path.read_text(encoding="utf-8").split("### ")[1:]
    return [_read_case(path.stem, block) for block in blocks]


def _read_case(format_name: str, block: str) -> Case:
    title, *lines = block.rstrip("\n").split("\n")
    first = next((at for at, line in enumerate(lines) if line.startswith("=> ")), len(lines))
    case = Case(format_name, title, "\n".join(lines[:first]))
    for line in lines[first:]:
        _, kind, rest = (line + " ").split(" ", 2)
        rest = rest.rstrip()
        match kind:
            case "call":
                name, arguments = rest.split(" ", 1)
                case.calls.append(ExpectedCall(name, json.loads(arguments)))
            case "id":
                case.calls[-1].id = rest
            case "error":
                case.calls[-1].error = rest
            case "text":
                case.text = json.loads(rest)
            case "reasoning":
                case.reasoning = json.loads(rest)
            case "rejected":
                name, _, reason = rest.partition(" ")
                case.rejected.append((name, reason))
            case _:
                raise AssertionError(f"{path_of(format_name)}: {line!r}")
    return case


def path_of(format_name: str) -> Path:
    return FOLDER / f"{format_name}.txt"
