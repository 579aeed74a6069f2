"""Whisper in PyTorch with frozen weights and a LoRA adapter; its features, and audio augmentation on the GPU.

The layout is CTranslate2's: the three attention projections are one matrix, so an adapter can be added to
the deployed file without any rearranging. Augmentation simulates a microphone in a room: speed,
reverberation, bands, babble.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

# English, as it is said, without timestamps; and the end.
START = (50258, 50259, 50359, 50363)
END = 50257
_BLANK = 220
_HEAD_WIDTH = 64


@dataclass(frozen=True, slots=True)
class Whisper:
    """`weights` by their names in model.bin; `learnt` holds `NAME.a` and `NAME.b` for the maps that learn."""

    weights: Mapping[str, Tensor]
    learnt: Mapping[str, Tensor]
    strength: float

    def encode(self, features: Tensor) -> Tensor:
        """Features (batch, 80, frames) to states (batch, frames / 2, width)."""
        known = functional.gelu(functional.conv1d(features, *self._pair("encoder/conv1"), padding=1))
        known = functional.gelu(functional.conv1d(known, *self._pair("encoder/conv2"), stride=2, padding=1)).transpose(
            1, 2
        )
        known = known + self.weights["encoder/position_encodings/encodings"][: known.shape[1]]
        for layer in layers(self.weights, "encoder"):
            known = known + self._self_attention(layer, known, is_causal=False)
            known = known + self._ffn(layer, known)
        return self._norm("encoder/layer_norm", known)

    def memory(self, heard: Tensor) -> list[tuple[Tensor, Tensor]]:
        """What each layer of the decoder attends to: keys and values of what the encoder made."""
        key_values = (
            self._linear(f"{layer}/attention/linear_1", heard).chunk(2, dim=-1)
            for layer in layers(self.weights, "decoder")
        )
        return [(key, value) for key, value in key_values]

    def decode(self, tokens: Tensor, memory: Sequence[tuple[Tensor, Tensor]]) -> Tensor:
        """The states behind each token; `logits` makes words of them."""
        known = functional.embedding(tokens, self.weights["decoder/embeddings/weight"])
        known = known + self.weights["decoder/position_encodings/encodings"][: tokens.shape[1]]
        for layer, (key, value) in zip(layers(self.weights, "decoder"), memory, strict=True):
            known = known + self._self_attention(layer, known, is_causal=True)
            normed = self._norm(f"{layer}/attention/layer_norm", known)
            query = self._linear(f"{layer}/attention/linear_0", normed)
            known = known + self._linear(f"{layer}/attention/linear_2", _attend(query, key, value))
            known = known + self._ffn(layer, known)
        return self._norm("decoder/layer_norm", known)

    def logits(self, known: Tensor) -> Tensor:
        return functional.linear(known, self.weights["decoder/embeddings/weight"])

    @torch.no_grad()
    def greedy(self, heard: Tensor, prompt: Sequence[int], *, most: int) -> tuple[list[list[int]], Tensor]:
        """The likeliest tokens behind the prompt, up to the end, and their mean log probability."""
        memory = self.memory(heard)
        tokens = torch.tensor(prompt, device=heard.device).repeat(len(heard), 1)
        total, count = (torch.zeros(len(heard), device=heard.device), torch.zeros(len(heard), device=heard.device))
        is_over = torch.zeros(len(heard), dtype=torch.bool, device=heard.device)
        for step in range(most):
            scores = self.logits(self.decode(tokens, memory)[:, -1]).float().log_softmax(-1)
            scores[:, END + 1 :] = -torch.inf
            if step == 0:
                scores[:, [END, _BLANK]] = -torch.inf
            best, chosen = scores.max(-1)
            chosen = torch.where(is_over, END, chosen)
            total += torch.where(is_over, 0.0, best)
            count += ~is_over
            is_over |= chosen == END
            tokens = torch.cat([tokens, chosen[:, None]], 1)
            if is_over.all():
                break
        written = [[token for token in row if token != END] for row in tokens[:, len(prompt) :].tolist()]
        return written, total / count

    def _self_attention(self, layer: str, known: Tensor, *, is_causal: bool) -> Tensor:
        normed = self._norm(f"{layer}/self_attention/layer_norm", known)
        query, key, value = self._linear(f"{layer}/self_attention/linear_0", normed).chunk(3, dim=-1)
        attended = _attend(query, key, value, is_causal=is_causal)
        return self._linear(f"{layer}/self_attention/linear_1", attended)

    def _ffn(self, layer: str, known: Tensor) -> Tensor:
        inner = self._linear(f"{layer}/ffn/linear_0", self._norm(f"{layer}/ffn/layer_norm", known))
        return self._linear(f"{layer}/ffn/linear_1", functional.gelu(inner))

    def _linear(self, name: str, known: Tensor) -> Tensor:
        mapped = functional.linear(known, *self._pair(name))
        if f"{name}.a" not in self.learnt:
            return mapped
        low = functional.linear(known, self.learnt[f"{name}.a"].to(known.dtype))
        return mapped + functional.linear(low, self.learnt[f"{name}.b"].to(known.dtype)) * self.strength

    def _norm(self, name: str, known: Tensor) -> Tensor:
        return functional.layer_norm(
            known, known.shape[-1:], self.weights[f"{name}/gamma"], self.weights[f"{name}/beta"], eps=1e-5
        )

    def _pair(self, name: str) -> tuple[Tensor, Tensor]:
        return self.weights[f"{name}/weight"], self.weights[f"{name}/bias"]


def layers(weights: Mapping[str, Tensor], part: str) -> list[str]:
    """The names of a part's layers, in their order."""
    count = sum(name.startswith(f"{part}/layer_") and name.endswith("/ffn/linear_0/weight") for name in weights)
    return [f"{part}/layer_{number}" for number in range(count)]


