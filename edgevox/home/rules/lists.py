"""Reads requests about lists: what is on them, several items at once, clearing and creating them."""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable
from datetime import datetime

from edgevox.core.types import ToolCall
from edgevox.core.words import normalized_words
from edgevox.home.calendar.answers import parse_asked_time
from edgevox.home.entities import Entities, House, ListItem
from edgevox.home.grammar import Calls, found, pattern, tool_call, without_article
from edgevox.home.intents.list_handlers import DUE
from edgevox.home.resolve.fuzzy import find_by_words

Items = Callable[[str], Awaitable[tuple[ListItem, ...]]]

_LIST = r"(?:(?:my|the|our|that|this) )?(?P<list>(?:[\w' -]+? )?lists?|groceries|shopping|chores|tasks|to ?-?dos?)"
_NOT_A_LIST = pattern(
    r"\b(?:play ?lists?|wish|guest|waiting|black|white|check|contact|email|mailing) ?lists?\b|(?<!\bone )\bof\b"
)
_READ = (
    pattern(
        rf"^(?:what|tell me what|show me what|let me (?:know|hear|see) what|i (?:want|need) to know what)(?:'s|"
        rf" is|'re| are| do (?:i|we) have| have (?:i|we) got)?"
        rf"(?: all| left| still| there)* on {_LIST}$"
    ),
    pattern(
        r"^(?:read|show|tell|give|list|repeat|recite|review|view|display|see|say|let (?:me|us) (?:hear|see)|"
        r"go (?:through|over)|"
        rf"look (?:through|at|over)|run (?:through|down)|pull up|bring up)(?: me| us| out| back)*(?: what(?:'s|"
        rf" is) on)? {_LIST}(?: out| to me| back"
        r"| aloud)*$"
    ),
    pattern(rf"^what (?:are the )?(?:items|things|stuff)(?: are| do (?:i|we) have)?(?: there)?(?: left)? on {_LIST}$"),
    pattern(rf"^(?:check|open) {_LIST}$"),
    pattern(rf"^what (?:are (?:all )?|is ){_LIST}$"),
    pattern(r"^what (?P<list>lists) do (?:i|we) have$"),
)
_SHOPPING = pattern(
    r"^what (?:do|did|should|must) (?:i|we) (?:still )?(?:need|have|want|got)? ?(?:to )?(?:buy|get|pick up|shop for)"
    r"(?: (?:from|at|in) (?:the )?(?:store|shop|shops|supermarket|grocery store|market))?(?: today)?$"
)
_TASKS = pattern(
    r"^what (?:do|must) (?:i|we) (?:still )?(?:have|need) to do$|^what (?:are )?my (?:tasks|chores|to ?-?dos)$"
)
_ASK = (
    pattern(
        rf"^(?:is|are|was|were) (?:there )?(?:any |some )?(?P<item>.+?)(?: already| still)? (?:on|in) {_LIST}"
        r"(?: already| yet)?$"
    ),
    pattern(
        r"^(?:do|did|have|has) (?:i|we|you|he|she|they|anyone|anybody|someone) (?:already |ever )?"
        r"(?:remember(?:ed)? to )?"
        r"(?:have|put|add(?:ed)?|write|written|get|got) (?:any |some )?(?P<item>.+?)(?: already)?(?: down)? "
        rf"(?:on|to|onto) {_LIST}(?: already| yet)?$"
    ),
    pattern(
        rf"^(?:is|are) (?P<item>.+?) (?:one of|among) (?:{_LIST} (?:items|things|entries)|the (?:items|things) on"
        r" (?:my|the|our) (?P<other>[\w' -]+? list))$"
    ),
    pattern(
        rf"^(?:does|(?:check|see|tell me|let me know)(?: to see)? (?:if|"
        rf"whether)) {_LIST} (?:already )?(?:ha(?:ve|s)|contains?|"
        r"includes?) (?P<item>.+?)(?: on it| in it)?$"
    ),
    pattern(
        rf"^(?:did|is|are|was|were) (?P<item>.+?) (?:get|got|been|get added|added|put|written)(?: on| to|"
        rf" onto)+ {_LIST}$"
    ),
    pattern(rf"^(?:check|see|tell me|let me know)(?: to see)? (?:if|whether) (?P<item>.+?) (?:is|are) on {_LIST}$"),
)
_DUE = pattern(
    rf"^(?:add|put|write|note|enter) (?P<item>.+?) (?:to|on|onto|in|into) {_LIST},?(?: (?:due|for|by|until|on))* "
    r"(?P<day>.+)$"
)
_ANYTHING = pattern(r"(?:anything|something|things|items)\b")
_CLEAR = (
    pattern(rf"^(?:clear|empty|wipe|reset|clean|erase|delete|remove|get rid of)(?: out| up| off)? {_LIST}$"),
    pattern(
        r"^(?:remove|delete|erase|clear|take|wipe) (?:everything|all(?: (?:the )?(?:items|things|entries))?|it"
        r" all|every item) "
        rf"(?:from|off|on|in|of) {_LIST}$"
    ),
)
_CREATE = (
    pattern(
        r"^(?:create|make|start|set up|begin|open|add)(?: me| us)? (?:a |another )?(?:new )?(?:to ?-?do )?list "
        r"(?:called|named|with the name|titled) (?P<name>[\w' -]+)$"
    ),
    pattern(
        r"^(?:create|make|start|set up|begin)(?: me| us)? (?:a |another )(?:new )?(?P<name>[\w'-]+(?: [\w'-]+)?) "
        r"list$"
    ),
    pattern(
        r"^(?:create|make|start|set up|begin)(?: me| us)? (?:a |another )(?:new )?list for (?:the |my |our )?"
        r"(?P<name>[\w'-]+(?: [\w'-]+)?)$"
    ),
)
_TICK = (
    pattern(rf"^(?:tick|check|cross|strike) off (?P<items>.+?)(?: (?:on|from|off|in) {_LIST})?$"),
    pattern(rf"^(?:tick|check|cross|strike) (?P<items>.+?) off(?:(?: on| from| of)? {_LIST})?$"),
    pattern(rf"^mark (?P<items>.+?) (?:as )?(?:done|complete|completed|bought|finished)(?: (?:on|in|from) {_LIST})?$"),
)
_REMOVE = (pattern(rf"^(?:remove|delete|take|erase|drop|strike) (?P<items>.+?)(?: off)? (?:from|off|off of) {_LIST}$"),)
_AND = re.compile(r"\s*(?:,\s*(?:and\s+)?|\s+and\s+|\s+plus\s+)\s*")


