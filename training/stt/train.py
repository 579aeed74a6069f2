"""Trains a LoRA adapter for Whisper: `python -m training.stt.train --help`.

Two objectives. Distillation on recorded speech: in a short window and with augmentation at every step, the
student matches the probabilities that the teacher assigned in the full window without noise. Supervised
training on sentences for homes. The decoder is prompted as in the product: the names of a home first, the
window a little longer than the speech, no timestamps, no trailing silence.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from edgevox.stt.whisper_adapter import ModelBin, read_adapter, write_adapter
from training.stt.pseudo_labels import FULL_S, Targets
from training.stt.whisper import (
    END,
    START,
    Clips,
    Room,
    Whisper,
    as_tensors,
    linear_maps,
    new_adapter,
    skip_cudnn_attention,
)

_STRENGTH = 2.0
_PARTS = 16
# The window behind the longest speech of a step, and the least of it; sometimes it is all 30 s.
_MARGIN_S, _LEAST_S = (0.0, 1.0), 2.0
_FULL_SHARE = 0.06
# A home's names also stand before what has nothing to do with homes.
_NAMES_SHARE = 0.6
_ALL_TOKENS = 448


class TrainingData:
    """What is to be learnt of each clip: the teacher's tokens and probabilities, or a sentence."""

    def __init__(self, clips: Clips, targets: Targets, chance: np.random.Generator) -> None:
        self._clips = clips
        self._targets = targets
        self._chance = chance
        self._prompts = [row["prompt"] for row in clips.rows if "prompt" in row] or [[]]
        self.home = np.array([at for at, row in enumerate(clips.rows) if "text" in row], np.int64)
        self.people = np.array(
            [at for at, row in enumerate(clips.rows) if "text" not in row and targets.tokens[at]], np.int64
        )

    def batch(self, which: Sequence[int], device: torch.device) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """What the decoder reads, where it should answer, and the tokens there with their probabilities."""
        inputs, places, likeliest, shares = [], [], [], []
        for at in which:
            row = self._clips.rows[at]
            taught = "text" in row
            said = [*row["text"], END] if taught else self._targets.tokens[at]
            before = [*(row["prompt"] if taught else self._names()), *START]
            inputs.append(torch.tensor([*before, *said[:-1]][:_ALL_TOKENS]))
            places.append(torch.arange(len(before) - 1, len(before) - 1 + len(said)))
            tokens, weights = self._answers(at, said, is_text=taught)
            likeliest.append(tokens)
            shares.append(weights)
        pad = torch.nn.utils.rnn.pad_sequence
        read = pad(inputs, batch_first=True, padding_value=END).to(device)
        counts = torch.zeros_like(read, dtype=torch.bool)
        for number, place in enumerate(places):
            counts[number, place.to(device)] = True
        return read, counts, torch.cat(likeliest), torch.cat(shares)

    def _names(self) -> list[int]:
        if self._chance.random() > _NAMES_SHARE:
            return []
        return list(self._prompts[int(self._chance.integers(len(self._prompts)))])

    def _answers(self, at: int, said: list[int], *, is_text: bool) -> tuple[Tensor, Tensor]:
        targets = self._targets
        if not is_text:
            start = targets.starts[at]
            logprobs = targets.logprobs[start : start + len(said)]
            return targets.likeliest[start : start + len(said)], logprobs.softmax(-1)
        tokens = torch.zeros(len(said), targets.likeliest.shape[1], dtype=torch.long)
        tokens[:, 0] = torch.tensor(said)
        weights = torch.zeros(tokens.shape)
        weights[:, 0] = 1.0
        device = targets.likeliest.device
        return tokens.to(device), weights.to(device)


def divergence(logits: Tensor, likeliest: Tensor, shares: Tensor) -> Tensor:
    """How far the student is from its teacher, in nats a token, without the teacher's own doubt."""
    logprobs = logits.float().log_softmax(-1).gather(1, likeliest)
    doubt = torch.where(shares > 0, shares * shares.clamp(min=1e-9).log(), 0.0)
    return (doubt - shares * logprobs).sum(-1).mean()


