from __future__ import annotations

from typing import Literal

import numpy as np

from edgevox.audio.dsp import dbfs
from edgevox.core.types import Audio
from edgevox.dialogue.speech_output import Volume
from tests.dialogue.sounds import voiced

SOUND = Audio(voiced(0.5), 16_000)


def test_unless_told_the_sound_stays_as_it_is() -> None:
    assert Volume().applied(SOUND) is SOUND


def test_a_step_is_heard_and_back_is_the_same_again() -> None:
    volume = Volume()
    quiet = Audio(SOUND.samples * np.float32(0.2), 16_000)
    assert volume.step(1)
    assert 4 < dbfs(volume.applied(quiet).samples) - dbfs(quiet.samples) < 6
    assert volume.step(-1)
    assert volume.applied(quiet) is quiet
    assert volume.step(-1)
    assert -6 < dbfs(volume.applied(quiet).samples) - dbfs(quiet.samples) < -4


def test_the_volume_of_the_settings_is_where_louder_begins() -> None:
    volume = Volume(-10.0)
    assert -11 < dbfs(volume.applied(SOUND).samples) - dbfs(SOUND.samples) < -9
    assert volume.step(1)
    assert volume.step(1)
    assert volume.applied(SOUND) is SOUND


def test_the_loudest_sound_is_not_cut_off() -> None:
    volume = Volume()
    while volume.step(1):
        pass
    ramp = np.linspace(-1, 1, 2001, dtype=np.float32)
    loud = volume.applied(Audio(ramp, 16_000)).samples
    assert loud.dtype == np.float32
    assert np.max(np.abs(loud)) <= 1.0
    assert np.all(np.diff(loud) >= 0), "what was louder is no longer"
    # Ordinary speech stays far from the end: less than a hundredth of the samples are flat.
    assert np.mean(np.abs(volume.applied(SOUND).samples) > 0.999) < 0.01


def test_there_is_a_loudest_and_a_quietest() -> None:
    directions: tuple[Literal[-1, 1], ...] = (1, -1)
    for by in directions:
        volume = Volume()
        steps = 0
        while volume.step(by):
            steps += 1
        assert 2 <= steps <= 6
        assert not volume.step(by)
        assert dbfs(volume.applied(SOUND).samples) > -60, "it can still be heard"
