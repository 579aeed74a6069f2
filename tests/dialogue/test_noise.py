"""Ten minutes of what is not speech, through the real loop and the real recogniser: no turn is answered."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from edgevox.app.runtime import AssistantRuntime
from edgevox.audio.files import WavMicrophone
from edgevox.config import load_settings
from edgevox.core.events import Event, TurnEnded
from edgevox.core.files import Folders
from edgevox.core.types import SAMPLE_RATE_HZ, Audio
from edgevox.models import ModelStore
from edgevox.testing import MemorySpeaker

pytestmark = [pytest.mark.engine]

RATE_HZ = SAMPLE_RATE_HZ
PIECE_S = 60
BOUND_S = 250


def noises() -> Iterator[tuple[str, NDArray[np.float32]]]:
    """Ten pieces of a minute each; the random ones are the same every time."""
    random = np.random.default_rng(7)
    t = np.arange(PIECE_S * RATE_HZ) / RATE_HZ
    white = random.standard_normal(len(t))
    yield "silence", np.zeros(len(t), dtype=np.float32)
    yield "hiss", level(white, 0.02)
    yield "loud hiss", level(white, 0.2)
    yield "rumble", level(np.cumsum(white) - np.linspace(0, np.sum(white), len(t)), 0.1)
    yield "mains hum", level(np.sum([np.sin(2 * np.pi * 50 * k * t) / k for k in (1, 2, 3, 5)], axis=0), 0.1)
    yield "clicks", level(clicks(random, len(t)), 0.05)
    yield "rain", level(white * (1 + 0.5 * np.sin(2 * np.pi * 0.3 * t)), 0.1)
    yield "piano", level(melody(random, t), 0.15)
    yield "beat", level(beat(t, white), 0.2)
    yield "fan", level(white * (1 + 0.3 * np.sin(2 * np.pi * 23 * t)) + np.sin(2 * np.pi * 110 * t), 0.1)


def level(samples: NDArray[np.float64], rms: float) -> NDArray[np.float32]:
    scaled: NDArray[np.float64] = samples * rms / np.sqrt(np.mean(samples**2))
    return np.clip(scaled, -1, 1).astype(np.float32)


def clicks(random: np.random.Generator, length: int) -> NDArray[np.float64]:
    samples = np.zeros(length)
    for at in random.integers(0, length - 200, 90):
        samples[at : at + 200] += random.standard_normal(200) * np.exp(-np.arange(200) / 40)
    return samples


def melody(random: np.random.Generator, t: NDArray[np.float64]) -> NDArray[np.float64]:
    """Chords of decaying strings, one every half second."""
    samples = np.zeros(len(t))
    note_samples = RATE_HZ
    note_t = t[:note_samples]
    for start in range(0, len(t) - note_samples, RATE_HZ // 2):
        for semitone in random.choice([0, 3, 5, 7, 10, 12], 3, replace=False):
            hz = 220 * 2 ** (semitone / 12)
            tone = sum(np.sin(2 * np.pi * hz * k * note_t) / k**2 for k in range(1, 6))
            samples[start : start + note_samples] += tone * np.exp(-3 * note_t)
    return samples


def beat(t: NDArray[np.float64], white: NDArray[np.float64]) -> NDArray[np.float64]:
    """A drum on every half second, a hat between, a bass below."""
    phase = t % 0.5
    drum = np.sin(2 * np.pi * 60 * phase) * np.exp(-phase * 12)
    hat = white * np.exp(-((t + 0.25) % 0.5) * 40) * 0.3
    return drum + hat + 0.3 * np.sign(np.sin(2 * np.pi * 82 * t)) * np.exp(-phase * 4)


@pytest.mark.long
async def test_ten_minutes_of_noise_are_not_answered(
    folders: Folders, store: ModelStore, smollm2_path: Path, whisper_base_dir: Path, piper_voice_path: Path
) -> None:
    runtime = AssistantRuntime(load_settings(folders, environ={}), folders, store, ["llm", "stt", "tts"])
    speaker = MemorySpeaker()
    ended: dict[str, list[TurnEnded]] = {}
    async with asyncio.timeout(BOUND_S), runtime:
        for name, samples in noises():
            turns: list[TurnEnded] = []
            ended[name] = turns

            def note(event: Event, turns: list[TurnEnded] = turns) -> None:
                if isinstance(event, TurnEnded):
                    turns.append(event)

            with runtime.bus.listening(note):
                await runtime.voice_loop(WavMicrophone(Audio(samples, RATE_HZ)), speaker).run()
    assert {name: turns for name, turns in ended.items() if any(t.outcome != "dropped" for t in turns)} == {}
    assert all(turn.error for turns in ended.values() for turn in turns)
    assert speaker.played == []
