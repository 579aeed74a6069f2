"""Incremental reader of tagged regions, shared by the tagged formats."""

from __future__ import annotations

import re
from abc import abstractmethod

from edgevox.llm.tool_parsers.base import Opening, RawCall, Verdict
from edgevox.llm.tool_parsers.brackets import BracketBody
from edgevox.llm.tool_parsers.json_repair import JsonValue

TOOL_CALL = "<tool_call>"
TOOL_CALL_END = "</tool_call>"
NAME = re.compile(r"[A-Za-z_][\w.:/-]*+")
MAX_NAME_CHARS = 128
_LONGEST_TAG = 200


class TagBody(BracketBody):
    """A region made of tags. Subclasses handle each tag, with the text before it.

    `pattern` matches a complete tag. `pair` matches a complete argument whose value contains no tag: its key and value.
    """

    def __init__(self, opening: Opening, pattern: re.Pattern[str], pair: re.Pattern[str] | None = None) -> None:
        super().__init__(opening)
        self._pattern = pattern
        self._pair = pair
        self._arguments: dict[str, JsonValue] = {}
        self._key: str | None = None
        self._before: list[str] = []
        self._raw: list[str] = []

    @abstractmethod
    def _tag(self, tag: re.Match[str], before: str) -> Verdict | None:
        """Handle one tag; `self.pos` is after it."""

    def _add(self, key: str, written: str) -> None:
        """Add a complete argument; needed for a `pair`."""
        raise NotImplementedError

    def _end_of_output(self, before: str) -> Verdict:
        """Handle the end of the reply; `before` is the text after the last tag."""
        self._raw.append(before)
        self._take(None if self._key is None else f"the output ended inside {self._key}")
        return Verdict.DONE

    def _tags(self, at_end: bool) -> Verdict | None:
        text, start = self.text, self.pos
        if self._pair is not None and self._is_between_arguments():
            while (pair := self._pair.match(text, start)) is not None:
                self._add(pair.group(1), pair.group(2))
                self._raw.append(self._text_before() + pair.group())
                self.pos = start = pair.end()
        tag = self._pattern.search(text, start)
        if tag is None:
            self.pos = len(text) if at_end else self._held_from(start)
            self._before.append(text[start : self.pos])
            return self._end_of_output(self._text_before()) if at_end else Verdict.MORE
        self._before.append(text[start : tag.start()])
        self.pos = tag.end()
        before = self._text_before()
        self._raw.append(before + tag.group())
        return self._tag(tag, before)

    def progress(self) -> RawCall | None:
        if self._name and self._preview is None:
            return RawCall(self._name, self._arguments, "")
        return super().progress()

    def _is_between_arguments(self) -> bool:
        return self._key is None

    def _finish_value(self, written: str) -> None:
        if self._key is not None:
            self._add(self._key, written)
        self._key = None

    def _text_before(self) -> str:
        before = "".join(self._before)
        self._before = []
        return before

    def _held_from(self, start: int) -> int:
        """Return where an incomplete tag starts at the end of the text."""
        at = self.text.rfind("<", max(start, len(self.text) - _LONGEST_TAG))
        return len(self.text) if at < 0 or self.text.find(">", at) >= 0 else at

    def _head(self, limit: int) -> str | Verdict:
        """Return the text up to the `>` of a tag, and skip it; or MORE or NO."""
        end = self.text.find(">", self.pos, self.pos + limit)
        if end < 0:
            head = self.text[self.pos : self.pos + limit]
            return Verdict.MORE if len(head) < limit and not any(char in head for char in "<\n") else Verdict.NO
        head = self.text[self.pos : end]
        self.pos = end + 1
        return head

    def _take(self, problem: str | None = None) -> None:
        self.calls.append(RawCall(self._name, self._arguments, "".join(self._raw).strip(), problem=problem))
        self._name, self._arguments, self._raw, self._key = "", {}, [], None
