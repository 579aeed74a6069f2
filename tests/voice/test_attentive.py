"""What becomes of utterances when whoever listens falls asleep, is called or is muted meanwhile."""

from __future__ import annotations

import numpy as np

from edgevox.audio.segmenter import FalseStart, Paused, Resumed, Segmenter, SegmentEvent, SpeechStarted
from edgevox.audio.vad import BLOCK_SAMPLES
from edgevox.settings import AudioSettings
from edgevox.types import WHISPER_RATE_HZ, Audio
from edgevox.voice.attentive import AttentiveSegmenter
from edgevox.voice.wakefulness import Wakefulness
from tests.voice.sounds import silent, voiced
from tests.voice.test_wakefulness import FakeSpotter


class Listener:
    def __init__(self, wakefulness: Wakefulness) -> None:
        self.is_engaged = False
        self.segmenter = AttentiveSegmenter(Segmenter(AudioSettings()), wakefulness, lambda: self.is_engaged)

    def hear(self, samples: np.ndarray) -> list[SegmentEvent]:
        found = []
        for start in range(0, len(samples) - BLOCK_SAMPLES + 1, BLOCK_SAMPLES):
            block = Audio(samples[start : start + BLOCK_SAMPLES], WHISPER_RATE_HZ)
            found.append(self.segmenter.feed(block))
        return [event for event in found if event]


def kinds(events: list[SegmentEvent]) -> list[type]:
    return [type(event) for event in events]


def test_asleep_nobody_is_in_speech() -> None:
    listener = Listener(Wakefulness("word", FakeSpotter()))
    assert listener.hear(np.concatenate([silent(0.5), voiced(2)])) == []
    assert not listener.segmenter.is_in_speech
    assert listener.segmenter.finish() is None


def test_muted_in_the_middle_of_a_sentence_it_gives_up_what_it_heard() -> None:
    wakefulness = Wakefulness()
    listener = Listener(wakefulness)
    assert kinds(listener.hear(np.concatenate([silent(0.5), voiced(1), silent(0.3)]))) == [
        SpeechStarted,
        Paused,
    ]
    wakefulness.mute()
    assert kinds(listener.hear(voiced(1))) == [Resumed]
    wakefulness.unmute()
    assert listener.hear(silent(2)) == []


def test_what_was_being_said_when_it_fell_asleep_has_no_end() -> None:
    listener = Listener(Wakefulness("word", FakeSpotter()))
    listener.is_engaged = True
    assert kinds(listener.hear(np.concatenate([silent(0.5), voiced(1)]))) == [SpeechStarted]
    listener.is_engaged = False
    assert kinds(listener.hear(np.concatenate([voiced(1), silent(1)]))) == [Resumed]


def test_a_second_call_takes_the_place_of_the_first() -> None:
    listener = Listener(Wakefulness("word", FakeSpotter(at=(25, 100))))
    events = listener.hear(np.concatenate([silent(0.5), voiced(1), silent(0.3), voiced(2)]))
    assert kinds(events)[:3] == [SpeechStarted, Paused, Resumed]
    assert not any(isinstance(event, FalseStart) for event in events)