_ALL_BUT = pattern(
    r"^(?P<clear>.+?)[,.]? (?:except(?: for)?|but not|but|apart from|other than|only|just|and)"
    r"(?: (?:leave|keep|not|for))? (?:only )?(?:the |my |our )?(?P<kept>.+?)"
    r"(?: (?:on|in|there|it|the list|(?:can |may |should )?(?:stays?|remains?)))*$"
)


# "Nothing but milk should be left on the list", "only the eggs stay on it"
_ONLY_STAYS = pattern(
    rf"^(?:(?:i|we) (?:want|need) )?(?:nothing (?:but|except)|only|just|solely) (?:the |my |our )?(?P<kept>.+?) "
    rf"(?:(?:should|must|may|shall|can|is to|are to|has to|have to|needs to|to) )?(?:be left|stays?|remains?|be|"
    rf"left)(?: left)? on {_LIST}$"
)


async def _cleared_but(text: str, house: House, items: Items) -> Calls:
    """Remove all items but those that are to stay: "clear the shopping list, only the milk stays"."""
    said = form = _ONLY_STAYS.match(text)
    if not said and (said := _ALL_BUT.match(text)):
        form = next(filter(None, (form.match(said["clear"]) for form in _CLEAR)), None)
    slots = _named(form["list"], house) if form else None
    lists = found("list_get_items", house, **slots) if slots else ()
    if not said or not slots or len(lists) != 1:
        return ()
    lines = [item.text for item in await items(lists[0].id)]
    wanted = [normalized_words(without_article(part)) for part in _AND.split(said["kept"]) if part.strip()]
    kept = [find_by_words(words, lines, normalized_words) for words in wanted]
    if not all(kept):
        return ()
    stays = {line for group in kept for line in group}
    return tuple(tool_call("list_remove_item", item=line, **slots) for line in lines if line not in stays)


