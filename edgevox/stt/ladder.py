"""The windows to try for one piece of speech, shortest first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

FULL_WINDOW_S = 30

_MARGIN_S = 1.0
_MIDDLE_WINDOW_S = 10.0
# A step that saves less than this is not worth its time when it fails as well.
_WORTHWHILE = 0.7


@dataclass(frozen=True, slots=True)
class Window:
    """Seconds that are really encoded, and seconds that the decoder sees: the difference is known silence."""

    encoded_s: float
    attended_s: float = FULL_WINDOW_S


def windows_for(speech_s: float) -> Iterator[Window]:
    """Yield the windows to try: just the speech, some silence more, and at last all of Whisper's 30 s."""
    shortest_s = speech_s + _MARGIN_S
    for encoded_s, next_s in ((shortest_s, _MIDDLE_WINDOW_S), (_MIDDLE_WINDOW_S, FULL_WINDOW_S)):
        if shortest_s <= encoded_s <= _WORTHWHILE * next_s:
            yield Window(encoded_s)
    yield Window(FULL_WINDOW_S)
