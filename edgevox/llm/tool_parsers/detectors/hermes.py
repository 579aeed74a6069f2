"""Hermes and Qwen: calls in `<tool_call>`.

Hermes (also SmolLM and most of ChatML): `<tool_call>{"name": …, "arguments": {…}}</tool_call>`.
Qwen 2.5 and Qwen 3: Hermes' JSON in `<tool_call>`, and the tags of Qwen3-Coder and Qwen 3.5.
Qwen3-Coder and Qwen3.5: `<function=NAME><parameter=KEY>value</parameter></function>` in `<tool_call>`. Step
3.5, Nemotron 3 and Seed-OSS write the same; Llama puts JSON into `<function=NAME>`.
"""

from __future__ import annotations

import re
from functools import partial
from typing import ClassVar

from edgevox.llm.tool_parsers.base import MAX_GAP, BaseFormatDetector, Forms, Opening, RawCall, Verdict
from edgevox.llm.tool_parsers.json_calls import json_between
from edgevox.llm.tool_parsers.json_repair import Unquoted
from edgevox.llm.tool_parsers.notation import Wrapper, tagged_notation
from edgevox.llm.tool_parsers.python_calls import OfferedCalls
from edgevox.llm.tool_parsers.tags import MAX_NAME_CHARS, NAME, TOOL_CALL, TOOL_CALL_END, TagBody

FUNCTION = "<function="
FUNCTION_END = "</function>"
_TAG = re.compile(r"<parameter=([^<>\n]{1,128})>|</parameter>|</function>|</?tool_call>|<function=")
_PAIR = re.compile(r"\s*+<parameter=([^<>\n]{1,128})>([^<]*+)</parameter>")
_NAME = re.compile(rf"""[ \t"']{{0,4}}+({NAME.pattern})?[ \t"']{{0,4}}+[,(]?+[ \t]{{0,4}}+""")
_OUTER_LINE_BREAKS = re.compile(r"\A\r?\n|\r?\n\Z")
_AFTER_NAME = ("<parameter=", FUNCTION_END, TOOL_CALL_END)
_AFTER_CALL = (TOOL_CALL, FUNCTION)
_AFTER_FUNCTION = (TOOL_CALL_END, *_AFTER_CALL)


