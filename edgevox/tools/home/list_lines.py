"""The lines of a list that we keep ourselves, in a state file: added, ticked off, deleted, forgotten."""

from __future__ import annotations

from collections.abc import Callable

from pydantic import BaseModel, ConfigDict

from edgevox.tools.home.home import Action
from edgevox.tools.home.house import ListItem
from edgevox.tools.home.names import words

LIST_VERBS = frozenset({"add_item", "complete_item", "remove_item"})


class Line(BaseModel):
    """One line, as the file has it."""

    model_config = ConfigDict(extra="forbid")

    text: str
    is_done: bool = False


def change_lines(lines: list[Line], action: Action) -> None:
    """Do what the action says to a list, in place; its verb is one of LIST_VERBS."""
    text = str(action.values["item"])
    match action.verb:
        case "add_item":
            lines.append(Line(text=text))
        case "complete_item":
            for line in lines:
                line.is_done = line.is_done or words(line.text) == words(text)
        case "remove_item":
            lines[:] = [line for line in lines if words(line.text) != words(text)]
        case _:
            raise AssertionError(action.verb)


def forget_lines(lines: list[Line], is_forgotten: Callable[[str], bool]) -> int:
    """Delete the lines that are to be forgotten, in place, and return how many."""
    before = len(lines)
    lines[:] = [line for line in lines if not is_forgotten(line.text)]
    return before - len(lines)


def waiting(lines: list[Line]) -> str:
    """A list's state, as Home Assistant has it: how many lines are not done."""
    return str(sum(not line.is_done for line in lines))


def as_items(lines: list[Line]) -> tuple[ListItem, ...]:
    return tuple(ListItem(line.text, line.is_done) for line in lines)
