"""Whether the person in the room is being served: from the first sound they make to the end of the answer."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from edgevox.events import Event, SpeechDropped, SpeechStarted, TurnEnded, TurnStarted

_SPEECH_S = 60.0
"""Speech of which nothing comes, not even that it was none, counts no longer than this."""


class Room:
    """Listens to the events; calls `began` when the person comes first, and `ended` when nobody does."""

    def __init__(
        self, began: Callable[[], None], ended: Callable[[], None], *, speech_s: float = _SPEECH_S
    ) -> None:
        self._began = began
        self._ended = ended
        self._speech_s = speech_s
        self._speech: asyncio.TimerHandle | None = None
        self._turns: set[str] = set()

    @property
    def is_busy(self) -> bool:
        return self._speech is not None or bool(self._turns)

    def hear(self, event: Event) -> None:
        """Something happened. Call it inside the event loop."""
        was_busy = self.is_busy
        match event:
            case SpeechStarted():
                self._end_speech()
                self._speech = asyncio.get_running_loop().call_later(self._speech_s, self._give_up)
            case SpeechDropped():
                self._end_speech()
            case TurnStarted(source=source) if source != "api":
                self._turns.add(event.turn_id)
                self._end_speech()
            case TurnEnded():
                self._turns.discard(event.turn_id)
            case _:
                return
        self._tell(was_busy)

    def _give_up(self) -> None:
        self._speech = None
        self._tell(was_busy=True)

    def _end_speech(self) -> None:
        if self._speech is not None:
            self._speech.cancel()
            self._speech = None

    def _tell(self, was_busy: bool) -> None:
        if self.is_busy and not was_busy:
            self._began()
        elif was_busy and not self.is_busy:
            self._ended()
