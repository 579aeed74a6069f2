"""GLM and Hunyuan: arguments in `<arg_key>` and `<arg_value>` tags.

GLM 4.5 to 4.7: `<tool_call>NAME<arg_key>KEY</arg_key><arg_value>value</arg_value></tool_call>`.
Hunyuan: `<tool_calls><tool_call>NAME<tool_sep><arg_key>…`, or a JSON list between the outer tags.
"""

from __future__ import annotations

import re
from typing import ClassVar

from edgevox.llm.tool_parsers.base import MAX_GAP, BaseFormatDetector, Forms, Opening, Verdict
from edgevox.llm.tool_parsers.json_calls import json_between
from edgevox.llm.tool_parsers.json_repair import Unquoted
from edgevox.llm.tool_parsers.notation import Wrapper, tagged_notation
from edgevox.llm.tool_parsers.tags import MAX_NAME_CHARS, NAME, TOOL_CALL, TOOL_CALL_END, TagBody

_TAG = re.compile(r"</?arg_key>|</?arg_value>|<tool_sep>|</?tool_call>")
_PAIR = re.compile(r"\s*+<arg_key>([^<]*+)</arg_key>\s*+<arg_value>([^<]*+)</arg_value>")
_AFTER_NAME = ("<arg_key>", "<tool_sep>", TOOL_CALL_END, "<arg_value>")


class ArgTagCalls(TagBody):
    """`NAME<arg_key>KEY</arg_key><arg_value>value</arg_value></tool_call>`, optionally with `<tool_sep>`."""

    def __init__(self, opening: Opening) -> None:
        super().__init__(opening, _TAG, _PAIR)
        self._mode = ""

    def _start(self, at_end: bool) -> Verdict | None:
        if not self._skip_space():
            return Verdict.MORE
        name = NAME.match(self.text, self.pos)
        if name is None or name.end() - self.pos > MAX_NAME_CHARS:
            return Verdict.NO
        mark, self.pos = self.pos, name.end()
        if not self._skip_space(MAX_GAP):
            if at_end and name.group() in self.opening.offered:
                self._name = name.group()
                self._take()
                return Verdict.DONE
            return self._rewind(mark)
        follows = self._looking_at_any(_AFTER_NAME)
        if not follows:
            return self._rewind(mark, Verdict.MORE if follows is None and not at_end else Verdict.NO)
        self.committed = True
        self._name = name.group()
        self._raw.append(self._name)
        self._state = self._tags
        return None

    def _is_between_arguments(self) -> bool:
        return not self._mode

    def _tag(self, tag: re.Match[str], before: str) -> Verdict | None:
        match tag.group():
            case "<arg_key>":
                self._finish_value(before)
                self._mode = "key"
            case "</arg_key>":
                self._key = before
                self._mode = "after key"
            case "<arg_value>":
                self._mode = "value"
            case "</arg_value>":
                self._finish_value(before)
            case "</tool_call>" | "<tool_call>" as written:
                self._finish_value(before)
                self._take()
                # The start of the next call is not part of this one.
                self.pos = tag.end() if written == TOOL_CALL_END else tag.start()
                return Verdict.DONE
        return None

    def _finish_value(self, written: str) -> None:
        if self._key is not None and self._mode in ("value", "after key"):
            # Without its opening tag, a value is between line breaks that are not part of it.
            self._add(self._key, written if self._mode == "value" else written.strip())
        self._key, self._mode = None, ""

    def _add(self, key: str, written: str) -> None:
        self._arguments[key.strip()] = Unquoted(written)

    def _end_of_output(self, before: str) -> Verdict:
        self._raw.append(before)
        self._take("the output ended inside an argument" if self._mode else None)
        return Verdict.DONE


_OUTER = "<tool_calls>"
_OUTER_END = "</tool_calls>"


class _WrappedCalls(ArgTagCalls):
    """The outer tag and its first call; further calls begin with their own tags."""

    def _start(self, at_end: bool) -> Verdict | None:
        if not self._skip_space():
            return Verdict.MORE
        found = self._skip(TOOL_CALL)
        if not found:
            return Verdict.MORE if found is None else Verdict.NO
        self._state = super()._start
        return None


_ARGUMENTS = tagged_notation("<arg_key>", "</arg_key>\n<arg_value>", "</arg_value>\n")


class GlmDetector(BaseFormatDetector):
    forms: ClassVar[Forms] = {TOOL_CALL: (ArgTagCalls,)}
    trailers = (TOOL_CALL_END,)
    wrapper = Wrapper((TOOL_CALL,), TOOL_CALL, "\n", TOOL_CALL_END, arguments=_ARGUMENTS)


class HunyuanDetector(BaseFormatDetector):
    forms: ClassVar[Forms] = {
        _OUTER: (_WrappedCalls, json_between(_OUTER, _OUTER_END)),
        TOOL_CALL: (ArgTagCalls, json_between(TOOL_CALL, TOOL_CALL_END)),
    }
    trailers = (_OUTER_END, TOOL_CALL_END)
    wrapper = Wrapper(
        (_OUTER,),
        TOOL_CALL,
        "<tool_sep>\n",
        TOOL_CALL_END,
        before=(f"{_OUTER}\n",),
        after=f"\n{_OUTER_END}",
        arguments=_ARGUMENTS,
    )
