"""Compares an answer with the expectation of its case: calls, validity, reply, and state of the demo home."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from edgevox.core.types import ToolCall
from edgevox.eval.expectation import ITEMS, STATE, Call, Expectation
from edgevox.eval.offered_tools import TALK, bound_home_tools
from edgevox.eval.reply_check import matches_reply
from edgevox.eval.suite import Case
from edgevox.eval.values import NormalizeText, plain_text, same_calls, same_tools, same_value
from edgevox.home import DemoHome
from edgevox.tools import ToolExecutor, ToolRegistry
from edgevox.tts.sentences import MAX_CHARS, SentenceSplitter


def word_errors(reference: Sequence[str], hypothesis: Sequence[str]) -> int:
    """Count insertions, deletions and substitutions of words (Levenshtein distance)."""
    row = list(range(len(hypothesis) + 1))
    for i, expected in enumerate(reference, start=1):
        diagonal, row[0] = row[0], i
        for j, got in enumerate(hypothesis, start=1):
            best = min(row[j] + 1, row[j - 1] + 1, diagonal + (expected != got))
            diagonal, row[j] = row[j], best
    return row[-1]


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

    If no call is expected, `tool_ok` and `args_ok` mean that none was made. `lenient_ok` is `args_ok` ignoring a domain
    that only one side gives. `state_ok` covers all effects: states, lists, and what is scheduled. `valid` covers all
    calls, including rejected ones that the model corrected.
    """

    tool_ok: bool | None
    args_ok: bool | None
    lenient_ok: bool | None
    valid: bool | None
    spoken_ok: bool | None
    state_ok: bool | None
    reply_ok: bool | None = None

    @property
    def is_right(self) -> bool:
        """Whether calls, effects and reply are correct; a domain may be left out."""
        return False not in (self.lenient_ok, self.state_ok, self.reply_ok)


async def score(case: Case, given: ModelAnswer, normal: NormalizeText = plain_text) -> Score:
    """Score an answer whose calls had no effect; the expected state is compared by making them again."""
    state_ok = await reaches_demo_state(case.expect.state, _acting(given)) if case.expect.state else None
    return _score(case.expect, given, state_ok, normal)


def score_turn(expect: Expectation, given: ModelAnswer, *, has_effects: bool, normal: NormalizeText) -> Score:
    """Score a turn on a home with real tools, where `has_effects` says whether its effects are the expected ones."""
    compares_effects = expect.state or expect.needs_home
    return _score(expect, given, has_effects if compares_effects else None, normal)


def score_dialogue(turns: Sequence[Score]) -> Score:
    """Return the score of a dialogue: each part is right if it is right in every turn that tests it."""
    parts = {part.name: [getattr(turn, part.name) for turn in turns] for part in fields(Score)}
    known = {name: [verdict for verdict in verdicts if verdict is not None] for name, verdicts in parts.items()}
    return Score(**{name: all(verdicts) if verdicts else None for name, verdicts in known.items()})


def _acting(given: ModelAnswer) -> list[Call]:
    return [call for call in given.calls if call.name not in TALK]


def _score(expect: Expectation, given: ModelAnswer, state_ok: bool | None, normal: NormalizeText) -> Score:
    tool_ok = args_ok = lenient_ok = None
    if expect.no_call:
        tool_ok = args_ok = lenient_ok = not _acting(given)
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
        state_ok=state_ok,
        reply_ok=None if expect.reply is None else matches_reply(expect.reply, given.reply),
    )


def is_spoken_sentence(reply: str) -> bool:
    """Return whether a reply is one speakable sentence: no JSON, brackets or Markdown."""
    splitter = SentenceSplitter(min_clause_chars=MAX_CHARS)  # latency is irrelevant: keep clauses together
    sentences = [*splitter.feed(reply), *splitter.finish()]
    return len(sentences) == 1 and _UNSPEAKABLE.search(reply) is None and re.search(r"\w", reply) is not None
