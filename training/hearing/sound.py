"""Clips as a microphone in a room has them, and Whisper's features of them, in batches on the GPU."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

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
# Another speaker: the sound a little faster and higher, or slower and lower.
_SLOWEST, _FASTEST = 0.92, 1.09
_ROOM_SHARE, _REFLECTIONS = 0.55, 8
_BANDS_SHARE, _NARROW_SHARE, _QUIET_SHARE = 0.25, 0.1, 0.2
# Six others talk at once behind a part of the clips, louder than other noise is on average.
_CROWD_SHARE, _CROWD, _CROWD_SNR_DB = 0.25, 6, (3.0, 13.0)


@dataclass(frozen=True, slots=True)
class Clips:
    """All clips one behind the other; of each its row, where it begins and how long it is."""

    samples: Tensor
    rows: list[dict[str, Any]]
    starts: Tensor
    lengths: Tensor

    @classmethod
    def read(cls, folder: Path, device: torch.device) -> Clips:
        """What `pieces` and `voices` have written there."""
        sounds: list[NDArray[np.int16]] = []
        rows: list[dict[str, Any]] = []
        for path in sorted(folder.glob("*.jsonl")):
            sounds.append(np.fromfile(path.with_suffix(".i16"), np.int16))
            rows += [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        lengths = [row["length"] for row in rows]
        ends = torch.tensor(lengths).cumsum(0)
        samples = torch.from_numpy(np.concatenate(sounds)).to(device)
        measured = torch.tensor(lengths)
        return cls(samples, rows, (ends - measured).to(device), measured.to(device))

    def plain(self, which: Tensor, length: int) -> Tensor:
        """The clips as they are, each alone at the beginning of `length` samples."""
        at = torch.arange(length, device=self.samples.device)[None]
        places = (self.starts[which][:, None] + at).clamp(max=len(self.samples) - 1)
        return self.samples[places].float() / 32768 * (at < self.lengths[which][:, None])


class Room:
    """Draws what a microphone has of a clip: another speaker, rooms, distances, levels and noise."""

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
        lead = self._uniform(batch, 0.05, 0.45) * RATE_HZ
        trail = self._uniform(batch, 0.1, 0.5) * RATE_HZ
        speed = self._uniform(batch, _SLOWEST, _FASTEST)
        lengths = self._clips.lengths[which] / speed
        longest_s = (lead + lengths + trail).max().item() / RATE_HZ
        length = math.ceil(max(least_s, longest_s + margin_s) * RATE_HZ / _STEP) * _STEP
        at = torch.arange(length, device=self._device)[None] - lead[:, None].long()
        is_speech = (at >= 0) & (at < lengths[:, None])
        place = (at.clamp(min=0) * speed[:, None]).minimum(self._clips.lengths[which][:, None] - 2.0)
        spoken = self._between(self._clips.starts[which][:, None], place) * is_speech
        spoken = self._in_room(spoken)
        inside = at < (lengths + trail)[:, None]
        mixed = self._recorded(spoken + self._noise(spoken, is_speech)) * inside
        return self._masked(log_mel(mixed, self._mel))

    def _between(self, start: Tensor, place: Tensor) -> Tensor:
        """The sound between two samples, on a straight line."""
        whole = place.floor()
        part = place - whole
        first = start + whole.long()
        return self._at(first) * (1 - part) + self._at(first + 1) * part

    def _noise(self, spoken: Tensor, is_speech: Tensor) -> Tensor:
        batch, length = spoken.shape
        talkers = torch.zeros_like(spoken)
        is_crowd = self._uniform(batch, 0, 1) < _CROWD_SHARE
        many = torch.where(is_crowd, _CROWD, self._integers(batch, 1, 8))
        for talker in range(7):
            start = self._integers(batch, 0, len(self._clips.samples) - length - 1)
            other = self._at(start[:, None] + torch.arange(length, device=self._device)[None])
            other = other / (other.square().mean(1, keepdim=True).sqrt() + 1e-4)
            talkers += other * (many > talker)[:, None]
        hiss = torch.randn(batch, length, generator=self._chance, device=self._device)
        hiss = _tilted(hiss, -self._uniform(batch, 0.0, 1.4))
        is_hiss = (~is_crowd & (self._uniform(batch, 0, 1) < 0.4))[:, None]
        noise = torch.where(is_hiss, hiss, talkers)
        power = (spoken.square() * is_speech).sum(1) / is_speech.sum(1).clamp(min=1)
        # From hardly audible to nearly as loud as the speaker; a third in a quiet room, some in dead silence.
        snr_db = self._uniform(batch, 2, 25)
        quiet = self._uniform(batch, 0, 1)
        snr_db = torch.where(quiet < 0.35, self._uniform(batch, 25, 60), snr_db)
        snr_db = torch.where(is_crowd, self._uniform(batch, *_CROWD_SNR_DB), snr_db)
        gain = (power / (noise.square().mean(1) + 1e-9)).sqrt() * 10 ** (-snr_db / 20)
        gain = torch.where((quiet > 0.85) & ~is_crowd, torch.zeros_like(gain), gain)
        return noise * gain[:, None]

    def _in_room(self, spoken: Tensor) -> Tensor:
        """Half of the clips from near or far in a room, all with a microphone's colour."""
        batch, length = spoken.shape
        spectrum = torch.fft.rfft(spoken, 2 * length)
        taps = min(length, RATE_HZ)
        t_s = torch.arange(taps, device=self._device) / RATE_HZ
        decay = torch.exp(-6.9 * t_s[None] / self._uniform(batch, 0.12, 0.9)[:, None])
        tail = torch.randn(batch, taps, generator=self._chance, device=self._device) * decay
        tail = _tilted(tail, -self._uniform(batch, 0.0, 0.6))
        early = torch.zeros_like(tail)
        for _ in range(_REFLECTIONS):
            place = self._integers(batch, 16, RATE_HZ // 20)[:, None]
            early.scatter_add_(1, place, self._uniform(batch, -1, 1)[:, None])
        echo = _unit(tail) + self._uniform(batch, 0, 1.5)[:, None] * _unit(early)
        # How much louder than the echoes the speaker is: across the room they are louder.
        direct_db = self._uniform(batch, -4, 16)
        wet = 10 ** (-direct_db / 20) * (self._uniform(batch, 0, 1) < _ROOM_SHARE)
        response = torch.fft.rfft(_unit(echo) * wet[:, None], 2 * length) + 1
        knots = self._uniform(batch * 8, -6, 6).reshape(batch, 1, 8)
        shape_db = torch.nn.functional.interpolate(knots, spectrum.shape[1], mode="linear")[:, 0]
        hz = torch.linspace(0, RATE_HZ / 2, spectrum.shape[1], device=self._device)[None]
        is_narrow = (self._uniform(batch, 0, 1) < _NARROW_SHARE)[:, None]
        shape_db = shape_db - 40.0 * (is_narrow & (hz > self._uniform(batch, 3400, 6500)[:, None]))
        heard = torch.fft.irfft(spectrum * response * 10 ** (shape_db / 20), 2 * length)
        return heard[:, :length]

    def _recorded(self, heard: Tensor) -> Tensor:
        """As 16 bits; a part of the clips is so quiet that little of them is left."""
        batch = len(heard)
        loudest = heard.abs().amax(1, keepdim=True) + 1e-6
        level_db = self._uniform(batch, -30, -1)
        is_quiet = self._uniform(batch, 0, 1) < _QUIET_SHARE
        level_db = torch.where(is_quiet, self._uniform(batch, -56, -30), level_db)
        scaled = heard / loudest * 10 ** (level_db / 20)[:, None]
        return (scaled * 32768).round() / 32768

    def _masked(self, features: Tensor) -> Tensor:
        """A part of the clips lacks a narrow band."""
        batch = len(features)
        start, width = self._integers(batch, 0, 76), self._integers(batch, 1, 9)
        bands = torch.arange(features.shape[1], device=self._device)[None]
        hidden = (bands >= start[:, None]) & (bands < (start + width)[:, None])
        hidden &= (self._uniform(batch, 0, 1) < _BANDS_SHARE)[:, None]
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


def _unit(echo: Tensor) -> Tensor:
    return echo / (echo.square().sum(1, keepdim=True).sqrt() + 1e-6)