async def parse(text: str, house: House, items: Items) -> Calls:
    """The calls of a request, or none. Raises HomeError when the items of a list cannot be read."""
    if _NOT_A_LIST.search(text):
        return ()
    if _SHOPPING.match(text):
        return _reading("shopping list", house)
    if _TASKS.match(text):
        return _reading("to-do list", house)
    for form in _READ:
        if said := form.match(text):
            return _reading(said["list"], house)
    for form in _ASK:
        if said := form.match(text):
            slots = _named(said["list"] or said.groupdict().get("other") or "", house)
            if slots is None:
                return ()
            if _ANYTHING.match(said["item"]):
                return _reading(said["list"], house)
            return (tool_call("list_get_items", **slots, item=without_article(said["item"])),)
    for form in _CLEAR:
        if (said := form.match(text)) and (slots := _named(said["list"], house)):
            return (tool_call("list_clear", **slots),)
    if calls := await _cleared_but(text, house, items):
        return calls
    for form in _CREATE:
        if said := form.match(text):
            name = said["name"].strip()
            return (tool_call("list_create", name="" if name.casefold() == "new" else name),)
    for tool, forms in (("list_complete_item", _TICK), ("list_remove_item", _REMOVE)):
        for form in forms:
            if said := form.match(text):
                return await _several(tool, said["items"], said["list"] or "list", house, items)
    return ()


def parse_due(text: str, house: House, now: datetime) -> Calls:
    """The call of "add X to my chores for Friday", or none."""
    if (said := _DUE.match(text)) is None or _NOT_A_LIST.search(text):
        return ()
    period = parse_asked_time(said["day"], now)
    slots = _named(said["list"], house)
    if period is None or not period.is_one_day or not slots:
        return ()
    due = {DUE: period.start.date().isoformat()}
    return (tool_call("list_add_item", item=without_article(said["item"]), **slots, **due),)


def _reading(said: str, house: House) -> Calls:
    slots = _named(said, house)
    if slots is None:
        return ()
    return (tool_call("get_state", **slots, domain="todo") if slots else tool_call("list_get_items"),)


def _named(said: str, house: House) -> dict[str, str] | None:
    """The slots for a list: its name, none for "the list" or "my lists"; None for a list that is not there."""
    name = without_article(said)
    if normalized_words(name) == ("list",):
        lists = _lists(house)
        return {"name": lists[0].name} if len(lists) == 1 else {} if lists else None
    return {"name": name} if found("list_get_items", house, name=name) else None


def _lists(house: House) -> Entities:
    return tuple(entity for entity in house.entities if entity.domain == "todo")


async def _several(tool: str, said: str, list_said: str, house: House, items: Items) -> Calls:
    """One call per item, each on the list that has it; none where an item is on no list, for the model to handle."""
    slots = _named(list_said, house)
    if slots is None:
        return ()
    lists = found("list_get_items", house, **slots) if slots else _lists(house)
    lines = {
        the_list.name: [
            item.text for item in await items(the_list.id) if not (item.is_done and tool != "list_remove_item")
        ]
        for the_list in lists
    }
    whole = without_article(said)
    if slots and len(_AND.split(whole)) == 1:
        return ()  # one item of a named list: the model does it
    wanted = [whole] if _on(whole, lines) else [without_article(part) for part in _AND.split(whole) if part.strip()]
    places = [_on(one, lines) for one in wanted]
    if not all(places):
        return ()
    return tuple(tool_call(tool, item=one, name=place) for one, place in zip(wanted, places, strict=True))


async def with_list_of_item(call: ToolCall, house: House, items: Items) -> ToolCall | None:
    """The call on the list that has the item, where "the list" may be several; None where it is right as it is."""
    try:
        arguments = json.loads(call.arguments or "{}")
    except ValueError:
        return None
    is_any = normalized_words(str(arguments.get("name") or "list")) == ("list",)
    if not is_any or len(_lists(house)) < 2:
        return None
    lines = {the_list.name: [line.text for line in await items(the_list.id)] for the_list in _lists(house)}
    having = {name: texts for name, texts in lines.items() if _on(str(arguments.get("item") or ""), {name: texts})}
    return call.with_arguments({**arguments, "name": next(iter(having))}) if len(having) == 1 else None


def _on(item: str, lines: dict[str, list[str]]) -> str:
    """The list that has the item, or ""."""
    words = normalized_words(item)
    return next((name for name, texts in lines.items() if find_by_words(words, texts, normalized_words)), "")
