"""The segmenter of somebody who may be asleep: it finds utterances in what is meant for the assistant."""

from __future__ import annotations

from collections.abc import Callable

from edgevox.audio.segmenter import FalseStart, Resumed, Segmenter, SegmentEvent, Utterance
from edgevox.types import Audio
from edgevox.voice.wakefulness import Wakefulness


class AttentiveSegmenter:
    """A segmenter that asks first: what is said before the call, and the call itself, are let go.

    Asleep it goes on to learn how loud the room is. `is_engaged` says whether nobody has to call, since a
    turn is under way, a question is open or something rings.
    """

    def __init__(
        self, segmenter: Segmenter, wakefulness: Wakefulness, is_engaged: Callable[[], bool]
    ) -> None:
        self._segmenter = segmenter
        self._wakefulness = wakefulness
        self._is_engaged = is_engaged
        self._was_listening = wakefulness.is_listening

    @property
    def is_in_speech(self) -> bool:
        """Whether somebody speaks who may be heard."""
        return self._wakefulness.is_listening and self._segmenter.is_in_speech

    def feed(self, block: Audio) -> SegmentEvent | None:
        """Take the next block: BLOCK_MS of sound at 16 kHz."""
        was_heard = self._was_listening and self._segmenter.is_in_speech
        called = self._wakefulness.feed(
            block, is_engaged=self._is_engaged(), is_in_speech=self._segmenter.is_in_speech
        )
        self._was_listening = self._wakefulness.is_listening
        if called is not None:
            return self._begin_again(called.blocks, was_heard=was_heard)
        event = self._segmenter.feed(block)
        if self._was_listening:
            return event
        if self._wakefulness.attention == "muted":
            self._segmenter.reset()
        # What was heard before will have no end.
        return Resumed() if was_heard else None

    def end_after(self, hangovers: float) -> None:
        self._segmenter.end_after(hangovers)

    def finish(self) -> Utterance | FalseStart | None:
        rest = self._segmenter.finish()
        return rest if self._wakefulness.is_listening else None

    def reset(self) -> None:
        self._segmenter.reset()

    def _begin_again(self, blocks: tuple[Audio, ...], *, was_heard: bool) -> SegmentEvent | None:
        self._segmenter.reset()
        events = [event for block in blocks if (event := self._segmenter.feed(block))]
        # In so short a time speech can begin, but not end.
        return events[0] if events else Resumed() if was_heard else None
