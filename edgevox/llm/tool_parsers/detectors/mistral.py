"""Mistral: `[TOOL_CALLS] [{…}]`, `[TOOL_CALLS]name{…}`, `[TOOL_CALLS]name[CALL_ID]id[ARGS]{…}`.

The model writes the nine-character id itself, and expects it in the `tool` message.
"""

from __future__ import annotations

import re
from functools import partial
from typing import ClassVar

from edgevox.llm.tool_parsers.base import MAX_GAP, BaseFormatDetector, Forms, RawCall, Verdict
from edgevox.llm.tool_parsers.brackets import BracketBody
from edgevox.llm.tool_parsers.json_calls import JsonCalls
from edgevox.llm.tool_parsers.notation import Wrapper
from edgevox.llm.tool_parsers.tags import MAX_NAME_CHARS, NAME

BEGIN = "[TOOL_CALLS]"
END = "[/TOOL_CALLS]"
CALL_ID = "[CALL_ID]"
ARGS = "[ARGS]"
_ID = re.compile(r"[ \t]{0,9}+([\w-]{1,64}+)[ \t]{0,9}+")


class NamedCalls(BracketBody):
    """`name{…}`, `name[ARGS]{…}` and `name[CALL_ID]id[ARGS]{…}`, one or several."""

    def _start(self, at_end: bool) -> Verdict | None:
        mark = self.pos
        if not self._skip_space(MAX_GAP):
            return self._rewind(mark)
        if self.committed and self.text[self.pos] == "}":
            self.pos += 1
            return None
        name = NAME.match(self.text, self.pos)
        if name is None or name.end() - self.pos > MAX_NAME_CHARS:
            return self._give_up(mark)
        self.pos = name.end()
        if not self._skip_space(MAX_GAP):
            return self._rewind(mark)
        has_args, has_id = self._looking_at(ARGS), self._looking_at(CALL_ID)
        if has_args is None or has_id is None:
            return self._rewind(mark)
        if has_args or has_id:
            self.pos += len(ARGS if has_args else CALL_ID)
        elif self.committed or self.text[self.pos] != "{":
            return self._give_up(mark)
        self._name = name.group()
        self.committed = True
        self._state = self._call_id if has_id else self._before_arguments
        return None

    def _call_id(self, at_end: bool) -> Verdict | None:
        mark = self.pos
        written = _ID.match(self.text, self.pos)
        if written is None:
            return Verdict.MORE if self.pos == len(self.text) else Verdict.DONE
        self.pos = written.end()
        has_args = self._skip(ARGS)
        if has_args is None or (not has_args and self.pos == len(self.text)):
            return self._rewind(mark)
        self._id = written.group(1)
        self._state = self._before_arguments
        return None

    def _before_arguments(self, at_end: bool) -> Verdict | None:
        if not self._skip_space() and not at_end:
            return Verdict.MORE
        if self.text.startswith("{", self.pos):
            return self._begin_json_arguments(stops=(BEGIN, END))
        return self._accept(RawCall(self._name, {}, "", self._id, problem="no arguments after the name"))

    def _accept(self, call: RawCall) -> Verdict | None:
        call.raw = f"{call.name}{call.raw}"
        self.calls.append(call)
        self._id = None
        self._state = self._start
        return None


class MistralDetector(BaseFormatDetector):
    forms: ClassVar[Forms] = {BEGIN: (partial(JsonCalls, ends=(END,), bounds=(BEGIN,), ids=True), NamedCalls)}
    trailers = (END,)
    wrapper = Wrapper((BEGIN,), tail='"}', before=(f"{BEGIN}[",), between=", ", after="]", id_head=', "id": "')
