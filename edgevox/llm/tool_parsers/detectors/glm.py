"""GLM 4.5 to 4.7: `<tool_call>NAME<arg_key>KEY</arg_key><arg_value>value</arg_value></tool_call>`."""

from __future__ import annotations

import re
from collections.abc import Sequence

from edgevox.llm.tool_parsers.base import BaseFormatDetector, Body, Opening, Verdict
from edgevox.llm.tool_parsers.json_repair import Unquoted
from edgevox.llm.tool_parsers.notation import Wrapper, tagged_notation
from edgevox.llm.tool_parsers.tags import MAX_NAME_CHARS, NAME, TagBody
from edgevox.llm.tool_parsers.values import tagged_arguments
from edgevox.types import ToolCall

BEGIN = "<tool_call>"
END = "</tool_call>"
ARGUMENTS = tagged_notation("<arg_key>", "</arg_key>\n<arg_value>", "</arg_value>\n")
_TAG = re.compile(r"</?arg_key>|</?arg_value>|<tool_sep>|</?tool_call>")
_PAIR = re.compile(r"\s*+<arg_key>([^<]*+)</arg_key>\s*+<arg_value>([^<]*+)</arg_value>")
_BEHIND_NAME = ("<arg_key>", "<tool_sep>", END, "<arg_value>")
_BEGINNINGS = ("<arg_key>", "</arg_key>", "<arg_value>", "</arg_value>", "<tool_sep>", END, BEGIN)


class GlmDetector(BaseFormatDetector):
    markers = (BEGIN,)
    trailers = (END,)

    wrapper = Wrapper(head=BEGIN, middle="\n", tail=END, arguments=ARGUMENTS, triggers=(BEGIN,))

    def open(self, opening: Opening) -> Body:
        return ArgTagCalls(opening)

    def render(self, calls: Sequence[ToolCall]) -> str:
        return "\n".join(f"{BEGIN}{call.name}\n{render_pairs(call)}{END}" for call in calls)


def render_pairs(call: ToolCall) -> str:
    """The arguments of one call, a pair of tags for each."""
    return "".join(
        f"<arg_key>{key}</arg_key>\n<arg_value>{value}</arg_value>\n" for key, value in tagged_arguments(call)
    )


class ArgTagCalls(TagBody):
    """`NAME<arg_key>KEY</arg_key><arg_value>value</arg_value></tool_call>`, perhaps with `<tool_sep>`."""

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
        if not self._look_past_space():
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
                self._mode = "behind key"
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
        if self._key is not None and self._mode in ("value", "behind key"):
            # Without its opening tag a value stands between line breaks that are not part of it.
            self._add(self._key, written if self._mode == "value" else written.strip())
        self._key, self._mode = None, ""

    def _add(self, key: str, written: str) -> None:
        self._arguments[key.strip()] = Unquoted(written)

    def _end_of_output(self, before: str) -> Verdict:
        problem = "the output ended inside an argument" if self._mode else None
        self._raw.append(before)
        self._take(problem)
        return Verdict.DONE
