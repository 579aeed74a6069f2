"""Compares an answer with the expectation of its case: calls, validity, reply, and state of the demo home.

Texts are compared by words, ignoring case and articles; numbers by value.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from edgevox.core.types import ToolCall
from edgevox.eval.offered_tools import TALK, bound_home_tools
from edgevox.eval.suite import Call, Case
from edgevox.home import DemoHome
from edgevox.tools import ToolExecutor, ToolRegistry
from edgevox.tts.sentences import MAX_CHARS, SentenceSplitter

NormalizeText: TypeAlias = Callable[[str], str]
"""Maps texts that count as equal to one spelling."""

DOMAIN = "domain"
ARTICLES = frozenset({"the", "a", "an", "my"})
_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?")


def plain_text(text: str) -> str:
    """Remove case, articles and final punctuation."""
    words = text.replace("’", "'").casefold().strip(" .,!?").split()
    kept = [word for word in words if word not in ARTICLES]
    return " ".join(kept or words)


def same_tools(wanted: Sequence[Call], made: Sequence[Call], *, ordered: bool) -> bool:
    """Return whether the same tools were called equally often."""
    names, made_names = [call.name for call in wanted], [call.name for call in made]
    return names == made_names if ordered else sorted(names) == sorted(made_names)


def same_calls(
    wanted: Sequence[Call],
    made: Sequence[Call],
    *,
    ordered: bool,
    lenient_domain: bool = False,
    normal: NormalizeText = plain_text,
) -> bool:
    """Return whether calls and arguments are equal.

    With `lenient_domain` the domain counts only where both sides give it.
    """
    if not same_tools(wanted, made, ordered=ordered):
        return False
    orders = [tuple(made)] if ordered else itertools.permutations(made)
    return any(
        all(
            one.name == other.name
            and same_arguments(one.arguments, other.arguments, lenient_domain=lenient_domain, normal=normal)
            for one, other in zip(wanted, order, strict=True)
        )
        for order in orders
    )


def same_arguments(
    wanted: Mapping[str, Any],
    made: Mapping[str, Any],
    *,
    lenient_domain: bool = False,
    normal: NormalizeText = plain_text,
) -> bool:
    """Return whether all arguments are equal; null is the same as missing."""
    one = {slot: value for slot, value in wanted.items() if value is not None}
    other = {slot: value for slot, value in made.items() if value is not None}
    if lenient_domain and (DOMAIN not in one or DOMAIN not in other):
        one.pop(DOMAIN, None)
        other.pop(DOMAIN, None)
    return one.keys() == other.keys() and all(same_value(one[slot], other[slot], normal) for slot in one)


def same_value(wanted: object, made: object, normal: NormalizeText = plain_text) -> bool:
    """Return whether two JSON values are equivalent: "20" equals 20 and 20.0; lists are ordered."""
    match wanted, made:
        case Mapping(), Mapping():
            return same_arguments(wanted, made, normal=normal)
        case list(), list():
            return len(wanted) == len(made) and all(
                same_value(one, other, normal) for one, other in zip(wanted, made, strict=True)
            )
        case (Mapping() | list(), _) | (_, Mapping() | list()):
            return False
        case bool(), bool():
            return wanted is made
        case str(), str() if normal(wanted) == normal(made):
            return True
        case _:
            return _plain(wanted) == _plain(made)


def _plain(value: object) -> float | str:
    match value:
        case bool():
            return str(value).casefold()
        case int() | float():
            return float(value)
        case _:
            text = str(value).strip().casefold()
            return float(text) if _NUMBER.fullmatch(text) else text


def word_errors(reference: Sequence[str], hypothesis: Sequence[str]) -> int:
    """Count insertions, deletions and substitutions of words (Levenshtein distance)."""
    row = list(range(len(hypothesis) + 1))
    for i, expected in enumerate(reference, start=1):
        diagonal, row[0] = row[0], i
        for j, got in enumerate(hypothesis, start=1):
            best = min(row[j] + 1, row[j - 1] + 1, diagonal + (expected != got))
            diagonal, row[j] = row[j], best
    return row[-1]


STATE, ITEMS = "state", "items"


async def reaches_demo_state(wanted: Mapping[str, Mapping[str, Any]], calls: Sequence[Call]) -> bool:
    """Run the calls on a new demo home and return whether it reaches the wanted state.

    `wanted` maps entities to `state`, attributes such as `brightness`, and the open `items` of a list.
    """
    home = DemoHome()
    executor = ToolExecutor(ToolRegistry(bound_home_tools(home)))
    for number, call in enumerate(calls):
        result = await executor.dispatch(ToolCall(str(number), call.name, json.dumps(call.arguments)))
        if (pending := result.confirmation) is not None:
            await executor.dispatch_confirmed(pending.call, pending.token, channel="keyboard")
    house = home.house()
    for entity_id, facts in wanted.items():
        entity = house.entity(entity_id)
        assert entity is not None, "the suite was checked"
        found: dict[str, Any] = {**entity.attributes, STATE: entity.state}
        if ITEMS in facts:
            found[ITEMS] = [item.text for item in await home.items(entity_id) if not item.is_done]
        if not all(same_value(value, found.get(fact)) for fact, value in facts.items()):
            return False
    return True


# Characters of data formats, which cannot be spoken.
_UNSPEAKABLE = re.compile(r"[\[\]{}<>|`*#_=]")


@dataclass(frozen=True, slots=True)
class ModelAnswer:
    """The answer to a case. `is_own_words`: the model wrote the reply, not a tool."""

    calls: tuple[Call, ...]
    reply: str
    is_own_words: bool
    is_valid: bool


@dataclass(frozen=True, slots=True)
class Score:
    """Each field is None where the case does not test it.

    If no call is expected, `tool_ok` and `args_ok` mean that none was made. `lenient_ok` is `args_ok`
    ignoring a domain that only one side gives. `valid` covers all calls, including rejected ones that the
    model corrected.
    """

    tool_ok: bool | None
    args_ok: bool | None
    lenient_ok: bool | None
    valid: bool | None
    spoken_ok: bool | None
    state_ok: bool | None

    @property
    def is_right(self) -> bool:
        """Whether calls and effects are correct; a domain may be left out."""
        return self.lenient_ok is not False and self.state_ok is not False


async def score(case: Case, given: ModelAnswer, normal: NormalizeText = plain_text) -> Score:
    """Score an answer."""
    expect = case.expect
    acting = [call for call in given.calls if call.name not in TALK]
    tool_ok = args_ok = lenient_ok = None
    if expect.no_call:
        tool_ok = args_ok = lenient_ok = not acting
    elif expect.calls:
        tool_ok = same_tools(expect.calls, given.calls, ordered=expect.ordered)
        args_ok = same_calls(expect.calls, given.calls, ordered=expect.ordered, normal=normal)
        lenient_ok = same_calls(expect.calls, given.calls, ordered=expect.ordered, lenient_domain=True, normal=normal)
    return Score(
        tool_ok=tool_ok,
        args_ok=args_ok,
        lenient_ok=lenient_ok,
        valid=given.is_valid if given.calls else None,
        spoken_ok=is_spoken_sentence(given.reply) if given.is_own_words else None,
        state_ok=await reaches_demo_state(expect.state, acting) if expect.state else None,
    )


def is_spoken_sentence(reply: str) -> bool:
    """Return whether a reply is one speakable sentence: no JSON, brackets or Markdown."""
    splitter = SentenceSplitter(min_clause_chars=MAX_CHARS)  # latency is irrelevant: keep clauses together
    sentences = [*splitter.feed(reply), *splitter.finish()]
    return len(sentences) == 1 and _UNSPEAKABLE.search(reply) is None and re.search(r"\w", reply) is not None
