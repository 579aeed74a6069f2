"""When the assistant is awake; time is in the blocks that it is fed."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pytest

from edgevox.audio.vad import BLOCK_MS, BLOCK_SAMPLES
from edgevox.audio.wake_gate import COMMAND_WITHIN_S, WakeState
from edgevox.core.events import AttentionChanged, Event
from edgevox.core.types import SAMPLE_RATE_HZ, Audio

SILENCE = Audio(np.zeros(BLOCK_SAMPLES, np.float32), SAMPLE_RATE_HZ)


@dataclass
class FakeSpotter:
    """Hears the word in the blocks with these numbers."""

    at: tuple[int, ...] = ()
    noticed_after_s: float = 0.1
    fed: int = 0

    def feed(self, block: Audio) -> bool:
        self.fed += 1
        return self.fed in self.at


@dataclass
class Told:
    events: list[Event] = field(default_factory=list)

    @property
    def attentions(self) -> list[str]:
        return [event.attention for event in self.events if isinstance(event, AttentionChanged)]


def pass_by(
    wake_state: WakeState, seconds: float, *, is_engaged: bool = False, is_in_speech: bool = False
) -> list[tuple[Audio, ...]]:
    fed = [
        wake_state.feed(SILENCE, is_engaged=is_engaged, is_in_speech=is_in_speech)
        for _ in range(round(seconds * 1000 / BLOCK_MS))
    ]
    return [called for called in fed if called]


def test_without_a_wake_word_it_is_always_awake() -> None:
    told = Told()
    wake_state = WakeState(publish=told.events.append)
    assert pass_by(wake_state, 60) == []
    assert wake_state.is_awake
    assert wake_state.talk()
    assert pass_by(wake_state, 60) == []
    assert told.events == []


def test_the_word_wakes_it_for_a_while() -> None:
    told = Told()
    wake_state = WakeState("word", FakeSpotter(at=(50,)), publish=told.events.append)
    assert not wake_state.is_listening
    assert len(pass_by(wake_state, 1)) == 1
    assert wake_state.is_awake
    pass_by(wake_state, COMMAND_WITHIN_S + 0.1)
    assert not wake_state.is_listening
    assert told.attentions == ["asleep", "awake", "asleep"]


def test_what_was_said_since_the_word_is_handed_over_in_order() -> None:
    wake_state = WakeState("word", FakeSpotter(at=(20,), noticed_after_s=0.1))
    blocks = [Audio(np.full(BLOCK_SAMPLES, number, np.float32), SAMPLE_RATE_HZ) for number in range(20)]
    fed = [wake_state.feed(block, is_engaged=False, is_in_speech=True) for block in blocks]
    assert fed[:-1] == [()] * 19
    assert list(fed[-1]) == blocks[-5:]


def test_an_utterance_that_outlasts_the_follow_up_window_is_kept() -> None:
    wake_state = WakeState("word", FakeSpotter(at=(1,)))
    pass_by(wake_state, COMMAND_WITHIN_S - 1)
    pass_by(wake_state, 10, is_in_speech=True)
    assert wake_state.is_awake
    pass_by(wake_state, 0.2)
    assert not wake_state.is_awake


def test_talk_of_others_does_not_wake_it() -> None:
    wake_state = WakeState("word", FakeSpotter())
    assert pass_by(wake_state, 30, is_in_speech=True) == []
    assert not wake_state.is_awake


def test_after_a_reply_it_listens_for_the_follow_up() -> None:
    wake_state = WakeState("word", FakeSpotter(at=(1,)), follow_up_s=3)
    pass_by(wake_state, 1)
    pass_by(wake_state, 20, is_engaged=True)
    wake_state.note_reply_ended()
    pass_by(wake_state, 2.9)
    assert wake_state.is_awake
    pass_by(wake_state, 0.2)
    assert not wake_state.is_awake


def test_without_a_follow_up_it_sleeps_after_the_reply() -> None:
    wake_state = WakeState("word", FakeSpotter(at=(1,)), follow_up_s=0)
    pass_by(wake_state, 1)
    pass_by(wake_state, 2, is_engaged=True)
    wake_state.note_reply_ended()
    pass_by(wake_state, 0.1)
    assert not wake_state.is_awake


def test_what_it_does_itself_keeps_it_awake() -> None:
    told = Told()
    wake_state = WakeState("word", FakeSpotter(), publish=told.events.append)
    pass_by(wake_state, 1)
    pass_by(wake_state, 60, is_engaged=True)
    assert wake_state.is_awake
    pass_by(wake_state, 0.1)
    assert told.attentions == ["asleep", "awake", "asleep"]


def test_talk_wakes_it_without_the_word() -> None:
    wake_state = WakeState("word", FakeSpotter())
    pass_by(wake_state, 1)
    assert wake_state.talk()
    assert wake_state.is_awake
    # What was said before the key was pressed is not for the assistant.
    (called,) = pass_by(wake_state, 1)
    assert called == (SILENCE,)


@pytest.mark.parametrize("mode", ["off", "word", "phrase"])
def test_muted_it_hears_nothing_whatever_happens(mode: str) -> None:
    spotter = FakeSpotter(at=(1, 2, 3))
    told = Told()
    wake_state = WakeState(mode, spotter, publish=told.events.append)  # type: ignore[arg-type]
    wake_state.mute()
    assert not wake_state.talk()
    assert pass_by(wake_state, 5, is_engaged=True, is_in_speech=True) == []
    assert not wake_state.is_listening
    assert spotter.fed == 0
    assert told.attentions == ["muted"]


def test_unmuted_it_does_not_hear_what_was_said_before() -> None:
    wake_state = WakeState("word", FakeSpotter(at=(11,)))
    pass_by(wake_state, 0.2)
    wake_state.mute()
    wake_state.unmute()
    (called,) = pass_by(wake_state, 0.02)
    assert called == (SILENCE,)


def test_for_a_phrase_it_listens_asleep() -> None:
    wake_state = WakeState("phrase")
    pass_by(wake_state, 1)
    assert (wake_state.is_awake, wake_state.is_listening) == (False, True)
    wake_state.call()
    assert wake_state.is_awake