def linear_maps(weights: Mapping[str, Tensor]) -> list[str]:
    """The names of all maps of all layers."""
    return [
        name.removesuffix("/weight")
        for name in sorted(weights)
        if "/layer_" in name and "/linear_" in name and name.endswith("/weight")
    ]


def new_adapter(weights: Mapping[str, Tensor], rank: int, *, seed: int) -> dict[str, Tensor]:
    """An adapter that changes nothing yet."""
    chance = torch.Generator(device="cpu").manual_seed(seed)
    learnt: dict[str, Tensor] = {}
    for name in linear_maps(weights):
        out, into = weights[f"{name}/weight"].shape
        device = weights[f"{name}/weight"].device
        learnt[f"{name}.a"] = (torch.randn(rank, into, generator=chance) * into**-0.5).to(device)
        learnt[f"{name}.b"] = torch.zeros(out, rank, device=device)
    return learnt


def skip_cudnn_attention() -> None:
    """Leave out cuDNN's attention: it plans anew for each shape, and hardly two steps have the same."""
    torch.backends.cuda.enable_cudnn_sdp(enabled=False)


def as_tensors(
    read: Mapping[str, NDArray[np.generic]], *, dtype: torch.dtype, device: torch.device
) -> dict[str, Tensor]:
    """The weights of a model.bin, in whatever numbers; its settings are left out."""
    weights: dict[str, Tensor] = {}
    for name, value in read.items():
        if not value.ndim or name.endswith("_scale"):
            continue
        wide = np.array(value, np.float32)
        if value.dtype == np.int8:
            wide /= np.asarray(read[f"{name}_scale"], np.float32)[:, None]
        weights[name] = torch.from_numpy(wide).to(device, dtype)
    return weights


def _attend(query: Tensor, key: Tensor, value: Tensor, *, is_causal: bool = False) -> Tensor:
    q, k, v = (part.unflatten(-1, (-1, _HEAD_WIDTH)).transpose(1, 2) for part in (query, key, value))
    return functional.scaled_dot_product_attention(q, k, v, is_causal=is_causal).transpose(1, 2).flatten(2)


RATE_HZ = 16_000
# As in edgevox/stt/whisper_decoder.py: every utterance is shifted to the same loudest value.
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
