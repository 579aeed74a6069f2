"""Utterances across wake, sleep and mute changes."""

from __future__ import annotations

import numpy as np

from edgevox.audio.endpointing import Endpointer, EndpointEvent, FalseStart, PossibleEnd, SpeechResumed, SpeechStarted
from edgevox.audio.vad import BLOCK_SAMPLES
from edgevox.audio.wake_gate import WakeGatedEndpointer, WakeState
from edgevox.config import AudioSettings
from edgevox.core.types import SAMPLE_RATE_HZ, Audio
from tests.audio.test_wake_state import FakeSpotter
from tests.dialogue.sounds import silent, voiced


class Listener:
    def __init__(self, wake_state: WakeState) -> None:
        self.is_engaged = False
        self.endpointer = WakeGatedEndpointer(Endpointer(AudioSettings()), wake_state, lambda: self.is_engaged)

    def hear(self, samples: np.ndarray) -> list[EndpointEvent]:
        found = []
        for start in range(0, len(samples) - BLOCK_SAMPLES + 1, BLOCK_SAMPLES):
            block = Audio(samples[start : start + BLOCK_SAMPLES], SAMPLE_RATE_HZ)
            found.append(self.endpointer.feed(block))
        return [event for event in found if event]


def kinds(events: list[EndpointEvent]) -> list[type]:
    return [type(event) for event in events]


def test_asleep_nobody_is_in_speech() -> None:
    listener = Listener(WakeState("word", FakeSpotter()))
    assert listener.hear(np.concatenate([silent(0.5), voiced(2)])) == []
    assert not listener.endpointer.is_in_speech
    assert listener.endpointer.finish() is None


def test_muted_in_the_middle_of_a_sentence_it_gives_up_what_it_heard() -> None:
    wake_state = WakeState()
    listener = Listener(wake_state)
    assert kinds(listener.hear(np.concatenate([silent(0.5), voiced(1), silent(0.3)]))) == [SpeechStarted, PossibleEnd]
    wake_state.mute()
    assert kinds(listener.hear(voiced(1))) == [SpeechResumed]
    wake_state.unmute()
    assert listener.hear(silent(2)) == []


def test_what_was_being_said_when_it_fell_asleep_has_no_end() -> None:
    listener = Listener(WakeState("word", FakeSpotter()))
    listener.is_engaged = True
    assert kinds(listener.hear(np.concatenate([silent(0.5), voiced(1)]))) == [SpeechStarted]
    listener.is_engaged = False
    assert kinds(listener.hear(np.concatenate([voiced(1), silent(1)]))) == [SpeechResumed]


def test_a_second_call_takes_the_place_of_the_first() -> None:
    listener = Listener(WakeState("word", FakeSpotter(at=(25, 100))))
    events = listener.hear(np.concatenate([silent(0.5), voiced(1), silent(0.3), voiced(2)]))
    assert kinds(events)[:3] == [SpeechStarted, PossibleEnd, SpeechResumed]
    assert not any(isinstance(event, FalseStart) for event in events)
