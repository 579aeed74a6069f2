"""Something to hear."""

from __future__ import annotations

import numpy as np


def voiced(seconds: float, rate_hz: int = 16_000) -> np.ndarray:
    """Something that webrtcvad takes for a voice: a buzz with formants, louder and softer."""
    t = np.arange(int(seconds * rate_hz)) / rate_hz
    buzz = sum(np.sin(2 * np.pi * 120 * k * t) / k for k in range(1, 30))
    envelope = 0.55 + 0.45 * np.sin(2 * np.pi * 4 * t)
    return (0.2 * buzz * envelope).astype(np.float32)


def silent(seconds: float, rate_hz: int = 16_000) -> np.ndarray:
    return np.zeros(int(seconds * rate_hz), dtype=np.float32)
