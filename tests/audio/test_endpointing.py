"""Utterances found in sound, as fast as it can be computed: what speech is, and what is none."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from edgevox.audio.dsp import Resampler
from edgevox.audio.endpointing import (
    Endpointer,
    EndpointEvent,
    FalseStart,
    PossibleEnd,
    SpeechResumed,
    SpeechSegment,
    SpeechStarted,
)
from edgevox.config.settings import AudioSettings
from edgevox.core.turn import CancelFlag
from edgevox.core.types import Audio, SynthesisRequest
from edgevox.eval.synthetic_speech import Noise
from edgevox.tts.piper import PiperEngine
from tests.audio.sounds import Samples, espeak, hum, knocks, noise, silence, sweep

RATE_HZ = 16_000
BLOCK = 320
COMMAND = "Please turn on the light in the kitchen."
# As quiet as a good microphone in a quiet room.
HISS = 0.0001


def events(samples: Samples, settings: AudioSettings | None = None) -> list[EndpointEvent]:
    """What was found, but for the pauses."""
    return [event for event in all_events(samples, settings) if not isinstance(event, PossibleEnd | SpeechResumed)]


def all_events(samples: Samples, settings: AudioSettings | None = None) -> list[EndpointEvent]:
    endpointer = Endpointer(settings or AudioSettings())
    found = [endpointer.feed(block) for block in blocks(samples)]
    return [event for event in (*found, endpointer.finish()) if event is not None]


def blocks(samples: Samples) -> Iterator[Audio]:
    for start in range(0, len(samples) - BLOCK + 1, BLOCK):
        yield Audio(samples[start : start + BLOCK], RATE_HZ)


def in_a_room(*sounds: Samples, hiss: float = HISS) -> Samples:
    """A second of the quiet room, the sounds, and another second."""
    joined = np.concatenate([silence(1.0), *sounds, silence(1.0)])
    return joined + noise(len(joined) / RATE_HZ, hiss)


def the_utterance(found: list[EndpointEvent]) -> SpeechSegment:
    started, utterance = found
    assert isinstance(started, SpeechStarted)
    assert isinstance(utterance, SpeechSegment)
    return utterance


@pytest.fixture(scope="module")
def command(tmp_path_factory: pytest.TempPathFactory) -> Samples:
    return espeak(COMMAND, tmp_path_factory.mktemp("espeak"))


def lively(duration_s: float) -> Samples:
    """Syllables without a word: noise in the rhythm of speech, five a second, never quite silent."""
    at_s = np.arange(round(duration_s * RATE_HZ)) / RATE_HZ
    return noise(duration_s, 0.1) * (0.05 + np.abs(np.sin(2 * np.pi * 2.5 * at_s))).astype(np.float32)


# --- speech


def test_a_command_is_found_whole(command: Samples) -> None:
    utterance = the_utterance(events(in_a_room(command)))
    spoken_s = len(command) / RATE_HZ
    assert utterance.started_at_s < 1.0
    assert 1.0 + spoken_s - 0.4 < utterance.last_voiced_at_s <= 1.0 + spoken_s + 0.1
    assert utterance.ended_at_s == pytest.approx(utterance.last_voiced_at_s + 0.5)
    assert not utterance.cut


def test_the_sound_of_an_utterance_is_what_lies_between_its_times(command: Samples) -> None:
    heard = in_a_room(command)
    utterance = the_utterance(events(heard))
    first, last = (round(at_s * RATE_HZ) for at_s in (utterance.started_at_s, utterance.ended_at_s))
    assert np.array_equal(utterance.audio.samples, heard[first:last])


@pytest.mark.parametrize("word", ["no", "yes", "stop", "okay", "off"])
def test_one_short_word_is_enough(word: str, tmp_path: Path) -> None:
    the_utterance(events(in_a_room(espeak(word, tmp_path))))


@pytest.mark.engine
def test_the_voice_of_piper_is_found_too(piper_voice_path: Path) -> None:
    engine = PiperEngine(piper_voice_path)
    engine.load()
    resampler = Resampler(22_050, RATE_HZ)
    pieces = [resampler.feed(p.samples) for p in engine.run(SynthesisRequest(COMMAND), CancelFlag())]
    utterance = the_utterance(events(in_a_room(*pieces, resampler.finish())))
    assert utterance.audio.duration_s > 2


def test_speech_in_the_first_sample_loses_none_of_it(command: Samples) -> None:
    utterance = the_utterance(events(np.concatenate((command, silence(1.0)))))
    assert utterance.started_at_s == 0.0


def test_a_quiet_voice_is_heard_and_so_is_one_beside_a_fan(command: Samples) -> None:
    the_utterance(events(in_a_room(command * 0.05)))
    utterance = the_utterance(events(in_a_room(command, hiss=0.01)))
    # The fan goes on: the pause is found all the same.
    assert utterance.last_voiced_at_s < 1.1 + len(command) / RATE_HZ


def test_a_voice_that_peaks_at_55_db_below_full_scale_is_heard_to_its_end(command: Samples) -> None:
    steps = 32_767
    faint = command / np.abs(command).max() * 10 ** (-55 / 20)
    room = in_a_room(faint, hiss=0.7 / steps)
    utterance = the_utterance(events((np.rint(room * steps) / steps).astype(np.float32)))
    assert utterance.started_at_s < 1.3
    assert utterance.last_voiced_at_s > 1.0 + len(command) / RATE_HZ - 0.6


def test_a_fan_that_was_just_switched_on_does_not_hide_where_speech_ends(command: Samples) -> None:
    fan = noise(6.0 + len(command) / RATE_HZ, 0.02)
    fan[2 * RATE_HZ : 2 * RATE_HZ + len(command)] += command
    utterance = the_utterance(events(in_a_room(fan)))
    assert 2.5 < utterance.started_at_s < 3.0
    assert utterance.last_voiced_at_s < 3.2 + len(command) / RATE_HZ


def test_a_pause_within_a_sentence_does_not_end_it_and_a_longer_one_does(command: Samples) -> None:
    def kinds(pause_s: float) -> list[type]:
        return [type(event) for event in events(in_a_room(command, silence(pause_s), command))]

    assert kinds(0.1) == [SpeechStarted, SpeechSegment]
    assert kinds(1.0) == [SpeechStarted, SpeechSegment] * 2


def test_the_hangover_is_as_long_as_it_is_set(command: Samples) -> None:
    for hangover_ms in (200, 800):
        (utterance,) = events(in_a_room(command[: RATE_HZ // 2]), AudioSettings(hangover_ms=hangover_ms))[1:]
        assert isinstance(utterance, SpeechSegment)
        assert utterance.ended_at_s - utterance.last_voiced_at_s == pytest.approx(hangover_ms / 1000)


def test_the_pre_roll_is_kept_from_before_the_voice(command: Samples) -> None:
    started, utterance = events(in_a_room(command), AudioSettings(pre_roll_ms=600))
    assert isinstance(started, SpeechStarted)
    assert isinstance(utterance, SpeechSegment)
    assert started.at_s - utterance.started_at_s == pytest.approx(0.6)


def test_what_goes_on_too_long_is_cut_and_the_next_part_follows_without_a_gap() -> None:
    found = events(in_a_room(lively(6.0)), AudioSettings(max_utterance_s=2.0))
    parts = [event for event in found if isinstance(event, SpeechSegment)]
    assert [part.cut for part in parts[:2]] == [True, True]
    assert parts[0].audio.duration_s == pytest.approx(2.0)
    for before, after in pairwise(parts):
        assert after.started_at_s == pytest.approx(before.ended_at_s)


def test_speech_that_the_stream_ends_in_is_given_when_it_is_asked_for(command: Samples) -> None:
    endpointer = Endpointer(AudioSettings())
    found = [endpointer.feed(block) for block in blocks(np.concatenate((silence(1.0), command)))]
    assert not any(isinstance(event, SpeechSegment) for event in found)
    assert endpointer.is_in_speech
    assert isinstance(endpointer.finish(), SpeechSegment)
    assert endpointer.finish() is None


def test_after_a_reset_nothing_of_before_is_left(command: Samples) -> None:
    endpointer = Endpointer(AudioSettings())
    for block in blocks(np.concatenate((silence(1.0), command))):
        endpointer.feed(block)
    endpointer.reset()
    assert not endpointer.is_in_speech
    assert [endpointer.feed(block) for block in blocks(silence(2.0))] == [None] * 100
    assert endpointer.finish() is None


def test_a_start_that_turns_out_too_short_is_taken_back() -> None:
    found = events(in_a_room(lively(0.3)), AudioSettings(min_speech_ms=500))
    assert [type(event) for event in found] == [SpeechStarted, FalseStart]


def test_a_block_of_another_length_is_refused() -> None:
    with pytest.raises(ValueError, match="20 ms"):
        Endpointer(AudioSettings()).feed(Audio(silence(0.03), RATE_HZ))


# --- pauses


def test_before_an_utterance_ends_it_is_offered_with_less_of_the_silence_behind_it(command: Samples) -> None:
    *_, paused, utterance = all_events(in_a_room(command))
    assert isinstance(paused, PossibleEnd)
    assert isinstance(utterance, SpeechSegment)
    offered, whole = paused.audio.samples, utterance.audio.samples
    assert np.array_equal(offered, whole[: len(offered)])
    assert len(whole) - len(offered) == pytest.approx(0.44 * RATE_HZ)


def test_a_voice_that_goes_on_takes_the_offer_back(command: Samples) -> None:
    found = all_events(in_a_room(command, silence(0.1), command))
    assert [type(event) for event in found] == [SpeechStarted, PossibleEnd, SpeechResumed, PossibleEnd, SpeechSegment]


def test_every_offer_but_the_last_is_taken_back_and_there_are_few_of_them(command: Samples) -> None:
    word = command[: RATE_HZ // 2]
    found = all_events(in_a_room(*(part for _ in range(12) for part in (word, silence(0.3)))))
    kinds = [type(event) for event in found]
    assert kinds == [SpeechStarted, *[PossibleEnd, SpeechResumed] * 8, SpeechSegment]


def test_what_is_too_short_to_be_speech_is_not_offered() -> None:
    found = all_events(in_a_room(lively(0.3)), AudioSettings(min_speech_ms=500))
    assert not any(isinstance(event, PossibleEnd) for event in found)


# --- the pause that ends an utterance


@pytest.mark.parametrize(("hangovers", "pause_s"), [(0.6, 0.3), (1.4, 0.7), (2.4, 1.2)])
def test_the_pause_that_ends_an_utterance_can_be_made_longer_and_shorter(
    command: Samples, hangovers: float, pause_s: float
) -> None:
    (utterance,) = ended_after(np.concatenate([in_a_room(command), noise(1.0, HISS)]), hangovers)
    assert utterance.ended_at_s - utterance.last_voiced_at_s == pytest.approx(pause_s)


def test_a_pause_that_is_too_long_already_ends_the_utterance_at_once(command: Samples) -> None:
    endpointer = Endpointer(AudioSettings())
    sound = in_a_room(command, silence(1.0))
    silent_blocks = 0
    for block in blocks(sound):
        event = endpointer.feed(block)
        if isinstance(event, PossibleEnd):
            endpointer.end_after(2.4)
            silent_blocks = 1
        elif isinstance(event, SpeechSegment):
            break
        elif silent_blocks:
            silent_blocks += 1
        if silent_blocks == 28:  # 600 ms: 60 before the hangover was set, and 27 blocks
            endpointer.end_after(0.6)
    assert isinstance(event, SpeechSegment)
    assert event.ended_at_s - event.last_voiced_at_s == pytest.approx(0.62)


def test_a_voice_that_goes_on_has_the_usual_pause_behind_it_again(command: Samples) -> None:
    endpointer = Endpointer(AudioSettings())
    found: list[EndpointEvent] = []
    for block in blocks(in_a_room(command, silence(0.7), command)):
        event = endpointer.feed(block)
        if isinstance(event, PossibleEnd) and not any(isinstance(e, PossibleEnd) for e in found):
            endpointer.end_after(2.4)
        found += [event] if event else []
    (utterance,) = [event for event in found if isinstance(event, SpeechSegment)]
    assert utterance.ended_at_s - utterance.last_voiced_at_s == pytest.approx(0.5)


def test_without_a_pause_there_is_nothing_to_make_longer(command: Samples) -> None:
    endpointer = Endpointer(AudioSettings())
    endpointer.end_after(5.0)
    found = [endpointer.feed(block) for block in blocks(in_a_room(command))]
    assert sum(isinstance(event, SpeechSegment) for event in found) == 1


def ended_after(samples: Samples, hangovers: float) -> list[SpeechSegment]:
    """The utterances, where every pause ends the utterance after so many hangovers."""
    endpointer = Endpointer(AudioSettings())
    found = []
    for block in blocks(samples):
        event = endpointer.feed(block)
        found += [event] if isinstance(event, SpeechSegment) else []
        if isinstance(event, PossibleEnd):
            endpointer.end_after(hangovers)
    return found


# --- where others talk


@pytest.fixture(scope="module")
def talk(tmp_path_factory: pytest.TempPathFactory) -> Samples:
    """One voice that pauses between its sentences, as on a television."""
    return espeak(
        "The train to the coast leaves at half past nine, and my sister wants to bring her dog, although it "
        "barks all day and nobody on the platform likes it very much, least of all the man with the hat.",
        tmp_path_factory.mktemp("talk"),
    )


@pytest.fixture(scope="module")
def television(talk: Samples) -> Samples:
    """Fifteen seconds of one voice, as loud as 1."""
    return np.asarray(np.resize(talk, 15 * RATE_HZ) / np.std(talk), dtype=np.float32)


@pytest.fixture(scope="module")
def babble(talk: Samples) -> Samples:
    """Fifteen seconds of six voices at once, as loud as 1."""
    length = 15 * RATE_HZ
    voices = [np.resize(np.roll(talk, -start), length) for start in range(0, len(talk), len(talk) // 6)]
    together = np.sum(voices, axis=0)
    return np.asarray(together / np.std(together), dtype=np.float32)


@pytest.mark.parametrize(("background", "snr_db"), [("babble", 20), ("babble", 10), ("television", 10)])
def test_a_command_ends_where_others_go_on_talking(
    command: Samples, background: str, snr_db: int, request: pytest.FixtureRequest
) -> None:
    starts_s, level = 8.0, float(np.std(command)) * 10 ** (-snr_db / 20)
    heard = request.getfixturevalue(background) * level
    first = round(starts_s * RATE_HZ)
    heard[first : first + len(command)] += command
    found = [event for event in events(heard) if isinstance(event, SpeechSegment)]
    over_s = starts_s + len(command) / RATE_HZ
    (utterance,) = [each for each in found if each.started_at_s < over_s and each.ended_at_s > starts_s + 1]
    assert over_s - 0.3 < utterance.ended_at_s < over_s + 1.2


def test_a_command_ends_where_a_television_is_switched_on_behind_it(command: Samples, television: Samples) -> None:
    heard = television * float(np.std(command)) * 10 ** (-10 / 20)
    heard[: len(command)] = command
    (utterance, *_rest) = [event for event in events(in_a_room(heard)) if isinstance(event, SpeechSegment)]
    assert utterance.ended_at_s - utterance.last_voiced_at_s < 1.2
    assert len(heard) / RATE_HZ - utterance.ended_at_s > 2.0


@pytest.mark.parametrize("snr_db", [20, 10])
def test_a_command_ends_where_music_plays(command: Samples, snr_db: int) -> None:
    quiet = np.flatnonzero(np.abs(command) > 0.01)
    said = Audio(command[: quiet[-1]], RATE_HZ)
    heard = Noise("music", []).mix(said, snr_db, "a song", before_s=3.5, after_s=3.0).samples
    over_s = 3.5 + said.duration_s
    ends = [e.ended_at_s for e in events(heard) if isinstance(e, SpeechSegment) and e.ended_at_s > over_s - 0.3]
    assert ends
    assert ends[0] < over_s + 1.2


def test_what_others_said_before_a_command_is_not_part_of_it(command: Samples, babble: Samples) -> None:
    heard = babble * float(np.std(command)) * 0.1
    first = round(3.5 * RATE_HZ)
    heard[first : first + len(command)] += command
    found = [event for event in events(heard) if isinstance(event, SpeechSegment) and event.ended_at_s > 4.0]
    assert 2.9 < found[0].started_at_s < 3.8


# --- what is none

NO_SPEECH = {
    "silence": silence(5.0),
    "white noise": noise(5.0, 0.1),
    "loud white noise": noise(5.0, 0.3),
    "faint white noise": noise(5.0, 0.0005),
    "pink noise": noise(5.0, 0.1, slope=0.5),
    "faint pink noise": noise(5.0, 0.001, slope=0.5),
    "rumble": noise(5.0, 0.1, slope=1.0),
    "hum of 50 Hz": hum(5.0, 50),
    "faint hum of 50 Hz": hum(5.0, 50, level=0.001),
    "hum of 60 Hz": hum(5.0, 60),
    "hum of 120 Hz": hum(5.0, 120),
    "a tone": hum(5.0, 437),
    "a rising tone": sweep(2.0),
    "knocks": knocks(5.0),
    "a rattle of a tenth of a second": noise(0.1, 0.1) * np.repeat([1, 3, 1, 3, 1], BLOCK).astype(np.float32),
}


@pytest.mark.parametrize("name", NO_SPEECH)
def test_what_is_no_speech_starts_nothing_when_it_begins_and_ends_suddenly(name: str) -> None:
    assert all_events(in_a_room(NO_SPEECH[name])) == []


@pytest.mark.parametrize("name", NO_SPEECH)
def test_what_is_no_speech_starts_nothing_when_it_was_always_there(name: str) -> None:
    assert all_events(NO_SPEECH[name]) == []


def test_minutes_of_a_fan_start_nothing() -> None:
    minute = noise(60.0, 0.02, slope=0.5)
    endpointer = Endpointer(AudioSettings())
    for _ in range(3):
        assert all(endpointer.feed(block) is None for block in blocks(minute))
