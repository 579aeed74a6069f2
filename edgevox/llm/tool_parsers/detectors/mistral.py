"""Mistral: `[TOOL_CALLS] [{…}]`, `[TOOL_CALLS]name{…}`, `[TOOL_CALLS]name[CALL_ID]id[ARGS]{…}`.

The model writes the nine-character id itself, and expects it in the `tool` message.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from edgevox.core.types import ToolCall
from edgevox.llm.tool_parsers.base import BaseFormatDetector, Body, FirstOf, Opening, RawCall, Verdict
from edgevox.llm.tool_parsers.brackets import ArgumentsPreview, BracketBody
from edgevox.llm.tool_parsers.json_calls import JsonCalls, objects, read_member
from edgevox.llm.tool_parsers.json_repair import Unreadable, loads
from edgevox.llm.tool_parsers.notation import json_wrapper

BEGIN = "[TOOL_CALLS]"
END = "[/TOOL_CALLS]"
CALL_ID = "[CALL_ID]"
ARGS = "[ARGS]"
_NAME = re.compile(r"[A-Za-z_][\w.:/-]*+")
_ID = re.compile(r"[ \t]{0,9}+([\w-]{1,64}+)[ \t]{0,9}+")
_MAX_NAME_CHARS = 128


class MistralDetector(BaseFormatDetector):
    markers = (BEGIN,)
    trailers = (END,)

    wrapper = json_wrapper(
        before=(f"{BEGIN}[",), between=", ", after="]", id_head=', "id": "', end_id='"', triggers=(BEGIN,)
    )

    def open(self, opening: Opening) -> Body:
        return FirstOf(opening, (JsonCalls(opening, ends=(END,), bounds=(BEGIN,), ids=True), NamedCalls(opening)))

    def render(self, calls: Sequence[ToolCall]) -> str:
        written = (f'{call[:-1]}, "id": {json.dumps(c.id)}}}' for call, c in zip(objects(calls), calls, strict=True))
        return f"{BEGIN}[{', '.join(written)}]"


class NamedCalls(BracketBody):
    """`name{…}`, `name[ARGS]{…}` and `name[CALL_ID]id[ARGS]{…}`, one or several."""

    def __init__(self, opening: Opening) -> None:
        super().__init__(opening)
        self._name = ""
        self._id: str | None = None

    def _start(self, at_end: bool) -> Verdict | None:
        mark = self.pos
        if not self._peek_past_space():
            self.pos = mark
            return Verdict.MORE
        name = _NAME.match(self.text, self.pos)
        if name is None or name.end() - self.pos > _MAX_NAME_CHARS:
            return self._over(mark)
        self.pos = name.end()
        if not self._peek_past_space():
            self.pos = mark
            return Verdict.MORE
        if self.text[self.pos] == "{" and not self.committed:
            return self._begin(name.group())
        has_args, has_id = self._looking_at(ARGS), self._looking_at(CALL_ID)
        if has_args is None or has_id is None:
            self.pos = mark
            return Verdict.MORE
        if has_id:
            self.pos += len(CALL_ID)
            self._name = name.group()
            self.committed = True
            self._state = self._call_id
            return None
        if has_args:
            self.pos += len(ARGS)
            return self._begin(name.group())
        return self._over(mark)

    def _over(self, mark: int) -> Verdict:
        self.pos = mark
        return Verdict.DONE if self.committed else Verdict.NO

    def _call_id(self, at_end: bool) -> Verdict | None:
        mark = self.pos
        written = _ID.match(self.text, self.pos)
        if written is None:
            return Verdict.MORE if self.pos == len(self.text) else Verdict.DONE
        self.pos = written.end()
        looking = self._looking_at(ARGS)
        if looking is None or (not looking and self.pos == len(self.text)):
            self.pos = mark
            return Verdict.MORE
        self._id = written.group(1)
        self.pos += len(ARGS) if looking else 0
        return self._begin(self._name)

    def _begin(self, name: str) -> Verdict | None:
        self._name = name
        self.committed = True
        self._begin_value(stops=(BEGIN, END), preview=ArgumentsPreview(read_member))
        self._state = self._before_arguments
        return None

    def _before_arguments(self, at_end: bool) -> Verdict | None:
        if not self._skip_space():
            return self._take("") if at_end else Verdict.MORE
        if self.text[self.pos] != "{":
            return self._take("")
        start = self.pos
        value = self._sound_json()
        if value is not None:
            return self._accept(RawCall(self._name, value, f"{self._name}{self.text[start : self.pos]}", self._id))
        self._state = self._arguments
        return None

    def _arguments(self, at_end: bool) -> Verdict | None:
        written = self._value(at_end)
        return Verdict.MORE if written is None else self._take(written)

    def progress(self) -> RawCall | None:
        if self._state != self._arguments or self._preview is None:
            return None
        return RawCall(self._name, self._preview.arguments, "", self._id)

    def _take(self, written: str) -> Verdict | None:
        call = RawCall(self._name, {}, f"{self._name}{written}", self._id)
        try:
            value = loads(written, depth=self._brackets.depth) if written else None
            if isinstance(value, dict):
                call.arguments = value
            else:
                call.problem = "no arguments behind the name"
        except Unreadable as err:
            call.problem = str(err)
        return self._accept(call)

    def _accept(self, call: RawCall) -> Verdict | None:
        self.calls.append(call)
        self._id = None
        self._state = self._start
        return None
