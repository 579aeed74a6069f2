"""GLM and Hunyuan: arguments in `<arg_key>` and `<arg_value>` tags.

GLM 4.5 to 4.7: `<tool_call>NAME<arg_key>KEY</arg_key><arg_value>value</arg_value></tool_call>`.
Hunyuan: `<tool_calls><tool_call>NAME<tool_sep><arg_key>…`, or a JSON list between the outer tags.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from edgevox.core.types import ToolCall
from edgevox.llm.tool_parsers.base import BaseFormatDetector, Body, FirstOf, Opening, Verdict
from edgevox.llm.tool_parsers.json_calls import JsonCalls
from edgevox.llm.tool_parsers.json_repair import Unquoted
from edgevox.llm.tool_parsers.notation import Wrapper, tagged_arguments, tagged_notation
from edgevox.llm.tool_parsers.tags import MAX_NAME_CHARS, NAME, TagBody

GLM_BEGIN = "<tool_call>"
GLM_END = "</tool_call>"
ARGUMENT_TAGS = tagged_notation("<arg_key>", "</arg_key>\n<arg_value>", "</arg_value>\n")
_TAG = re.compile(r"</?arg_key>|</?arg_value>|<tool_sep>|</?tool_call>")
_PAIR = re.compile(r"\s*+<arg_key>([^<]*+)</arg_key>\s*+<arg_value>([^<]*+)</arg_value>")
_BEHIND_NAME = ("<arg_key>", "<tool_sep>", GLM_END, "<arg_value>")
_BEGINNINGS = ("<arg_key>", "</arg_key>", "<arg_value>", "</arg_value>", "<tool_sep>", GLM_END, GLM_BEGIN)


class GlmDetector(BaseFormatDetector):
    markers = (GLM_BEGIN,)
    trailers = (GLM_END,)

    wrapper = Wrapper(head=GLM_BEGIN, middle="\n", tail=GLM_END, arguments=ARGUMENT_TAGS, triggers=(GLM_BEGIN,))

    def open(self, opening: Opening) -> Body:
        return ArgTagCalls(opening)

    def render(self, calls: Sequence[ToolCall]) -> str:
        return "\n".join(f"{GLM_BEGIN}{call.name}\n{render_pairs(call)}{GLM_END}" for call in calls)


def render_pairs(call: ToolCall) -> str:
    """Return the arguments of one call as pairs of tags."""
    return "".join(
        f"<arg_key>{key}</arg_key>\n<arg_value>{value}</arg_value>\n" for key, value in tagged_arguments(call)
    )


class ArgTagCalls(TagBody):
    """`NAME<arg_key>KEY</arg_key><arg_value>value</arg_value></tool_call>`, optionally with `<tool_sep>`."""

    def __init__(self, opening: Opening) -> None:
        super().__init__(opening, _TAG, _BEGINNINGS, _PAIR)
        self._mode = ""

    def _start(self, at_end: bool) -> Verdict | None:
        if not self._skip_space():
            return Verdict.MORE
        name = NAME.match(self.text, self.pos)
        if name is None or name.end() - self.pos > MAX_NAME_CHARS:
            return Verdict.NO
        mark, self.pos = self.pos, name.end()
        if not self._peek_past_space():
            if at_end and name.group() in self.opening.offered:
                self._name = name.group()
                self._take()
                return Verdict.DONE
            self.pos = mark
            return Verdict.MORE
        follows = self._looking_at_any(_BEHIND_NAME)
        if not follows:
            self.pos = mark
            return Verdict.MORE if follows is None and not at_end else Verdict.NO
        self.committed = True
        self._name = name.group()
        self._raw.append(self._name)
        self._state = self._tags
        return None

    def _is_between_arguments(self) -> bool:
        return not self._mode

    def _tag(self, tag: re.Match[str], before: str, at_end: bool) -> Verdict | None:
        written = tag.group()
        match written:
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
            case "</tool_call>":
                self._finish_value(before)
                self._take()
                return Verdict.DONE
            case "<tool_call>":
                self._finish_value(before)
                self._take()
                self.pos = tag.start()
                return Verdict.DONE
        return None

    def _finish_value(self, written: str) -> None:
        if self._key is not None and self._mode in ("value", "after key"):
            # Without its opening tag, a value stands between line breaks that are not part of it.
            self._add(self._key, written if self._mode == "value" else written.strip())
        self._key, self._mode = None, ""

    def _add(self, key: str, written: str) -> None:
        self._arguments[key.strip()] = Unquoted(written)

    def _end_of_output(self, before: str) -> Verdict:
        problem = "the output ended inside an argument" if self._mode else None
        self._raw.append(before)
        self._take(problem)
        return Verdict.DONE


HUNYUAN_OUTER = "<tool_calls>"
HUNYUAN_OUTER_END = "</tool_calls>"
HUNYUAN_BEGIN = "<tool_call>"
HUNYUAN_END = "</tool_call>"


class HunyuanDetector(BaseFormatDetector):
    markers = (HUNYUAN_OUTER, HUNYUAN_BEGIN)
    trailers = (HUNYUAN_OUTER_END, HUNYUAN_END)

    wrapper = Wrapper(
        before=(f"{HUNYUAN_OUTER}\n",),
        head=HUNYUAN_BEGIN,
        middle="<tool_sep>\n",
        tail=HUNYUAN_END,
        after=f"\n{HUNYUAN_OUTER_END}",
        arguments=ARGUMENT_TAGS,
        triggers=(HUNYUAN_OUTER,),
    )

    def open(self, opening: Opening) -> Body:
        return FirstOf(opening, self._outer(opening) if opening.marker == HUNYUAN_OUTER else self._inner(opening))

    def _outer(self, opening: Opening) -> Iterator[Body]:
        yield _WrappedCalls(opening)
        yield JsonCalls(opening, ends=(HUNYUAN_OUTER_END,), bounds=(HUNYUAN_OUTER,))

    def _inner(self, opening: Opening) -> Iterator[Body]:
        yield ArgTagCalls(opening)
        yield JsonCalls(opening, ends=(HUNYUAN_END,), bounds=(HUNYUAN_BEGIN,))

    def render(self, calls: Sequence[ToolCall]) -> str:
        inner = "\n".join(f"{HUNYUAN_BEGIN}{call.name}<tool_sep>\n{render_pairs(call)}{HUNYUAN_END}" for call in calls)
        return f"{HUNYUAN_OUTER}\n{inner}\n{HUNYUAN_OUTER_END}"


class _WrappedCalls(ArgTagCalls):
    """The outer tag and its first call; further calls begin with their own tags."""

    def _start(self, at_end: bool) -> Verdict | None:
        if not self._skip_space():
            return Verdict.MORE
        looking = self._looking_at(HUNYUAN_BEGIN)
        if looking is None:
            return Verdict.MORE
        if not looking:
            return Verdict.NO
        self.pos += len(HUNYUAN_BEGIN)
        self._state = super()._start
        return None
