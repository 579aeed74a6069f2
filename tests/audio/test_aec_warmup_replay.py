"""The beginning of a reply is kept, and heard once more when the canceller knows the room."""

from __future__ import annotations

import numpy as np

from edgevox.audio.aec.canceller import LEAD_S, AecWarmupReplay, EchoCanceller
from edgevox.audio.aec.reference import FarEndReference
from edgevox.audio.aec.webrtc import WebRtcAec
from edgevox.audio.dsp import dbfs
from edgevox.core.types import SAMPLE_RATE_HZ
from tests.audio.echo_room import BLOCK, Late, echo_of, talking, through


def test_it_is_kept_up_to_its_length() -> None:
    warmup_replay = AecWarmupReplay(Late)
    block = np.zeros(BLOCK, np.float32)
    wholes = []
    for _ in range(120):
        warmup_replay.add(block, block)
        wholes.append(warmup_replay.is_whole)
    assert wholes == [False] * 99 + [True] * 21
    assert len(warmup_replay.replay()) == 100


def test_each_block_comes_back_with_what_was_heard_in_it() -> None:
    warmup_replay = AecWarmupReplay(Late)
    heard = np.arange(3 * BLOCK, dtype=np.float32)
    for at in range(0, len(heard), BLOCK):
        warmup_replay.add(heard[at : at + BLOCK], heard[at : at + BLOCK])
    again = warmup_replay.replay()
    # It takes nothing away, and is as late as what it is compared with; the first samples are those it held.
    assert all(np.array_equal(cleaned, late) for cleaned, late in again[1:])


def test_the_echo_of_the_first_second_is_gone_when_it_is_heard_again() -> None:
    reply = talking(3.0, seed=1)
    canceller = EchoCanceller(FarEndReference(SAMPLE_RATE_HZ), lambda: WebRtcAec(expected_delay_s=LEAD_S))
    through(canceller, reply, echo_of(reply, 0.06))
    again = canceller.warmup_replay.replay()
    cleaned = np.concatenate([block for block, _ in again])
    heard = np.concatenate([block for _, block in again])
    assert dbfs(heard) - dbfs(cleaned) > 25


def test_a_person_who_began_with_the_reply_is_there_when_it_is_heard_again() -> None:
    reply, person = talking(3.0, seed=1), talking(1.0, seed=7, pitch_hz=210.0)
    heard = echo_of(reply, 0.06)
    begin = round(0.2 * SAMPLE_RATE_HZ)
    heard[begin : begin + len(person)] += person
    canceller = EchoCanceller(FarEndReference(SAMPLE_RATE_HZ), lambda: WebRtcAec(expected_delay_s=LEAD_S))
    through(canceller, reply, heard)
    again = np.concatenate([block for block, _ in canceller.warmup_replay.replay()])
    assert dbfs(again[begin : begin + len(person)]) > dbfs(person) - 10
