"""How a recogniser is asked, and the windows to try for one piece of speech, shortest first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

FULL_WINDOW_S = 30

# A window that saves less than this is not worth its time when it fails.
_WORTHWHILE = 0.8


@dataclass(frozen=True, slots=True)
class Window:
    """Seconds that are really encoded, and seconds that the decoder sees: the difference is known silence."""

    encoded_s: float
    attended_s: float


@dataclass(frozen=True, slots=True)
class Asking:
    """What a recogniser was taught, or needs: an adapter says so in its file.

    The speech and `margin_s` are encoded, `least_s` at least; the decoder sees `tail_s` of silence behind it,
    and `least_seen_s` at least.
    """

    margin_s: float
    least_s: float
    tail_s: float
    least_seen_s: float
    timestamps: bool
    name_tokens: int

    @property
    def has_tail(self) -> bool:
        """Whether short windows end with silence that was encoded before."""
        return self.tail_s > 0 or self.least_seen_s > self.least_s

    def windows_for(self, speech_s: float) -> Iterator[Window]:
        """Yield the windows to try: the speech and a margin, and then all of Whisper's 30 s."""
        end_s = speech_s + self.margin_s
        short_s = max(self.least_s, end_s)
        if short_s < _WORTHWHILE * FULL_WINDOW_S:
            seen_s = max(self.least_seen_s, end_s + self.tail_s, short_s)
            yield Window(short_s, min(FULL_WINDOW_S, seen_s))
        yield Window(FULL_WINDOW_S, FULL_WINDOW_S)


# Shorter windows are quicker, but Whisper hears less well in them and loops, without timestamps as well
# (docs/adr/0003). 128 tokens are about 40 names: all of a flat, and what is unusual in a large house.
UNTAUGHT = Asking(margin_s=1.0, least_s=8.0, tail_s=5.0, least_seen_s=10.0, timestamps=True, name_tokens=128)
