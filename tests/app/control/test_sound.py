"""Sound over the socket."""

from __future__ import annotations

import numpy as np

from edgevox.app.control.protocol import LINE_BYTES, audio_from_note, audio_to_notes, line_of
from edgevox.core.types import Audio


def test_a_long_sound_arrives_in_lines_that_fit() -> None:
    samples = np.linspace(-1, 1, 500_000, dtype=np.float32)
    notes = list(audio_to_notes(Audio(samples, 22_050)))
    assert all(len(line_of({"kind": "sound", **note})) < LINE_BYTES for note in notes)
    assert np.array_equal(np.concatenate([audio_from_note(note).samples for note in notes]), samples)
    assert {audio_from_note(note).rate_hz for note in notes} == {22_050}
