"""What all readers of requests share: word groups, a request as plain words, calls, and names of this home."""

from __future__ import annotations

import json
import re
from functools import partial

from edgevox.core.types import ToolCall
from edgevox.core.words import NUMBER_WORDS, normalized_words
from edgevox.home.entities import Entities, House
from edgevox.home.resolve import labels
from edgevox.home.resolve.target_resolver import resolved_targets

pattern = partial(re.compile, flags=re.IGNORECASE)
POLITE = (
    r"(?:(?:please(?: to)?|hey|okay|ok|so|and|then|just|now|(?:can|could|would|will) (?:you|we)|let's|"
    r"i (?:want|need|would like)(?: you)? to|i'd like(?: you)? to|i want you)[, ]+)*"
)
ACTIONS = (
    r"(?:turn|switch|shut|close|open|lock|unlock|dim|brighten|set|make|put|start|stop|run|pause|resume|mute|unmute|"
    r"mow|vacuum|clean|hoover|lower|raise|kill|leave|keep|activate|deactivate|enable|disable|power|light|cut|"
    r"arm|disarm)"
)
LEADS_WITH_ACTION = pattern(rf"^{POLITE}{ACTIONS}\b")

NUMBER = rf"(?:\d+(?:[.,]\d+)?|{'|'.join(sorted(NUMBER_WORDS, key=len, reverse=True)).replace('-', '[- ]')})"
"""A number that `number_value` reads."""

_START = pattern(rf"^{POLITE}")
_END = pattern(r"(?:[, ]+(?:please|thanks|thank you|now|for me|right now|then|again))+$")
_APOSTROPHE = pattern(r"\b(what|who|how|that|it)s\b")
_MIN_PART_CHARS = 3
_MAX_CHARS = 200

Calls = tuple[ToolCall, ...]


def plain_request(text: str) -> str:
    """A request without its politeness and its last mark; "" for one that is too long for a rule."""
    words = " ".join(text.replace("’", "'").split()).strip(" .!?,")
    if len(words) > _MAX_CHARS:
        return ""
    words = _APOSTROPHE.sub(r"\1's", words)
    return _END.sub("", _START.sub("", words)).strip(" ,")


def tool_call(tool: str, /, **arguments: object) -> ToolCall:
    """A call of a tool; the agent gives it an id."""
    return ToolCall("", tool, json.dumps(arguments, ensure_ascii=False))


def without_article(said: str) -> str:
    return re.sub(r"^(?:the|my|our|this|that|these|those|all the|all) ", "", said.strip(), flags=re.IGNORECASE)


def found(tool: str, house: House, /, **slots: str) -> Entities:
    """The entities that a call of a tool would act on, or none.

    None for a name with a word that no name of the home has: the resolver corrects misheard words, but in a rule such a
    word tells that the sentence is about something else.
    """
    if not all(_is_of_home(said, house) for said in slots.values()):
        return ()
    return resolved_targets(tool, slots, house)


def _is_of_home(said: str, house: House) -> bool:
    words = labels.vocabulary(house, labels.labels_of(house).values())
    unknown = [word for word in normalized_words(said) if word not in words]
    if not unknown:
        return True
    # "bed side lamp", "livingroom"
    joined = ["".join(normalized_words(name)) for entity in house.entities for name in (entity.name, *entity.aliases)]
    return all(len(word) >= _MIN_PART_CHARS and any(word in name for name in joined) for word in unknown)
