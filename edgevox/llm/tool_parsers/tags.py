"""Incremental reader of tagged regions, shared by the tagged formats."""

from __future__ import annotations

import re
from abc import abstractmethod

from edgevox.llm.tool_parsers.base import Opening, RawCall, Verdict
from edgevox.llm.tool_parsers.brackets import BracketBody
from edgevox.llm.tool_parsers.json_repair import JsonValue

NAME = re.compile(r"[A-Za-z_][\w.:/-]*")
MAX_NAME_CHARS = 128
_LONGEST_TAG = 200


class TagBody(BracketBody):
    """A region made of tags. Subclasses handle each tag, with the text before it.

    `pattern` matches a complete tag; a text that ends with one of `beginnings` is kept for the next piece. `pair`
    matches a complete argument whose value contains no tag: its key and value.
    """

    def __init__(
        self, opening: Opening, pattern: re.Pattern[str], beginnings: tuple[str, ...], pair: re.Pattern[str]
    ) -> None:
        super().__init__(opening)
        self._pattern = pattern
        self._pair = pair
        self._beginnings = beginnings
        self._name = ""
        self._arguments: dict[str, JsonValue] = {}
        self._key: str | None = None
        self._before: list[str] = []
        self._raw: list[str] = []

    @abstractmethod
    def _tag(self, tag: re.Match[str], before: str, at_end: bool) -> Verdict | None:
        """Handle one tag; `self.pos` is after it."""

    @abstractmethod
    def _add(self, key: str, written: str) -> None:
        """Add a complete argument."""

    @abstractmethod
    def _end_of_output(self, before: str) -> Verdict:
        """Handle the end of the reply; `before` is the text after the last tag."""

    def _tags(self, at_end: bool) -> Verdict | None:
        text, start = self.text, self.pos
        if self._is_between_arguments():
            while (pair := self._pair.match(text, start)) is not None:
                self._add(pair.group(1), pair.group(2))
                self._raw.append(self._text_before() + pair.group())
                self.pos = start = pair.end()
        tag = self._pattern.search(text, start)
        if tag is None:
            held = len(text) if at_end else self._held_from(start)
            self._before.append(text[start:held])
            self.pos = held
            if not at_end:
                return Verdict.MORE
            return self._end_of_output(self._text_before())
        self._before.append(text[start : tag.start()])
        self.pos = tag.end()
        before = self._text_before()
        self._raw.append(before + tag.group())
        return self._tag(tag, before, at_end)

    def progress(self) -> RawCall | None:
        if not self._name:
            return None
        arguments = self._arguments if self._preview is None else self._preview.arguments
        return RawCall(self._name, arguments, "")

    def _is_between_arguments(self) -> bool:
        return self._key is None

    def _text_before(self) -> str:
        before = "".join(self._before)
        self._before = []
        return before

    def _held_from(self, start: int) -> int:
        at = self.text.rfind("<", max(start, len(self.text) - _LONGEST_TAG))
        if at < 0:
            return len(self.text)
        tail = self.text[at:]
        if ">" not in tail and any(known.startswith(tail) or tail.startswith(known) for known in self._beginnings):
            return at
        return len(self.text)

    def _take(self, problem: str | None = None) -> None:
        self.calls.append(RawCall(self._name, self._arguments, "".join(self._raw).strip(), problem=problem))
        self._name, self._arguments, self._raw, self._key = "", {}, [], None
