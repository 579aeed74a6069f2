"""Gemma.

FunctionGemma: `<start_function_call>call:NAME{key:<escape>text<escape>}<end_function_call>`.
Gemma 4: `<|tool_call>call:NAME{key:<|"|>text<|"|>}<tool_call|>`; small ones a plain `NAME(key=value)`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial
from json.encoder import encode_basestring_ascii
from typing import ClassVar

from edgevox.llm.tool_parsers.base import MAX_GAP, BaseFormatDetector, Body, Forms, Opening, RawCall, Verdict
from edgevox.llm.tool_parsers.brackets import ArgumentsPreview, BracketBody, Brackets
from edgevox.llm.tool_parsers.json_repair import JsonValue, Reader, Unreadable, read_at
from edgevox.llm.tool_parsers.notation import brace_wrapper
from edgevox.llm.tool_parsers.python_calls import PlainCall
from edgevox.llm.tool_parsers.tags import NAME

_KEY = re.compile(r"(?<=[{,])[ \t\r\n]*+([A-Za-z_][\w.-]*+)[ \t\r\n]*+:")
_MAX_NAME_CHARS = 256
_PLAIN_CHARS = 2000


class BraceCalls(BracketBody):
    """`call:NAME{key:value}` up to `end`; `quotes` delimit strings without escapes."""

    def __init__(self, opening: Opening, *, end: str, quotes: tuple[str, ...]) -> None:
        super().__init__(opening)
        self._end = end
        self._quotes = quotes

    def _start(self, at_end: bool) -> Verdict | None:
        marker = self.opening.marker
        if marker.startswith("call:"):
            # Without a wrapper: the marker contains the name and the brace.
            self._name = marker[len("call:") : -1]
            self._begin_arguments(opened="{")
            self.committed = True
            return None
        if not self._skip_space():
            return Verdict.MORE
        if self._skip("call:") is None:
            return Verdict.MORE
        self._state = self._function
        return None

    def _function(self, at_end: bool) -> Verdict | None:
        if not self._skip_space():
            return Verdict.MORE
        mark = self.pos
        name = NAME.match(self.text, self.pos)
        if name is None or name.end() - self.pos > _MAX_NAME_CHARS:
            return Verdict.NO
        self.pos = name.end()
        if not self._skip_space(MAX_GAP):
            return self._rewind(mark)
        closing = self._looking_at(self._end)
        if self.text[self.pos] != "{" and not closing:
            return self._rewind(mark, Verdict.MORE if closing is None and not at_end else Verdict.NO)
        self.committed = True
        # call:f:f{} repeats the function name.
        self._name = name.group().rsplit(":", 1)[-1]
        if closing:
            self.calls.append(RawCall(self._name, {}, name.group()))
            self._state = self._after_call
        elif not self._take_plain():
            self._begin_arguments()
        return None

    def _begin_arguments(self, opened: str = "") -> None:
        brackets = Brackets(ends=(self._end,), raw_quotes=self._quotes, marked_depth=1)
        self._begin_value(brackets, ArgumentsPreview(self._read_member), opened)
        self._state = self._arguments

    def _read_member(self, part: str) -> dict[str, JsonValue]:
        value = Reader(f"{{{part}}}", raw_quotes=self._quotes).whole()
        return value if isinstance(value, dict) else {}

    def _take_plain(self) -> bool:
        """Fast path: valid arguments with their end marker, as they mostly are in batch."""
        end = self.text.find(self._end, self.pos, self.pos + _PLAIN_CHARS)
        if end < 0 or self.opening.ends_inside_strings:
            return False
        written = self.text[self.pos : end].rstrip()
        value = _read_plain(written, self._quotes[0])
        if not isinstance(value, dict):
            return False
        self.calls.append(RawCall(self._name, value, f"call:{self._name}{written}"))
        self.pos = end
        self._state = self._after_call
        return True

    def _arguments(self, at_end: bool) -> Verdict | None:
        written = self._value(at_end)
        if written is None:
            return Verdict.MORE
        call = RawCall(self._name, {}, f"call:{self._name}{written}")
        try:
            value = _read_plain(written, self._quotes[0])
            if value is None:
                value = Reader(written, raw_quotes=self._quotes).whole()
            if isinstance(value, dict):
                call.arguments = value
            elif value:
                call.problem = "the arguments have no names"
        except Unreadable as err:
            call.problem = str(err)
        self.calls.append(call)
        self._state = self._after_call
        return None

    def _after_call(self, at_end: bool) -> Verdict | None:
        mark = self.pos
        while self._skip_space(MAX_GAP):
            found = self._skip(self._end)
            if found:
                return Verdict.DONE
            if found is None and not at_end:
                break
            if self.text[self.pos] != "}" or self.pos - mark > MAX_GAP:
                return self._rewind(mark, Verdict.DONE)
            self.pos += 1
        return self._rewind(mark)


def _read_plain(written: str, quote: str) -> JsonValue:
    """Convert valid notation to JSON for the C decoder; return None if it is not valid."""
    pieces = written.split(quote)
    if len(pieces) % 2 == 0:
        return None
    pieces[::2] = map(_with_quoted_keys, pieces[::2])
    pieces[1::2] = map(encode_basestring_ascii, pieces[1::2])
    text = "".join(pieces)
    whole = read_at(text, 0)
    return whole[0] if whole is not None and not text[whole[1] :].strip() else None


def _with_quoted_keys(structure: str) -> str:
    # Splitting at the keys leaves them at the odd places.
    parts = _KEY.split(structure)
    parts[1::2] = [f'"{key}":' for key in parts[1::2]]
    return "".join(parts)


FUNCTION_BEGIN = "<start_function_call>"
FUNCTION_END = "<end_function_call>"
FUNCTION_QUOTE = "<escape>"
GEMMA_BEGIN = "<|tool_call>"
GEMMA_END = "<tool_call|>"
GEMMA_QUOTE = '<|"|>'


class FunctionGemmaDetector(BaseFormatDetector):
    forms: ClassVar[Forms] = {FUNCTION_BEGIN: (partial(BraceCalls, end=FUNCTION_END, quotes=(FUNCTION_QUOTE,)),)}
    trailers = (FUNCTION_END, "<start_function_response>")
    wrapper = brace_wrapper(FUNCTION_BEGIN, FUNCTION_END, FUNCTION_QUOTE)


class GemmaDetector(BaseFormatDetector):
    forms: ClassVar[Forms] = {
        GEMMA_BEGIN: (partial(BraceCalls, end=GEMMA_END, quotes=(GEMMA_QUOTE,)),),
        **FunctionGemmaDetector.forms,
    }
    trailers = (GEMMA_END, "<|tool_response>", *FunctionGemmaDetector.trailers)
    wrapper = brace_wrapper(GEMMA_BEGIN, GEMMA_END, GEMMA_QUOTE)

    def open(self, opening: Opening) -> Body:
        if opening.marker in self.forms:
            return super().open(opening)
        if opening.marker.startswith("call:"):
            return BraceCalls(opening, end=GEMMA_END, quotes=(GEMMA_QUOTE, FUNCTION_QUOTE))
        return PlainCall(opening)

    def name_markers(self, names: Sequence[str]) -> tuple[str, ...]:
        return (*(f"{name}(" for name in names), *(f"call:{name}{{" for name in names))
