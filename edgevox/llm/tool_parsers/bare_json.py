"""JSON calls without markers: on their own in the text, or alone in a code block."""

from __future__ import annotations

import re

from edgevox.llm.tool_parsers.base import Opening, RawCall, Verdict
from edgevox.llm.tool_parsers.json_calls import ARGUMENT_KEYS, NAME_KEYS, JsonCalls
from edgevox.llm.tool_parsers.json_repair import JsonValue

_KEYS = (*NAME_KEYS, *ARGUMENT_KEYS, "type", "id", "tool_calls")
_HEAD = re.compile(rf"""\{{[ \t\r\n]{{0,64}}["']?(?:{"|".join(_KEYS)})["']?[ \t\r\n]{{0,8}}:""")
_HEAD_LIMIT = 120
_INFO = re.compile(r"[ \t]*[\w+.-]*[ \t]*")
_INFO_LIMIT = 24


class BareJsonCalls(JsonCalls):
    """An object, or a list of objects, with nothing around it: a call only if it has the shape of one."""

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
            return self._begin_object()
        return self._begin_object(opened=marker)

    def _take(self, raw: str, value: JsonValue = None) -> None:
        if self.committed:
            super()._take(raw, value)
            return
        calls = self._read(raw, value)
        if all(self._is_call(call) for call in calls):
            self.calls += calls
            self.committed = True
        else:
            self.spent = len(raw) + self._in_list

    def _between(self, at_end: bool) -> Verdict | None:
        if not self.committed:
            return Verdict.NO
        # Outside a list the next object has to show for itself that it is a call.
        return super()._between(at_end) if self._in_list else Verdict.DONE

    def _is_call(self, call: RawCall) -> bool:
        if call.name in self.opening.offered:
            # Cut off in the middle, it is a call still: saying so is better than speaking JSON.
            return call.problem is None or self._cut_off
        return call.problem is None and call.has_arguments


class FencedCalls(JsonCalls):
    """A code block that is nothing but calls of offered tools; any other block is a quotation."""

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

    def _take(self, raw: str, value: JsonValue = None) -> None:
        calls = self._read(raw, value)
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
    for key in _KEYS:
        if key.startswith(word):
            return True
        if word.startswith(key) and not word[len(key) :].strip("\"' \t\r\n"):
            return True
    return False
