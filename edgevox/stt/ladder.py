"""The windows to try for one piece of speech, shortest first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

FULL_WINDOW_S = 30

_MARGIN_S = 1.0
# Shorter windows are quicker, but Whisper hears less well in them and loops: docs/adr/0003.
_LEAST_ENCODED_S = 8.0
_LEAST_ATTENDED_S = 10.0
_ATTENDED_MARGIN_S = 5.0
# A window that saves less than this is not worth its time when it fails.
_WORTHWHILE = 0.8


@dataclass(frozen=True, slots=True)
class Window:
    """Seconds that are really encoded, and seconds that the decoder sees: the difference is known silence."""

    encoded_s: float
    attended_s: float


def windows_for(speech_s: float) -> Iterator[Window]:
    """Yield the windows to try: the speech and a margin, 8 s at least, and then all of Whisper's 30 s."""
    end_s = speech_s + _MARGIN_S
    short_s = max(_LEAST_ENCODED_S, end_s)
    if short_s < _WORTHWHILE * FULL_WINDOW_S:
        yield Window(short_s, min(FULL_WINDOW_S, max(_LEAST_ATTENDED_S, end_s + _ATTENDED_MARGIN_S)))
    yield Window(FULL_WINDOW_S, FULL_WINDOW_S)
