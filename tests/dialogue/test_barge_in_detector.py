"""Which speech over a reply counts as barge-in."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from edgevox.audio.aec.canceller import AecWarmupReplay, EchoLevel
from edgevox.core.types import SAMPLE_RATE_HZ, Audio
from edgevox.dialogue.barge_in import BargeInDetector, Verdict
from tests.audio.echo_room import BLOCK, Late, talking
from tests.dialogue.sounds import silent

NOISE_FLOOR = 1e-4
RNG = np.random.default_rng(7)


def room(duration_s: float) -> np.ndarray:
    return RNG.normal(0, NOISE_FLOOR, round(duration_s * SAMPLE_RATE_HZ)).astype(np.float32)


def blocks(sound: np.ndarray) -> Iterator[Audio]:
    for first in range(0, len(sound) - BLOCK + 1, BLOCK):
        yield Audio(sound[first : first + BLOCK], SAMPLE_RATE_HZ)


def verdicts(sound: np.ndarray, barge_in: BargeInDetector | None = None) -> list[tuple[float, Verdict]]:
    """What is decided, and after how many seconds, up to the first stop."""
    barge_in = barge_in or BargeInDetector()
    told: list[tuple[float, Verdict]] = []
    for number, block in enumerate(blocks(sound), start=1):
        if verdict := barge_in.feed(block):
            told.append((number * BLOCK / SAMPLE_RATE_HZ, verdict))
        if verdict == "stop":
            break
    return told


def cough(duration_s: float, level: float = 0.15) -> np.ndarray:
    """A burst of hiss that dies away."""
    at_s = np.arange(round(duration_s * SAMPLE_RATE_HZ)) / SAMPLE_RATE_HZ
    hiss = np.convolve(RNG.standard_normal(len(at_s)), np.hanning(8), "same")
    loudness = np.minimum(1, at_s / 0.01) * np.exp(-3 * at_s / duration_s)
    return (level * loudness * hiss / np.std(hiss)).astype(np.float32)


def click() -> np.ndarray:
    sound = silent(0.01)
    sound[:40] = 0.8 * np.hanning(40)
    return sound


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("pitch_hz", [95, 130, 210, 280])
def test_speech_ducks_the_reply_at_once_and_soon_stops_it(seed: int, pitch_hz: float) -> None:
    person = talking(2.0, seed, pitch_hz)
    told = verdicts(np.concatenate([room(1.0), person]))
    assert [verdict for _, verdict in told][-1] == "stop"
    first_loud = next(at for at, block in enumerate(blocks(person)) if np.sqrt(np.mean(block.samples**2)) > 0.02)
    began_s = 1.0 + first_loud * BLOCK / SAMPLE_RATE_HZ
    assert told[0][1] == "duck"
    assert told[0][0] - began_s < 0.4
    assert told[-1][0] - began_s < 1.2


@pytest.mark.parametrize("duration_s", [0.15, 0.3, 0.45, 0.6])
def test_a_cough_ducks_the_reply_and_does_not_stop_it(duration_s: float) -> None:
    sound = np.concatenate([room(1.0), cough(duration_s), room(0.2), cough(duration_s), room(1.0)])
    decided = [verdict for _, verdict in verdicts(sound)]
    assert "stop" not in decided
    assert decided[-1:] == ["resume"]


def test_a_short_word_pauses_the_reply_and_only_who_goes_on_speaking_stops_it() -> None:
    word = talking(1.5, 3)[: round(0.5 * SAMPLE_RATE_HZ)]
    barge_in = BargeInDetector()
    assert [verdict for _, verdict in verdicts(np.concatenate([room(1.0), word, room(1.0)]), barge_in)] == [
        "duck",
        "hold",
        "word",
    ]
    barge_in.release()
    assert [verdict for _, verdict in verdicts(talking(1.5, 3), barge_in)] == ["duck", "hold", "stop"]


def test_a_loudspeaker_that_cannot_pause_is_stopped_by_a_word() -> None:
    word = talking(1.5, 3)[: round(0.5 * SAMPLE_RATE_HZ)]
    sound = np.concatenate([room(1.0), word, room(0.2)])
    assert verdicts(sound, BargeInDetector(can_pause=False))[-1][1] == "stop"


def test_a_click_does_not_duck_the_reply() -> None:
    clicks = [np.concatenate([room(0.7), click()]) for _ in range(5)]
    assert verdicts(np.concatenate([*clicks, room(1.0)])) == []


def test_buffered_audio_begins_before_the_first_syllable() -> None:
    barge_in = BargeInDetector()
    person = talking(1.5, 3)
    verdicts(np.concatenate([room(1.0), person]), barge_in)
    heard = np.concatenate([block.samples for block in barge_in.buffered()])
    assert np.max(np.abs(heard[: round(0.1 * SAMPLE_RATE_HZ)])) < 10 * NOISE_FLOOR
    assert len(heard) / SAMPLE_RATE_HZ < 2.0


def test_a_short_word_is_distinguished_from_a_cough() -> None:
    vowel = talking(0.6, 5)[: round(0.2 * SAMPLE_RATE_HZ)]
    word, hiss = BargeInDetector(), BargeInDetector()
    verdicts(np.concatenate([room(1.0), vowel, room(1.0)]), word)
    verdicts(np.concatenate([room(1.0), cough(0.3), room(1.0)]), hiss)
    assert word.may_be_word
    assert not hiss.may_be_word


def level(*, residual_dbfs: float, residual_floor_dbfs: float, converged_for_s: float, heard_dbfs: float) -> EchoLevel:
    return EchoLevel(
        heard_dbfs=heard_dbfs,
        residual_dbfs=residual_dbfs,
        erle_db=30.0,
        residual_floor_dbfs=residual_floor_dbfs,
        converged_for_s=converged_for_s,
    )


def test_the_usual_residual_echo_is_not_speech() -> None:
    usual = level(residual_dbfs=-40.0, residual_floor_dbfs=-42.0, converged_for_s=3.0, heard_dbfs=-20.0)
    assert verdicts(np.concatenate([room(1.0), talking(4.0, 1)]), BargeInDetector(lambda: usual)) == []


def test_before_convergence_sound_that_is_hardly_attenuated_is_speech() -> None:
    echo = level(residual_dbfs=-45.0, residual_floor_dbfs=-20.0, converged_for_s=0.3, heard_dbfs=-20.0)
    person = level(residual_dbfs=-22.0, residual_floor_dbfs=-20.0, converged_for_s=0.3, heard_dbfs=-20.0)
    sound = np.concatenate([room(1.0), talking(2.0, 2)])
    assert verdicts(sound, BargeInDetector(lambda: echo)) == []
    assert [verdict for _, verdict in verdicts(sound, BargeInDetector(lambda: person))][-1] == "stop"


# --- the beginning of a reply, heard once more


def replay(sound: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    return [(block.samples, block.samples) for block in blocks(sound)]


def doubting() -> BargeInDetector:
    """It has heard a whole beginning without speech."""
    warmup_replay = AecWarmupReplay(Late)
    barge_in = BargeInDetector(warmup_replay=lambda: warmup_replay)
    for block in blocks(room(2.0)):
        assert barge_in.feed(block) is None
        assert barge_in.request_replay() is None
        warmup_replay.add(block.samples, block.samples)
    assert barge_in.request_replay() is warmup_replay
    return barge_in


def test_a_replay_is_requested_once_per_reply() -> None:
    assert doubting().request_replay() is None


def test_the_replay_of_the_previous_reply_is_not_requested_again() -> None:
    barge_in = doubting()
    barge_in.reset()
    assert barge_in.request_replay() is None


def test_missed_speech_is_found_in_the_replay_from_its_start() -> None:
    barge_in = doubting()
    for block in blocks(room(0.5)):  # meanwhile
        barge_in.feed(block)
    person = talking(1.0, seed=3, pitch_hz=210)
    assert barge_in.check_replay(replay(np.concatenate([room(0.3), person, room(0.7)])))
    assert sum(block.duration_s for block in barge_in.buffered()) >= 1.0 + 0.7 + 0.5


def test_a_replay_without_speech_finds_none() -> None:
    barge_in = doubting()
    assert not barge_in.check_replay(replay(room(2.0)))
    assert not barge_in.check_replay(replay(np.concatenate([room(0.5), cough(0.4), room(1.1)])))


def test_own_echo_does_not_stop_the_reply_and_speech_still_does() -> None:
    is_echo = True
    barge_in = BargeInDetector(is_own_echo=lambda: is_echo)
    echo = np.concatenate([room(0.5), talking(1.5, seed=3), room(0.5)])
    assert "stop" not in [verdict for _, verdict in verdicts(echo, barge_in)]
    is_echo = False
    assert verdicts(talking(1.5, seed=4, pitch_hz=210), barge_in)[-1][1] == "stop"


def test_own_echo_in_the_replay_is_not_missed_speech() -> None:
    warmup_replay = AecWarmupReplay(Late)
    barge_in = BargeInDetector(warmup_replay=lambda: warmup_replay, is_own_echo=lambda: True)
    person = talking(1.0, seed=3, pitch_hz=210)
    assert not barge_in.check_replay(replay(np.concatenate([room(0.3), person, room(0.7)])))


def test_a_sound_after_convergence_is_not_missed_speech() -> None:
    person = talking(0.5, seed=3, pitch_hz=210)
    barge_in = doubting()
    assert not barge_in.check_replay(replay(np.concatenate([room(1.4), person, room(0.1)])))


def test_after_lost_samples_no_speech_is_detected_until_convergence() -> None:
    level = EchoLevel(-20.0, -21.0, 0.0, 0.0, 0.3, losses=1)
    person = np.concatenate([room(0.5), talking(1.5, seed=3)])
    assert not verdicts(person, BargeInDetector(lambda: level))
    assert verdicts(person, BargeInDetector(lambda: replace(level, losses=0)))[-1][1] == "stop"
