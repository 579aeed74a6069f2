"""Hooks on tool calls: missing or invalid arguments, repeated calls, misspelt copies of words."""

from __future__ import annotations

import difflib
import itertools
import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from edgevox.core.hooks import Answer, Deny, Hook, ModelReply, Run, ToolOutcome
from edgevox.core.languages import listed
from edgevox.core.types import ChatRequest, ToolCall
from edgevox.llm.hooks_slm.result_text import outcome_sentence, turn_note, turn_sentence
from edgevox.llm.tool_choice import RESPOND_NAME
from edgevox.llm.tool_parsers.base import OfferedTools
from edgevox.llm.tool_parsers.coerce import properties_of, required_of

_MAX_OPTIONAL = 8
_MAX_CHOICES = 10
_KINDS = {
    "string": "text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "array": "a list",
    "object": "an object",
    "null": "null",
}


def explained(tool: str, schema: Mapping[str, Any]) -> str:
    """Describe all parameters of the tool."""
    properties, needed = properties_of(schema), required_of(schema)
    optional = [_parameter(name, slot) for name, slot in properties.items() if name not in needed]
    if len(optional) > _MAX_OPTIONAL:
        optional[_MAX_OPTIONAL:] = ["others"]
    parts = [needs(schema)] if needed else []
    if optional:
        parts.append(f"can take {listed(optional, 'and')}")
    return f"{tool} {' and '.join(parts)}." if properties else f"{tool} takes no arguments."


def needs(schema: Mapping[str, Any]) -> str:
    """Describe the required parameters of a tool that has some."""
    properties = properties_of(schema)
    return f"needs {listed([_parameter(name, properties.get(name)) for name in required_of(schema)], 'and')}"


def _parameter(name: str, schema: object) -> str:
    kind = _kind(schema) if isinstance(schema, Mapping) else ""
    return f"{name} ({kind})" if kind else name


def _kind(schema: Mapping[str, Any]) -> str:
    choices = [schema["const"]] if "const" in schema else schema.get("enum")
    if isinstance(choices, list | tuple):
        shown = [
            one if isinstance(one, str) else json.dumps(one, ensure_ascii=False, default=str)
            for one in choices[:_MAX_CHOICES]
        ]
        more = ["…"] if len(choices) > _MAX_CHOICES else []
        return f"one of {', '.join(shown + more)}" if len(choices) > 1 else "".join(shown)
    for key in ("anyOf", "oneOf"):
        if isinstance(ways := schema.get(key), list | tuple):
            kinds = (_kind(way) for way in ways if isinstance(way, Mapping) and way.get("type") != "null")
            return " or ".join(dict.fromkeys(filter(None, kinds)))
    types = schema.get("type")
    if isinstance(types, list | tuple):
        return " or ".join(_kind({**schema, "type": kind}) for kind in types if kind != "null")
    if not isinstance(types, str):
        return "an object" if "$ref" in schema or "properties" in schema else ""
    return f"{_KINDS.get(types, types)}{_range(schema)}{_members(schema)}"


def _range(schema: Mapping[str, Any]) -> str:
    low, high = schema.get("minimum"), schema.get("maximum")
    if low is not None and high is not None:
        return f" from {low} to {high}"
    if low is not None:
        return f", at least {low}"
    return f", at most {high}" if high is not None else ""


def _members(schema: Mapping[str, Any]) -> str:
    items = schema.get("items")
    if isinstance(items, Mapping) and (kind := _kind(items)):
        return f" of {kind}"
    properties = properties_of(schema)
    return f" with {listed(list(properties), 'and')}" if properties else ""


@dataclass(slots=True)
class _Offer:
    """The last request of the turn: its tools and format; and the tools already explained to the model."""

    tools: OfferedTools = field(default_factory=lambda: OfferedTools(()))
    wire_format: str | None = None
    explained: set[str] = field(default_factory=set)


class _OfferHook(Hook):
    """A hook that needs the tools of the last request."""

    async def before_llm(self, run: Run, request: ChatRequest) -> None:
        offer = self._offer(run)
        offer.tools, offer.wire_format = OfferedTools(request.tools), request.wire_format

    def _offer(self, run: Run) -> _Offer:
        return turn_note(run, self, _Offer)


class EmptyArguments(_OfferHook):
    """Handles a call without arguments of a tool that needs some.

    Denies it and names the missing arguments to the model. The second time, the person is asked.
    """

    name = "slm.empty_arguments"
    priority = -100

    async def after_llm(self, run: Run, reply: ModelReply) -> Answer | None:
        offer = self._offer(run)
        missing = [_missing(offer.tools, call) if call.name in offer.explained else () for call in reply.calls]
        if not missing or not all(missing):
            return None
        return Answer(f"For that I need to know the {listed(missing[0], 'and').replace('_', ' ')}.")

    async def before_tool(self, run: Run, call: ToolCall) -> Deny | None:
        offer = self._offer(run)
        if not _missing(offer.tools, call):
            return None
        offer.explained.add(call.name)
        needed = needs(offer.tools.schema(call.name) or {})
        return Deny(f"{call.name} {needed}: call it with that, or ask the user for it.")


