"""The same call again: small models that do not trust a result ask for it until somebody stops them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field

from edgevox.hooks import Answer, Deny, Hook, ModelReply, Run, ToolOutcome
from edgevox.llm.hooks_slm.notes import kept
from edgevox.llm.hooks_slm.result_words import outcome_sentence, turn_sentence
from edgevox.types import ToolCall

_MAX_SHOWN_CHARS = 160
_READS = {
    *("calculate", "check", "count", "describe", "fetch", "find", "get", "has", "is", "list", "look"),
    *("lookup", "query", "read", "search", "show", "state", "status", "transcribe", "what", "when"),
    *("where", "who"),
}
_WRITES = {
    *("add", "cancel", "clear", "complete", "create", "decrease", "delete", "increase", "mark", "move"),
    *("pause", "play", "remove", "send", "set", "start", "stop", "turn", "unpause", "update", "write"),
}
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")
_NUMBERS = {"two": 2, "three": 3, "four": 4, "five": 5}
_TIMES = re.compile(
    r"\b(?:(twice)|(two|three|four|five|[2-5]) (?:more )?(?:times|songs|tracks|steps|notches))\b",
    re.IGNORECASE,
)


def reads_by_name(name: str) -> bool:
    """Whether a tool sounds as if it only looked: get_state does, list_add_item does not."""
    words = {word.lower() for word in _WORD.findall(name)}
    return not words.isdisjoint(_READS) and words.isdisjoint(_WRITES)


@dataclass(slots=True)
class _Made:
    """A call of this turn; `changes` is how many there had been when it was made."""

    call_id: str
    changes: int
    times: int = 1
    outcome: ToolOutcome | None = None


@dataclass(slots=True)
class _Calls:
    made: dict[str, _Made] = field(default_factory=dict)
    hinted: set[str] = field(default_factory=set)
    changes: int = 0


class RepeatedCall(Hook):
    """Sees a call with the name and the arguments of an earlier one: tells the model what came of it, and
    ends the turn with that when it is asked for once more.

    Not a repetition: looking again after something was changed, and what the person wants several times.
    """

    name = "slm.repeated_call"
    # The last to be asked: a call that another hook denies was not made.
    priority = -150

    def __init__(self, is_read: Callable[[str], bool] = reads_by_name) -> None:
        self._is_read = is_read

    async def after_llm(self, run: Run, reply: ModelReply) -> Answer | None:
        calls = kept(run, self, _Calls)
        repeated: _Made | None = None
        for call in reply.calls:
            key = _key(call)
            repeated = calls.made.get(key)
            if key not in calls.hinted or repeated is None or self._may_repeat(run, calls, call, repeated):
                return None
        if repeated is None:
            return None
        return Answer(outcome_sentence(repeated.outcome) if repeated.outcome else turn_sentence(run))

    async def before_tool(self, run: Run, call: ToolCall) -> Deny | None:
        calls = kept(run, self, _Calls)
        key = _key(call)
        made = calls.made.get(key)
        if made is not None and not self._may_repeat(run, calls, call, made):
            calls.hinted.add(key)
            return Deny(_hint(call, made.outcome))
        calls.hinted.discard(key)
        calls.made[key] = _Made(call.id, calls.changes, times=made.times + 1 if made else 1)
        return None

    async def after_tool(self, run: Run, call: ToolCall, outcome: ToolOutcome) -> None:
        calls = kept(run, self, _Calls)
        made = calls.made.get(_key(call))
        if made is None or made.call_id != call.id:
            return  # the call was denied here: what came of the first one stands
        made.outcome = outcome
        # A tool that was left behind at its work may have changed something.
        if not self._is_read(call.name) and (not outcome.is_error or outcome.code == "timeout"):
            calls.changes += 1

    def _may_repeat(self, run: Run, calls: _Calls, call: ToolCall, made: _Made) -> bool:
        has_changed = calls.changes > made.changes
        return (has_changed and self._is_read(call.name)) or made.times < _times_asked(run.text)


def _key(call: ToolCall) -> str:
    """The call in one spelling: order of keys, white space, 1.0 and nulls do not matter."""
    try:
        arguments = json.loads(call.arguments or "{}", parse_float=_number)
    except (ValueError, RecursionError):
        arguments = call.arguments.strip()
    if isinstance(arguments, dict):
        arguments = {key: value for key, value in arguments.items() if value is not None}
    return json.dumps([call.name, arguments], sort_keys=True)


def _number(text: str) -> int | float:
    number = float(text)
    return int(number) if number.is_integer() else number


def _times_asked(text: str) -> int:
    found = _TIMES.search(text)
    if found is None:
        return 1
    if found[1]:
        return 2
    return _NUMBERS.get(found[2].lower()) or int(found[2])


def _hint(call: ToolCall, outcome: ToolOutcome | None) -> str:
    if outcome is None:
        return f"{call.name} has been called with these arguments already: call it once and use its result."
    content = outcome.content
    shown = content if len(content) <= _MAX_SHOWN_CHARS else f"{content[:_MAX_SHOWN_CHARS]}…"
    if outcome.is_error:
        return (
            f"{call.name} was tried with these arguments already and failed: {shown}"
            " Change the arguments, or tell the user that it did not work."
        )
    return (
        f"The result of {call.name} is known already: {shown} Do not call it again; answer the user with it."
    )
