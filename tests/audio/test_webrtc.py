"""What we rely on in WebRTC's canceller, and what is said where it is not there."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from edgevox.audio.aec.webrtc import FRAME_SAMPLES, LATENCY_SAMPLES, WebRtcAec
from edgevox.core.errors import AudioError
from tests.audio.echo_room import talking
from tests.audio.sounds import find


def test_what_it_is_given_comes_out_as_much_later_as_we_say() -> None:
    voice = talking(1.0, seed=1)
    webrtc, nothing = WebRtcAec(0.04), np.zeros(FRAME_SAMPLES, dtype=np.float32)
    frames = voice[: len(voice) // FRAME_SAMPLES * FRAME_SAMPLES].reshape(-1, FRAME_SAMPLES)
    out = np.concatenate([webrtc.cancel(nothing, frame) for frame in frames])
    match = find(voice[4000:12_000], out)
    assert match.at == 4000 + LATENCY_SAMPLES
    # Its high-pass filter moves the phases of low tones.
    assert match.likeness > 0.75


def test_a_machine_without_it_is_told_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "livekit.rtc", None)
    with pytest.raises(AudioError, match="echo cancellation is not available") as caught:
        WebRtcAec(0.04)
    assert "echo_cancellation" in caught.value.hint
