"""A body whose calls stand in brackets, and the rule for brackets that never close."""

from __future__ import annotations

from edgevox.llm.tool_parsers.base import Body, Opening
from edgevox.llm.tool_parsers.brackets import Brackets


class BracketBody(Body):
    """Collects one bracketed value after the other.

    An end marker inside a string is part of it. Only when the value makes no sense, or never ends, was the
    marker meant: the value then ends there, and so does every later one (`ends_inside_strings`), so that no
    text is looked at more than twice.
    """

    def __init__(self, opening: Opening) -> None:
        super().__init__(opening)
        self._brackets = Brackets()
        self._parts: list[str] = []
        self._stops: tuple[str, ...] = ()

    def _begin_value(
        self,
        *,
        stops: tuple[str, ...] = (),
        raw_quotes: tuple[str, ...] = (),
        parens: bool = False,
        opened: str = "",
    ) -> None:
        """A value begins at `pos`; its first bracket `opened` may have been part of the marker."""
        self._brackets = Brackets(ends=stops, raw_quotes=raw_quotes, parens=parens)
        self._stops = stops
        self._parts = []
        if opened:
            self._brackets.scan(opened, 0, False)
            self._parts.append(opened)

    def _value(self, at_end: bool) -> str | None:
        """The whole value as it is written, once it is there; `pos` then stands behind it."""
        start, brackets, text = self.pos, self._brackets, self.text
        limited = False
        if self.opening.ends_inside_strings and self._stops:
            stop = min((at for at in (text.find(stop, start) for stop in self._stops) if at >= 0), default=-1)
            limited = stop >= 0
            if limited:
                text = text[:stop]
            elif not at_end:
                # A marker may be cut in two here.
                text = text[: max(start, len(text) - max(map(len, self._stops)) + 1)]
        end = brackets.scan(text, start, at_end or limited)
        if end < 0 and not limited and not at_end:
            self._parts.append(text[start : brackets.consumed])
            self.pos = brackets.consumed
            return None
        if end < 0:
            end = len(text)
        self._parts.append(text[start:end])
        self.pos = end
        written = "".join(self._parts)
        if at_end and not limited and not brackets.closed and not brackets.cut:
            return self._shortened(written) or written
        return written

    def _shortened(self, written: str) -> str | None:
        """The part of `written` before an end marker in it; what is behind the marker is read again."""
        cut = min((at for at in map(written.find, self._stops) if at >= 0), default=-1)
        if cut < 0:
            return None
        self.text, self.pos = written[cut:] + self.text[self.pos :], 0
        self.opening.ends_inside_strings = True
        return written[:cut]