class SchemaError(_OfferHook):
    """Handles a call rejected for its arguments: adds the parameters of the tool, once per tool."""

    name = "slm.schema_error"
    priority = -100

    async def after_tool(self, run: Run, call: ToolCall, outcome: ToolOutcome) -> ToolOutcome | None:
        offer = self._offer(run)
        schema = offer.tools.schema(call.name)
        is_refused = outcome.code == "bad_request" or outcome.content.startswith("invalid_arguments")
        if schema is None or not outcome.is_error or not is_refused or call.name in offer.explained:
            return None
        offer.explained.add(call.name)
        return replace(outcome, content=f"{outcome.content.rstrip('. ')}. {explained(call.name, schema)}")


def _missing(offered: OfferedTools, call: ToolCall) -> tuple[str, ...]:
    """Return the required parameters of a call that has no arguments."""
    return required_of(offered.schema(call.name) or {}) if _arguments(call) in (None, {}) else ()


def _arguments(call: ToolCall) -> object:
    """Return the arguments without nulls, or the text that is not JSON. 1.0 is 1."""
    try:
        found = json.loads(call.arguments or "{}", parse_float=_number)
    except (ValueError, RecursionError):
        return call.arguments.strip()
    return {key: value for key, value in found.items() if value is not None} if isinstance(found, dict) else found


def _number(text: str) -> int | float:
    number = float(text)
    return int(number) if number.is_integer() else number


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
_NUMBERS = {"twice": 2, "two": 2, "three": 3, "four": 4, "five": 5}
_TIMES = re.compile(
    r"\b(?:(twice)|(two|three|four|five|[2-5]) (?:more )?(?:times|songs|tracks|steps|notches))\b", re.IGNORECASE
)


def reads_by_name(name: str) -> bool:
    """Whether the name of a tool suggests that it only reads: get_state does, list_add_item does not."""
    words = {word.lower() for word in _WORD.findall(name)}
    return not words.isdisjoint(_READS) and words.isdisjoint(_WRITES)


@dataclass(slots=True)
class _CallRecord:
    """A call of this turn; `changes` counts the changes made before it."""

    call_id: str
    changes: int
    times: int = 1
    outcome: ToolOutcome | None = None


@dataclass(slots=True)
class _Calls:
    records: dict[str, _CallRecord] = field(default_factory=dict)
    hinted: set[str] = field(default_factory=set)
    changes: int = 0


class RepeatedCall(Hook):
    """Handles a call that repeats the name and arguments of an earlier one.

    Returns the earlier result to the model, and ends the turn with it if the call comes again. Exempt are reading again
    after a change, and requested repetitions.
    """

    name = "slm.repeated_call"
    # Runs last: a call that another hook denies was not made.
    priority = -150

    def __init__(self, is_read: Callable[[str], bool] = reads_by_name) -> None:
        self._is_read = is_read

    async def after_llm(self, run: Run, reply: ModelReply) -> Answer | None:
        calls = turn_note(run, self, _Calls)
        earlier: _CallRecord | None = None
        for call in reply.calls:
            key = _key(call)
            earlier = calls.records.get(key)
            if key not in calls.hinted or earlier is None or self._may_repeat(run, calls, call, earlier):
                return None
        if earlier is None:
            return None
        return Answer(outcome_sentence(earlier.outcome) if earlier.outcome else turn_sentence(run))

    async def before_tool(self, run: Run, call: ToolCall) -> Deny | None:
        calls = turn_note(run, self, _Calls)
        key = _key(call)
        earlier = calls.records.get(key)
        if earlier is not None and not self._may_repeat(run, calls, call, earlier):
            calls.hinted.add(key)
            return Deny(_hint(call, earlier.outcome))
        calls.hinted.discard(key)
        calls.records[key] = _CallRecord(call.id, calls.changes, times=earlier.times + 1 if earlier else 1)
        return None

    async def after_tool(self, run: Run, call: ToolCall, outcome: ToolOutcome) -> None:
        calls = turn_note(run, self, _Calls)
        record = calls.records.get(_key(call))
        if record is None or record.call_id != call.id:
            return  # denied here: the first outcome is kept
        record.outcome = outcome
        # A tool that timed out may have changed something.
        if not self._is_read(call.name) and (not outcome.is_error or outcome.code == "timeout"):
            calls.changes += 1

    def _may_repeat(self, run: Run, calls: _Calls, call: ToolCall, earlier: _CallRecord) -> bool:
        has_changed = calls.changes > earlier.changes
        return (has_changed and self._is_read(call.name)) or earlier.times < _requested_times(run.text)


