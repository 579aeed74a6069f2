"""The tools for shopping lists and to-do lists."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from edgevox.tools.home.choosing import choose
from edgevox.tools.home.home import Action, Home, HomeError, Verb
from edgevox.tools.home.house import Entity
from edgevox.tools.home.matching import Unclear
from edgevox.tools.home.names import are_same, nearest, readings, words
from edgevox.tools.home.wording import brief, listed, sentence, the

_VERBS: dict[str, tuple[Verb, str]] = {
    "list_add_item": ("add_item", "I added {} to {}"),
    "shopping_list_add_item": ("add_item", "I added {} to {}"),
    "list_complete_item": ("complete_item", "{} is ticked off on {}"),
    "shopping_list_complete_item": ("complete_item", "{} is ticked off on {}"),
    "list_remove_item": ("remove_item", "I took {} off {}"),
}
_MOST_NAMED = 5
_MAX_ITEM_CHARS = 200


async def change_list(home: Home, tool: str, arguments: Mapping[str, Any]) -> str:
    verb, reply = _VERBS[tool]
    the_list = choose(tool, arguments, home.house())[0]
    item = " ".join(str(arguments["item"]).split())[:_MAX_ITEM_CHARS]
    if not item:
        raise Unclear("What shall I write down?")
    if verb != "add_item":
        item = await _on_list(home, the_list, item, is_waiting=verb == "complete_item")
    await home.apply(Action(verb, (the_list,), {"item": item}))
    return sentence(reply.format(brief(item), the(the_list)))


async def _on_list(home: Home, the_list: Entity, said: str, *, is_waiting: bool) -> str:
    """The line of the list that is meant. Raises HomeError when there is none."""
    lines = [item.text for item in await home.items(the_list.id) if not (is_waiting and item.is_done)]
    known = frozenset(word for line in lines for word in words(line))
    for reading in (words(said), *readings(words(said), known)):
        same = [line for line in lines if are_same(reading, words(line))]
        part = [line for line in lines if set(reading) <= set(words(line))]
        if same or len(part) == 1:
            return (same or part)[0]
        if part:
            raise Unclear(f"Which one: {listed(part[:_MOST_NAMED], 'or')}?")
    if not lines:
        raise HomeError(sentence(f"{the(the_list)} is empty"))
    close = nearest(said, lines) or lines[:_MOST_NAMED]
    raise HomeError(f"I do not see {brief(said)} on {the(the_list)}. There is {listed(close, 'and')}.")