class FunctionTagCalls(TagBody):
    """`<function=NAME><parameter=KEY>value</parameter></function>`, or `<function=NAME>{json}</function>`.

    `opening.marker` shows whether the wrapper `<tool_call>` is present.
    """

    def __init__(self, opening: Opening) -> None:
        super().__init__(opening, _TAG, _PAIR)
        self._pending = ("", "")

    def _start(self, at_end: bool) -> Verdict | None:
        if self.opening.marker != FUNCTION:
            if not self._skip_space():
                return Verdict.MORE
            found = self._skip(FUNCTION)
            if not found:
                return Verdict.MORE if found is None else Verdict.NO
        self._state = self._function_name
        return None

    def _function_name(self, at_end: bool) -> Verdict | None:
        mark = self.pos
        head = _NAME.match(self.text, mark)
        assert head is not None
        name = head.group(1) or ""
        if len(name) > MAX_NAME_CHARS:
            return self._give_up(mark)
        if head.end() == len(self.text) and not at_end:
            return Verdict.MORE
        if not name or not self.text.startswith((">", "{", "\n", "\r\n"), head.end()):
            return self._give_up(mark)
        self.pos = head.end()
        if self._skip(">") or self._has_unclosed_tag(name, at_end):
            self._name = name
            self._raw.append(f"<function={name}>")
            self._state = self._first_content
            return None
        return self._rewind(mark) if self.pos == len(self.text) and not at_end else self._give_up(mark)

    def _has_unclosed_tag(self, name: str, at_end: bool) -> bool:
        """Whether an offered name is followed by its arguments, without the `>`."""
        return self._skip_space(MAX_GAP) and self.text[self.pos] in "{<" and name in self.opening.offered

    def _first_content(self, at_end: bool) -> Verdict | None:
        if not self._skip_space():
            if at_end and self._name in self.opening.offered:
                self._take()
                return Verdict.DONE
            return Verdict.MORE
        if self.text[self.pos] == "{":
            self.committed = True
            return self._begin_json_arguments(stops=(FUNCTION_END,))
        follows = self._looking_at_any(_AFTER_NAME)
        if follows:
            self.committed = True
            self._state = self._tags
            return None
        return Verdict.MORE if follows is None and not at_end else self._give_up(self.pos)

    def _accept(self, call: RawCall) -> Verdict | None:
        self._raw.append(call.raw)
        self._arguments = dict(call.arguments)
        self._take(call.problem)
        self._state = self._after_json
        return None

    def _after_json(self, at_end: bool) -> Verdict | None:
        mark = self.pos
        found = self._skip(FUNCTION_END) if self._skip_space(MAX_GAP) else None
        if found is None:
            return self._rewind(mark)
        if found:
            self._state = self._after_function
            return None
        if self.text[self.pos] in "}]>)":
            self.pos += 1
            return None
        return self._rewind(mark, Verdict.DONE)

    def _tag(self, tag: re.Match[str], before: str) -> Verdict | None:
        written = tag.group()
        if tag.group(1) is not None or written == "</parameter>":
            self._finish_value(before)
            self._key = tag.group(1)
            return None
        if self._key is None:
            return self._end_function(written)
        if written == FUNCTION:
            self._before.append(before + written)
            return None
        if self.opening.ends_inside_strings:
            self._finish_value(before)
            return self._end_function(written)
        # The value may contain this text; it ends here only if the whole region does.
        self._pending = before, written
        self._state = self._value_may_end
        return None

    def _value_may_end(self, at_end: bool) -> Verdict | None:
        before, written = self._pending
        mark = self.pos
        more = self._skip_space(MAX_GAP)
        follows = self._looking_at_any(_AFTER_FUNCTION if written == FUNCTION_END else _AFTER_CALL)
        over = follows if more else None
        self.pos = mark
        if over is None and not at_end:
            return Verdict.MORE
        self._state = self._tags
        if over or (at_end and not more):
            self._finish_value(before)
            return self._end_function(written)
        self._before.append(before + written)
        return None

    def _end_function(self, written: str) -> Verdict | None:
        self._take()
        self._state = self._after_function
        if written == FUNCTION_END:
            return None
        if written == TOOL_CALL_END:
            return Verdict.DONE
        # The start of the next call is not part of this one.
        if self.pos >= len(written) and self.text.startswith(written, self.pos - len(written)):
            self.pos -= len(written)
        else:
            self.text, self.pos = written + self.text[self.pos :], 0
        return Verdict.DONE if written == TOOL_CALL else None

    def _after_function(self, at_end: bool) -> Verdict | None:
        mark = self.pos
        if not self._skip_space(MAX_GAP):
            return self._rewind(mark)
        closing = self._skip(TOOL_CALL_END)
        if closing:
            return Verdict.DONE
        another = self._skip(FUNCTION)
        if another:
            self._state = self._function_name
            return None
        return self._rewind(mark, Verdict.MORE if (closing is None or another is None) and not at_end else Verdict.DONE)

    def _add(self, key: str, written: str) -> None:
        value = _OUTER_LINE_BREAKS.sub("", written)
        self._arguments[key.strip().strip("\"'")] = Unquoted(value)

    def _end_of_output(self, before: str) -> Verdict:
        if self._key is None:
            self._take()
            return Verdict.DONE
        cuts = [at for at in map(before.find, (FUNCTION_END, TOOL_CALL_END)) if at >= 0]
        if not cuts:
            return super()._end_of_output(before)
        self._finish_value(before[: min(cuts)])
        self._take()
        self.text, self.pos = before[min(cuts) :], 0
        for tag in (FUNCTION_END, TOOL_CALL_END):
            self._skip_space()
            self._skip(tag)
        self.opening.ends_inside_strings = True
        return Verdict.DONE


class HermesDetector(BaseFormatDetector):
    forms: ClassVar[Forms] = {
        TOOL_CALL: (json_between(TOOL_CALL, TOOL_CALL_END), partial(OfferedCalls, ends=(TOOL_CALL_END,)))
    }
    trailers = (TOOL_CALL_END,)
    wrapper = Wrapper((TOOL_CALL,), f'{TOOL_CALL}\n{{"name": "', tail=f"}}\n{TOOL_CALL_END}")


class Qwen3CoderDetector(BaseFormatDetector):
    forms: ClassVar[Forms] = {
        TOOL_CALL: (FunctionTagCalls, *HermesDetector.forms[TOOL_CALL]),
        FUNCTION: (FunctionTagCalls,),
    }
    trailers = (TOOL_CALL_END, FUNCTION_END)
    wrapper = Wrapper(
        (TOOL_CALL,),
        f"{TOOL_CALL}\n{FUNCTION}",
        ">\n",
        f"{FUNCTION_END}\n{TOOL_CALL_END}",
        arguments=tagged_notation("<parameter=", ">\n", "\n</parameter>\n"),
    )


class Qwen25Detector(BaseFormatDetector):
    forms: ClassVar[Forms] = {
        TOOL_CALL: (*HermesDetector.forms[TOOL_CALL], FunctionTagCalls),
        FUNCTION: (FunctionTagCalls,),
    }
    trailers = Qwen3CoderDetector.trailers
    wrapper = HermesDetector.wrapper