def _key(call: ToolCall) -> str:
    """Normalise a call: order of keys, white space, 1.0 and nulls do not matter."""
    return json.dumps([call.name, _arguments(call)], sort_keys=True)


def _requested_times(text: str) -> int:
    found = _TIMES.search(text)
    if found is None:
        return 1
    word = (found[1] or found[2]).lower()
    return _NUMBERS.get(word) or int(word)


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
    return f"The result of {call.name} is known already: {shown} Do not call it again; answer the user with it."


# Other models correct names on purpose; the call format shows which models were trained to copy.
COPYING_FORMAT = "python_list"
_COPIED_WORD = re.compile(r"[\w'’&.+-]*\w")
# Below this, words differ by more than a typo.
_NEAR = 0.7
_SHORTEST_CHARS = 3
# "What is the boiler's pressure" asks about the boiler.
_POSSESSIVE = re.compile(r"['’]s\b")
# "Did anybody unlock it" asks whether it is unlocked: an inflected form, not a typo.
_ENDINGS = ("ed", "d", "ing")


class CopiedWords(_OfferHook):
    """Replaces texts that differ by a letter or two from the words of the request by those words.

    Paths, addresses and file names of the request are restored for every model.
    """

    name = "slm.copied_words"
    priority = 150  # before hooks that write words of their own into a call

    async def before_tool(self, run: Run, call: ToolCall) -> ToolCall | None:
        offer = self._offer(run)
        if call.name == RESPOND_NAME:  # its text is the model's own
            return None
        properties = properties_of(offer.tools.schema(call.name) or {})
        try:
            arguments = json.loads(call.arguments or "{}")
        except (ValueError, RecursionError):
            return None
        if not isinstance(arguments, dict):
            return None
        copies = offer.wire_format == COPYING_FORMAT

        def correct(value: str) -> str:
            exact = exact_name(value, run.text)
            return correct_copied_words(value, run.text) if exact is None and copies else exact or value

        corrected = {
            name: correct(value) if _is_free_text(value, properties.get(name, {})) else value
            for name, value in arguments.items()
        }
        if corrected == arguments:
            return None
        return replace(call, arguments=json.dumps(corrected, ensure_ascii=False))


def _is_free_text(value: object, slot: object) -> bool:
    schema = slot if isinstance(slot, Mapping) else {}
    return isinstance(value, str) and schema.get("type", "string") == "string" and "enum" not in schema


# A path, an address, an email, or the name of a file.
_EXACT_NAME = re.compile(
    r"[a-z][a-z0-9+.-]*://[^\s\"'<>]*[^\s\"'<>.,;:!?)]|[\w.+-]+@[\w-]+(?:\.[\w-]+)+"
    r"|(?:~|\.{1,2}|[A-Za-z]:)?[/\\][\w.@%+~=:,/\\-]*[\w/\\]|\w[\w-]*(?:/[\w.-]*\w)+|\w[\w-]*\.[A-Za-z]\w{1,4}\b",
    re.IGNORECASE,
)
_SAME_NAME = 0.7


def exact_name(text: str, request: str) -> str | None:
    """The path, address or file name of the request that `text` was meant to be; None if it is none."""
    names = dict.fromkeys(_EXACT_NAME.findall(request))
    if not names or len(text.split()) > 2:
        return None
    # A pattern such as **/*list.txt* has the name in it as it is.
    if text in names or text.strip("*/") in names or text in request.split():
        return text
    folder, _, last = text.rpartition("/")
    if folder in names and last in _COPIED_WORD.findall(request):  # "a folder called bees in ~/notes"
        return text
    ratios = {name: difflib.SequenceMatcher(None, name, text, autojunk=False).ratio() for name in names}
    nearest = max(ratios, key=lambda name: ratios[name])
    return nearest if ratios[nearest] >= _SAME_NAME else None


def correct_copied_words(text: str, request: str) -> str:
    """Return the words of `request` that `text` misspells, or `text`."""
    wanted, words = (" ".join(_COPIED_WORD.findall(part)).casefold() for part in (text, request))
    if len(wanted) < _SHORTEST_CHARS or any(
        f" {wanted} " in f" {spelling} " for spelling in (words, _POSSESSIVE.sub("", words))
    ):
        return text
    if any(wanted == word + ending for word in words.split() for ending in _ENDINGS):
        return text
    nearest, likeness = text, _NEAR
    for span in _spans(request, len(wanted.split())):
        ratio = difflib.SequenceMatcher(None, span.casefold(), wanted, autojunk=False).ratio()
        if ratio > likeness:
            nearest, likeness = span, ratio
    return nearest


def _spans(request: str, size: int) -> Iterator[str]:
    words = _COPIED_WORD.findall(request)
    for length, start in itertools.product((size, size - 1, size + 1), range(len(words))):
        if 0 < length <= len(words) - start:
            yield " ".join(words[start : start + length])
