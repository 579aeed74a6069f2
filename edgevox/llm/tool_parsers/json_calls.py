"""Calls written as JSON objects: between a format's markers, bare in the text, or in a code block."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from functools import partial

from edgevox.llm.tool_parsers.base import MAX_GAP, Form, OfferedTools, Opening, RawCall, Verdict
from edgevox.llm.tool_parsers.brackets import ArgumentsPreview, Brackets, CallSequence
from edgevox.llm.tool_parsers.json_repair import JsonValue, Truncated, Unreadable, loads, read_at

NAME_KEYS = ("name", "function", "tool", "tool_name", "function_name")
ARGUMENT_KEYS = ("arguments", "parameters", "args", "params", "input", "tool_input", "kwargs")
_ID_KEYS = ("id", "call_id", "tool_call_id")
# Next to a name, these keys show that the object describes a tool instead of calling it.
_DESCRIBING_KEYS = ("description", "inputSchema", "input_schema")
_CALL_BEGINS = ('{"name":', '"arguments":', '"parameters":')
_ARGUMENTS_BEGIN = re.compile(rf"""["']?(?:{"|".join(ARGUMENT_KEYS)})["']?\s*:\s*$""")
_WRITTEN_NAME = re.compile(rf"""["']?(?:{"|".join(NAME_KEYS)})["']?\s{{0,8}}:\s{{0,8}}["']([^"'\n]{{1,128}})["']""")


def calls_of(value: JsonValue, raw: str, offered: OfferedTools) -> list[RawCall] | None:
    """Return the calls in a JSON value, or None if it does not have the form of a call."""
    if isinstance(value, list):
        members = [calls_of(member, raw, offered) if isinstance(member, dict) else None for member in value]
        return None if None in members else [call for calls in members for call in calls or ()]
    if not isinstance(value, dict):
        return None
    if isinstance(value.get("tool_calls"), list) and not any(key in value for key in NAME_KEYS):
        return calls_of(value["tool_calls"], raw, offered)
    call_id = _first_text(value, _ID_KEYS)
    inner = value.get("function")
    if isinstance(inner, dict):
        value = inner
    name = _first_text(value, NAME_KEYS)
    if not name or any(key in value for key in _DESCRIBING_KEYS):
        return None
    for key in ARGUMENT_KEYS:
        if key in value:
            return [_with_arguments(name, value[key], raw, call_id)]
    rest = {key: member for key, member in value.items() if key not in (*NAME_KEYS, *_ID_KEYS, "type")}
    properties = (offered.schema(name) or {}).get("properties") or {}
    problem = None if all(key in properties for key in rest) else f"no arguments among {', '.join(value)}"
    return [RawCall(name, rest, raw, call_id, problem=problem, has_arguments=False)]


def _first_text(value: Mapping[str, JsonValue], keys: Sequence[str]) -> str | None:
    texts = map(value.get, keys)
    return next((text.strip() for text in texts if isinstance(text, str) and text), None)


def _with_arguments(name: str, arguments: JsonValue, raw: str, call_id: str | None) -> RawCall:
    if isinstance(arguments, str):
        text = arguments.strip()
        try:
            arguments = loads(text) if text else {}
        except Unreadable as err:
            return RawCall(name, {}, raw, call_id, problem=f"the arguments are a string that is not JSON ({err})")
    if arguments is None or arguments == []:
        arguments = {}
    if not isinstance(arguments, Mapping):
        problem = f"the arguments are not an object but {json.dumps(arguments)[:40]}"
        return RawCall(name, {}, raw, call_id, problem=problem)
    return RawCall(name, arguments, raw, call_id)


def damaged_call(raw: str, reason: str) -> RawCall:
    """Return an unreadable call with its name, if that can be read, and the reason."""
    written = _WRITTEN_NAME.search(raw, 0, 2000)
    return RawCall(written.group(1) if written else "", {}, raw, problem=reason)


class JsonCalls(CallSequence):
    """After a marker: one object, several, or a list of them, up to one of `ends`.

    `bounds` are markers that begin something else, so they also end a damaged object. With `ids`, objects carry the
    model's own ids; an id may follow the arguments, so these are not shown in advance.
    """

    noise = "}]`"

    def __init__(
        self, opening: Opening, *, ends: tuple[str, ...] = (), bounds: tuple[str, ...] = (), ids: bool = False
    ) -> None:
        super().__init__(opening, ends=ends)
        self._bounds = (*ends, *bounds)
        self._cut_off = False
        self._skipped_fence = False
        self._previews = not ids

    def _start(self, at_end: bool) -> Verdict | None:
        if not self._skip_space():
            return Verdict.MORE
        is_empty = not self._skipped_fence and self._looking_at_any(self._bounds)
        if is_empty:
            # Nothing between the markers, or the same one again.
            self._skip_end(at_end)
            return Verdict.DONE
        if is_empty is None:
            return Verdict.MORE
        char = self.text[self.pos]
        if char == "`" and not self._skipped_fence:
            # Some models put a code block between the marker and the object.
            fence = self.text.find("\n", self.pos, self.pos + 20)
            if fence < 0:
                return Verdict.NO if at_end or len(self.text) - self.pos >= 20 else Verdict.MORE
            self.pos = fence + 1
            self._skipped_fence = True
            return None
        if char == "[" and not self._in_list:
            mark = self.pos
            self.pos += 1
            if not self._skip_space(MAX_GAP):
                return self._rewind(mark)
            if self.text[self.pos] not in "{]":
                return Verdict.NO
            self._in_list = True
            self.committed = True
            self._state = self._between
            return None
        if char == "{":
            self.committed = True
            self._begin_object()
            return None
        return Verdict.NO

    def _begin_next(self) -> bool:
        if self.text[self.pos] != "{":
            return False
        self._begin_object()
        return True

    def _begin_object(self, opened: str = "") -> None:
        start = self.pos - len(opened)
        if start >= 0 and not self.opening.ends_inside_strings and self.text[start] == "{":
            # Fast path: the object is complete and valid, as it mostly is in batch, so the C decoder reads it.
            whole = read_at(self.text, start)
            if whole is not None:
                value, self.pos = whole
                self._state = self._between
                raw = self.text[start : self.pos]
                self._take(raw, self._calls_of(value, raw))
                return
        self._name = ""
        preview = ArgumentsPreview(begins=self._begins_arguments) if self._previews else None
        self._begin_value(Brackets(ends=self._bounds, marked_depth=2 if preview else 0), preview, opened)
        self._state = self._object

    def _begins_arguments(self, before: str) -> bool:
        name = _WRITTEN_NAME.search(before)
        if name is None or _ARGUMENTS_BEGIN.search(before) is None:
            return False
        self._name = name.group(1)
        return True

    def _object(self, at_end: bool) -> Verdict | None:
        raw = self._value(at_end)
        if raw is None:
            return Verdict.MORE
        self._state = self._between
        self._cut_off = not self._brackets.closed
        self._take(raw, self._read(raw))
        return None

    def _read(self, raw: str) -> list[RawCall]:
        """Return the calls of one object, damaged or not."""
        try:
            value = loads(raw, depth=self._brackets.depth, barred=(*self._bounds, *_CALL_BEGINS))
        except Unreadable as err:
            if shorter := self._shortened(raw):
                return self._read(shorter)
            early = "the output ended early: " if isinstance(err, Truncated) else ""
            return [damaged_call(raw, f"{early}{err}")]
        return self._calls_of(value, raw)

    def _calls_of(self, value: JsonValue, raw: str) -> list[RawCall]:
        calls = calls_of(value, raw, self.opening.offered)
        if calls is None:
            return [damaged_call(raw, "not the shape of a call")]
        if self._previews:
            for call in calls:
                call.id = None
        return calls

    def _take(self, raw: str, calls: list[RawCall]) -> None:
        self.calls += calls


def json_between(begin: str, end: str) -> Form:
    """Return the form of JSON calls between two markers."""
    return partial(JsonCalls, ends=(end,), bounds=(begin,))


_KEYS = (*NAME_KEYS, *ARGUMENT_KEYS, "type", "id", "tool_calls")
_HEAD = re.compile(rf"""\{{[ \t\r\n]{{0,64}}["']?(?:{"|".join(_KEYS)})["']?[ \t\r\n]{{0,8}}:""")
_HEAD_LIMIT = 120
_INFO = re.compile(r"[ \t]*[\w+.-]*[ \t]*")
_INFO_LIMIT = 24


class BareJsonCalls(JsonCalls):
    """A bare object or list of objects: a call only if it has the form of one."""

    def __init__(self, opening: Opening) -> None:
        super().__init__(opening, ids=True)

    def _start(self, at_end: bool) -> Verdict | None:
        marker = self.opening.marker
        if self.opening.before[-1:] in ("`", '"', "'", "$", "\\"):
            return Verdict.NO
        head = marker + self.text[self.pos : self.pos + _HEAD_LIMIT]
        if marker == "[":
            inner = head[1:].lstrip()
            if not inner:
                return Verdict.NO if len(head) > _HEAD_LIMIT else Verdict.MORE
            if inner[0] != "{":
                return Verdict.NO
            head = inner
        if _HEAD.match(head) is None:
            return Verdict.MORE if _may_become_head(head) else Verdict.NO
        if marker == "[":
            self._in_list = True
            self._skip_space()
        self._begin_object(opened="" if marker == "[" else marker)
        return None

    def _take(self, raw: str, calls: list[RawCall]) -> None:
        if self.committed or all(map(self._is_call, calls)):
            self.calls += calls
            self.committed = True
        else:
            self.spent = len(raw) + self._in_list

    def _between(self, at_end: bool) -> Verdict | None:
        if not self.committed:
            return Verdict.NO
        # Outside a list, the next object must itself have the form of a call.
        return super()._between(at_end) if self._in_list else Verdict.DONE

    def _is_call(self, call: RawCall) -> bool:
        if call.name in self.opening.offered:
            # A truncated call is still reported as a call, since the alternative is to speak JSON.
            return call.problem is None or self._cut_off
        return call.problem is None and call.has_arguments


class FencedCalls(JsonCalls):
    """A code block that contains only calls of offered tools; any other block is a quotation."""

    def __init__(self, opening: Opening) -> None:
        super().__init__(opening, ends=("```",), ids=True)
        self._found: list[RawCall] = []
        self._refused = False
        self._skipped_fence = True

    def _start(self, at_end: bool) -> Verdict | None:
        line_end = self.text.find("\n", self.pos, self.pos + _INFO_LIMIT)
        info = self.text[self.pos : self.pos + _INFO_LIMIT if line_end < 0 else line_end]
        if not _INFO.fullmatch(info):
            return Verdict.NO
        if line_end < 0:
            return Verdict.NO if len(info) == _INFO_LIMIT else Verdict.MORE
        self.pos = line_end + 1
        self._state = self._content
        return None

    def _content(self, at_end: bool) -> Verdict | None:
        verdict = super()._start(at_end)
        self.committed = False
        return verdict

    def _take(self, raw: str, calls: list[RawCall]) -> None:
        self._refused |= any(call.problem or call.name not in self.opening.offered for call in calls)
        self.spent += len(raw)
        self._found += calls

    def _between(self, at_end: bool) -> Verdict | None:
        if self._refused:
            return Verdict.NO
        verdict = super()._between(at_end)
        if verdict is Verdict.DONE:
            if not self._found or not (self.ended or self.pos == len(self.text)):
                return Verdict.NO
            self.calls = self._found
            self.committed = True
        return verdict


def _may_become_head(head: str) -> bool:
    if len(head) >= _HEAD_LIMIT:
        return False
    inner = head[1:].lstrip()
    if not inner:
        return len(head) <= 64
    word = inner.lstrip("\"'")
    return any(key.startswith(word) for key in _KEYS) or word.rstrip("\"' \t\r\n") in _KEYS
