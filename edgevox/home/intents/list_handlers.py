"""Handlers of lists: read, add, tick off, remove, clear and create."""

from __future__ import annotations

from datetime import datetime

from edgevox.core.languages import counted, listed
from edgevox.core.words import normalized_words
from edgevox.home.entities import Action, Entities, Entity, Home, HomeError, Verb
from edgevox.home.intents.resolution import ResolvedIntent
from edgevox.home.phrasing import brief, sentence, the
from edgevox.home.resolve.fuzzy import closest_names, find_by_words
from edgevox.home.resolve.target_resolver import ClarificationNeeded


async def read_list(home: Home, the_list: Entity) -> str:
    """The open items of a list in a sentence."""
    waiting = [item.text for item in await home.items(the_list.id) if not item.is_done]
    if not waiting:
        return sentence(f"{the(the_list)} is empty")
    return sentence(f"on {the(the_list)}: {listed(waiting, 'and')}")


async def get_items(home: Home, tool: str, intent: ResolvedIntent) -> str:
    """Read lists, or tell on which of them an item is."""
    if item := str(intent.arguments.get("item") or "").strip():
        return await _where(home, intent.entities, item)
    return " ".join([await read_list(home, the_list) for the_list in intent.entities])


async def _where(home: Home, lists: Entities, item: str) -> str:
    on, done = [], []
    for the_list in lists:
        items = await home.items(the_list.id)
        if find_by_words(normalized_words(item), [line.text for line in items if not line.is_done], normalized_words):
            on.append(the(the_list))
        elif find_by_words(normalized_words(item), [line.text for line in items], normalized_words):
            done.append(the(the_list))
    verb = "are" if item.casefold().endswith("s") else "is"
    if on:
        return sentence(f"yes, {brief(item)} {verb} on {listed(on, 'and')}")
    if done:
        return sentence(f"{brief(item)} {verb} ticked off on {listed(done, 'and')}")
    return sentence(f"no, {brief(item)} {verb} not on {the(lists[0]) if len(lists) == 1 else 'any list'}")


async def clear_list(home: Home, tool: str, intent: ResolvedIntent) -> str:
    the_list = intent.entities[0]
    count = len(await home.items(the_list.id))
    if not count:
        return sentence(f"{the(the_list)} is empty already")
    await home.apply(Action("clear_items", (the_list,)))
    return sentence(f"I removed {counted(count, 'item')} from {the(the_list)}")


async def create_list(home: Home, tool: str, intent: ResolvedIntent) -> str:
    said = " ".join(str(intent.arguments["name"]).split())
    if not said:
        raise ClarificationNeeded("How should the list be called? Say: create a list called, and its name.")
    name = said[:1].upper() + said[1:]
    if normalized_words(name)[-1:] != ("list",):
        name += " List"
    wanted = normalized_words(name)
    if any(entity.domain == "todo" and normalized_words(entity.name) == wanted for entity in home.house().entities):
        raise HomeError(sentence(f"there is {the(name)} already"))
    (made,) = await home.apply(Action("create_list", (), {"name": name}))
    return sentence(f"I made {the(made)}")


REOPEN = "reopen"
"""The slot that ticks an item off no more. No model is trained on it: the page and undo fill it."""
DUE = "due"
"""The slot for the day on which an item is due, as in 2026-03-11. No model is trained on it: a rule fills it."""
LIST_CHANGES: dict[str, tuple[Verb, str]] = {
    "list_add_item": ("add_item", "I added {} to {}"),
    "shopping_list_add_item": ("add_item", "I added {} to {}"),
    "list_complete_item": ("complete_item", "{} is ticked off on {}"),
    "shopping_list_complete_item": ("complete_item", "{} is ticked off on {}"),
    "list_remove_item": ("remove_item", "I took {} off {}"),
}
_MAX_NAMED_ITEMS = 5
_MAX_ITEM_CHARS = 200


async def change_list(home: Home, tool: str, intent: ResolvedIntent) -> str:
    verb, reply = LIST_CHANGES[tool]
    if intent.arguments.get(REOPEN):
        verb, reply = "reopen_item", "{} is back on {}"
    the_list = intent.entities[0]
    item = " ".join(str(intent.arguments["item"]).split())[:_MAX_ITEM_CHARS]
    if not item:
        raise ClarificationNeeded("What shall I write down?")
    if verb == "add_item":
        wanted = normalized_words(item)
        if any(normalized_words(line.text) == wanted and not line.is_done for line in await home.items(the_list.id)):
            raise HomeError(sentence(f"{brief(item)} is on {the(the_list)} already"))
    else:
        item = await _on_list(home, the_list, item, verb)
    due = str(intent.arguments.get(DUE) or "")
    await home.apply(Action(verb, (the_list,), {"item": item} | ({DUE: due} if due else {})))
    when = f" for {datetime.fromisoformat(due):%A, %B} {datetime.fromisoformat(due).day}" if due else ""
    return sentence(reply.format(brief(item), the(the_list)) + when)


async def _on_list(home: Home, the_list: Entity, said: str, verb: Verb) -> str:
    """The matching line that can be ticked off, put back or removed. Raises HomeError when there is none."""
    done = {"complete_item": {False}, "reopen_item": {True}}.get(verb, {False, True})
    lines = [item.text for item in await home.items(the_list.id) if item.is_done in done]
    found = find_by_words(normalized_words(said), lines, normalized_words)
    if len({"".join(normalized_words(line)) for line in found}) > 1:
        raise ClarificationNeeded(f"Which one: {listed(found[:_MAX_NAMED_ITEMS], 'or')}?")
    if found:
        return found[0]
    if not lines:
        raise HomeError(sentence(f"{the(the_list)} is empty"))
    close = closest_names(said, lines) or lines[:_MAX_NAMED_ITEMS]
    raise HomeError(f"I do not see {brief(said)} on {the(the_list)}. There is {listed(close, 'and')}.")
