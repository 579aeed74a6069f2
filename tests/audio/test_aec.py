"""The canceller that is used, in a room made of numbers."""

from __future__ import annotations

import numpy as np
import pytest

from edgevox.audio.aec.canceller import LEAD_S, EchoCanceller, EchoLevel
from edgevox.audio.aec.reference import FarEndReference
from edgevox.audio.aec.webrtc import LATENCY_SAMPLES, WebRtcAec
from edgevox.audio.dsp import dbfs
from edgevox.core.types import SAMPLE_RATE_HZ
from tests.audio.echo_room import BEGUN_S, BLOCK, Late, echo_of, talking, through
from tests.audio.sounds import Samples, noise, silence

SECOND = SAMPLE_RATE_HZ
BLOCKS_A_SECOND = SECOND // BLOCK
REPLY = talking(6.0, seed=1)
PERSON = talking(3.0, seed=2, pitch_hz=210)


def canceller(played_rate_hz: int = SAMPLE_RATE_HZ) -> EchoCanceller:
    return EchoCanceller(FarEndReference(played_rate_hz), lambda: WebRtcAec(LEAD_S))


def removed_db(heard: Samples, left: Samples) -> float:
    return dbfs(heard) - dbfs(left)


def sounds_alike(one: Samples, other: Samples) -> float:
    """1 where the same tones come at the same time. The canceller's high-pass filter moves their phases."""
    return float(np.corrcoef(_tones(one), _tones(other))[0, 1])


