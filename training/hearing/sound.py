"""Clips as a microphone in a room has them, and Whisper's features of them, in batches on the GPU."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

RATE_HZ = 16_000
# As in edgevox/stt/windows.py: every utterance is shifted to the same loudest value.
LOUDEST = (1.5 + 4.0) / 4.0
SILENCE = LOUDEST - 8.0 / 4.0

# Windows are whole tenths of a second: fewer different sizes.
_STEP = RATE_HZ // 10
_FFT, _HOP = 400, 160


@dataclass(frozen=True, slots=True)
class Clips:
    """All clips one behind the other, and where each of them, of a row, begins and how long it is."""

    samples: Tensor
    rows: list[int]
    starts: Tensor
    lengths: Tensor

    def by_length(self, parts: int) -> list[NDArray[np.int64]]:
        """The numbers of the clips in as many equal parts, the shortest clips in the first."""
        return np.array_split(self.lengths.argsort().cpu().numpy(), parts)

    @classmethod
    def read(cls, folder: Path, device: torch.device) -> Clips:
        sounds, rows, lengths = [], [], []
        for path in sorted(folder.glob("*.json")):
            done = json.loads(path.read_text())
            sounds.append(np.fromfile(path.with_suffix(".i16"), np.int16))
            rows += [row for row, _ in done]
            lengths += [length for _, length in done]
        ends = torch.tensor(lengths).cumsum(0)
        samples = torch.from_numpy(np.concatenate(sounds)).to(device)
        measured = torch.tensor(lengths)
        return cls(samples, rows, (ends - measured).to(device), measured.to(device))


class Room:
    """Draws pieces of speech: reverberation, a microphone's colour, people and noise behind the speaker."""

    def __init__(self, clips: Clips, mel: Tensor, *, seed: int) -> None:
        self._clips = clips
        self._mel = mel
        self._device = clips.samples.device
        self._chance = torch.Generator(device=self._device).manual_seed(seed)

    def features(self, which: Tensor, *, margin_s: float, least_s: float) -> Tensor:
        """Features (batch, 80, frames) of the clips.

        The window ends `margin_s` behind the longest of them, and holds `least_s` at least.
        """
        batch = len(which)
        lead = self._uniform(batch, 0.12, 0.45) * RATE_HZ
        trail = self._uniform(batch, 0.12, 0.5) * RATE_HZ
        lengths = self._clips.lengths[which]
        longest_s = (lead + lengths + trail).max().item() / RATE_HZ
        length = math.ceil(max(least_s, longest_s + margin_s) * RATE_HZ / _STEP) * _STEP
        at = torch.arange(length, device=self._device)[None] - lead[:, None].long()
        is_speech = (at >= 0) & (at < lengths[:, None])
        spoken = self._at(self._clips.starts[which][:, None] + at.clamp(min=0)) * is_speech
        spoken = self._coloured(spoken)
        inside = at < (lengths + trail.long())[:, None]
        mixed = (spoken + self._noise(spoken, is_speech)) * inside
        return self._masked(log_mel(mixed, self._mel))

    def _noise(self, spoken: Tensor, is_speech: Tensor) -> Tensor:
        batch, length = spoken.shape
        talkers = torch.zeros_like(spoken)
        many = self._integers(batch, 1, 7)
        for talker in range(6):
            start = self._integers(batch, 0, len(self._clips.samples) - length - 1)
            other = self._at(start[:, None] + torch.arange(length, device=self._device)[None])
            talkers += other * (many > talker)[:, None]
        hiss = torch.randn(batch, length, generator=self._chance, device=self._device)
        hiss = _tilted(hiss, -self._uniform(batch, 0.0, 1.2))
        is_hiss = (self._uniform(batch, 0, 1) < 0.25)[:, None]
        noise = torch.where(is_hiss, hiss, talkers)
        power = (spoken.square() * is_speech).sum(1) / is_speech.sum(1).clamp(min=1)
        # From hardly audible to nearly as loud as the speaker; a third in a quiet room, some in dead silence.
        snr_db = self._uniform(batch, 2, 24)
        quiet = self._uniform(batch, 0, 1)
        snr_db = torch.where(quiet < 0.2, self._uniform(batch, 30, 60), snr_db)
        gain = (power / (noise.square().mean(1) + 1e-9)).sqrt() * 10 ** (-snr_db / 20)
        gain = torch.where(quiet > 0.82, torch.zeros_like(gain), gain)
        return noise * gain[:, None]

    def _coloured(self, spoken: Tensor) -> Tensor:
        """Half of the clips with a room's echo, all with a microphone's colour."""
        batch, length = spoken.shape
        spectrum = torch.fft.rfft(spoken, 2 * length)
        t_s = torch.arange(length // 2, device=self._device) / RATE_HZ
        decay = torch.exp(-6.9 * t_s[None] / self._uniform(batch, 0.08, 0.6)[:, None])
        echo = torch.randn(batch, length // 2, generator=self._chance, device=self._device) * decay
        echo = echo / (echo.square().sum(1, keepdim=True).sqrt() + 1e-6)
        wet = self._uniform(batch, 0.1, 0.8) * (self._uniform(batch, 0, 1) < 0.5)
        response = torch.fft.rfft(echo * wet[:, None], 2 * length) + 1
        knots = self._uniform(batch * 8, -5, 5).reshape(batch, 1, 8)
        shape_db = torch.nn.functional.interpolate(knots, spectrum.shape[1], mode="linear")[:, 0]
        heard = torch.fft.irfft(spectrum * response * 10 ** (shape_db / 20), 2 * length)
        return heard[:, :length]

    def _masked(self, features: Tensor) -> Tensor:
        """A third of the clips lack a narrow band."""
        batch = len(features)
        start, width = self._integers(batch, 0, 76), self._integers(batch, 1, 9)
        bands = torch.arange(features.shape[1], device=self._device)[None]
        hidden = (bands >= start[:, None]) & (bands < (start + width)[:, None])
        hidden &= (self._uniform(batch, 0, 1) < 0.33)[:, None]
        return features.masked_fill(hidden[:, :, None], SILENCE)

    def _at(self, places: Tensor) -> Tensor:
        return self._clips.samples[places.clamp(max=len(self._clips.samples) - 1)].float() / 32768

    def _uniform(self, count: int, low: float, high: float) -> Tensor:
        return torch.rand(count, generator=self._chance, device=self._device) * (high - low) + low

    def _integers(self, count: int, low: int, high: int) -> Tensor:
        return torch.randint(low, high, (count,), generator=self._chance, device=self._device)


def log_mel(samples: Tensor, mel: Tensor) -> Tensor:
    """Whisper's features of whole windows, shifted to one loudest value as the product does it."""
    window = torch.hann_window(_FFT, device=samples.device)
    spectrum = torch.stft(samples, _FFT, _HOP, window=window, return_complex=True)[..., :-1]
    logs = (mel @ spectrum.abs().square()).clamp(min=1e-10).log10()
    loudest = logs.amax((1, 2), keepdim=True)
    logs = torch.maximum(logs, loudest - 8.0)
    return (logs - loudest) / 4.0 + LOUDEST


def _tilted(noise: Tensor, power: Tensor) -> Tensor:
    spectrum = torch.fft.rfft(noise)
    hz = torch.linspace(1 / spectrum.shape[1], 1, spectrum.shape[1], device=noise.device).clamp(min=0.005)
    return torch.fft.irfft(spectrum * hz[None] ** power[:, None], noise.shape[1])
