"""Drops audio until the wake word fires, and keeps the asleep/awake/muted state.

Time is counted in samples of the audio, so a recording wakes the assistant as a microphone does.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
from typing import Literal, Protocol, TypeAlias

from edgevox.audio.endpointing import Endpointer, EndpointEvent, FalseStart, SpeechResumed, SpeechSegment
from edgevox.audio.vad import BLOCK_MS
from edgevox.config.sections import WakeMode
from edgevox.core.events import Attention, AttentionChanged, Publish
from edgevox.core.types import Audio

COMMAND_WITHIN_S = 8.0
"""How long it stays awake after the wake word without a command."""
WORD_S = 2.2
"""How much audio before a detection is read to confirm the wake word."""

WakeContext: TypeAlias = Literal["called", "follow_up", "open"]
"""Why an utterance is heard: the wake word or a running turn; a reply before it; the mode "off"."""


class WakeWordSpotter(Protocol):
    """Detects the wake word about `noticed_after_s` after its end."""

    @property
    def noticed_after_s(self) -> float: ...

    def feed(self, block: Audio) -> bool: ...


class WakeState:
    """The state asleep, awake or muted. In the mode "off" it is always awake, unless muted.

    In the mode "word" the `spotter` wakes it, in "phrase" the `call` for a transcript that begins with the wake
    phrase. `talk` wakes it in both, and after a reply it stays awake for `follow_up_s`.
    """

    def __init__(
        self,
        mode: WakeMode = "off",
        spotter: WakeWordSpotter | None = None,
        *,
        follow_up_s: float = 0.0,
        publish: Publish = lambda _event: None,
    ) -> None:
        self.on_word: Callable[[Audio], None] | None = None
        """Called with the audio of a wake word that has ended sleep."""
        self.mode = mode
        self._spotter = spotter
        self._follow_up_s = follow_up_s
        self._publish = publish
        self._is_muted = False
        self._is_engaged = False
        self._has_talked = False
        """Whether `talk` was called since the last block."""
        self._now_s = 0.0
        self._awake_until_s = -math.inf
        self._is_follow_up = False
        self._published: Attention = "awake"
        # As many blocks as fit the spotter's delay, and at least the last one.
        delay_ms = round(spotter.noticed_after_s * 1000) if spotter else 0
        self._heard: deque[Audio] = deque(maxlen=max(1, math.ceil(delay_ms / BLOCK_MS)))
        self._word: deque[Audio] = deque(maxlen=round(WORD_S * 1000 / BLOCK_MS) if spotter else 1)

    @property
    def attention(self) -> Attention:
        if self._is_muted:
            return "muted"
        return "awake" if self.mode == "off" or self._is_engaged or self._is_in_window else "asleep"

    @property
    def is_awake(self) -> bool:
        return self.attention == "awake"

    @property
    def is_listening(self) -> bool:
        """Whether speech is transcribed: in the mode "phrase" also while asleep."""
        return self.is_awake or (self.mode == "phrase" and not self._is_muted)

    @property
    def context(self) -> WakeContext:
        """Why it is awake, unless a turn runs, a question is open or an alarm rings."""
        if self.mode == "off":
            return "open"
        return "follow_up" if self._is_follow_up else "called"

    def feed(self, block: Audio, *, is_engaged: bool, is_in_speech: bool) -> tuple[Audio, ...]:
        """Process the next block; if it ends the wake word, return the audio after the word.

        `is_engaged` while a turn runs, a question is open or an alarm rings: no wake word is needed then. Speech
        that is in progress extends the time awake to its end.
        """
        self._now_s += block.duration_s
        self._is_engaged = is_engaged
        has_talked, self._has_talked = self._has_talked, False
        if self._is_muted:
            return ()
        self._heard.append(block)
        self._word.append(block)
        if self._spotter is not None and self._spotter.feed(block):
            if self.on_word is not None and not self.is_awake:
                self.on_word(Audio.joined(tuple(self._word)))
            self.call()
            return tuple(self._heard)
        if has_talked:
            return (block,)
        if is_in_speech and self._is_in_window:
            self._awake_until_s = max(self._awake_until_s, self._now_s + 2 * block.duration_s)
        self._publish_attention()
        return ()

    def call(self) -> None:
        """Wake up for a command."""
        self._is_follow_up = False
        self._awake_until_s = self._now_s + COMMAND_WITHIN_S
        self._publish_attention()

    def talk(self) -> bool:
        """Wake up by a key or a command; False while muted."""
        if self._is_muted:
            return False
        self._has_talked = self.mode != "off"
        self.call()
        return True

    def note_reply_ended(self) -> None:
        """Stay awake for a follow-up to the reply."""
        self._is_follow_up = True
        self._awake_until_s = self._now_s + self._follow_up_s
        self._publish_attention()

    def sleep(self) -> None:
        """Wait for the wake word again, at once."""
        self._awake_until_s = -math.inf
        self._publish_attention()

    def mute(self) -> None:
        """Drop all audio until `unmute`."""
        self._is_muted = True
        self._awake_until_s = -math.inf
        self._heard.clear()
        self._word.clear()
        self._publish_attention()

    def unmute(self) -> None:
        self._is_muted = False
        self._publish_attention()

    @property
    def _is_in_window(self) -> bool:
        return self._now_s < self._awake_until_s

    def _publish_attention(self) -> None:
        if self._published != (now := self.attention):
            self._published = now
            self._publish(AttentionChanged(attention=now))


class WakeGatedEndpointer:
    """An endpointer that drops speech until the wake word, and the wake word itself.

    While asleep it still tracks the noise floor. `is_engaged` returns whether no wake word is needed.
    """

    def __init__(self, endpointer: Endpointer, wake_state: WakeState, is_engaged: Callable[[], bool]) -> None:
        self._endpointer = endpointer
        self._wake_state = wake_state
        self._is_engaged = is_engaged
        self._was_listening = wake_state.is_listening

    @property
    def is_in_speech(self) -> bool:
        return self._wake_state.is_listening and self._endpointer.is_in_speech

    def feed(self, block: Audio) -> EndpointEvent | None:
        was_heard = self._was_listening and self._endpointer.is_in_speech
        called = self._wake_state.feed(block, is_engaged=self._is_engaged(), is_in_speech=self._endpointer.is_in_speech)
        self._was_listening = self._wake_state.is_listening
        if called:
            self._endpointer.reset()
            events = [event for each in called if (event := self._endpointer.feed(each))]
            # In so short a time speech can begin, but not end.
            return events[0] if events else SpeechResumed() if was_heard else None
        event = self._endpointer.feed(block)
        if self._was_listening:
            return event
        if self._wake_state.attention == "muted":
            self._endpointer.reset()
        # A PossibleEnd from before gets no SpeechSegment.
        return SpeechResumed() if was_heard else None

    def end_after(self, hangovers: float) -> None:
        self._endpointer.end_after(hangovers)

    def finish(self) -> SpeechSegment | FalseStart | None:
        rest = self._endpointer.finish()
        return rest if self._wake_state.is_listening else None

    def reset(self) -> None:
        self._endpointer.reset()