def _tones(samples: Samples) -> Samples:
    blocks = samples[: len(samples) // BLOCK * BLOCK].reshape(-1, BLOCK)
    return np.abs(np.fft.rfft(blocks * np.hanning(BLOCK))).astype(np.float32).ravel()


@pytest.mark.parametrize("delay_s", [-0.03, 0.0, 0.1, 0.2, 0.3])
def test_the_echo_is_gone_after_two_seconds_whatever_the_driver_is_wrong_by(delay_s: float) -> None:
    heard = echo_of(REPLY, max(0.0, delay_s))
    left, _ = through(canceller(), REPLY, heard, driver_errs_s=max(0.0, -delay_s))
    assert removed_db(heard[2 * SECOND :], left[2 * SECOND :]) > 20


def test_moments_that_jump_about_and_another_rate_do_no_harm() -> None:
    heard = echo_of(REPLY, 0.02)
    played = np.interp(np.arange(len(REPLY) * 3) / 3, np.arange(len(REPLY)), REPLY).astype(np.float32)
    left, _ = through(canceller(48_000), played, heard, played_rate_hz=48_000, jitter_s=0.02)
    assert removed_db(heard[2 * SECOND :], left[2 * SECOND :]) > 20


def test_a_person_as_loud_as_the_echo_is_still_heard() -> None:
    heard = echo_of(REPLY, 0.02)
    heard[3 * SECOND :] += PERSON
    left, _ = through(canceller(), REPLY, heard)
    kept = left[3 * SECOND + LATENCY_SAMPLES :]
    said = PERSON[: len(kept)]
    # Where both have the same tone at the same moment, it is taken from both.
    assert sounds_alike(said, kept) > 0.6
    assert dbfs(kept) > dbfs(said) - 6
    assert sounds_alike(REPLY[3 * SECOND :][: len(kept)], kept) < 0.2


@pytest.mark.parametrize("gain", [0.1, 1.0])
def test_what_is_left_of_the_echo_is_told_from_a_person(gain: float) -> None:
    heard = echo_of(REPLY, 0.02, gain=gain) + noise(6.0, 0.001)
    heard[4 * SECOND :] += PERSON[: 2 * SECOND]
    _, levels = through(canceller(), REPLY, heard)
    others = [level is not None and level.has_near_end_sound for level in levels]
    assert not any(others[: 4 * BLOCKS_A_SECOND])
    assert np.mean(others[4 * BLOCKS_A_SECOND :]) > 0.5


def test_the_next_reply_may_come_with_another_delay() -> None:
    talk = canceller()
    through(talk, REPLY, echo_of(REPLY, 0.02))
    following = talking(2.0, seed=5)
    heard = echo_of(following, 0.0205)
    left, levels = through(talk, following, heard, begun_s=BEGUN_S + 60)
    assert removed_db(heard[:SECOND], left[:SECOND]) > 20
    assert not any(level is not None and level.has_near_end_sound for level in levels)


def test_a_device_that_runs_out_of_sound_and_goes_on_later_is_followed() -> None:
    gap = silence(0.15)
    heard = echo_of(np.concatenate((REPLY[: 3 * SECOND], gap, REPLY[3 * SECOND :])), 0.02)
    talk = canceller()
    left, levels = through(talk, REPLY, heard, hole_s=0.15, hole_at_s=3.0)
    assert talk.played.clock.jumps == 1
    assert removed_db(heard[-2 * SECOND :], left[-2 * SECOND :]) > 20
    assert not any(level is not None and level.has_near_end_sound for level in levels)


@pytest.mark.parametrize("lost_s", [0.03, -0.15])
def test_an_echo_that_moves_unannounced_is_known_for_one_and_followed(lost_s: float) -> None:
    lost_at, asked_at = 2 * SECOND, round(2.5 * SECOND)
    heard = echo_of(REPLY, 0.02)
    lost = round(lost_s * SECOND)
    tail = heard[lost_at + lost :] if lost > 0 else np.concatenate((silence(-lost_s), heard[lost_at:]))
    heard = np.concatenate((heard[:lost_at], tail))[: len(REPLY)]
    one = canceller()
    through(one, REPLY[:asked_at], heard[:asked_at])
    assert one.is_own_echo()
    heard_on = heard[asked_at:]
    left, _ = through(one, REPLY[asked_at:], heard_on, begun_s=BEGUN_S + asked_at / SECOND)
    assert removed_db(heard_on[SECOND : 3 * SECOND], left[SECOND : 3 * SECOND]) > 20
    assert not one.is_own_echo()


def test_a_person_over_the_reply_is_not_its_echo() -> None:
    heard = echo_of(REPLY, 0.02)
    heard[2 * SECOND : 5 * SECOND] += PERSON
    one = canceller()
    through(one, REPLY[: 3 * SECOND], heard[: 3 * SECOND])
    assert not one.is_own_echo()


def test_the_echo_canceller_reports_when_it_has_converged() -> None:
    _, levels = through(canceller(), REPLY, echo_of(REPLY, 0.02))
    first = next(level for level in levels if level is not None)
    assert not first.is_converged
    assert levels[-1] is not None
    assert levels[-1].is_converged


def test_while_nothing_plays_nothing_is_computed() -> None:
    frames = Late()
    quiet = EchoCanceller(FarEndReference(48_000), lambda: frames)
    heard = talking(2.0, seed=6)
    left, levels = through(quiet, silence(2.0, 48_000), heard, played_rate_hz=48_000)
    assert frames.frames == 0
    assert levels == [None] * len(levels)
    assert np.array_equal(left[LATENCY_SAMPLES:], heard[:-LATENCY_SAMPLES])


def test_it_rests_again_soon_after_the_reply() -> None:
    frames = Late()
    brief = EchoCanceller(FarEndReference(SAMPLE_RATE_HZ), lambda: frames)
    through(brief, talking(1.0, seed=6), talking(10.0, seed=7))
    assert 100 < frames.frames < 250


def test_nobody_hears_where_it_begins_and_ends() -> None:
    heard = talking(10.0, seed=7)
    calm = EchoCanceller(FarEndReference(SAMPLE_RATE_HZ), Late)
    reply = np.concatenate((silence(1.0), talking(1.0, seed=6), silence(3.0), talking(1.0, seed=8)))
    left, levels = through(calm, reply, heard)
    assert levels[0] is None
    assert levels[100] is not None
    assert np.array_equal(left[LATENCY_SAMPLES:], heard[:-LATENCY_SAMPLES])


def test_a_block_of_odd_length_is_refused() -> None:
    with pytest.raises(ValueError, match="10 ms"):
        EchoCanceller(FarEndReference(48_000), Late).cancel(silence(0.015), BEGUN_S)


def test_the_more_often_sound_is_lost_the_longer_nobody_is_told_from_an_echo() -> None:
    def level(converged_for_s: float, losses: int) -> EchoLevel:
        return EchoLevel(
            heard_dbfs=-20.0,
            residual_dbfs=-25.0,
            erle_db=25.0,
            residual_floor_dbfs=-50.0,
            converged_for_s=converged_for_s,
            losses=losses,
        )

    assert level(1.0, 0).has_near_end_sound
    assert not level(1.9, 1).has_near_end_sound
    assert level(2.0, 1).has_near_end_sound
    assert level(4.0, 20).has_near_end_sound
