"""Hermes and Qwen: calls in `<tool_call>`.

Hermes (also SmolLM and most of ChatML): `<tool_call>{"name": …, "arguments": {…}}</tool_call>`.
Qwen 2.5 and Qwen 3: Hermes' JSON in `<tool_call>`, and the tags of Qwen3-Coder and Qwen 3.5.
Qwen3-Coder and Qwen3.5: `<function=NAME><parameter=KEY>value</parameter></function>` in `<tool_call>`. Step
3.5, Nemotron 3 and Seed-OSS write the same; Llama puts JSON into `<function=NAME>`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from edgevox.core.types import ToolCall
from edgevox.llm.tool_parsers.base import BaseFormatDetector, Body, FirstOf, Opening, Verdict
from edgevox.llm.tool_parsers.brackets import ArgumentsPreview
from edgevox.llm.tool_parsers.json_calls import JsonCalls, objects, read_member
from edgevox.llm.tool_parsers.json_repair import Unquoted, Unreadable, loads
from edgevox.llm.tool_parsers.notation import Wrapper, json_wrapper, tagged_arguments, tagged_notation
from edgevox.llm.tool_parsers.tags import MAX_NAME_CHARS, NAME, TagBody

HERMES_BEGIN = "<tool_call>"
HERMES_END = "</tool_call>"


class HermesDetector(BaseFormatDetector):
    markers = (HERMES_BEGIN,)
    trailers = (HERMES_END,)

    wrapper = json_wrapper(begin=f"{HERMES_BEGIN}\n", end=f"\n{HERMES_END}", triggers=(HERMES_BEGIN,))

    def open(self, opening: Opening) -> Body:
        return JsonCalls(opening, ends=(HERMES_END,), bounds=(HERMES_BEGIN,))

    def render(self, calls: Sequence[ToolCall]) -> str:
        return "\n".join(f"{HERMES_BEGIN}\n{call}\n{HERMES_END}" for call in objects(calls))


QWEN3_CODER_BEGIN = "<tool_call>"
QWEN3_CODER_END = "</tool_call>"
FUNCTION = "<function="
_TAG = re.compile(r"<parameter=([^<>\n]{1,128})>|</parameter>|</function>|</?tool_call>|<function=")
_PAIR = re.compile(r"\s*+<parameter=([^<>\n]{1,128})>([^<]*+)</parameter>")
_MAX_HEAD_CHARS = MAX_NAME_CHARS + 2
_BEHIND_NAME = ("<parameter=", "</function>", QWEN3_CODER_END)
_BEHIND_CALL = (QWEN3_CODER_BEGIN, FUNCTION)
_BEHIND_FUNCTION = (QWEN3_CODER_END, *_BEHIND_CALL)
_BEGINNINGS = ("<parameter=", "</parameter>", "</function>", QWEN3_CODER_END, QWEN3_CODER_BEGIN, FUNCTION)


class Qwen3CoderDetector(BaseFormatDetector):
    markers = (QWEN3_CODER_BEGIN, FUNCTION)
    trailers = (QWEN3_CODER_END, "</function>")

    wrapper = Wrapper(
        head=f"{QWEN3_CODER_BEGIN}\n{FUNCTION}",
        middle=">\n",
        tail=f"</function>\n{QWEN3_CODER_END}",
        arguments=tagged_notation("<parameter=", ">\n", "\n</parameter>\n"),
        triggers=(QWEN3_CODER_BEGIN,),
    )

    def open(self, opening: Opening) -> Body:
        return FunctionTagCalls(opening)

    def render(self, calls: Sequence[ToolCall]) -> str:
        return "\n".join(f"{QWEN3_CODER_BEGIN}\n{render_function(call)}\n{QWEN3_CODER_END}" for call in calls)


def render_function(call: ToolCall) -> str:
    """Return one `<function=…>` block."""
    parameters = (f"<parameter={key}>\n{value}\n</parameter>\n" for key, value in tagged_arguments(call))
    return f"<function={call.name}>\n{''.join(parameters)}</function>"


class FunctionTagCalls(TagBody):
    """`<function=NAME><parameter=KEY>value</parameter></function>`, or `<function=NAME>{json}</function>`.

    `opening.marker` shows whether the wrapper `<tool_call>` is present.
    """

    def __init__(self, opening: Opening) -> None:
        super().__init__(opening, _TAG, _BEGINNINGS, _PAIR)
        self._pending = ("", "")

    def _start(self, at_end: bool) -> Verdict | None:
        if self.opening.marker != "<function=":
            if not self._skip_space():
                return Verdict.MORE
            looking = self._looking_at("<function=")
            if not looking:
                return Verdict.MORE if looking is None else Verdict.NO
            self.pos += len("<function=")
        self._state = self._function_name
        return None

    def _function_name(self, at_end: bool) -> Verdict | None:
        end = self.text.find(">", self.pos, self.pos + _MAX_HEAD_CHARS)
        head = self.text[self.pos : self.pos + _MAX_HEAD_CHARS if end < 0 else end]
        if end < 0:
            may_end = len(head) < _MAX_HEAD_CHARS and not any(char in head for char in "<\n")
            return Verdict.MORE if may_end else self._not_a_function()
        name = head.strip(" \t\"'")
        if NAME.fullmatch(name) is None:
            return self._not_a_function()
        self._name = name
        self._raw.append(f"<function={name}>")
        self.pos = end + 1
        self._state = self._first_content
        return None

    def _not_a_function(self) -> Verdict:
        return Verdict.DONE if self.committed else Verdict.NO

    def _first_content(self, at_end: bool) -> Verdict | None:
        if not self._skip_space():
            if at_end and self._name in self.opening.offered:
                self._take()
                return Verdict.DONE
            return Verdict.MORE
        if self.text[self.pos] == "{":
            self.committed = True
            self._begin_value(stops=("</function>",), preview=ArgumentsPreview(read_member))
            self._state = self._json
            return None
        follows = self._looking_at_any(_BEHIND_NAME)
        if follows:
            self.committed = True
            self._state = self._tags
            return None
        return Verdict.MORE if follows is None and not at_end else self._not_a_function()

    def _json(self, at_end: bool) -> Verdict | None:
        written = self._value(at_end)
        if written is None:
            return Verdict.MORE
        self._raw.append(written)
        problem = None
        try:
            value = loads(written, depth=self._brackets.depth)
            if isinstance(value, dict):
                self._arguments = value
            else:
                problem = "the arguments are not an object"
        except Unreadable as err:
            problem = str(err)
        self._take(problem)
        self._preview = None
        self._state = self._after_json
        return None

    def _after_json(self, at_end: bool) -> Verdict | None:
        mark = self.pos
        if not self._peek_past_space():
            self.pos = mark
            return Verdict.MORE
        looking = self._looking_at("</function>")
        if looking is None:
            self.pos = mark
            return Verdict.MORE
        if looking:
            self.pos += len("</function>")
            self._state = self._after_function
            return None
        if self.text[self.pos] in "}]":
            self.pos += 1
            return None
        self.pos = mark
        return Verdict.DONE

    def _tag(self, tag: re.Match[str], before: str, at_end: bool) -> Verdict | None:
        written = tag.group()
        if tag.group(1) is not None:
            self._finish_value(before)
            self._key = tag.group(1)
            return None
        if written == "</parameter>":
            self._finish_value(before)
            return None
        if self._key is not None and written != "<function=":
            if self.opening.ends_inside_strings:
                self._finish_value(before)
                return self._end_function(written)
            # The value may contain this text; it ends here only if the whole region does.
            self._pending = before, written
            self._state = self._value_may_end
            return None
        if self._key is not None:
            self._before.append(before + written)
            return None
        return self._end_function(written)

    def _value_may_end(self, at_end: bool) -> Verdict | None:
        before, written = self._pending
        mark = self.pos
        more = self._peek_past_space()
        follows = self._looking_at_any(_BEHIND_FUNCTION if written == "</function>" else _BEHIND_CALL)
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
        if written == "</function>":
            self._state = self._after_function
            return None
        if written == "</tool_call>":
            return Verdict.DONE
        # The start of the next call is not part of this one.
        if self.pos >= len(written) and self.text.startswith(written, self.pos - len(written)):
            self.pos -= len(written)
        else:
            self.text, self.pos = written + self.text[self.pos :], 0
        if written == "<tool_call>":
            return Verdict.DONE
        self._state = self._after_function
        return None

    def _after_function(self, at_end: bool) -> Verdict | None:
        mark = self.pos
        if not self._peek_past_space():
            self.pos = mark
            return Verdict.MORE
        closing, another = self._looking_at("</tool_call>"), self._looking_at("<function=")
        if closing:
            self.pos += len("</tool_call>")
            return Verdict.DONE
        if another:
            self.pos += len("<function=")
            self._state = self._function_name
            return None
        self.pos = mark
        return Verdict.MORE if (closing is None or another is None) and not at_end else Verdict.DONE

    def _finish_value(self, written: str) -> None:
        if self._key is not None:
            self._add(self._key, written)
        self._key = None

    def _add(self, key: str, written: str) -> None:
        value = written.removeprefix("\n")
        self._arguments[key.strip().strip("\"'")] = Unquoted(value.removesuffix("\n"))

    def _end_of_output(self, before: str) -> Verdict:
        if self._key is None:
            self._take()
            return Verdict.DONE
        cuts = [at for at in map(before.find, ("</function>", "</tool_call>")) if at >= 0]
        if cuts:
            cut = min(cuts)
            self._finish_value(before[:cut])
            self._take()
            self.text, self.pos = before[cut:], 0
            self._skip_tags()
            self.opening.ends_inside_strings = True
            return Verdict.DONE
        key = self._key
        self._raw.append(before)
        self._take(f"the output ended inside {key}")
        return Verdict.DONE

    def _skip_tags(self) -> None:
        for tag in ("</function>", "</tool_call>"):
            if self._skip_space() and self._looking_at(tag):
                self.pos += len(tag)


QWEN25_BEGIN = "<tool_call>"
QWEN25_END = "</tool_call>"


class Qwen25Detector(BaseFormatDetector):
    markers = (QWEN25_BEGIN, FUNCTION)
    trailers = (QWEN25_END, "</function>")

    wrapper = json_wrapper(begin=f"{QWEN25_BEGIN}\n", end=f"\n{QWEN25_END}", triggers=(QWEN25_BEGIN,))

    def open(self, opening: Opening) -> Body:
        if opening.marker == FUNCTION:
            return FunctionTagCalls(opening)
        return FirstOf(opening, self._shapes(opening))

    def _shapes(self, opening: Opening) -> Iterator[Body]:
        yield JsonCalls(opening, ends=(QWEN25_END,), bounds=(QWEN25_BEGIN,))
        yield FunctionTagCalls(opening)

    def render(self, calls: Sequence[ToolCall]) -> str:
        return "\n".join(f"{QWEN25_BEGIN}\n{call}\n{QWEN25_END}" for call in objects(calls))
