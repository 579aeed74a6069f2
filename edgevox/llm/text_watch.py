"""Watching a stream of text for certain strings: text is released once it cannot be the beginning of one."""

from __future__ import annotations


class TextWatch:
    """Feed text; what stands before the first of `strings` comes back as soon as that is certain.

    Once one is there, `found` names it and `rest` is the text behind it; the watch is then of no further use.
    """

    def __init__(self, strings: tuple[str, ...]) -> None:
        self._strings = tuple(string for string in strings if string)
        self._held = ""
        self.found: str | None = None
        self.rest = ""

    def feed(self, text: str) -> str:
        self._held += text
        places = [(at, string) for string in self._strings if (at := self._held.find(string)) >= 0]
        if places:
            at, self.found = min(places, key=lambda place: (place[0], -len(place[1])))
            released, self.rest = self._held[:at], self._held[at + len(self.found) :]
            self._held = ""
            return released
        keep = max((_overlap(self._held, string) for string in self._strings), default=0)
        cut = len(self._held) - keep
        released, self._held = self._held[:cut], self._held[cut:]
        return released

    def finish(self) -> str:
        """The text that was held back, when the stream ends without any of the strings."""
        released, self._held = self._held, ""
        return released


def _overlap(text: str, string: str) -> int:
    """How many characters at the end of `text` could begin `string`."""
    return next((n for n in range(min(len(text), len(string) - 1), 0, -1) if text.endswith(string[:n])), 0)
