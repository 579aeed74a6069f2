"""Sound over the socket."""

from __future__ import annotations

import numpy as np

from edgevox.control.protocol import LINE_BYTES, line_of
from edgevox.control.sound import sound_notes, sound_of
from edgevox.types import Audio


def test_a_long_sound_arrives_in_lines_that_fit() -> None:
    samples = np.linspace(-1, 1, 500_000, dtype=np.float32)
    notes = list(sound_notes(Audio(samples, 22_050)))
    assert all(len(line_of({"kind": "sound", **note})) < LINE_BYTES for note in notes)
    assert np.array_equal(np.concatenate([sound_of(note).samples for note in notes]), samples)
    assert {sound_of(note).rate_hz for note in notes} == {22_050}
