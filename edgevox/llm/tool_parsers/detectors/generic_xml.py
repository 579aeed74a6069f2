"""XML as models without a format of their own write it: `<name>…</name><arguments>{…}</arguments>`.

The arguments are JSON or tags of their own. `<invoke name="…"><parameter name="…">` is read as well.
"""

from __future__ import annotations

import html
import re
from collections.abc import Sequence

from edgevox.llm.tool_parsers.base import BaseFormatDetector, Body, Opening, Verdict
from edgevox.llm.tool_parsers.detectors.minicpm import AttributeTagCalls
from edgevox.llm.tool_parsers.json_repair import JsonValue, Unquoted, Unreadable, loads
from edgevox.llm.tool_parsers.notation import Wrapper
from edgevox.llm.tool_parsers.tags import NAME, TagBody
from edgevox.types import ToolCall

BEGIN = "<tool_call>"
END = "</tool_call>"
INVOKE = "<invoke name="
_NAME_TAGS = ("name", "tool_name", "function_name")
_ARGUMENT_TAGS = ("arguments", "parameters", "args", "input")
_TAG = re.compile(rf"</?(?:{'|'.join((*_NAME_TAGS, *_ARGUMENT_TAGS))})>|</?tool_call>")
_OPENING_TAGS = tuple(f"<{tag}>" for tag in (*_NAME_TAGS, *_ARGUMENT_TAGS))
_NO_PAIR = re.compile(r"(?!)")
_BEGINNINGS = (
    BEGIN,
    END,
    *(f"{slash}{tag}>" for slash in ("<", "</") for tag in (*_NAME_TAGS, *_ARGUMENT_TAGS)),
)
_CHILD = re.compile(r"\s*+<([A-Za-z_][\w.-]*+)>")


class GenericXmlDetector(BaseFormatDetector):
    markers = (BEGIN, INVOKE)
    trailers = (END, "</invoke>")

    wrapper = Wrapper(
        head=f"{BEGIN}\n<name>",
        middle="</name>\n<arguments>",
        tail=f"</arguments>\n{END}",
        triggers=(BEGIN,),
    )

    def open(self, opening: Opening) -> Body:
        if opening.marker == INVOKE:
            return AttributeTagCalls(opening, function="invoke", parameter="parameter")
        return ElementCalls(opening)

    def render(self, calls: Sequence[ToolCall]) -> str:
        return "\n".join(
            f"{BEGIN}\n<name>{call.name}</name>\n<arguments>{call.arguments or '{}'}</arguments>\n{END}"
            for call in calls
        )


class ElementCalls(TagBody):
    """A name element and an arguments element, in either order."""

    def __init__(self, opening: Opening) -> None:
        super().__init__(opening, _TAG, _BEGINNINGS, _NO_PAIR)
        self._inside = ""
        self._problem: str | None = None

    def _start(self, at_end: bool) -> Verdict | None:
        if not self._skip_space():
            return Verdict.MORE
        follows = self._looking_at_any(_OPENING_TAGS)
        if follows:
            self.committed = True
            self._state = self._tags
            return None
        return Verdict.MORE if follows is None else Verdict.NO

    def _tag(self, tag: re.Match[str], before: str, at_end: bool) -> Verdict | None:
        written = tag.group()
        if written in (BEGIN, END):
            if written == BEGIN:
                self.pos = tag.start()
            self._take(self._problem)
            return Verdict.DONE
        if self._inside:
            if written != f"</{self._inside}>":
                self._before.append(before + written)
                return None
            self._read(before)
            self._inside = ""
        elif not written.startswith("</"):
            self._inside = written[1:-1]
        return None

    def _read(self, content: str) -> None:
        if self._inside in _NAME_TAGS:
            name = content.strip()
            self._name = name if NAME.fullmatch(name) else ""
            return
        try:
            self._arguments = _arguments(content)
        except Unreadable as err:
            self._problem = str(err)

    def _add(self, key: str, written: str) -> None:
        raise AssertionError("the arguments are read as a whole")

    def _end_of_output(self, before: str) -> Verdict:
        self._raw.append(before)
        if self._inside in _ARGUMENT_TAGS:
            self._read(before)
        elif self._inside:
            self._problem = "the output ended inside the name"
        self._take(self._problem)
        return Verdict.DONE


def _arguments(content: str) -> dict[str, JsonValue]:
    written = content.strip()
    if not written:
        return {}
    if written[0] != "<":
        value = loads(written)
        if not isinstance(value, dict):
            raise Unreadable("the arguments are not an object")
        return value
    found: dict[str, JsonValue] = {}
    pos = 0
    while (child := _CHILD.match(written, pos)) is not None:
        closing = f"</{child.group(1)}>"
        end = written.find(closing, child.end())
        if end < 0:
            raise Unreadable(f"<{child.group(1)}> is not closed")
        found[child.group(1)] = Unquoted(html.unescape(written[child.end() : end]).strip())
        pos = end + len(closing)
    if written[pos:].strip():
        raise Unreadable(f"unexpected {written[pos : pos + 20]!r} among the arguments")
    return found
