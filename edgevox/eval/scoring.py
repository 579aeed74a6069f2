"""What was right in one answer."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from edgevox.eval.comparing import Normal, plain_text, same_calls, same_tools
from edgevox.eval.demo_state import demo_state_is
from edgevox.eval.offer import TALK
from edgevox.eval.suite import Call, Case
from edgevox.tts.sentences import MAX_CHARS, SentenceSplitter

# Marks of data: nobody says them.
_UNSPOKEN = re.compile(r"[\[\]{}<>|`*#_=]")


@dataclass(frozen=True, slots=True)
class Given:
    """What a model gave for a case. `is_own_words` says that the reply is its own, and not a tool's."""

    calls: tuple[Call, ...]
    reply: str
    is_own_words: bool
    is_valid: bool


@dataclass(frozen=True, slots=True)
class Score:
    """Each part is None where the case does not ask for it.

    `tool_ok` and `args_ok` of a case that wants no call say that none was made. `lenient_ok` is `args_ok`
    with a domain that only one side gives passed over. `valid` is about all calls, also those that were
    refused and written again.
    """

    tool_ok: bool | None
    args_ok: bool | None
    lenient_ok: bool | None
    valid: bool | None
    spoken_ok: bool | None
    state_ok: bool | None

    @property
    def is_right(self) -> bool:
        """Whether all that the case asks of calls and their effect was done; a domain may be left out."""
        return self.lenient_ok is not False and self.state_ok is not False


async def score(case: Case, given: Given, normal: Normal = plain_text) -> Score:
    """Compare an answer with what the case expects."""
    expect = case.expect
    tool_ok = args_ok = lenient_ok = None
    if expect.no_call:
        tool_ok = args_ok = lenient_ok = all(call.name in TALK for call in given.calls)
    elif expect.calls:
        tool_ok = same_tools(expect.calls, given.calls, ordered=expect.ordered)
        args_ok = same_calls(expect.calls, given.calls, ordered=expect.ordered, normal=normal)
        lenient_ok = same_calls(
            expect.calls, given.calls, ordered=expect.ordered, lenient_domain=True, normal=normal
        )
    return Score(
        tool_ok=tool_ok,
        args_ok=args_ok,
        lenient_ok=lenient_ok,
        valid=given.is_valid if given.calls else None,
        spoken_ok=is_spoken_sentence(given.reply) if given.is_own_words else None,
        state_ok=await demo_state_is(expect.state, _doing(given.calls)) if expect.state else None,
    )


def is_spoken_sentence(reply: str) -> bool:
    """Whether a reply is one sentence that can be read aloud: no JSON, no brackets, no Markdown."""
    splitter = SentenceSplitter(min_clause_chars=MAX_CHARS)  # it need not be quick: clauses stay together
    sentences = [*splitter.feed(reply), *splitter.finish()]
    return len(sentences) == 1 and _UNSPOKEN.search(reply) is None and re.search(r"\w", reply) is not None


def _doing(calls: Sequence[Call]) -> list[Call]:
    return [call for call in calls if call.name not in TALK]
