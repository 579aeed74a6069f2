"""The ordinary talk the home model learns: questions and short spoken answers, from `training/talk/*.txt`.

A line is `question | variant => answer | other answer`: every answer fits every question of its line. A line
`@ theme theme` names the files of `training/tools` with tools that may serve the questions below it. A `#`
opens a comment, the file's name is the category.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

TALK_FOLDER = Path(__file__).parent / "talk"


@dataclass(frozen=True, slots=True)
class TalkPair:
    """Ways to ask one thing, and answers for each of them unless a tool of a `served_by` theme is offered."""

    category: str
    questions: tuple[str, ...]
    answers: tuple[str, ...]
    served_by: tuple[str, ...] = ()


def load_talk(folder: Path = TALK_FOLDER) -> list[TalkPair]:
    """Every pair of every file, in the order of their names. Raises ValueError for a line that is no pair."""
    return [pair for path in sorted(folder.glob("*.txt")) for pair in _pairs(path)]


def _pairs(path: Path) -> Iterator[TalkPair]:
    themes: tuple[str, ...] = ()
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        if line.startswith("@"):
            themes = tuple(line[1:].split())
        elif line.strip() and not line.startswith("#"):
            sides = [_choices(side) for side in line.split("=>")]
            if len(sides) != 2 or not all(all(side) for side in sides):
                raise ValueError(
                    f"{path.name}:{number}: a line is 'question | variant => answer | other answer'"
                )
            questions, answers = sides
            yield TalkPair(path.stem, questions, answers, themes)


def _choices(side: str) -> tuple[str, ...]:
    return tuple(choice.strip() for choice in side.split("|"))
