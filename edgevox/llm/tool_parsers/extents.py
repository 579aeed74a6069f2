"""A body whose calls stand in brackets, and the rule for brackets that never close."""

from __future__ import annotations

import re
from functools import lru_cache

from edgevox.llm.tool_parsers.base import Body, Opening
from edgevox.llm.tool_parsers.brackets import Brackets
from edgevox.llm.tool_parsers.json_repair import JsonValue, read_at
from edgevox.llm.tool_parsers.preview import ArgumentsPreview

_NONE_YET = Brackets()


class BracketBody(Body):
    """Collects one bracketed value after the other.

    An end marker inside a string is part of it. Only when the value makes no sense, or never ends, was the
    marker meant: the value then ends there, and so does every later one (`ends_inside_strings`), so that no
    text is looked at more than twice.
    """

    def __init__(self, opening: Opening) -> None:
        super().__init__(opening)
        self._brackets = _NONE_YET
        self._parts: list[str] = []
        self._stops: tuple[str, ...] = ()
        self._preview: ArgumentsPreview | None = None

    def _begin_value(
        self,
        *,
        stops: tuple[str, ...] = (),
        raw_quotes: tuple[str, ...] = (),
        parens: bool = False,
        opened: str = "",
        preview: ArgumentsPreview | None = None,
        arguments_depth: int = 1,
    ) -> None:
        """A value begins at `pos`; its first bracket `opened` may have been part of the marker.

        `preview` follows the arguments, which are `arguments_depth` brackets deep.
        """
        depth = arguments_depth if preview is not None else 0
        self._brackets = Brackets(ends=stops, raw_quotes=raw_quotes, parens=parens, marked_depth=depth)
        self._preview = preview
        self._stops = stops
        self._parts = []
        if opened:
            self._brackets.scan(opened, 0, False)
            self._parts.append(opened)
            if preview is not None:
                preview.follow(opened, 0, 1, self._brackets.marks)

    def _sound_json(self) -> dict[str, JsonValue] | None:
        """The JSON object at `pos`, if all of it is there and sound, as it mostly is in batch."""
        if self.opening.ends_inside_strings:
            return None
        whole = read_at(self.text, self.pos)
        if whole is None:
            return None
        value, end = whole
        if not isinstance(value, dict):
            return None
        self.pos = end
        return value

    def _value(self, at_end: bool) -> str | None:
        """The whole value as it is written, once it is there; `pos` then stands behind it."""
        brackets, text, start, limit, limited = self._brackets, self.text, self.pos, len(self.text), False
        if self.opening.ends_inside_strings and self._stops:
            stop = any_of(self._stops).search(text, start)
            if stop is not None:
                limit, limited = stop.start(), True
            elif not at_end:
                # A marker may be cut in two here.
                limit = max(start, len(text) - max(map(len, self._stops)) + 1)
            # Only this part: copying from the beginning of the reply each time would take too long.
            text, start, limit = text[start:limit], 0, limit - start
        offset = self.pos - start
        end = brackets.scan(text, start, at_end or limited)
        if end < 0 and not limited and not at_end:
            self._parts.append(text[start : brackets.consumed])
            self.pos = offset + brackets.consumed
            if self._preview is not None:
                self._preview.follow(text, start, brackets.consumed, brackets.marks)
            return None
        if end < 0:
            end = limit
        self._parts.append(text[start:end])
        self.pos = offset + end
        written = "".join(self._parts)
        if at_end and not limited and not brackets.closed and not brackets.cut:
            return self._shortened(written) or written
        return written

    def _shortened(self, written: str) -> str | None:
        """The part of `written` before an end marker in it; what is behind the marker is read again."""
        stop = any_of(self._stops).search(written) if self._stops else None
        if stop is None:
            return None
        self.text, self.pos = written[stop.start() :] + self.text[self.pos :], 0
        self.opening.ends_inside_strings = True
        return written[: stop.start()]


@lru_cache(maxsize=64)
def any_of(markers: tuple[str, ...]) -> re.Pattern[str]:
    """Finds the first of some markers in one pass."""
    return re.compile("|".join(map(re.escape, markers)))
