"""Harmony (gpt-oss): messages with a header, `<|channel|>commentary to=functions.NAME<|message|>{…}<|call|>`.

The header also separates reasoning (`analysis`) from text (`final`), so every chain reads it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from edgevox.core.types import ToolCall
from edgevox.llm.tool_parsers.base import BaseFormatDetector, Body, Opening, RawCall, Verdict
from edgevox.llm.tool_parsers.brackets import ArgumentsPreview, BracketBody, any_of
from edgevox.llm.tool_parsers.json_calls import read_member
from edgevox.llm.tool_parsers.json_repair import Unreadable, loads
from edgevox.llm.tool_parsers.notation import Wrapper

START = "<|start|>"
CHANNEL = "<|channel|>"
MESSAGE = "<|message|>"
CONSTRAIN = "<|constrain|>"
CALL = "<|call|>"
RECIPIENT = "to=functions."
_ENDS = (CALL, "<|end|>", "<|return|>", START, CHANNEL)
_HEADER = re.compile(r"[^<>{}]*+(?:<\|(?:channel|constrain|start)\|>[^<>{}]*+)*+")
_TO = re.compile(r"to=([\w.:-]+)")
_MAX_HEADER_CHARS = 300


class HarmonyDetector(BaseFormatDetector):
    markers = (CHANNEL, START, RECIPIENT)

    wrapper = Wrapper(
        head=f"{CHANNEL}commentary {RECIPIENT}",
        middle=f" {CONSTRAIN}json{MESSAGE}",
        tail=CALL,
        between=f"{START}assistant",
        triggers=(f"{CHANNEL}commentary {RECIPIENT}",),
    )

    def open(self, opening: Opening) -> Body:
        return HarmonyMessage(opening)

    def render(self, calls: Sequence[ToolCall]) -> str:
        return f"{START}assistant".join(
            f"{CHANNEL}commentary to=functions.{call.name} {CONSTRAIN}json{MESSAGE}{call.arguments}{CALL}"
            for call in calls
        )


class HarmonyMessage(BracketBody):
    """A header and its call; after other headers, the chain reads the text."""

    def __init__(self, opening: Opening) -> None:
        super().__init__(opening)
        self._name = ""

    def _start(self, at_end: bool) -> Verdict | None:
        if self.opening.marker == RECIPIENT and self.opening.before.strip():
            return Verdict.NO
        header = self.text[self.pos : self.pos + _MAX_HEADER_CHARS]
        end = header.find(MESSAGE)
        if end < 0:
            return (
                Verdict.NO
                if len(header) == _MAX_HEADER_CHARS or at_end or not _could_be_header(header)
                else Verdict.MORE
            )
        header = header[:end]
        if _HEADER.fullmatch(header) is None or (self.opening.marker == RECIPIENT and CHANNEL not in header):
            return Verdict.NO
        self.pos += end + len(MESSAGE)
        self.committed = True
        return self._begin_message(self.opening.marker + header)

    def _begin_message(self, header: str) -> Verdict | None:
        recipients = [name for name in _TO.findall(header) if name != "assistant"]
        channel = header.rsplit(CHANNEL, 1)[-1].split("<|")[0].split()
        kind = channel[0] if channel else ""
        if recipients or (kind == "commentary" and CONSTRAIN in header):
            self._name = recipients[-1].removeprefix("functions.") if recipients else ""
            self.enters = "text"
            self._state = self._content
            return None
        self.enters = "reasoning" if kind == "analysis" else "text"
        return Verdict.DONE

    def _content(self, at_end: bool) -> Verdict | None:
        if not self._skip_space() and not at_end:
            return Verdict.MORE
        if self.text[self.pos : self.pos + 1] == "{":
            start = self.pos
            value = self._sound_json()
            if value is not None:
                self.calls.append(RawCall(self._name, value, f"to={self._name} {self.text[start : self.pos]}"))
                return Verdict.DONE
            self._begin_value(stops=_ENDS, preview=ArgumentsPreview(read_member))
            self._state = self._arguments
        else:
            self._state = self._other
        return None

    def _arguments(self, at_end: bool) -> Verdict | None:
        written = self._value(at_end)
        if written is None:
            return Verdict.MORE
        call = RawCall(self._name, {}, f"to={self._name} {written}")
        try:
            value = loads(written, depth=self._brackets.depth)
            if isinstance(value, dict):
                call.arguments = value
            else:
                call.problem = "the arguments are not an object"
        except Unreadable as err:
            call.problem = str(err)
        self.calls.append(call)
        return Verdict.DONE

    def progress(self) -> RawCall | None:
        if self._state != self._arguments or self._preview is None:
            return None
        return RawCall(self._name, self._preview.arguments, "")

    def _other(self, at_end: bool) -> Verdict | None:
        """Skip a message to another recipient, such as code: it is not spoken."""
        found = any_of(_ENDS).search(self.text, self.pos)
        end = -1 if found is None else found.start()
        if end < 0 and not at_end:
            keep = max(self.pos, len(self.text) - max(map(len, _ENDS)))
            self._parts.append(self.text[self.pos : keep])
            self.pos = keep
            return Verdict.MORE
        end = len(self.text) if end < 0 else end
        written = "".join((*self._parts, self.text[self.pos : end])).strip()
        self.pos = end
        problem = "the arguments are not JSON" if written else None
        self.calls.append(RawCall(self._name, {}, f"to={self._name} {written}", problem=problem))
        return Verdict.DONE


def _could_be_header(text: str) -> bool:
    header = _HEADER.match(text)
    assert header is not None
    rest = text[header.end() :]
    return not rest or any(mark.startswith(rest) for mark in (MESSAGE, CHANNEL, START, CONSTRAIN))
