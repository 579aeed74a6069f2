"""Harmony (gpt-oss): messages with a header, `<|channel|>commentary to=functions.NAME<|message|>{…}<|call|>`.

The header also separates reasoning (`analysis`) from text (`final`), so every chain reads it.
"""

from __future__ import annotations

import re
from typing import ClassVar

from edgevox.llm.tool_parsers.base import BaseFormatDetector, Forms, RawCall, Verdict
from edgevox.llm.tool_parsers.brackets import BracketBody, any_of
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
_CALL_HEAD = f"{CHANNEL}commentary {RECIPIENT}"


class HarmonyMessage(BracketBody):
    """A header and its call; after other headers, the chain reads the text."""

    def _start(self, at_end: bool) -> Verdict | None:
        if self.opening.marker == RECIPIENT and self.opening.before.strip():
            return Verdict.NO
        header = self.text[self.pos : self.pos + _MAX_HEADER_CHARS]
        end = header.find(MESSAGE)
        if end < 0:
            may_end = len(header) < _MAX_HEADER_CHARS and not at_end and _could_be_header(header)
            return Verdict.MORE if may_end else Verdict.NO
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
        if self.text.startswith("{", self.pos):
            return self._begin_json_arguments(stops=_ENDS)
        self._state = self._other
        return None

    def _accept(self, call: RawCall) -> Verdict | None:
        call.raw = f"to={call.name} {call.raw}"
        self.calls.append(call)
        return Verdict.DONE

    def _other(self, at_end: bool) -> Verdict | None:
        """Skip a message to another recipient, such as code: it is not spoken."""
        found = any_of(_ENDS).search(self.text, self.pos)
        if found is None and not at_end:
            keep = max(self.pos, len(self.text) - max(map(len, _ENDS)))
            self._parts.append(self.text[self.pos : keep])
            self.pos = keep
            return Verdict.MORE
        end = len(self.text) if found is None else found.start()
        written = "".join((*self._parts, self.text[self.pos : end])).strip()
        self.pos = end
        problem = "the arguments are not JSON" if written else None
        return self._accept(RawCall(self._name, {}, written, problem=problem))


def _could_be_header(text: str) -> bool:
    header = _HEADER.match(text)
    assert header is not None
    rest = text[header.end() :]
    return not rest or any(mark.startswith(rest) for mark in (MESSAGE, CHANNEL, START, CONSTRAIN))


class HarmonyDetector(BaseFormatDetector):
    forms: ClassVar[Forms] = {CHANNEL: (HarmonyMessage,), START: (HarmonyMessage,), RECIPIENT: (HarmonyMessage,)}
    wrapper = Wrapper((_CALL_HEAD,), _CALL_HEAD, f" {CONSTRAIN}json{MESSAGE}", CALL, between=f"{START}assistant")
