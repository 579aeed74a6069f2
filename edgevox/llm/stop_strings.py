"""Stop strings in a stream: text is released as soon as it cannot be the beginning of one."""

from __future__ import annotations


class StopStrings:
    """Feed text; what may be spoken comes back, and `stopped` turns true at the first stop string."""

    def __init__(self, stops: tuple[str, ...]) -> None:
        self._stops = tuple(stop for stop in stops if stop)
        self._held = ""
        self.stopped = False

    def feed(self, text: str) -> str:
        self._held += text
        first = min((at for stop in self._stops if (at := self._held.find(stop)) >= 0), default=-1)
        if first >= 0:
            self.stopped = True
            released, self._held = self._held[:first], ""
            return released
        keep = max((_overlap(self._held, stop) for stop in self._stops), default=0)
        cut = len(self._held) - keep
        released, self._held = self._held[:cut], self._held[cut:]
        return released

    def finish(self) -> str:
        """The text that was held back, when the stream ends without a stop string."""
        released, self._held = self._held, ""
        return released


def _overlap(text: str, stop: str) -> int:
    """How many characters at the end of `text` could begin `stop`."""
    return next((n for n in range(min(len(text), len(stop) - 1), 0, -1) if text.endswith(stop[:n])), 0)