def parts_by_length(which: NDArray[np.int64], lengths: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """The numbers of the clips in equal parts, the shortest clips in the first."""
    return np.array_split(which[lengths[which].argsort()], min(_PARTS, len(which)))


def initial_adapter(path: Path, device: torch.device) -> dict[str, Tensor]:
    """An adapter that was learnt before, to learn on from."""
    alpha, factors = read_adapter(path)
    learnt: dict[str, Tensor] = {}
    for name, (a, b) in factors.items():
        stem = name.removesuffix("/weight")
        learnt[f"{stem}.a"] = torch.from_numpy(np.asarray(a, np.float32)).to(device)
        learnt[f"{stem}.b"] = torch.from_numpy(np.asarray(b, np.float32) * (alpha / len(a) / _STRENGTH)).to(device)
    return learnt


def train(options: argparse.Namespace) -> None:
    began_s = time.monotonic()
    skip_cudnn_attention()
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    dtype = torch.bfloat16 if device.type == "cuda" else torch.float32
    torch.manual_seed(options.seed)
    torch.set_float32_matmul_precision("high")
    weights = as_tensors(ModelBin.read(options.model / "model.bin").variables, dtype=dtype, device=device)
    clips = Clips.read(options.clips, device)
    mel = torch.from_numpy(np.load(options.mel)).to(device, torch.float32)
    room = Room(clips, mel, seed=options.seed)
    chance = np.random.default_rng(options.seed)
    lessons = TrainingData(clips, Targets.read(options.targets, device), chance)
    learnt = new_adapter(weights, options.rank, seed=options.seed)
    if options.start:
        learnt |= initial_adapter(options.start, device)
    for value in learnt.values():
        value.requires_grad_(requires_grad=True)
    model = Whisper(weights, learnt, strength=_STRENGTH)
    optimiser = torch.optim.AdamW(learnt.values(), lr=options.rate, betas=(0.9, 0.98), weight_decay=0.0)
    lengths = clips.lengths.cpu().numpy()
    people, home = (parts_by_length(which, lengths) for which in (lessons.people, lessons.home))
    print(f"{len(lessons.people)} pieces by people, {len(lessons.home)} sentences for homes", flush=True)
    step, losses = 0, []
    while True:
        spent_s = time.monotonic() - began_s
        done = spent_s / options.seconds if options.seconds else step / options.steps
        if done >= 1:
            break
        for group in optimiser.param_groups:
            group["lr"] = options.rate * min(1.0, (step + 1) / 50) * 0.5 * (1 + math.cos(math.pi * done))
        is_full = chance.random() < _FULL_SHARE
        parts = home if chance.random() < options.home else people
        which = chance.choice(
            parts[int(chance.integers(len(parts)))], size=max(1, options.batch // (6 if is_full else 1))
        )
        features = room.features(
            torch.from_numpy(which).to(device),
            margin_s=chance.uniform(*_MARGIN_S),
            least_s=FULL_S if is_full else _LEAST_S,
        )
        memory = model.memory(model.encode(features[:, :, : FULL_S * 100].to(dtype)))
        read, counts, likeliest, shares = lessons.batch(which.tolist(), device)
        loss = divergence(model.logits(model.decode(read, memory)[counts]), likeliest, shares)
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(learnt.values(), 1.0)
        optimiser.step()
        step += 1
        if step % 20 == 0 or step == 1:
            kind = "home" if parts is home else "people"
            losses.append((step, kind, round(loss.item(), 4)))
            print(f"{time.monotonic() - began_s:6.1f} s, step {step}: {loss.item():.4f} {kind}", flush=True)
    options.out.mkdir(parents=True, exist_ok=True)
    kept = {name: value.detach().half().cpu().numpy() for name, value in learnt.items()}
    factors = {f"{name}/weight": (kept[f"{name}.a"], kept[f"{name}.b"]) for name in linear_maps(weights)}
    write_adapter(options.out / "adapter.gguf", factors, alpha=_STRENGTH * options.rank)
    record = {
        "seed": options.seed, "rank": options.rank, "rate": options.rate, "batch": options.batch,
        "home": options.home, "start": options.start is not None, "teacher": options.targets.stem,
        "steps": step, "seconds": round(time.monotonic() - began_s), "people": len(lessons.people),
        "sentences": len(lessons.home),
        "device": torch.cuda.get_device_name() if device.type == "cuda" else "cpu", "losses": losses,
    }  # fmt: skip
    (options.out / "hearing.json").write_text(json.dumps(record) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m training.stt.train", description=__doc__)
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--mel", type=Path, required=True)
    parser.add_argument("--clips", type=Path, required=True, help="what pieces and voices have written")
    parser.add_argument("--targets", type=Path, required=True, help="what the teacher has written down")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seconds", type=float)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--batch", type=int, default=192)
    parser.add_argument("--rank", type=int, default=32)
    parser.add_argument("--start", type=Path, help="an adapter of the same rank to learn on from")
    parser.add_argument("--rate", type=float, default=1e-4)
    parser.add_argument("--home", type=float, default=0.3, help="the share of sentences for homes")
    parser.add_argument("--seed", type=int, default=1)
    train(parser.parse_args())


if __name__ == "__main__":
    main()
